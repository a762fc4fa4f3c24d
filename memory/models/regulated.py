"""The state of one participant's homeostatic memory: anchored values, read at any time."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from memory.dynamics import Dynamics, Effort, Surprise, hours_between, surprise_of
from memory.enums import Cause, EventKind, MemoryKind
from memory.formulas import homeostasis, regulation
from memory.formulas.homeostasis import Slow
from memory.formulas.regulation import Appraisal, State
from memory.models.event import MemoryEvent


class RegulatedStateQuerySet(TenantQuerySet["RegulatedState"]):
    def of_participant(self, participant_id: int) -> RegulatedState | None:
        return self.filter(participant_id=participant_id).first()

    def locked(self, participant_id: int) -> RegulatedState | None:
        """The row, kept from other writers until the transaction ends."""
        return self.filter(participant_id=participant_id).select_for_update().first()

    def begin(
        self, *, participant_id: int, participant: UUID, dynamics: Dynamics, now: datetime
    ) -> RegulatedState:
        """The locked row, made with its event at the first turn of all."""
        row = self.locked(participant_id)
        if row is not None:
            return row
        row = RegulatedState(
            id=uuid5(participant, "homeostasis"),
            participant_id=participant_id,
            anchor=now,
            **dynamics.start._asdict(),
        )
        row.save(force_insert=True)
        event = row.event(EventKind.ENCODED, None, cause=Cause.OBSERVATION, now=now)
        MemoryEvent.objects.record([event])
        return row


class RegulatedState(TenantModel):
    """The five variables at ``anchor``, what is expected of a turn, and the slow variables.

    Between two changes the variables drift by formula, so nothing is written while time passes.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    participant = models.ForeignKey(
        "experiments.Participant",
        models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("participant"),
    )
    anchor = models.DateTimeField(_("as of (study time)"))
    h_social = models.FloatField("h_social")
    h_energy = models.FloatField("h_energy")
    da = models.FloatField("da")
    ne = models.FloatField("ne")
    ht = models.FloatField("ht")
    expected_reward = models.FloatField(_("expected reward"), default=0.0)
    expected_threat = models.FloatField(_("expected threat"), default=0.0)
    mu_reward = models.FloatField(_("slow variable of reward"), default=0.0)
    mu_threat = models.FloatField(_("slow variable of threat"), default=0.0)
    opposed_reward = models.PositiveIntegerField(_("runs in a row against it (reward)"), default=0)
    opposed_threat = models.PositiveIntegerField(_("runs in a row against it (threat)"), default=0)
    low_impact_turns = models.PositiveIntegerField(_("turns of low impact so far"), default=0)
    last_slept_at = models.DateTimeField(_("last slept (study time)"), null=True)

    objects = TenantManager.from_queryset(RegulatedStateQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("state of a homeostatic memory")
        verbose_name_plural = _("states of homeostatic memories")
        ordering = ["participant"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "participant"], name="one_state_a_participant")
        ]

    def __str__(self) -> str:
        return f"{self.anchor:%Y-%m-%d %H:%M}"

    def anchored(self) -> State:
        return State(self.h_social, self.h_energy, self.da, self.ne, self.ht)

    def at(self, now: datetime, dynamics: Dynamics) -> State:
        """The state at ``now``, drifted from its anchor; changes nothing."""
        return regulation.drifted(
            state=self.anchored(),
            hours=hours_between(self.anchor, now),
            baselines=dynamics.baselines(self.mu_reward, self.mu_threat),
            half_lives=dynamics.half_lives,
        )

    def surprise(self, appraisal: Appraisal) -> Surprise:
        """How far a turn differs from what is expected; changes nothing."""
        return surprise_of(appraisal, self.expected_reward, self.expected_threat)

    def stimulate(
        self,
        appraisal: Appraisal,
        effort: Effort,
        *,
        dynamics: Dynamics,
        now: datetime,
        reply: UUID,
        session: UUID | None,
    ) -> Surprise:
        """Take a turn in, with the event: the state moves, and expectations learn."""
        before, felt = self.snapshot(), self.surprise(appraisal)
        present = self.at(now, dynamics)
        change = dynamics.change(
            appraisal=appraisal, before=present, effort=effort, seed=f"{self.pk}:{reply}"
        )
        self._anchor(regulation.stimulated(state=present, change=change), now)
        self.expected_reward = homeostasis.expectation(
            expected=self.expected_reward, error=felt.reward, alpha=dynamics.alpha_reward
        )
        self.expected_threat = homeostasis.expectation(
            expected=self.expected_threat, error=felt.threat, alpha=dynamics.alpha_threat
        )
        event = self.event(EventKind.MOVED, before, cause=Cause.OBSERVATION, now=now)
        event.reply_id, event.session_id = reply, session
        self._store(event)
        return felt

    def shift(
        self,
        *,
        mean_reward: float | None,
        mean_threat: float | None,
        low_impact: int,
        dynamics: Dynamics,
        now: datetime,
        run: UUID,
    ) -> None:
        """One sleep's effect on the slow variables, with the event.

        Means are None if the run kept no turn: then it is no evidence, for or against. The state
        is anchored first, for from now on it drifts towards other baselines.
        """
        before = self.snapshot()
        self._anchor(self.at(now, dynamics), now)
        if mean_reward is not None and mean_threat is not None:
            reward = self._shifted(
                Slow(mu=self.mu_reward, opposed=self.opposed_reward), mean_reward, dynamics
            )
            threat = self._shifted(
                Slow(mu=self.mu_threat, opposed=self.opposed_threat), mean_threat, dynamics
            )
            self.mu_reward, self.opposed_reward = reward.mu, reward.opposed
            self.mu_threat, self.opposed_threat = threat.mu, threat.opposed
        self.low_impact_turns += low_impact
        self.last_slept_at = now
        event = self.event(EventKind.SHIFTED, before, cause=Cause.SLEEP, now=now)
        event.note = {"run": str(run)}
        self._store(event)

    def _shifted(self, slow: Slow, target: float, dynamics: Dynamics) -> Slow:
        return homeostasis.shifted(
            slow=slow,
            target=target,
            limit=dynamics.slow_limit,
            patience=dynamics.extinction_runs,
            extinction=dynamics.extinction_rate,
        )

    def _anchor(self, state: State, now: datetime) -> None:
        for name, value in state._asdict().items():
            setattr(self, name, value)
        self.anchor = max(self.anchor, now)

    def _store(self, event: MemoryEvent) -> None:
        self.save()
        MemoryEvent.objects.record([event])

    def snapshot(self) -> dict[str, Any]:
        """All of the row, as JSON."""
        return {
            "anchor": self.anchor.isoformat(),
            **self.anchored()._asdict(),
            "expected_reward": self.expected_reward,
            "expected_threat": self.expected_threat,
            "mu_reward": self.mu_reward,
            "mu_threat": self.mu_threat,
            "opposed_reward": self.opposed_reward,
            "opposed_threat": self.opposed_threat,
            "low_impact_turns": self.low_impact_turns,
            "last_slept_at": self.last_slept_at and self.last_slept_at.isoformat(),
        }

    def event(
        self, kind: EventKind, before: dict[str, Any] | None, *, cause: Cause, now: datetime
    ) -> MemoryEvent:
        """The event of what has just changed; ``before`` is the snapshot from before it."""
        return MemoryEvent(
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.SLOW,
            memory_id=self.pk,
            before=before,
            after=self.snapshot(),
            cause=cause,
            study_at=now,
        )
