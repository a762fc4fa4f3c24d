"""The steps that must happen to a memory between turns, one writer at a time and in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from chat import phases, sessions, upkeep
from chat.models import Reply
from experiments.doors import OpenDoors
from experiments.enums import Clock
from experiments.models import Participant, Session
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.embeddings.base import EmbeddingFailure
from memlab.core.lease import LEASE, ParticipantLease
from memlab.core.ledger import MAX_ATTEMPTS, Job, JobKind
from memlab.core.llm.base import ModelFailure
from memlab.core.llm.configuration import ProviderConfigurationError
from memlab.core.renewal import LeaseLost, renewed
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.architectures.base import Architecture, Consolidation

logger = logging.getLogger(__name__)

# How long a turn waits for memory, in seconds of wall time; the same in every arm.
PATIENCE = 60.0
LOOK_AGAIN = 0.2


@asynccontextmanager
async def kept(lab_id: int, participant: UUID, holder: UUID) -> AsyncIterator[None]:
    """Renew a lease while the body runs, and release it afterwards.

    If somebody else took over, because this process stood still for longer than the lease, the
    body is cancelled and LeaseLost raised: its writes are fenced by their own marks, but its work
    is no longer wanted.
    """
    leases = ParticipantLease.objects

    async def renew() -> bool:
        return await unit(leases.renew, participant=participant, holder=holder, wall=wall_now())

    try:
        async with renewed(renew, every=LEASE.total_seconds() / 4):
            yield
    finally:
        await unit(leases.release, participant=participant, holder=holder)


async def run_steps(lab_id: int, participant: UUID, keeper: OpenDoors) -> int:
    """Run every pending step of a participant; the number done. Safe to run twice at once.

    Returns 0 at once if somebody else is writing: they go on until nothing is pending.
    """
    if not await unit(_is_wanted, lab_id, participant):
        await unit(_forget, lab_id, participant)
        return 0
    holder = await unit(
        ParticipantLease.objects.acquire, lab_id=lab_id, participant=participant, wall=wall_now()
    )
    if holder is None:
        await unit(_look_again, lab_id, participant)
        return 0
    done = 0
    try:
        async with kept(lab_id, participant, holder):
            while (job := await unit(_next_job, lab_id, participant)) is not None:
                if not await _run(job, keeper):
                    break
                done += 1
    except LeaseLost:
        logger.error("participant %s: the writer's lease was lost", participant)
        await unit(_look_again, lab_id, participant)
        return done
    await unit(_plan_rest, lab_id, participant)
    return done


async def _run(job: Job, keeper: OpenDoors) -> bool:
    """Count an attempt, then make it; whether the next step may follow."""
    if job.attempts >= MAX_ATTEMPTS:
        # Attempts that fail are given up when they fail: these took their workers with them.
        await unit(_settle, job, Consolidation(degraded=("died",)))
        return True
    return not await unit(job.begin) or await _attempt(job, keeper)


async def _attempt(job: Job, keeper: OpenDoors) -> bool:
    """One attempt at a step. Its failure is planned again, and marked on the session."""
    architecture = None
    try:
        work = await unit(phases.load, job)
        architecture = work.architecture(job, await keeper.doors(job.lab_id, work.configuration))
        outcome = await phases.run(job, work, architecture)
    except (ModelFailure, EmbeddingFailure) as failure:
        outcome = Consolidation(degraded=(f"{type(failure).__name__}:{failure.kind}",))
    except ProviderConfigurationError as error:
        logger.error("step %s: %s", job.pk, error)
        outcome = Consolidation(degraded=("provider_configuration",))
    except Exception as error:  # a step never takes the worker down: it is planned again
        logger.exception("step %s failed", job.pk)
        outcome = Consolidation(degraded=(f"error:{type(error).__name__}",))
    return not await unit(_settle, job, outcome, architecture)


def _settle(
    job: Job, outcome: Consolidation, architecture: Architecture | None = None
) -> tuple[str, ...]:
    """Note how a step went, and when its memory next needs maintenance; why it fell short."""
    degraded = outcome.degraded
    if not _is_wanted(job.lab_id, job.participant):
        return ("withdrawn",)  # meanwhile: the step was dropped, and perhaps everything erased
    with lab_scope(job.lab_id):
        _mark_session(job, degraded)  # first, for a turn that is stored locks its session first too
        following = None if architecture is None else upkeep.plan(architecture)
        unmoved = following is not None and following <= job.study_at
        if job.kind == JobKind.MAINTAIN and unmoved and not degraded:
            degraded = ("maintenance_unfinished",)  # else it would be tried for ever
        if degraded:
            job.fail(wall=wall_now(), code=", ".join(degraded))
        else:
            job.finish(wall=wall_now(), result=dict(outcome.written or {}))
    return degraded


def _mark_session(job: Job, degraded: tuple[str, ...]) -> None:
    if job.kind == JobKind.CONSOLIDATE:
        _mark(job.subject, "", degraded)
    elif job.kind == JobKind.OBSERVE:
        reply = Reply.objects.select_related("message").get(pk=job.subject)
        _mark(reply.session_id, f"turn {reply.message.seq}: ", degraded)


def _mark(session_id: UUID, whose: str, degraded: tuple[str, ...]) -> None:
    """Put a step's marks on its session in place of its earlier ones. ``whose`` begins the marks of
    a turn; those of the session itself begin with none."""
    session = Session.objects.select_for_update().get(pk=session_id)
    others = [
        mark
        for mark in session.degraded
        if (not mark.startswith(whose) if whose else mark.startswith("turn "))
    ]
    session.degraded = [*others, *(f"{whose}{reason}" for reason in degraded)]
    session.save(update_fields=["degraded"])


def _is_wanted(lab_id: int, participant: UUID) -> bool:
    """Whether this lab has such a participant, and their memory is still kept up."""
    with lab_scope(lab_id):
        person = Participant.objects.filter(lab_id=lab_id, public_id=participant).first()
        return person is not None and not person.has_left_chat


def _forget(lab_id: int, participant: UUID) -> None:
    """A step that ended while its participant withdrew may have planned another."""
    for kind in (DueKind.STEPS, DueKind.MAINTAIN):
        Due.objects.settle(lab_id=lab_id, kind=kind, subject=participant)


def _next_job(lab_id: int, participant: UUID) -> Job | None:
    """The next step in order, unless it is resting between two attempts. Maintenance that is due
    before it, or by now, becomes a step first."""
    if not _is_wanted(lab_id, participant):
        return None
    job = Job.objects.pending_of(participant).first()
    if Due.objects.filter(kind=DueKind.MAINTAIN, subject=participant).exists():
        with lab_scope(lab_id):
            person = Participant.objects.get(lab_id=lab_id, public_id=participant)
            until = upkeep.horizon(person, wall=wall_now())
            until = until if job is None else min(until, job.study_at)
            job = upkeep.request(person, until=until) or job
    if job is None or (job.not_before is not None and job.not_before > wall_now()):
        return None
    return job


def _plan_rest(lab_id: int, participant: UUID) -> None:
    """Come back for a step that rests; nothing is due once none is pending."""
    with transaction.atomic():
        # Whoever adds a step plans it too: behind this lock, so that no plan is removed unread.
        Due.objects.locked(lab_id=lab_id, kind=DueKind.STEPS, subject=participant)
        job = Job.objects.pending_of(participant).first()
        if job is None:
            Due.objects.settle(lab_id=lab_id, kind=DueKind.STEPS, subject=participant)
        else:
            _plan(lab_id, participant, job.not_before or wall_now())


def _look_again(lab_id: int, participant: UUID) -> None:
    if Job.objects.pending_of(participant).exists():
        _plan(lab_id, participant, wall_now() + LEASE)


def _plan(lab_id: int, participant: UUID, wall: datetime) -> None:
    with lab_scope(lab_id):
        person = Participant.objects.get(public_id=participant)
        Due.objects.plan(
            lab_id=lab_id,
            kind=DueKind.STEPS,
            subject=participant,
            study_at=None,
            wall_at=None if person.clock == Clock.SCRIPTED else wall,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnstile:
    """A turn's right to the memory. Without a ``holder`` it goes on, degraded for ``reason``; with
    one a ``reason`` says what the memory lacks."""

    holder: UUID | None
    reason: str = ""


async def wait_for_memory(
    lab_id: int, participant: UUID, *, maintained: datetime | None = None
) -> Turnstile:
    """Wait until every pending step is done and take the writer's lease, for at most PATIENCE.

    ``maintained``: up to which study time what time does to the memory has to be done.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        patience = deadline - time.monotonic()
        look = await unit(look_for_memory, lab_id, participant, patience, maintained=maintained)
        if look is not None:
            return look
        await asyncio.sleep(LOOK_AGAIN)


def look_for_memory(
    lab_id: int, participant: UUID, patience: float, *, maintained: datetime | None = None
) -> Turnstile | None:
    """A turnstile, with the lease taken, or None to look again. ``patience`` in seconds."""
    wall = wall_now()
    holder = ParticipantLease.objects.acquire_at_rest(
        lab_id=lab_id, participant=participant, wall=wall, maintained=maintained
    )
    if holder is not None:
        return Turnstile(holder=holder)
    job, lacking = Job.objects.pending_of(participant).first(), ""
    if job is None and maintained and upkeep.is_due(participant, until=maintained):
        job = _ask_for_upkeep(lab_id, participant, maintained)
        lacking = "" if job else "memory_unmaintained"
    if job is None:
        holder = ParticipantLease.objects.acquire(lab_id=lab_id, participant=participant, wall=wall)
        if holder is not None:
            return Turnstile(holder=holder, reason=lacking)
        return Turnstile(holder=None, reason="memory_busy") if patience <= 0 else None
    resting = job.not_before is not None and job.not_before > wall + timedelta(seconds=patience)
    if patience <= 0 or resting:
        return Turnstile(holder=None, reason=f"memory_pending:{job.kind}")
    return None


def _ask_for_upkeep(lab_id: int, participant: UUID, until: datetime) -> Job | None:
    """Commit what is due as a step and have it run; None if it was given up."""
    with lab_scope(lab_id):
        person = Participant.objects.get(lab_id=lab_id, public_id=participant)
        job = upkeep.request(person, until=until)
        if job is not None:
            sessions.plan_steps(person)
        return job
