"""The database side of making a reply: claim, heartbeat, store, fail. One transaction each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from chat import conversation, sessions, steps, upkeep
from chat.conversation import Said, SessionRef, over_frame, stamp, timer_frame
from chat.memories import kind_of
from chat.models import Message, Receipt, Reply, ReplyState
from chat.models.reply import LEASE, MAX_ATTEMPTS
from chat.safety import card, events
from chat.tool_loop import CallMade
from chat.transcripts import transcript_until
from experiments.configuration import ArmConfiguration, StageConfiguration, StudyConfiguration
from experiments.enums import Closed, DeviationKind, SessionState
from experiments.models import Deviation, Session
from memlab.core.due import Due, DueKind
from memlab.core.lease import ParticipantLease
from memlab.core.ledger import Job, JobKind
from memlab.core.llm.base import Completion, FailureKind, ModelFailure, Tool, Usage
from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, Prompt, Recall, Transcript, Utterance
from memory.architectures.base import Architecture, Effects

Frame = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One attempt's right to make a reply, and everything it is made from.

    ``asked_wall`` is when the question was stored. ``begun`` is when this process began to look
    after it (``time.monotonic()`` seconds): pacing counts from there, for what storing and claiming
    take differs between arms. ``arm`` is None in a stage without
    manipulation, whatever has been allocated. ``turnstile`` is the first look for memory, taken
    along in the same transaction; None if it has to be waited for.
    """

    lab_id: int
    session: UUID
    reply: UUID
    seq: int
    attempt: int
    participant_id: int
    participant: UUID
    configuration: StudyConfiguration
    stage: StageConfiguration
    arm: ArmConfiguration | None
    question: Utterance
    asked_wall: datetime
    begun: float = field(default_factory=time.monotonic)
    transcript: Transcript
    turnstile: steps.Turnstile | None = None

    @property
    def maintained(self) -> datetime | None:
        """Up to when time must have been at work on this memory before the question is answered."""
        return _maintained(self.arm, self.question.at)


def _maintained(arm: ArmConfiguration | None, at: datetime) -> datetime | None:
    return at if arm is not None and kind_of(arm).maintains else None


def next_pending(lab_id: int, session: UUID) -> UUID | None:
    """The first unsettled reply of a session."""
    # In SQL, for it follows every turn, and the ORM takes longer than the database.
    with lab_scope(lab_id), connection.cursor() as cursor:
        cursor.execute(_NEXT_PENDING, [lab_id, session, ReplyState.PENDING.value])
        found = cursor.fetchone()
        return None if found is None else found[0]


_NEXT_PENDING = """
    SELECT reply.id
      FROM chat_reply AS reply JOIN chat_message AS message ON message.id = reply.message_id
     WHERE reply.lab_id = %s AND reply.session_id = %s AND reply.state = %s
     ORDER BY message.seq
     LIMIT 1
"""


def session_of(lab_id: int, reply: UUID) -> UUID | None:
    """The session of a pending reply; a due row without one is removed."""
    with lab_scope(lab_id):
        pending = Reply.objects.filter(lab_id=lab_id, pk=reply, state=ReplyState.PENDING)
        session = pending.values_list("session_id", flat=True).first()
        if session is None:
            Due.objects.settle(lab_id=lab_id, kind=DueKind.REPLY, subject=reply)
        return session


def claim(lab_id: int, reply_id: UUID, *, wall: datetime) -> Claim | None:
    """Start a new attempt, or None: it is settled, leased to somebody, or waits its turn.

    A reply whose attempts died MAX_ATTEMPTS times is failed, so that one poisoned message can't
    take down worker after worker.
    """
    begun = time.monotonic()
    with lab_scope(lab_id):
        locked = _locked(lab_id, reply_id)
        if locked is None or locked[0].state != ReplyState.PENDING:
            Due.objects.settle(lab_id=lab_id, kind=DueKind.REPLY, subject=reply_id)
            return None
        reply, session = locked
        earlier = Reply.objects.pending().filter(
            session=session, message__seq__lt=reply.message.seq
        )
        if reply.leased(wall) or earlier.exists():
            reply.plan(wall=reply.lease_until or wall + LEASE)
            return None
        if reply.deaths + reply.died() >= MAX_ATTEMPTS:
            reply.abandon()
            sessions.settle(session)
            return None
        reply.take(wall=wall)
        return _held(session, reply, begun=begun)


def say(
    reference: SessionRef, *, client_id: UUID, text: str, wall: datetime
) -> tuple[Said, Claim | None]:
    """Store a message and begin its reply in the same transaction, which saves the first token the
    time of another. No claim if the message was stored before, or its reply has to wait its turn.
    Raises Refused, NoSuchSession."""
    begun = time.monotonic()
    with lab_scope(reference.lab_id):
        stored = conversation.store(reference, client_id=client_id, text=text, wall=wall, hold=True)
        if not stored.held:
            return stored.said, None
        return stored.said, _held(stored.session, stored.reply, begun=begun)


def _held(session: Session, reply: Reply, *, begun: float) -> Claim:
    """Everything that the attempt which holds a reply needs; takes the memory's lease along."""
    question, participant = reply.question, session.participant
    said = question.utterance()
    arm = session.arm()
    return Claim(
        lab_id=session.lab_id,
        session=session.id,
        reply=reply.id,
        seq=reply.message.seq,
        attempt=reply.attempt,
        participant_id=session.participant_id,
        participant=participant.public_id,
        configuration=session.version.configuration,
        stage=session.stage,
        arm=arm,
        question=said,
        asked_wall=question.recorded_at,
        begun=begun,
        transcript=replace(transcript_until(session, before_seq=question.seq), question=said),
        turnstile=steps.look_for_memory(
            session.lab_id,
            participant.public_id,
            steps.PATIENCE,
            maintained=_maintained(arm, said.at),
        ),
    )


def heartbeat(claim: Claim, *, wall: datetime) -> bool:
    """Hold on to the attempt. False if it was taken over: stop.

    An attempt that has just settled its reply is still its own; nothing is left to hold then.
    """
    with lab_scope(claim.lab_id):
        mine = Reply.objects.filter(pk=claim.reply, attempt=claim.attempt)
        if mine.filter(state=ReplyState.PENDING).update(lease_until=wall + LEASE):
            Due.objects.filter(kind=DueKind.REPLY, subject=claim.reply).update(wall_at=wall + LEASE)
            return True
        return mine.exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A finished reply with all that its receipt keeps, and what its tool calls have staged.

    ``prompt`` is the first round's, ``completion`` the last one's. ``fell_back`` is how the talking
    model failed if its fallback made the reply, which ``provider`` and ``completion`` then name.
    """

    text: str
    prompt: Prompt
    offered: Sequence[Tool]
    completion: Completion
    usage: Usage
    provider: str
    fell_back: FailureKind | None
    recall: Recall | None
    near_misses: tuple[MemoryReading, ...]
    degraded: tuple[str, ...]
    tries: int
    rounds: int
    calls: Sequence[CallMade]
    effects: Effects
    timings: Mapping[str, float]


def store(
    claim: Claim,
    made: Made,
    architecture: Architecture | None,
    *,
    holder: UUID | None,
    wall: datetime,
) -> list[Frame] | None:
    """Store reply, receipt, strengthened memories and the pending observe, all or nothing.

    Returns the frames for the tabs, or None if the attempt was fenced off.
    """
    with lab_scope(claim.lab_id):
        ours = _still_ours(claim)
        if ours is None:
            return None
        reply, session = ours
        if holder is not None and not ParticipantLease.objects.still_held(
            participant=claim.participant, holder=holder
        ):
            return None
        now = session.participant.study_time(wall)
        _store_message(reply.message, made.text, at=now, wall=wall)
        reply.succeed()
        _write_receipt(reply, claim, made)
        if made.degraded:
            _note(DeviationKind.DEGRADED_TURN, session, claim, reasons=list(made.degraded))
        _note_fallback(session, claim, made.fell_back, answered=True)
        if architecture is not None and made.recall is not None:
            architecture.commit_recall(
                made.recall, made.recall.at, reply=reply.id, effects=made.effects
            )
            upkeep.plan(architecture)
            if architecture.observes_live():
                _plan_observe(claim, session, now)
        session.turns += 1
        session.last_activity_at = now
        session.save(update_fields=["turns", "last_activity_at"])
        _move_on(session, now=now)
        noticed = events.look_at(reply.message, session, wall=wall)
        frames: list[Frame] = [
            {
                "type": "reply",
                "seq": claim.seq,
                "attempt": claim.attempt,
                "text": made.text,
                "at": stamp(now),
            },
            timer_frame(session, now=now),
            *(noticed or card.frames(session)),
        ]
        return _with_end(frames, session)


def fail(
    claim: Claim,
    failure: ModelFailure,
    *,
    fell_back: FailureKind | None = None,
    wall: datetime,
) -> list[Frame] | None:
    """Store a failed attempt and its partial text; the frames, or None if it was fenced off.

    ``fell_back`` is how the talking model failed if the failure is its fallback's.
    """
    with lab_scope(claim.lab_id):
        ours = _still_ours(claim)
        if ours is None:
            return None
        reply, session = ours
        later = Message.objects.filter(session=session, seq__gt=claim.seq).exists()
        retryable = (
            failure.kind != FailureKind.CONTENT_FILTER
            and session.state == SessionState.OPEN
            and not later
        )
        reply.fail(
            failure.kind, detail=failure.detail, partial=failure.partial, retryable=retryable
        )
        _note_fallback(session, claim, fell_back, answered=False)
        noticed: tuple[Frame, ...] = ()
        if failure.kind == FailureKind.CONTENT_FILTER:
            noticed = events.filtered(reply.question, session, wall=wall)
        return _failed(claim, session, retryable=retryable, noticed=noticed)


def give_back(claim: Claim, *, wall: datetime) -> list[Frame] | None:
    """Let another attempt follow soon after a fault of ours. The frames, if this was the last that
    may be made and the reply has failed; else None."""
    with lab_scope(claim.lab_id):
        ours = _still_ours(claim)
        if ours is None:
            return None
        reply, session = ours
        if reply.give_back(wall=wall):
            return None
        reply.abandon()
        return _failed(claim, session, retryable=False)


def _failed(
    claim: Claim, session: Session, *, retryable: bool, noticed: tuple[Frame, ...] = ()
) -> list[Frame]:
    sessions.settle(session)
    frame: Frame = {
        "type": "failed",
        "seq": claim.seq,
        "attempt": claim.attempt,
        "retryable": retryable,
    }
    return _with_end([frame, *noticed], session)


def _still_ours(claim: Claim) -> tuple[Reply, Session] | None:
    """The claimed reply and its session, locked, or None if the attempt was fenced off."""
    locked = _locked(claim.lab_id, claim.reply)
    if locked is None:
        return None
    reply = locked[0]
    pending = reply.state == ReplyState.PENDING and reply.attempt == claim.attempt
    return locked if pending else None


def _locked(lab_id: int, reply_id: UUID) -> tuple[Reply, Session] | None:
    """The reply and its session with both row locks, the session's first as everywhere; None if
    this lab has no such reply."""
    session = (
        Session.objects.with_study()
        .select_for_update(of=("self",))
        .filter(lab_id=lab_id, replies=reply_id)
        .order_by("pk")  # without the joins of the default order
        .first()
    )
    if session is None:
        return None
    reply = Reply.objects.select_related("message").select_for_update(of=("self",)).get(pk=reply_id)
    return reply, session


def _store_message(message: Message, text: str, *, at: datetime, wall: datetime) -> None:
    message.text, message.at, message.recorded_at = text, at, wall
    message.save(update_fields=["text", "at", "recorded_at"])


def _write_receipt(reply: Reply, claim: Claim, made: Made) -> None:
    recalled = () if made.recall is None else made.recall.memories
    Receipt.objects.create(
        reply=reply,
        attempt=claim.attempt,
        architecture="" if claim.arm is None else claim.arm.architecture,
        prompt=_prompt_as_json(made),
        sections=[
            {"key": section.key, "title": section.title, "lines": list(section.lines)}
            for section in made.prompt.sections
        ],
        recalled=[reading_as_json(reading) for reading in recalled],
        near_misses=[reading_as_json(reading) for reading in made.near_misses],
        degraded=list(made.degraded),
        provider=made.provider,
        fallback_after=made.fell_back or "",
        model=made.completion.model,
        request_id=made.completion.request_id or "",
        finish_reason=made.completion.finish_reason,
        prompt_tokens=made.usage.prompt_tokens,
        completion_tokens=made.usage.completion_tokens,
        tries=made.tries,
        rounds=made.rounds,
        tools=[call.as_json() for call in made.calls],
        timings={name: round(value, 2) for name, value in made.timings.items()},
    )


def _note_fallback(
    session: Session, claim: Claim, after: FailureKind | None, *, answered: bool
) -> None:
    """Another model than the study's was asked. It counts where it failed as well: it was sent
    what the participant wrote, and may have said a part."""
    fallback = claim.configuration.fallback
    if after is None or fallback is None:
        return
    _note(
        DeviationKind.MODEL_FALLBACK,
        session,
        claim,
        attempt=claim.attempt,
        failure=str(after),
        provider=fallback.provider,
        model=fallback.model,
        answered=answered,
    )


def _note(kind: DeviationKind, session: Session, claim: Claim, **details: Any) -> None:
    """A turn that went otherwise than its study says is flagged in the study's log as well."""
    Deviation.objects.record(
        kind,
        study=session.participant.study_id,
        participant=session.participant,
        session=session,
        turn=claim.seq,
        **details,
    )


def _prompt_as_json(made: Made) -> dict[str, Any]:
    """The exact prompt, with the tools that were offered with it, if any were."""
    prompt: dict[str, Any] = {
        "system": made.prompt.system,
        "messages": [
            {"role": str(message.speaker), "content": message.content}
            for message in made.prompt.messages
        ],
    }
    if made.offered:
        prompt["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            }
            for tool in made.offered
        ]
    return prompt


def reading_as_json(reading: MemoryReading) -> dict[str, Any]:
    """A line of a receipt, as JSON."""
    line = {name: getattr(reading, name) for name in MemoryReading.__slots__}
    line["id"] = str(reading.id)
    line["message_ids"] = [str(each) for each in reading.message_ids]
    return line


def _plan_observe(claim: Claim, session: Session, now: datetime) -> None:
    Job.objects.enqueue(
        lab_id=claim.lab_id,
        kind=JobKind.OBSERVE,
        participant=claim.participant,
        subject=claim.reply,
        study_at=now,
    )
    sessions.plan_steps(session.participant)


def _move_on(session: Session, *, now: datetime) -> None:
    """Close after the last turn, settle what is closing, or put idleness off."""
    maximum = session.stage.maximum_turns
    if session.state == SessionState.CLOSING:
        sessions.settle(session)
    elif maximum is not None and session.turns >= maximum:
        sessions.close(session, Closed.TURNS, at=now)
    else:
        sessions.plan_closing(session)


def _with_end(frames: list[Frame], session: Session) -> list[Frame]:
    over = over_frame(session)
    return frames if over is None else [*frames, over]
