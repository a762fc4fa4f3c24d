"""The state-aware log: what was said in a turn, and in what state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.dynamics import Surprise
from memory.enums import Cause, EventKind, MemoryKind
from memory.formulas import regulation
from memory.formulas.regulation import State
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.event import MemoryEvent
from memory.models.state_json import state_json

_CAMEL = {"boundary_strength": "boundaryStrength"}


def log_id(*, participant: UUID, reply: UUID) -> UUID:
    """A turn is logged once: its reply names it."""
    return uuid5(participant, f"log:{reply}")


class LoggedTurnQuerySet(TenantQuerySet["LoggedTurn"]):
    def of_participant(self, participant_id: int) -> LoggedTurnQuerySet:
        return self.filter(participant_id=participant_id).order_by("at", "pk")

    def unconsumed(self, participant_id: int) -> LoggedTurnQuerySet:
        """What no sleep has consolidated yet, oldest first."""
        return self.of_participant(participant_id).filter(consumed_by__isnull=True)

    def log(self, turn: LoggedTurn, *, now: datetime) -> None:
        """Store a turn with its event."""
        turn.save(force_insert=True)
        MemoryEvent.objects.record([turn.event(EventKind.ENCODED, None, turn.written(), now=now)])

    def note_retrieval(
        self,
        *,
        participant: UUID,
        participant_id: int,
        reply: UUID,
        brought: Iterable[UUID],
        now: datetime,
    ) -> None:
        """Note what a reply was given, before its turn is logged. Once a reply."""
        if MemoryEvent.objects.strengthened_by(reply):
            return
        event = MemoryEvent(
            participant_id=participant_id,
            event=EventKind.RECALLED,
            memory_kind=MemoryKind.LOG,
            memory_id=log_id(participant=participant, reply=reply),
            before=None,
            after={"retrieved": [str(memory) for memory in brought]},
            cause=Cause.RECALL,
            reply_id=reply,
            study_at=now,
        )
        MemoryEvent.objects.record([event])

    def retrieved_for(self, *, participant: UUID, reply: UUID) -> list[str] | None:
        """The ids of what a reply was given; None if nothing was searched for it."""
        noted = MemoryEvent.objects.of_memory(log_id(participant=participant, reply=reply))
        event = noted.filter(event=EventKind.RECALLED).first()
        return None if event is None else list((event.after or {}).get("retrieved", []))

    def consume(
        self, turns: Sequence[LoggedTurn], *, run: UUID, sampled: Collection[UUID], now: datetime
    ) -> None:
        """Mark turns as consolidated by one run, with an event each; ``sampled`` are those that
        its statistics rest on."""
        events = []
        for turn in turns:
            before = turn.fate()
            turn.consumed_by, turn.sampled = run, turn.pk in sampled
            events.append(
                turn.event(EventKind.SHIFTED, before, turn.fate(), cause=Cause.SLEEP, now=now)
            )
        self.bulk_update(turns, ["consumed_by", "sampled"])
        MemoryEvent.objects.record(events)


class LoggedTurn(Memory):
    """One turn with the state that it left behind, what was expected of it, and what it took.

    Consumed once, by one sleep; ``sampled`` then says whether that sleep's statistics count it.
    """

    at = models.DateTimeField(_("at (study time)"))
    stage_key = stage_field()
    message_ids = message_ids_field()
    said = models.TextField(_("the participant said"))
    answered = models.TextField(_("the assistant answered"))
    h_social = models.FloatField("h_social")
    h_energy = models.FloatField("h_energy")
    da = models.FloatField("da")
    ne = models.FloatField("ne")
    ht = models.FloatField("ht")
    valence = models.FloatField(_("valence"))
    offensiveness = models.FloatField(_("offensiveness"))
    boundary = models.BooleanField(_("set a boundary"))
    events = models.JSONField(_("events"), default=list)
    rpe_reward = models.FloatField(_("prediction error of reward"))
    rpe_threat = models.FloatField(_("prediction error of threat"))
    behaviour = models.JSONField(_("behaviour"), help_text=_("Eight inclinations, 0 to 1."))
    retrieval = models.BooleanField(_("memory was searched"))
    retrieved = models.JSONField(_("what was brought"), default=list)
    tools = models.JSONField(_("tools called"), default=list)
    token_out = models.PositiveIntegerField(_("tokens of the reply"))
    consumed_by = models.UUIDField(_("consolidated by"), null=True)
    sampled = models.BooleanField(_("counted by it"), null=True)

    objects = TenantManager.from_queryset(LoggedTurnQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("logged turn")
        verbose_name_plural = _("logged turns")
        ordering = ["at", "id"]
        indexes = [
            models.Index(fields=["lab", "participant", "at"], name="log_of_participant"),
            models.Index(
                fields=["lab", "participant"],
                condition=models.Q(consumed_by__isnull=True),
                name="log_unconsumed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage_key} {self.at:%Y-%m-%d %H:%M}"

    @property
    def state(self) -> State:
        return State(self.h_social, self.h_energy, self.da, self.ne, self.ht)

    @property
    def surprise(self) -> Surprise:
        return Surprise(reward=self.rpe_reward, threat=self.rpe_threat)

    def as_json(self) -> dict[str, Any]:
        """The turn in the protocol's terms."""
        behaviour = dict(self.behaviour)
        return {
            "ts": self.at.isoformat(),
            "user": self.said,
            "assistant": self.answered,
            "state": state_json(self.state),
            "behavior": {_CAMEL.get(name, name): value for name, value in behaviour.items()},
            "events": list(self.events),
            "rpe": {"reward": self.rpe_reward, "threat": self.rpe_threat},
            "toolUsage": {
                "retrieval": self.retrieval,
                "tools": list(self.tools),
                "tokenOut": self.token_out,
            },
        }

    def fate(self) -> dict[str, Any]:
        """What sleep changes, as JSON."""
        return {
            "consumed_by": self.consumed_by and str(self.consumed_by),
            "sampled": self.sampled,
        }

    def written(self) -> dict[str, Any]:
        """All of the row, as JSON."""
        return self.fate() | {
            "at": self.at.isoformat(),
            "session_number": self.session_number,
            "stage_key": self.stage_key,
            "message_ids": [str(message) for message in self.message_ids],
            "said": self.said,
            "answered": self.answered,
            **self.state._asdict(),
            "valence": self.valence,
            "offensiveness": self.offensiveness,
            "boundary": self.boundary,
            "events": list(self.events),
            "rpe_reward": self.rpe_reward,
            "rpe_threat": self.rpe_threat,
            "behaviour": dict(self.behaviour),
            "retrieval": self.retrieval,
            "retrieved": list(self.retrieved),
            "tools": list(self.tools),
            "token_out": self.token_out,
        }

    def event(
        self,
        kind: EventKind,
        before: dict[str, Any] | None,
        after: dict[str, Any],
        *,
        cause: Cause = Cause.OBSERVATION,
        now: datetime,
    ) -> MemoryEvent:
        return MemoryEvent(
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.LOG,
            memory_id=self.pk,
            before=before,
            after=after,
            cause=cause,
            session_id=self.session_id,
            study_at=now,
        )


def behaviour_of(state: State) -> dict[str, float]:
    """The eight inclinations of a state, by name."""
    return asdict(regulation.behaviour(state=state))
