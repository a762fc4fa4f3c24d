"""The words in which memories stand in a prompt, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent

from memlab.core.values import Role, Utterance
from memory.enums import ProfilePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Titles, labels and line formats of one language."""

    profile: str
    recent: str
    history: str
    episodes: str
    speakers: Mapping[Role, str]
    dimensions: Mapping[ProfilePart, str]
    colon: str
    comma: str
    emotion: str
    relevance: str

    def utterance(self, utterance: Utterance) -> str:
        """One message with who said it."""
        return self.spoken(utterance.role, utterance.text)

    def spoken(self, role: Role, text: str) -> str:
        """A text with who said it. Its further lines are indented below the first, so that none
        of them can pose as the title of a section or as somebody else's words."""
        return f"{self.speakers[role]}{self.colon}{indent(text, '  ').lstrip()}"


ENGLISH = Wording(
    profile="What you know about the user",
    recent="The last turns of earlier conversations",
    history="Earlier conversations",
    episodes="Moments from earlier conversations that come to mind",
    speakers={Role.PARTICIPANT: "User", Role.ASSISTANT: "Assistant"},
    dimensions={
        ProfilePart.BASIC_INFO: "Basics",
        ProfilePart.PREFERENCES: "Likes and dislikes",
        ProfilePart.CONSTRAINTS: "Limits",
        ProfilePart.GOALS: "Goals",
        ProfilePart.PERSONALITY: "Personality",
        ProfilePart.SOCIAL: "People and animals",
        ProfilePart.EMOTIONAL_NEEDS: "Emotional needs",
        ProfilePart.CORE_VALUES: "Core values",
        ProfilePart.SIGNIFICANT_EVENTS: "Significant events",
    },
    colon=": ",
    comma="; ",
    emotion=" ({})",
    relevance="[relevance {:.2f}]",
)

CHINESE = Wording(
    profile="你所了解的用户",
    recent="此前对话的最后几轮",
    history="此前的对话",
    episodes="此刻想起的往日片段",
    speakers={Role.PARTICIPANT: "用户", Role.ASSISTANT: "AI助手"},
    dimensions={
        ProfilePart.BASIC_INFO: "基本情况",
        ProfilePart.PREFERENCES: "喜好",
        ProfilePart.CONSTRAINTS: "限制",
        ProfilePart.GOALS: "目标",
        ProfilePart.PERSONALITY: "性格",
        ProfilePart.SOCIAL: "身边的人和动物",
        ProfilePart.EMOTIONAL_NEEDS: "情感需求",
        ProfilePart.CORE_VALUES: "看重的东西",
        ProfilePart.SIGNIFICANT_EVENTS: "重要经历",
    },
    colon="：",
    comma="；",
    emotion="（{}）",
    relevance="[相关度 {:.2f}]",
)


def wording(language: str) -> Wording:
    """The wording of a study's language, ``zh-hans`` or ``en``."""
    return {"en": ENGLISH, "zh-hans": CHINESE}[language]
