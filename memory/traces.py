"""How one memory stood over time, told from its events alone: what the back office draws.

Laying the ``after`` of a memory's events over each other gives its state at every moment; the
formulas say how strong it was in between. A kind that isn't known here (a plug-in's) is shown by
the first number that its events change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from memory.enums import EventKind, MemoryKind, TimeUnit
from memory.formulas import compression, forgetting, retention
from memory.history import GONE
from memory.models import MemoryEvent
from memory.models.compressible import LEVELS

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

#: Points of a curve between two events.
SAMPLES = 32

State = Mapping[str, Any]
Points = list[tuple[datetime, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What a memory was from one event to the next, or until it went."""

    state: State
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A measure over time; ``marks`` are thresholds, ``levels`` names of 0, 1, 2 …"""

    measure: StrOrPromise
    points: Points
    least: float = 0.0
    most: float = 1.0
    marks: tuple[tuple[StrOrPromise, float], ...] = ()
    levels: tuple[str, ...] = ()


def spans(events: Sequence[MemoryEvent], until: datetime) -> list[Span]:
    """A memory's states in order, up to ``until`` or to the event with which it went."""
    found: list[Span] = []
    state: dict[str, Any] = {}
    for number, event in enumerate(events):
        if event.event in GONE or event.event == EventKind.REFUSED:
            break
        state = state | (event.after or {})
        following = events[number + 1].study_at if number + 1 < len(events) else until
        begin = event.study_at
        found.append(Span(state=state, begin=begin, end=max(begin, following)))
    return found


def trace(
    events: Sequence[MemoryEvent], parameters: Mapping[str, Any], *, until: datetime
) -> Trace | None:
    """The trace of one memory from its events in order; None if nothing of it changes."""
    if not events:
        return None
    known = spans(events, until)
    draw = _DRAWN.get(events[0].memory_kind, _numbered)
    return draw(known, parameters) if known else None


def _curve(known: Sequence[Span], value: Callable[[State, datetime], float]) -> Points:
    return [(at, value(span.state, at)) for span in known for at in _moments(span.begin, span.end)]


def _moments(begin: datetime, end: datetime) -> Iterator[datetime]:
    yield begin
    for number in range(1, SAMPLES):
        yield begin + (end - begin) * number / SAMPLES
    yield end


def _steps(known: Sequence[Span], value: Callable[[State], float]) -> Points:
    return [
        point
        for span in known
        for point in ((span.begin, value(span.state)), (span.end, value(span.state)))
    ]


def _since(state: State, key: str, now: datetime) -> timedelta:
    return max(timedelta(0), now - datetime.fromisoformat(state[key]))


def _episode(known: Sequence[Span], parameters: Mapping[str, Any]) -> Trace:
    unit = TimeUnit(parameters["time_unit"]).seconds

    def probability(state: State, now: datetime) -> float:
        recalled = forgetting.recall_probability(
            relevance=1.0,
            elapsed_days=_since(state, "anchor", now).total_seconds() / unit,
            consolidation=state["g"],
        )
        return forgetting.final_probability(
            probability=recalled, salience=state["salience"], bonus=parameters["recall_bonus"]
        )

    return Trace(
        measure=_("Probability of recall for a perfect cue (r = 1)"),
        points=_curve(known, probability),
        marks=((_("threshold"), parameters["recall_threshold"]),),
    )


def _compressible(known: Sequence[Span], parameters: Mapping[str, Any]) -> Trace:
    ladder = [level.value for level in reversed(compression.Level)]
    return Trace(
        measure=_("Level"),
        points=_steps(known, lambda state: float(ladder.index(state["level"]))),
        most=float(len(ladder) - 1),
        levels=tuple(str(dict(LEVELS)[level]) for level in ladder),
    )


def _belief(known: Sequence[Span], parameters: Mapping[str, Any]) -> Trace:
    return Trace(
        measure=_("Confidence"),
        points=_steps(known, lambda state: float(state["confidence"])),
        marks=(
            (_("confirmed from"), parameters["confirm_threshold"]),
            (_("shown from"), parameters["show_threshold"]),
        ),
    )


def _binned(known: Sequence[Span], parameters: Mapping[str, Any]) -> Trace:
    return Trace(
        measure=_("Importance"),
        points=_steps(known, lambda state: float(state["importance"])),
    )


def _retained(known: Sequence[Span], parameters: Mapping[str, Any]) -> Trace:
    def score(state: State, now: datetime) -> float:
        return retention.score(
            importance=state["importance"],
            hits=state["hits"],
            elapsed=_since(state, "anchor", now) / timedelta(days=1),
            rate=parameters["rate"],
        )

    in_turns = parameters["time_unit"] != "days"
    points = (
        _steps(known, lambda state: float(state["state"] == "working"))
        if in_turns
        else _curve(known, score)
    )
    values = [value for _at, value in points]
    return Trace(
        measure=_("In the working set") if in_turns else _("Retention score I·F − T·R"),
        points=points,
        least=min(0.0, *values),
        most=max(1.0, *values),
        marks=() if in_turns else ((_("leaves at"), parameters["archive_threshold"]),),
    )


def _numbered(known: Sequence[Span], parameters: Mapping[str, Any]) -> Trace | None:
    """The first number that changes."""
    for name, first in known[0].state.items():
        if isinstance(first, (int, float)) and not isinstance(first, bool):
            values = [float(span.state[name]) for span in known]
            if len(set(values)) > 1:
                return Trace(
                    measure=name,
                    points=_steps(known, itemgetter(name)),
                    least=min(0.0, *values),
                    most=max(1.0, *values),
                )
    return None


_DRAWN: Mapping[str, Callable[[Sequence[Span], Mapping[str, Any]], Trace | None]] = {
    MemoryKind.EPISODE: _episode,
    MemoryKind.COMPRESSIBLE: _compressible,
    MemoryKind.BELIEF: _belief,
    MemoryKind.BINNED: _binned,
    MemoryKind.RETAINED: _retained,
}
