"""What each kind of step does with a participant's memory: load, then one phase of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from chat import upkeep
from chat.memories import architecture_of
from chat.models import Reply
from chat.transcripts import session_transcript
from experiments.configuration import ArmConfiguration, StudyConfiguration
from experiments.doors import StudyDoors
from experiments.models import Participant, Session
from memlab.core.clock import wall_now
from memlab.core.ledger import Job, JobKind
from memlab.core.tenancy import lab_scope
from memlab.core.values import SessionTranscript, Turn
from memory.architectures.base import Architecture, Consolidation


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a step is about. ``session`` is None where it is about the memory as a whole, ``turn``
    is the one to observe, and maintenance goes as far as ``until``, in study time."""

    configuration: StudyConfiguration
    arm: ArmConfiguration
    participant_id: int
    until: datetime
    session: SessionTranscript | None = None
    manipulation: bool = False
    turn: Turn | None = None

    def architecture(self, job: Job, doors: StudyDoors) -> Architecture:
        return architecture_of(
            arm=self.arm,
            configuration=self.configuration,
            lab_id=job.lab_id,
            participant_id=self.participant_id,
            participant=job.participant,
            doors=doors,
        )


def load(job: Job) -> Work:
    """Everything a step needs, in one unit."""
    with lab_scope(job.lab_id):
        person = Participant.objects.select_related("version").get(
            lab_id=job.lab_id, public_id=job.participant
        )
        arm = person.arm()
        assert arm is not None, "Steps are planned after allocation."
        assert person.version is not None
        session, turn = _subject(job)
        return Work(
            configuration=person.version.configuration,
            arm=arm,
            participant_id=person.pk,
            until=_until(job, person),
            session=None if session is None else session_transcript(session),
            manipulation=session is not None and session.manipulation,
            turn=turn,
        )


def _subject(job: Job) -> tuple[Session | None, Turn | None]:
    match job.kind:
        case JobKind.MAINTAIN | JobKind.BY_HAND:
            return None, None
        case JobKind.OBSERVE:
            reply = Reply.objects.select_related("session").get(pk=job.subject)
            turns = session_transcript(reply.session).turns
            return reply.session, next(t for t in turns if t.answered.id == reply.message_id)
    return Session.objects.get(pk=job.subject), None


def _until(job: Job, person: Participant) -> datetime:
    """Maintenance walks on to the next step's moment at once, for it has to come first."""
    if job.kind != JobKind.MAINTAIN:
        return job.study_at
    rest = Job.objects.pending_of(person.public_id).exclude(kind=JobKind.MAINTAIN)
    following = rest.values_list("study_at", flat=True).first()
    limits = [upkeep.horizon(person, wall=wall_now()), following]
    return max(job.study_at, min(limit for limit in limits if limit is not None))


async def run(job: Job, work: Work, architecture: Architecture) -> Consolidation:
    """The step's phase. What falls short ends it: what comes later waits until it is made up."""
    written: Counter[str] = Counter()
    async for outcome in _phases(job, work, architecture):
        written.update(outcome.written or {})
        if outcome.degraded:
            return Consolidation(written=dict(written), degraded=outcome.degraded)
    return Consolidation(written=dict(written))


async def _phases(job: Job, work: Work, architecture: Architecture) -> AsyncIterator[Consolidation]:
    match job.kind:
        case JobKind.MAINTAIN:
            yield await architecture.maintain(work.until)
        case JobKind.BY_HAND:
            yield await architecture.consolidate_by_hand(job.study_at)
        case JobKind.BEGIN:
            yield await architecture.begin_session(job.subject, job.study_at)
        case JobKind.OBSERVE:
            assert work.turn is not None
            yield await architecture.observe(work.turn, work.turn.answered.at)
        case JobKind.CONSOLIDATE:
            assert work.session is not None
            if architecture.observes and not work.manipulation:
                # Nobody observed these turns when they happened: there was no arm, or no
                # manipulation. Now the memory lives through them, and what lay between.
                for turn in work.session.turns:
                    yield await architecture.maintain(turn.answered.at)
                    yield await architecture.observe(turn, turn.answered.at)
                yield await architecture.maintain(job.study_at)
            yield await architecture.consolidate(work.session, job.study_at)
