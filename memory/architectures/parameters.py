"""What L3 and L4 declare as independent variables, and the presets of L4."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.parameters import Parameter, Value
from memory.architectures.ranking_parameters import RANKING
from memory.enums import Encode, Encoding, TimeUnit

GIST = (
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
        name="gist_max_chars",
        default=500,
        minimum=50,
        maximum=20000,
        unit="characters",
        help_en="The profile's budget; whole traits are left out, the least salient first.",
        help_zh="画像的字数上限；超出时按情感显著性从低到高整条舍去。",
    ),
    Parameter(
        name="gist_max_tokens",
        default=0,
        minimum=0,
        maximum=8000,
        unit="tokens",
        help_en=(
            "Above 0, the profile's budget in tokens instead of characters: for studies that "
            "compare languages, since a Chinese character holds several times more."
        ),
        help_zh="大于 0 时以词元代替字数作为上限：用于比较不同语言的研究，因为汉字的信息量大得多。",
    ),
    Parameter(
        name="emotional_extraction",
        default=True,
        help_en="Whether emotional needs, core values and significant events are extracted at all.",
        help_zh="是否提取情感需求、看重的东西和重要经历。",
        source="Hou et al. (2024)",
    ),
    Parameter(
        name="extract_emotional_needs",
        default=True,
        help_en="Whether emotional needs are extracted.",
        help_zh="是否提取情感需求。",
    ),
    Parameter(
        name="extract_core_values",
        default=True,
        help_en="Whether core values are extracted.",
        help_zh="是否提取看重的东西（核心价值观）。",
    ),
    Parameter(
        name="extract_significant_events",
        default=True,
        help_en="Whether significant events are extracted, with their emotion.",
        help_zh="是否提取重要经历及其情绪。",
    ),
)

EPISODES = (
    Parameter(
        name="initial_g",
        default=1.0,
        minimum=0.01,
        maximum=10000.0,
        unit="time units",
        help_en="Consolidation of a new episode without emotion: the larger, the slower it fades.",
        help_zh="不带情感色彩的新情景记忆的初始巩固系数；越大，遗忘越慢。",
        source="Hou et al. (2024)",
    ),
    Parameter(
        name="salience_gain",
        default=0.5,
        minimum=0.0,
        maximum=1000.0,
        unit="time units",
        help_en="What full emotional salience adds to the initial consolidation.",
        help_zh="情感显著性为 1 时初始巩固系数的增量。",
        source="LaBar & Cabeza (2006)",
    ),
    Parameter(
        name="recall_threshold",
        default=0.86,
        minimum=0.0,
        maximum=1.0,
        help_en="The least probability with which an episode is recalled.",
        help_zh="情景记忆被召回所需的最低召回概率。",
        source="Hou et al. (2024)",
    ),
    Parameter(
        name="retrieval_top_k",
        default=5,
        minimum=1,
        maximum=50,
        unit="episodes",
        help_en="How many episodes are recalled at most.",
        help_zh="一次最多召回多少条情景记忆。",
    ),
    Parameter(
        name="recall_bonus",
        default=0.05,
        minimum=0.0,
        maximum=1.0,
        help_en="What full emotional salience adds to the probability of recall.",
        help_zh="情感显著性为 1 时召回概率的增量。",
        source="Bower (1981)",
    ),
    Parameter(
        name="reconsolidation_alpha",
        default=0.5,
        minimum=0.0,
        maximum=100.0,
        help_en="How much emotional salience speeds up the strengthening by a recall.",
        help_zh="情感显著性对召回后再巩固的加速程度。",
        source="Hou et al. (2024), with emotion",
    ),
    Parameter(
        name="time_unit",
        default=TimeUnit.DAYS.value,
        choices=tuple(unit.value for unit in TimeUnit),
        help_en="In what elapsed time and consolidation are counted.",
        help_zh="时间间隔和巩固系数的单位。",
        source="Hou et al. (2024): days",
    ),
    Parameter(
        name="update_on_recall",
        default=True,
        help_en="Whether a recall strengthens the episode.",
        help_zh="召回情景记忆后是否强化它。",
        source="Hou et al. (2024), equation 9",
    ),
    Parameter(
        name="forgetting_curve",
        default=True,
        help_en=(
            "Off, as an ablation: the most relevant episodes are recalled, without probability "
            "and threshold."
        ),
        help_zh="关闭（消融条件）：只按相关度取最相关的情景记忆，不计概率，不设阈值。",
    ),
    Parameter(
        name="encode",
        default=Encode.USER.value,
        choices=tuple(choice.value for choice in Encode),
        help_en=(
            "What becomes an episode: each message of the participant's (user), each turn (turn), "
            "or every message (all), as for dialogues between people."
        ),
        help_zh="什么成为情景记忆：参与者的每条消息（user）、每一轮（turn），或每条消息（all，用于人与人的对话）。",
    ),
    Parameter(
        name="encoding",
        default=Encoding.IN_CONTEXT.value,
        choices=tuple(choice.value for choice in Encoding),
        help_en=(
            "Whether a message is embedded together with the one before it (in_context) or alone "
            "(message), as in the paper."
        ),
        help_zh="消息连同前一条一起编码（in_context），还是单独编码（message，同论文）。",
        source="Tulving & Thomson (1973): encoding specificity",
    ),
    Parameter(
        name="participant_name",
        default="",
        help_en=(
            "With encode all: the name that the participant's messages are embedded with. Empty: "
            "none. For dialogues between people, whom questions call by name."
        ),
        help_zh=(
            "encode 为 all 时，参与者的消息以此名字开头编码；留空则不加。"
            "用于人与人的对话，提问时会提到名字。"
        ),
    ),
    Parameter(
        name="assistant_name",
        default="",
        help_en="The same for the assistant's messages.",
        help_zh="同上，用于助手的消息。",
    ),
)

HYBRID = GIST + EPISODES + RANKING

PRESETS: Mapping[str, Mapping[str, Value]] = {
    "hou-2024": {
        "initial_g": 1.0,
        "recall_threshold": 0.86,
        "encoding": Encoding.MESSAGE.value,
    },
    "spaced-sessions": {"initial_g": 3.0, "recall_threshold": 0.60},
    "weekly": {"initial_g": 20.0, "recall_threshold": 0.45},
}
