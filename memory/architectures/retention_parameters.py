"""What ``retention`` declares as independent variables."""

from __future__ import annotations

from experiments.parameters import Parameter
from memory.architectures.ranking_parameters import RANKING
from memory.enums import RetentionUnit

RETENTION = (
    Parameter(
        name="rate",
        default=0.05,
        minimum=0.0,
        maximum=10.0,
        unit="per time unit",
        help_en=(
            "What one unit of time without use takes off an item's score. 0: nothing is forgotten."
        ),
        help_zh="条目每闲置一个时间单位，留存分数下降多少；0 表示永不遗忘。",
        source="Ebbinghaus (1885), in linear form",
    ),
    Parameter(
        name="archive_threshold",
        default=0.15,
        minimum=0.0,
        maximum=1000.0,
        help_en="An item whose score has sunk to this leaves the working set for the archive.",
        help_zh="留存分数降到该值的条目，从工作集移入归档。",
    ),
    Parameter(
        name="time_unit",
        default=RetentionUnit.DAYS.value,
        choices=tuple(unit.value for unit in RetentionUnit),
        help_en=(
            "In what the time without use is counted: days of study time, or finished turns of "
            "the participant."
        ),
        help_zh="闲置时间的单位：研究时间的天数（days），或参与者已完成的对话轮数（turns）。",
    ),
    Parameter(
        name="context_budget",
        default=1000,
        minimum=300,
        maximum=32000,
        unit="tokens",
        help_en="How many tokens of the working set a prompt carries: whole items, best first.",
        help_zh="提示词最多包含工作集的多少词元：按分数从高到低，整条放入。",
    ),
    Parameter(
        name="wake_relevance",
        default=0.6,
        minimum=0.01,
        maximum=1.0,
        help_en="The least relevance at which a message calls up an item by its meaning.",
        help_zh="一条消息按语义唤起某个条目所需的最低相关度。",
    ),
    Parameter(
        name="wake_by_keyword",
        default=True,
        help_en="Whether a message that holds a keyword of an item calls it up, too.",
        help_zh="消息中出现条目的关键词时，是否也唤起该条目。",
    ),
    Parameter(
        name="wake_limit",
        default=3,
        minimum=0,
        maximum=50,
        unit="items",
        help_en="How many archived items one message wakes at most, the most relevant first.",
        help_zh="一条消息最多唤醒多少条归档条目，相关度高者优先。",
    ),
    Parameter(
        name="duplicate_relevance",
        default=0.85,
        minimum=0.01,
        maximum=1.0,
        help_en=(
            "From this relevance between two statements on, a new one counts as an item said "
            "again: a hit that takes the newest wording, and no second item."
        ),
        help_zh=(
            "两句陈述的相关度达到该值时，新陈述视为旧条目的重述：计一次命中并采用最新说法，不另存一条。"
        ),
    ),
    Parameter(
        name="rehearse",
        default=False,
        help_en=(
            "Whether once a session one item that is about to leave is offered to the model, to "
            "bring it up if it fits."
        ),
        help_zh="是否每次会话向模型提供一条即将归档的条目，供其在合适时主动提起。",
        source="Landauer & Bjork (1978): expanding rehearsal",
    ),
    Parameter(
        name="rehearse_within",
        default=3,
        minimum=1,
        maximum=365,
        unit="time units",
        help_en="With rehearse: an item is about to leave if it would within so much time.",
        help_zh="rehearse 开启时：在多长时间内将要归档的条目算作即将归档。",
    ),
    *RANKING,
)
