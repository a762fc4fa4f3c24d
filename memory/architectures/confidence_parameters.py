"""What adaptive confidence declares as independent variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from experiments.parameters import Parameter, Value
from memory.models.belief import CATEGORY_CHARACTERS, CONTENT_CHARACTERS
from memory.models.session_log import LOG_CHARACTERS

#: Category → whether its memories are facts by default.
CATEGORIES = {"event": True, "learning": True, "preference": False, "personality": False}
_NAME = re.compile(rf"[^\W\d_]\w{{0,{CATEGORY_CHARACTERS - 1}}}")
_KINDS = {"factual": True, "subjective": False}


def categories(extra: str) -> dict[str, bool]:
    """All categories of a study: ``CATEGORIES`` and what it adds, e.g. ``health:factual, mood``.

    Raises ValidationError with the remedy.
    """
    found = dict(CATEGORIES)
    for entry in filter(None, (each.strip() for each in extra.split(","))):
        name, _colon, kind = (part.strip() for part in entry.partition(":"))
        kind = kind or "subjective"
        if not _NAME.fullmatch(name) or kind not in _KINDS:
            raise ValidationError(
                _(
                    "%(entry)r in extra_categories is no category. Write names of at most "
                    "%(longest)s letters, digits and underscores, separated by commas, each "
                    "followed by :factual if its memories are facts: health:factual, mood."
                )
                % {"entry": entry, "longest": CATEGORY_CHARACTERS}
            )
        if name in found:
            raise ValidationError(
                _("The category %(name)s in extra_categories exists already. Remove it.")
                % {"name": name}
            )
        found[name] = _KINDS[kind]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraCategories(Parameter):
    """A comma-separated list of categories."""

    def checked(self, value: Any) -> Value:
        # `super()` without arguments doesn't find the class that slots made anew.
        text = Parameter.checked(self, value)
        categories(str(text))
        return text


CONFIDENCE = (
    Parameter(
        name="weaken_drop",
        default=0.25,
        minimum=0.01,
        maximum=1.0,
        help_en="By how much one contradiction lowers the confidence in a memory.",
        help_zh="一次矛盾使记忆置信度降低多少。",
        source="the protocol: four contradictions make a memory vanish",
    ),
    Parameter(
        name="reinforce_boost",
        default=0.2,
        minimum=0.0,
        maximum=1.0,
        help_en="By how much a mention raises it again; a fact becomes certain at once.",
        help_zh="再次提及使置信度恢复多少；事实型记忆则直接恢复到 1。",
        source="the protocol",
    ),
    Parameter(
        name="confirm_threshold",
        default=0.6,
        minimum=0.0,
        maximum=1.0,
        help_en="From this confidence on a memory is shown as known.",
        help_zh="置信度达到此值，记忆作为确认的内容出现。",
        source="the protocol",
    ),
    Parameter(
        name="show_threshold",
        default=0.3,
        minimum=0.0,
        maximum=1.0,
        help_en=(
            "Below this confidence a memory is kept but not shown; at or above it, up to "
            "confirm_threshold, it is shown as uncertain. At most confirm_threshold counts."
        ),
        help_zh=(
            "置信度低于此值，记忆保留但不出现；达到此值而未达到 confirm_threshold 时，"
            "作为不确定的内容出现。最多按 confirm_threshold 计。"
        ),
        source="the protocol",
    ),
    Parameter(
        name="duplicate_overlap",
        default=0.5,
        minimum=0.01,
        maximum=1.0,
        help_en=(
            "From this overlap of keywords on (shared by all), two memories of a category are one."
        ),
        help_zh="同一类别的两条记忆，关键词重叠（交集与并集之比）达到此值即视为同一条。",
        source="the protocol",
    ),
    Parameter(
        name="support",
        default=0.5,
        minimum=0.0,
        maximum=1.0,
        help_en=(
            "The share of a memory's keywords that the participant must have said in this session, "
            "for a mention or a correction in this very message. 0 trusts the model with whatever "
            "it saves."
        ),
        help_zh=(
            "一条记忆的关键词中，须有多大比例是参与者在本次会话中说过的（再次提及或更正时，须在当前这条消息中）。"
            "设为 0 则模型写什么都予采信。"
        ),
        source="ours: no memory from the agent's own echo",
    ),
    ExtraCategories(
        name="extra_categories",
        default="",
        help_en=(
            "Further categories, separated by commas; :factual marks those that hold facts, e.g. "
            "health:factual, mood."
        ),
        help_zh="另加的类别，用逗号分隔；事实型的注明 :factual，例如 health:factual, mood。",
    ),
    Parameter(
        name="category_capacity",
        default=20,
        minimum=1,
        maximum=500,
        unit="memories",
        help_en=(
            "How many memories each category keeps at the start of a session: the least sure go "
            "first, of those the least looked for."
        ),
        help_zh="会话开始时每个类别最多保留多少条记忆：先淘汰置信度低的，其次是访问少的。",
        source="the protocol",
    ),
    Parameter(
        name="log_days",
        default=30,
        minimum=1,
        maximum=3650,
        unit="days",
        help_en="How long the line about a session is kept.",
        help_zh="每次会话的日志保留多少天。",
        source="the protocol",
    ),
    Parameter(
        name="recent_log_days",
        default=14,
        minimum=0,
        maximum=3650,
        unit="days",
        help_en="Of how many last days the lines are shown. 14 reach back beyond a weekly session.",
        help_zh="显示最近多少天的日志。14 天可以覆盖每周一次的会话。",
    ),
    Parameter(
        name="log_characters",
        default=160,
        minimum=20,
        maximum=LOG_CHARACTERS,
        unit="characters",
        help_en="The longest line about a session.",
        help_zh="一次会话的日志最长多少字符。",
    ),
    Parameter(
        name="profile_items",
        default=12,
        minimum=0,
        maximum=100,
        unit="memories",
        help_en="How many facts the profile holds in brief, the last confirmed first.",
        help_zh="画像中最多简列多少条事实，最近确认的优先。",
    ),
    Parameter(
        name="profile_characters",
        default=40,
        minimum=10,
        maximum=CONTENT_CHARACTERS,
        unit="characters",
        help_en="How much of each fact the profile shows.",
        help_zh="画像中每条事实最多显示多少字符。",
    ),
    Parameter(
        name="content_characters",
        default=200,
        minimum=20,
        maximum=CONTENT_CHARACTERS,
        unit="characters",
        help_en="The longest memory, reason or query that a tool call may give.",
        help_zh="工具调用中记忆内容、理由或查询最长多少字符。",
    ),
    Parameter(
        name="recall_limit",
        default=5,
        minimum=1,
        maximum=50,
        unit="memories",
        help_en="How many memories recall_memory finds at most.",
        help_zh="recall_memory 一次最多找到多少条记忆。",
    ),
    Parameter(
        name="tool_rounds",
        default=4,
        minimum=1,
        maximum=20,
        unit="rounds",
        help_en="How often the model may go on after the results of its calls in one turn.",
        help_zh="一轮对话中，模型最多可以有几轮工具调用。",
        source="the protocol",
    ),
    Parameter(
        name="tool_calls",
        default=8,
        minimum=1,
        maximum=100,
        unit="calls",
        help_en="How many calls the model may make in one turn; further ones are refused.",
        help_zh="一轮对话中，模型最多可以调用几次工具；超出的被拒绝。",
        source="the protocol",
    ),
)
