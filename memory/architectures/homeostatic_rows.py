"""The rows that an observed turn becomes: a line of the log, and items of the bins. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from numpy import float32
from numpy.typing import NDArray

from memlab.core.values import Turn
from memory.appraisal import Appraised, ExtractedItem
from memory.dynamics import Effort, Surprise, digits, hours_between
from memory.enums import Bin, EventTag
from memory.formulas.regulation import State
from memory.models import BinnedItem, LoggedTurn
from memory.models.binned import item_id
from memory.models.profile import normalised
from memory.models.turn_log import behaviour_of, log_id
from memory.weighing import Weighing
from memory.words import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What one turn was found to be and to tell, before it is written.

    ``vectors`` are those of the items' texts; ``in_context`` those of the items together with the
    message that they come from, where the ranking needs them.
    """

    appraised: Appraised
    items: tuple[ExtractedItem, ...]
    vectors: Sequence[NDArray[float32]]
    in_context: Sequence[NDArray[float32] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMaker:
    """Makes the rows of one turn of one participant."""

    lab_id: int
    participant_id: int
    participant: UUID
    session: UUID
    turn: Turn

    def logged(
        self,
        appraised: Appraised,
        *,
        felt: Surprise,
        state: State,
        effort: Effort,
        retrieved: list[str] | None,
        high_impact: float,
        now: datetime,
    ) -> LoggedTurn:
        """``state`` is the one that the turn leaves behind; ``retrieved`` is None if nothing was
        searched for its reply."""
        appraisal, turn = appraised.appraisal, self.turn
        surprising = [EventTag.HIGH_SURPRISE] if felt.magnitude > high_impact else []
        return LoggedTurn(
            id=log_id(participant=self.participant, reply=turn.answered.id),
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            session_id=self.session,
            session_number=turn.session_number,
            stage_key=turn.stage,
            at=now,
            message_ids=[turn.said.id, turn.answered.id],
            said=turn.said.text,
            answered=turn.answered.text,
            **state._asdict(),
            valence=appraisal.valence,
            offensiveness=appraisal.offensiveness,
            boundary=appraisal.boundary,
            events=[tag.value for tag in (*appraised.events, *surprising)],
            rpe_reward=felt.reward,
            rpe_threat=felt.threat,
            behaviour=behaviour_of(state),
            retrieval=retrieved is not None,
            retrieved=retrieved or [],
            tools=[],
            token_out=effort.tokens,
        )

    def binned(
        self,
        encoded: Encoded,
        log: LoggedTurn,
        *,
        weighing: Weighing,
        style_days: float,
        embedder: str,
        now: datetime,
    ) -> list[BinnedItem]:
        """An item's importance is that of its moment until a sleep settles it: the state matches
        itself, and its age is the time since its message."""
        return [
            self._item(item, vector, context, log, weighing, style_days, embedder, now)
            for item, vector, context in zip(
                encoded.items, encoded.vectors, encoded.in_context, strict=True
            )
        ]

    def _item(
        self,
        item: ExtractedItem,
        vector: NDArray[float32],
        context: NDArray[float32] | None,
        log: LoggedTurn,
        weighing: Weighing,
        style_days: float,
        embedder: str,
        now: datetime,
    ) -> BinnedItem:
        turn = self.turn
        source = turn.answered if item.bin is Bin.STYLE else turn.said
        same, rpe = normalised(item.text), log.surprise.rpe
        return BinnedItem(
            id=item_id(
                participant=self.participant,
                bin_=item.bin,
                normalised_text=same,
                reply=turn.answered.id,
            ),
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            session_id=self.session,
            session_number=turn.session_number,
            stage_key=turn.stage,
            bin=item.bin,
            text=item.text,
            normalised=same,
            at=source.at,
            importance=weighing.importance(
                error=rpe, match=1.0, age_hours=hours_between(source.at, now)
            ),
            **digits(log.state)._asdict(),
            rpe=rpe,
            log_id=log.pk,
            expires_at=source.at + timedelta(days=style_days) if item.bin is Bin.STYLE else None,
            embedder=embedder,
            vector=vector,
            vector_in_context=context,
            words=list(words(item.text)),
            words_in_context=list(words(in_context(item, turn))) if context is not None else [],
            message_ids=[item.message],
        )


def in_context(item: ExtractedItem, turn: Turn) -> str:
    """An item together with the message that it comes from."""
    source = turn.answered if item.bin is Bin.STYLE else turn.said
    return f"{source.text}\n{item.text}"
