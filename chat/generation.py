"""Making one reply, top to bottom: claim, memory, prompt, stream, store.

The claim gives an attempt number that fences; ``claims.store`` checks it in the transaction that
writes reply, receipt and strengthened memories together. Whoever finds an expired lease claims
again, so a process may die between any two lines here.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from numpy import float32
from numpy.typing import NDArray

from chat import claims, doorbell, steps
from chat.claims import Claim, Frame, Made
from chat.fallback import answered
from chat.memories import architecture_of
from chat.models.reply import LEASE
from chat.pacing import floor, paced, settled
from chat.prompts import reply_prompt
from chat.streaming import Answer, in_batches
from chat.tool_loop import Toolbox
from experiments.doors import OpenDoors, StudyDoors
from memlab.core.clock import wall_now
from memlab.core.embeddings.base import EmbeddingFailure, Form
from memlab.core.llm.base import FailureKind, ModelFailure, Sampling
from memlab.core.llm.configuration import ProviderConfigurationError
from memlab.core.renewal import LeaseLost, renewed
from memlab.core.values import MemoryReading, Prompt, Recall
from memlab.core.work import unit
from memory.architectures.base import NO_EFFECTS, NO_QUERY_VECTOR, Architecture

logger = logging.getLogger(__name__)


class Announce(Protocol):
    """Where frames go: the doorbell, or nowhere in a replay."""

    async def __call__(self, session: UUID, *frames: Frame) -> None: ...


@dataclass(slots=True)
class _Progress:
    """What an attempt has come to; ``timings`` are milliseconds, ``shown`` is when the last token
    was (``time.monotonic()`` seconds)."""

    answer: Answer = field(default_factory=Answer)
    degraded: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    recall: Recall | None = None
    vector: NDArray[float32] | None = None
    shown: float | None = None

    @asynccontextmanager
    async def timed(self, name: str) -> AsyncIterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.timings[name] = (time.monotonic() - started) * 1000


async def make_reply(
    lab_id: int,
    reply: UUID,
    keeper: OpenDoors,
    announce: Announce = doorbell.ring,
    *,
    claim: Claim | None = None,
) -> bool:
    """Make a pending reply if it is to be had; whether this call settled it.

    ``claim`` is what the storing of its question took along, if it did. An unexpected exception
    comes out once the next attempt is planned.
    """
    claim = claim or await unit(claims.claim, lab_id, reply, wall=wall_now())
    if claim is None:
        return False

    async def beat() -> bool:
        return await unit(claims.heartbeat, claim, wall=wall_now())

    try:
        async with renewed(beat, every=LEASE.total_seconds() / 4):
            await announce(claim.session, {"type": "waiting", "seq": claim.seq})
            frames = await _settled(claim, keeper, announce)
    except LeaseLost:
        logger.error("reply %s attempt %s was taken over", reply, claim.attempt)
        return False
    except Exception:  # a fault of ours: nobody has to wait for the lease to run out
        frames = await unit(claims.give_back, claim, wall=wall_now())
        if frames is None:
            raise
        logger.exception("reply %s attempt %s was the last", reply, claim.attempt)
    if frames is None:
        return False
    await announce(claim.session, *frames)
    return True


async def _settled(claim: Claim, keeper: OpenDoors, announce: Announce) -> list[Frame] | None:
    """The frames of a finished or failed attempt, stored; None if it was fenced off."""
    progress = _Progress()
    try:
        return await _attempt(claim, keeper, announce, progress)
    except ModelFailure as failure:
        logger.warning("reply %s attempt %s: %s", claim.reply, claim.attempt, failure)
        if not failure.partial:  # else its first token was held back
            await floor(claim.configuration.pacing, asked=claim.begun)
        fell_back = progress.answer.fell_back
        return await unit(claims.fail, claim, failure, fell_back=fell_back, wall=wall_now())
    except (ProviderConfigurationError, ImproperlyConfigured) as error:
        logger.error("reply %s: %s", claim.reply, error)
        unusable = ModelFailure(FailureKind.BAD_REQUEST, str(error))
        await floor(claim.configuration.pacing, asked=claim.begun)
        return await unit(claims.fail, claim, unusable, wall=wall_now())


async def _attempt(
    claim: Claim, keeper: OpenDoors, announce: Announce, progress: _Progress
) -> list[Frame] | None:
    """Everything between claim and store, and until that may be told."""
    frames = await _remembered(claim, keeper, announce, progress)
    if progress.shown is not None:
        await settled(claim.configuration.pacing, shown=progress.shown)
    return frames


async def _remembered(
    claim: Claim, keeper: OpenDoors, announce: Announce, progress: _Progress
) -> list[Frame] | None:
    """The reply, with the memory held as long as it is read and written."""
    turnstile = claim.turnstile
    async with progress.timed("wait"):
        if turnstile is None:
            turnstile = await steps.wait_for_memory(
                claim.lab_id, claim.participant, maintained=claim.maintained
            )
    if turnstile.reason:
        progress.degraded.append(turnstile.reason)
    if turnstile.holder is None:
        return await _make(claim, keeper, announce, progress, holder=None)
    async with steps.kept(claim.lab_id, claim.participant, turnstile.holder):
        return await _make(claim, keeper, announce, progress, holder=turnstile.holder)


async def _make(
    claim: Claim,
    keeper: OpenDoors,
    announce: Announce,
    progress: _Progress,
    *,
    holder: UUID | None,
) -> list[Frame] | None:
    doors = await keeper.doors(claim.lab_id, claim.configuration)
    architecture = _architecture(claim, doors)
    prompt = await _prepared(claim, doors, architecture, progress)
    toolbox = _toolbox(doors, architecture, progress.recall)
    near_misses = asyncio.create_task(_near_misses(claim, architecture, progress))
    try:
        await _talk(claim, doors, prompt, toolbox, announce, progress.answer)
        progress.shown = time.monotonic()
        made = _made(claim, prompt, toolbox, progress, await near_misses)
    finally:
        near_misses.cancel()
        await asyncio.gather(near_misses, return_exceptions=True)
    return await unit(claims.store, claim, made, architecture, holder=holder, wall=wall_now())


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a question would be answered from; ``timings`` are milliseconds."""

    architecture: Architecture | None
    prompt: Prompt
    recall: Recall | None
    vector: NDArray[float32] | None
    degraded: tuple[str, ...]
    timings: Mapping[str, float]


async def preview(claim: Claim, doors: StudyDoors) -> Preview:
    """Recall and prompt as for a reply, without one: nothing is stored, nothing strengthened."""
    progress = _Progress()
    architecture = _architecture(claim, doors)
    prompt = await _prepared(claim, doors, architecture, progress)
    return Preview(
        architecture=architecture,
        prompt=prompt,
        recall=progress.recall,
        vector=progress.vector,
        degraded=tuple(progress.degraded),
        timings=progress.timings,
    )


async def _prepared(
    claim: Claim, doors: StudyDoors, architecture: Architecture | None, progress: _Progress
) -> Prompt:
    """Remember, and put the prompt together."""
    if architecture is not None:
        await _recall(claim, doors, architecture, progress)
    return _prompt(claim, architecture, progress.recall)


def _architecture(claim: Claim, doors: StudyDoors) -> Architecture | None:
    if claim.arm is None:
        return None
    return architecture_of(
        arm=claim.arm,
        configuration=claim.configuration,
        lab_id=claim.lab_id,
        participant_id=claim.participant_id,
        participant=claim.participant,
        doors=doors,
    )


async def _recall(
    claim: Claim, doors: StudyDoors, architecture: Architecture, progress: _Progress
) -> None:
    """Embed the question if the architecture searches, and recall; degraded without a vector."""
    if architecture.searches:
        async with progress.timed("embed"):
            progress.vector = await _query_vector(doors, claim.question.text, progress)
    async with progress.timed("recall"):
        progress.recall = await architecture.recall(
            claim.transcript, claim.question.text, progress.vector, claim.question.at
        )
    lacking = progress.recall.degraded
    if architecture.searches and progress.vector is None:
        # Why there is no vector is marked already.
        lacking = tuple(reason for reason in lacking if reason != NO_QUERY_VECTOR)
    progress.degraded.extend(lacking)


async def _query_vector(
    doors: StudyDoors, text: str, progress: _Progress
) -> NDArray[float32] | None:
    """The question's embedding, tried twice; then the turn goes on without, and says so."""
    for last in (False, True):
        try:
            vectors = await doors.embedder.embed([text], Form.QUERY)
            return vectors[0]  # type: ignore[no-any-return]
        except EmbeddingFailure as failure:
            logger.warning("query embedding: %s", failure)
            if last:
                progress.degraded.append(f"embedding:{failure.kind}")
    return None


def _prompt(claim: Claim, architecture: Architecture | None, recall: Recall | None) -> Prompt:
    configuration = claim.configuration
    instructions = {} if architecture is None else architecture.seed_instructions
    return reply_prompt(
        configuration=configuration,
        stage=claim.stage,
        arm=claim.arm,
        session=claim.transcript.current,
        question=claim.question,
        recall=recall,
        seed_instruction=instructions.get(configuration.language, ""),
        now=claim.question.at,
    )


def _toolbox(
    doors: StudyDoors, architecture: Architecture | None, recall: Recall | None
) -> Toolbox | None:
    """The turn's tools, if its memory has any and the model that talks can call them."""
    if architecture is None or recall is None or not doors.talking.calls_tools:
        return None
    toolbox = Toolbox(architecture, recall)
    return toolbox if toolbox.tools else None


async def _near_misses(
    claim: Claim, architecture: Architecture | None, progress: _Progress
) -> tuple[MemoryReading, ...]:
    """Looked up while the model is already answering, before anything is strengthened."""
    if architecture is None or progress.recall is None:
        return ()
    return await architecture.near_misses(
        claim.transcript, progress.recall, progress.vector, progress.recall.at
    )


async def _talk(
    claim: Claim,
    doors: StudyDoors,
    prompt: Prompt,
    toolbox: Toolbox | None,
    announce: Announce,
    answer: Answer,
) -> None:
    """Stream the answer to every tab, at the study's pace."""

    async def send(number: int, text: str) -> None:
        await announce(
            claim.session,
            {
                "type": "token",
                "seq": claim.seq,
                "attempt": claim.attempt,
                "n": number,
                "text": text,
            },
        )

    sampling = Sampling(**claim.configuration.sampling)  # type: ignore[arg-type]
    async with (
        aclosing(answered(doors, prompt, sampling, answer, toolbox)) as pieces,
        aclosing(paced(pieces, claim.configuration.pacing, asked=claim.begun)) as shown,
    ):
        await in_batches(shown, send)


def _made(
    claim: Claim,
    prompt: Prompt,
    toolbox: Toolbox | None,
    progress: _Progress,
    near_misses: tuple[MemoryReading, ...],
) -> Made:
    answer = progress.answer
    assert answer.first_token is not None
    assert answer.finished is not None
    progress.timings |= {
        "first_token": (answer.first_token - claim.begun) * 1000,
        "model_done": (answer.finished - claim.begun) * 1000,
        "shown": (time.monotonic() - claim.begun) * 1000,
    }
    if toolbox is not None:
        progress.timings["tools"] = toolbox.seconds * 1000
    return Made(
        text=answer.text,
        prompt=prompt,
        offered=() if toolbox is None else toolbox.tools,
        completion=answer.completions[-1],
        usage=answer.usage(),
        provider=answer.provider,
        fell_back=answer.fell_back,
        recall=progress.recall,
        near_misses=near_misses,
        degraded=tuple(progress.degraded),
        tries=answer.tries,
        rounds=len(answer.completions),
        calls=() if toolbox is None else tuple(toolbox.made),
        effects=NO_EFFECTS if toolbox is None else toolbox.effects,
        timings=progress.timings,
    )
