"""The independent variables of ``compression``: ages, decay, thresholds, boosts."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.parameters import Parameter, Value
from memory.architectures.ranking_parameters import RANKING

_PROTOCOL = "The protocol of compression and mention"

_AGES = tuple(
    Parameter(
        name=f"{level}_after",
        default=default,
        minimum=0.0,
        maximum=3650.0,
        unit="days",
        help_en=f"Age at which {english}. No level is reached before the one above it.",
        help_zh=f"自上次激活起经过多久，{chinese}。任何层级都不会早于上一层级到达。",
        source=_PROTOCOL,
    )
    for level, default, english, chinese in (
        ("summary", 7.0, "a full memory is shortened to a summary", "完整记忆缩写为摘要"),
        ("tag", 30.0, "a summary is reduced to tags", "摘要缩减为标签"),
        ("trace", 90.0, "tags are reduced to a trace of their topic", "标签缩减为只剩话题的痕迹"),
        ("archive", 180.0, "a trace is archived", "痕迹归档"),
    )
)
_UPGRADES = tuple(
    Parameter(
        name=f"upgrade_to_{level}",
        default=default,
        minimum=0.0,
        maximum=1.0,
        help_en=f"The similarity above which a mention lifts {english}.",
        help_zh=f"提及的相似度高于此值时，{chinese}。",
        source=_PROTOCOL,
    )
    for level, default, english, chinese in (
        ("full", 0.95, "a summary to full text", "摘要升为完整记忆"),
        ("summary", 0.90, "tags to a summary", "标签升为摘要"),
        ("tag", 0.90, "a trace to tags", "痕迹升为标签"),
        ("trace", 0.90, "an archived memory to a trace", "归档的记忆升为痕迹"),
    )
)
_BOOSTS = tuple(
    Parameter(
        name=f"{band}_boost",
        default=default,
        minimum=0.0,
        maximum=1.0,
        help_en=english,
        help_zh=chinese,
        source=_PROTOCOL,
    )
    for band, default, english, chinese in (
        (
            "high",
            0.6,
            "The share of what a memory lacks of weight 1 that a merged mention gives back.",
            "被合并的提及使记忆恢复其所失权重（距 1 的差距）的比例。",
        ),
        (
            "medium",
            0.3,
            "The same for a mention of medium similarity, where boost_without_merge is on.",
            "相似度居中的提及恢复的比例；仅当 boost_without_merge 开启时有效。",
        ),
        (
            "low",
            0.1,
            "What a mention of low similarity adds, where boost_without_merge is on.",
            "相似度低的提及增加的权重；仅当 boost_without_merge 开启时有效。",
        ),
    )
)

COMPRESSION = (
    Parameter(
        name="recent_turns",
        default=3,
        minimum=0,
        maximum=50,
        unit="turns",
        help_en="How many of the last turns of earlier sessions are kept, word for word.",
        help_zh="保留以往会话最后多少轮的原话。",
        source="Brainerd & Reyna (1990): verbatim traces are short-lived",
    ),
    Parameter(
        name="retrieval_top_k",
        default=8,
        minimum=1,
        maximum=50,
        unit="memories",
        help_en="How many memories are brought to a turn: the best of relevance times weight.",
        help_zh="每一轮带入多少条记忆：取相关度与权重之积最高者。",
        source=_PROTOCOL,
    ),
    *_AGES,
    Parameter(
        name="decay_rate",
        default=0.01,
        minimum=0.0,
        maximum=10.0,
        unit="per day",
        help_en="How fast weight decays: w₀/(1 + rate·t), t in days since it was last set.",
        help_zh="权重衰减的快慢：w₀/(1 + rate·t)，t 为自上次设定以来的天数。",
        source="Wixted & Ebbesen (1991): forgetting is hyperbolic rather than exponential",
    ),
    Parameter(
        name="high_similarity",
        default=0.85,
        minimum=0.0,
        maximum=1.0,
        help_en="From this similarity on a new statement is merged with the memory it is like.",
        help_zh="新陈述与已有记忆的相似度达到此值时，两者合并。",
        source=_PROTOCOL,
    ),
    Parameter(
        name="medium_similarity",
        default=0.60,
        minimum=0.0,
        maximum=1.0,
        help_en=(
            "From this similarity on both are kept, below it the statement is new altogether. The "
            "memories that result are the same; the log, and boost_without_merge, tell them apart."
        ),
        help_zh=(
            "相似度达到此值时两者并存，低于此值则视为全新的陈述。所得的记忆相同，"
            "区别在于日志和 boost_without_merge。"
        ),
        source=_PROTOCOL,
    ),
    *_UPGRADES,
    *_BOOSTS,
    Parameter(
        name="boost_without_merge",
        default=False,
        help_en="Whether a mention that isn't merged adds weight to the memory most like it.",
        help_zh="未被合并的提及是否也提升与之最相似的记忆的权重。",
        source=_PROTOCOL,
    ),
    *RANKING,
)

PRESETS: Mapping[str, Mapping[str, Value]] = {
    # A whole life of a memory within a study of two weeks.
    "fortnight": {
        "summary_after": 1.0,
        "tag_after": 3.0,
        "trace_after": 7.0,
        "archive_after": 14.0,
        "decay_rate": 0.1,
    },
}
