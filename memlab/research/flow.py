"""How people flow through a study, as CONSORT reports it: who came, who left where and why.

Loaded in five queries, counted in memory; test runs are counted apart. Whoever is blinded gets the
same counts without arms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from experiments.configuration import StageConfiguration
from experiments.enums import Exclusion, Lost, ParticipantState, SessionState, WithdrawalKind
from experiments.models import (
    Allocation,
    Participant,
    Session,
    Study,
    WindowMark,
    Withdrawal,
)

TURNED_AWAY = frozenset(
    {ParticipantState.INELIGIBLE, ParticipantState.SCREENED_OUT, ParticipantState.DECLINED}
)
DONE = frozenset({SessionState.ENDED, SessionState.COMPLETE})
#: States in which a stage that was never begun won't be begun any more.
OVER = frozenset({ParticipantState.COMPLETE, ParticipantState.DROPPED_OUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What the flow has to know of a participant. ``sessions`` maps a stage's key to its state,
    ``lost`` those of stages whose window went by to how; ``withdrawals`` are kinds."""

    state: ParticipantState
    exclusion: str
    consented: bool
    test_mode: bool
    arm: str | None
    sessions: Mapping[str, SessionState]
    lost: Mapping[str, str]
    withdrawals: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One count; ``depth`` 1 breaks the line above it down. ``share`` is of those who consented. A
    ``reason`` that nobody had needn't be shown."""

    key: str
    title: str
    count: int
    depth: int = 0
    reason: bool = False
    share: float | None = None


def people_of(study: Study) -> list[Person]:
    """Everybody who ever came to the study, inside a lab's scope."""
    sessions: dict[int, dict[str, SessionState]] = {}
    found = Session.objects.filter(participant__study=study).order_by()
    for whose, stage, state in found.values_list("participant_id", "stage_key", "state"):
        sessions.setdefault(whose, {})[stage] = SessionState(state)
    arms: dict[int, str] = dict(
        Allocation.objects.filter(participant__study=study)
        .order_by()
        .values_list("participant_id", "arm_key")
    )
    lost: dict[int, dict[str, str]] = {}
    marks = WindowMark.objects.filter(participant__study=study, lifted_by=None).order_by()
    for whose, stage, how in marks.values_list("participant_id", "stage_key", "lost"):
        lost.setdefault(whose, {})[stage] = how
    withdrawals: dict[int, list[str]] = {}
    wishes = Withdrawal.objects.filter(participant__study=study).order_by("requested_wall")
    for whose, kind in wishes.values_list("participant_id", "kind"):
        withdrawals.setdefault(whose, []).append(kind)
    rows: Iterable[Any] = Participant.objects.filter(study=study).order_by("pk")
    return [
        Person(
            state=ParticipantState(row.state),
            exclusion=row.exclusion,
            consented=row.consented_at is not None,
            test_mode=row.test_mode,
            arm=arms.get(row.pk),
            sessions=sessions.get(row.pk, {}),
            lost=lost.get(row.pk, {}),
            withdrawals=tuple(withdrawals.get(row.pk, ())),
        )
        for row in rows
    ]


def flow(people: Sequence[Person], stages: Sequence[StageConfiguration]) -> list[Line]:
    """The lines of the flow, from the door to the analysis. The same lines for whatever people."""
    consented = [person for person in people if person.consented]
    ordered = sorted(stages, key=lambda stage: stage.number)
    return [
        Line(key="entered", title=_("Came"), count=len(people)),
        *_turned_away(people),
        Line(
            key="entering",
            title=_("Still entering, or gone before consent"),
            count=sum(person.state == ParticipantState.INVITED for person in people),
        ),
        Line(key="consented", title=_("Consented"), count=len(consented)),
        Line(
            key="allocated",
            title=_("Allocated to an arm"),
            count=sum(person.arm is not None for person in people),
        ),
        *(line for stage in ordered for line in _stage(stage, ordered, consented)),
        *_ends(people, ordered),
    ]


def _turned_away(people: Sequence[Person]) -> list[Line]:
    away = [person for person in people if person.state in TURNED_AWAY]
    reasons = [
        Line(
            key=f"excluded_{reason}",
            title=str(Exclusion(reason).label),
            count=sum(person.exclusion == reason for person in away),
            depth=1,
            reason=True,
        )
        for reason in Exclusion.values
    ]
    return [Line(key="excluded", title=_("Excluded or declined"), count=len(away)), *reasons]


def _stage(
    stage: StageConfiguration, stages: Sequence[StageConfiguration], consented: Sequence[Person]
) -> list[Line]:
    states = [person.sessions.get(stage.key) for person in consented]
    later = {other.key for other in stages if other.number > stage.number}
    missed = sum(
        stage.key not in person.sessions
        and (stage.key in person.lost or bool(later & set(person.sessions)) or person.state in OVER)
        for person in consented
    )
    lapsed = sum(
        person.sessions.get(stage.key) == SessionState.EXPIRED
        or (person.lost.get(stage.key) == Lost.LAPSED and stage.key in person.sessions)
        for person in consented
    )
    done = sum(state in DONE for state in states)
    under_way = sum(state in (SessionState.OPEN, SessionState.CLOSING) for state in states)

    def line(what: str, title: str, count: int, **more: Any) -> Line:
        return Line(key=f"{stage.key}_{what}", title=title, count=count, depth=1, **more)

    return [
        Line(
            key=stage.key,
            title=_("%(key)s · %(title)s: started") % {"key": stage.key, "title": stage.title},
            count=sum(state is not None for state in states),
        ),
        line(
            "done",
            _("talked to the end"),
            done,
            share=done / len(consented) if consented else None,
        ),
        line("under_way", _("under way"), under_way),
        line("lapsed", _("started, not finished in time"), lapsed),
        line("missed", _("missed"), missed),
    ]


def _ends(people: Sequence[Person], stages: Sequence[StageConfiguration]) -> list[Line]:
    every = {stage.key for stage in stages}

    def of_state(key: str, title: str, state: ParticipantState) -> Line:
        return Line(key=key, title=title, count=sum(person.state == state for person in people))

    per_protocol = sum(
        person.arm is not None
        and bool(every)
        and {key for key, state in person.sessions.items() if state in DONE} >= every
        for person in people
    )
    return [
        Line(
            key="withdrawn",
            title=_("Withdrawn"),
            count=sum(
                person.state == ParticipantState.WITHDRAWN or bool(person.withdrawals)
                for person in people
            ),
        ),
        *(
            Line(
                key=f"withdrawn_{kind}",
                title=str(WithdrawalKind(kind).label),
                count=sum(person.withdrawals[-1:] == (kind,) for person in people),
                depth=1,
                reason=True,
            )
            for kind in WithdrawalKind.values
        ),
        of_state("dropped", _("Dropped out"), ParticipantState.DROPPED_OUT),
        of_state("complete", _("Complete"), ParticipantState.COMPLETE),
        Line(
            key="itt",
            title=_("Analysed as allocated (intention to treat)"),
            count=sum(person.arm is not None for person in people),
        ),
        Line(
            key="per_protocol",
            title=_("Analysed per protocol (every conversation to its end)"),
            count=per_protocol,
        ),
    ]
