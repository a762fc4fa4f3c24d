"""Beliefs and logs as sections of a prompt, in the order in which an agent boots. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from memlab.core.values import Section
from memory.architectures.confidence_wording import ConfidenceWording
from memory.models import Belief, SessionLog


def profile_section(
    facts: Sequence[Belief],
    *,
    categories: Mapping[str, bool],
    words: ConfidenceWording,
    characters: int,
) -> tuple[Section, ...]:
    """A line for each category, its facts cut to a few words each; no section without facts."""
    lines = []
    for category in categories:
        items = [
            _brief(belief.content, characters, words.ellipsis)
            for belief in facts
            if belief.category == category
        ]
        if items:
            label = words.categories.get(category, category)
            lines.append(f"{label}{words.colon}{words.comma.join(items)}")
    return (Section(key="profile", title=words.profile, lines=tuple(lines)),) if lines else ()


def logs_section(
    logs: Sequence[SessionLog], *, words: ConfidenceWording, time_zone: str, provenance: bool
) -> tuple[Section, ...]:
    """A dated line for each session, oldest first; no section without logs."""
    zone = ZoneInfo(time_zone)
    lines = tuple(
        f"- {_tag(log.stage_key, provenance)}"
        f"{log.at.astimezone(zone):%Y-%m-%d}{words.colon}{log.text}"
        for log in logs
    )
    return (Section(key="logs", title=words.logs, lines=lines),) if lines else ()


def beliefs_section(
    beliefs: Sequence[Belief], *, key: str, title: str, first: int | None, provenance: bool
) -> tuple[Section, ...]:
    """One belief a line with its category; with the codes m<first>, … if ``first`` is given."""
    lines = tuple(
        f"- {_tag(belief.stage_key, provenance)}"
        f"{'' if first is None else f'[m{first + place}] '}[{belief.category}] {belief.content}"
        for place, belief in enumerate(beliefs)
    )
    return (Section(key=key, title=title, lines=lines),) if lines else ()


def tools_section(words: ConfidenceWording) -> Section:
    """How to go about the tools."""
    return Section(key="tools", title=words.tools, lines=words.guidance)


def _tag(stage: str, provenance: bool) -> str:
    return f"[{stage}] " if provenance and stage else ""


def _brief(text: str, characters: int, ellipsis: str) -> str:
    return text if len(text) <= characters else text[:characters].rstrip() + ellipsis
