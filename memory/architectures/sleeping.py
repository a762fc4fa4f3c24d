"""Sleep of a homeostatic memory: consuming its log, settling its items, shifting its baselines.

Synchronous, inside a scope: everything that sleep does follows from rows, and no model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max, Min

from memory.dynamics import Dynamics, hours_between
from memory.enums import SleepTrigger
from memory.formulas.regulation import State
from memory.models import BinnedItem, LoggedTurn, RegulatedState, SleepRun
from memory.models.sleep import sleep_id
from memory.sleep import Logged, Rhythm, Statistics, Waiting, next_sleep, statistics
from memory.weighing import Weighing


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeper:
    """One participant's sleep, under the parameters of their arm."""

    participant_id: int
    participant: UUID
    dynamics: Dynamics
    rhythm: Rhythm
    weighing: Weighing
    time_zone: str

    def next_due(self) -> datetime | None:
        """When time alone next changes this memory: by a sleep, or by an item's expiry."""
        sleep, expiry = self._next_sleep(), self._next_expiry()
        moments = [expiry, None if sleep is None else sleep[0]]
        return min((moment for moment in moments if moment is not None), default=None)

    def catch_up(self, now: datetime) -> dict[str, int]:
        """Every moment missed up to ``now``, in order and each at its own study time; counts."""
        # Whoever comes second waits here, and then finds nothing left to do.
        RegulatedState.objects.locked(self.participant_id)
        done = {"sleep": 0, "expired": 0}
        while True:
            sleep, expiry = self._next_sleep(), self._next_expiry()
            if expiry is not None and expiry <= now and (sleep is None or expiry < sleep[0]):
                done["expired"] += BinnedItem.objects.expire(
                    participant_id=self.participant_id, now=expiry
                )
            elif sleep is not None and sleep[0] <= now:
                done["sleep"] += self.sleep(*sleep)
            else:
                return {name: count for name, count in done.items() if count}

    def sleep(self, now: datetime, trigger: SleepTrigger) -> int:
        """Consume what the log holds up to ``now``; 1, or 0 if there is nothing to consume: then
        nothing changes and nothing is counted."""
        state = RegulatedState.objects.locked(self.participant_id)
        turns = list(LoggedTurn.objects.unconsumed(self.participant_id).filter(at__lte=now))
        if state is None or not turns:
            return 0
        run = sleep_id(participant=self.participant, first_turn=turns[0].pk)
        found = statistics(
            [Logged(at=turn.at, surprise=turn.surprise) for turn in turns],
            until=now,
            low_impact_before=state.low_impact_turns,
            rhythm=self.rhythm,
        )
        self._settle(turns, state.at(now, self.dynamics), run=run, now=now)
        sampled = {turns[place].pk for place in found.kept}
        LoggedTurn.objects.consume(turns, run=run, sampled=sampled, now=now)
        state.shift(
            mean_reward=found.mean_reward,
            mean_threat=found.mean_threat,
            low_impact=found.low_impact,
            dynamics=self.dynamics,
            now=now,
            run=run,
        )
        self._record(run, found, len(turns), state, now=now, trigger=trigger)
        return 1

    def _settle(
        self, turns: Sequence[LoggedTurn], present: State, *, run: UUID, now: datetime
    ) -> None:
        """Weigh the items of these turns again, now that the memory sleeps on them."""
        items = BinnedItem.objects.filter(
            participant_id=self.participant_id, log_id__in=[turn.pk for turn in turns]
        ).defer("vector", "vector_in_context")
        importances = {
            item.pk: self.weighing.importance(
                error=item.rpe,
                match=self.dynamics.match(item.state, present),
                age_hours=hours_between(item.at, now),
            )
            for item in items
        }
        BinnedItem.objects.settle(importances, run=run, now=now)

    def _record(
        self,
        run: UUID,
        found: Statistics,
        turns: int,
        state: RegulatedState,
        *,
        now: datetime,
        trigger: SleepTrigger,
    ) -> None:
        SleepRun.objects.create(
            id=run,
            participant_id=self.participant_id,
            at=now,
            trigger=trigger,
            turns=turns,
            kept=len(found.kept),
            mean_reward=found.mean_reward,
            mean_threat=found.mean_threat,
            peak_reward=found.peak_reward,
            peak_threat=found.peak_threat,
            high_impact_seconds=found.high_impact_seconds,
            mu_reward=state.mu_reward,
            mu_threat=state.mu_threat,
        )

    def _next_sleep(self) -> tuple[datetime, SleepTrigger] | None:
        times = LoggedTurn.objects.unconsumed(self.participant_id).aggregate(
            first=Min("at"), last=Max("at")
        )
        if times["first"] is None:
            return None
        state = RegulatedState.objects.of_participant(self.participant_id)
        assert state is not None, "A turn is logged with the state that it leaves."
        return next_sleep(
            Waiting(**times, slept=state.last_slept_at),
            rhythm=self.rhythm,
            time_zone=self.time_zone,
        )

    def _next_expiry(self) -> datetime | None:
        expiring = BinnedItem.objects.filter(
            participant_id=self.participant_id, expires_at__isnull=False
        )
        return expiring.order_by("expires_at").values_list("expires_at", flat=True).first()
