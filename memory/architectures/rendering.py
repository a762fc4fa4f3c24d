"""Turns, traits and episodes as sections of a prompt. Pure.

Where the study shows provenance, a stage tag (and an episode's relevance) stands before a line.
Budgets are measured without it, so that this factor never changes what is remembered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from textwrap import indent
from uuid import UUID

from memlab.core.llm.tokens import count_tokens
from memlab.core.values import Section, SessionTranscript, Turn
from memory.architectures.wording import Wording
from memory.enums import ProfilePart
from memory.models import Trait
from memory.search import Found

EarlierTurn = tuple[SessionTranscript, Turn]


def turn_lines(earlier: EarlierTurn, *, wording: Wording, provenance: bool) -> list[str]:
    """The two lines of a turn."""
    session, turn = earlier
    tag = f"[{session.stage}] " if provenance else ""
    return [f"{tag}{wording.utterance(each)}" for each in (turn.said, turn.answered)]


def turns_section(
    turns: Sequence[EarlierTurn], *, key: str, title: str, wording: Wording, provenance: bool
) -> tuple[Section, ...]:
    """Turns word for word, oldest first; no section if there are none."""
    lines = [
        line for turn in turns for line in turn_lines(turn, wording=wording, provenance=provenance)
    ]
    return (Section(key=key, title=title, lines=tuple(lines)),) if lines else ()


def message_ids_of(turns: Iterable[EarlierTurn]) -> list[UUID]:
    return [each.id for _session, turn in turns for each in (turn.said, turn.answered)]


def fitting_traits(
    traits: Sequence[Trait], *, wording: Wording, characters: int, tokens: int
) -> list[Trait]:
    """The traits that fit the budget, in their order: whole ones are left out, the least salient
    first and of equals the oldest. ``tokens`` above 0 takes the place of ``characters``."""
    size: Callable[[str], int] = count_tokens if tokens else len
    budget = tokens or characters
    ranked = sorted(traits, key=lambda trait: (-trait.salience, -trait.learned_at.timestamp()))

    def too_large(count: int) -> bool:
        lines = profile_lines(ranked[:count], wording=wording, provenance=False)
        return size("\n".join(lines)) > budget

    # The more traits, the longer the text: find the last count that still fits.
    kept = bisect_left(range(1, len(ranked) + 1), True, key=too_large)
    chosen = {trait.pk for trait in ranked[:kept]}
    return [trait for trait in traits if trait.pk in chosen]


def profile_lines(traits: Sequence[Trait], *, wording: Wording, provenance: bool) -> list[str]:
    """A line for each dimension that has traits, its traits in the order given."""
    lines = []
    for part in ProfilePart:
        items = [
            trait_text(trait, wording=wording, provenance=provenance)
            for trait in traits
            if trait.dimension == part
        ]
        if items:
            lines.append(f"{wording.dimensions[part]}{wording.colon}{wording.comma.join(items)}")
    return lines


def trait_text(trait: Trait, *, wording: Wording, provenance: bool) -> str:
    key = f"{trait.key}{wording.colon}" if trait.key else ""
    emotion = wording.emotion.format(trait.emotion) if trait.emotion else ""
    tag = f" [{trait.stage_key}]" if provenance else ""
    return f"{key}{trait.text}{emotion}{tag}"


def episodes_section(
    episodes: Sequence[Found], *, wording: Wording, provenance: bool
) -> tuple[Section, ...]:
    """Recalled episodes, the most probable first; no section if nothing was recalled.

    An episode of several messages is one item: its further lines are indented below the first.
    """
    lines = tuple(
        f"- {_source(episode, wording) if provenance else ''}{indent(episode.text, '  ').lstrip()}"
        for episode in episodes
    )
    if not lines:
        return ()
    return (Section(key="episodes", title=wording.episodes, lines=lines),)


def _source(episode: Found, wording: Wording) -> str:
    return f"[{episode.stage}] {wording.relevance.format(episode.relevance)} "
