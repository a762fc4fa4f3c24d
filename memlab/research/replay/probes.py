"""Asking a dialogue's questions of the memory it left. Looks only: nothing is strengthened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid5

from chat.claims import Claim
from chat.generation import Preview, preview
from chat.transcripts import sessions_of
from experiments.models import Participant
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    Role,
    Section,
    SessionTranscript,
    Transcript,
    Utterance,
)
from memlab.core.work import unit
from memlab.research.replay.dialogue import Dialogue, Probe
from memlab.research.replay.recorded import RecordedDoors, prompt_tokens

#: Evidence recall is reported among so many best.
DEPTHS = (1, 5, 10, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one probe came to.

    ``knew`` are the memory sections of its prompt. ``coverage`` and ``verbatim`` are shares of the
    probe's evidence, None if it has none; ``recalled`` is the share among the best by depth, None
    also where nothing is searched.
    """

    question: str
    knew: tuple[Section, ...]
    prompt_tokens: int
    recall_ms: float
    degraded: bool
    coverage: float | None = None
    verbatim: float | None = None
    recalled: Mapping[int, float] | None = None


async def ask_all(
    dialogue: Dialogue,
    *,
    lab_id: int,
    participant: Participant,
    doors: RecordedDoors,
    messages: Mapping[str, UUID],
    wait: Callable[[datetime], Awaitable[None]],
) -> list[Asked]:
    """Every probe in order, each as the first message of a conversation of its own.

    ``messages`` maps the dialogue's ids to ours; ``wait`` lets time pass until a probe is asked.
    """
    if not dialogue.probes:
        return []
    claims = await unit(_claims, dialogue, lab_id, participant)
    asked = []
    for probe, claim in zip(dialogue.probes, claims, strict=True):
        await wait(probe.asked_at)
        asked.append(await _ask(probe, claim, doors, messages))
    return asked


def _claims(dialogue: Dialogue, lab_id: int, participant: Participant) -> list[Claim]:
    """For each probe what a reply would be made from, though none is claimed."""
    with lab_scope(lab_id):
        version = participant.version
        assert version is not None
        earlier = tuple(sessions_of(participant))
        arm = participant.arm()
    configuration = version.configuration
    stage = max(configuration.stages, key=lambda stage: stage.number)
    claims = []
    for number, probe in enumerate(dialogue.probes):
        session = uuid5(participant.public_id, f"probe {number}")
        question = Utterance(
            id=uuid5(session, "question"),
            role=Role.PARTICIPANT,
            text=probe.question,
            at=probe.asked_at,
        )
        current = SessionTranscript(
            id=session, number=len(earlier) + 1, stage="probe", started_at=probe.asked_at
        )
        claims.append(
            Claim(
                lab_id=lab_id,
                session=session,
                reply=uuid5(session, "reply"),
                seq=2,
                attempt=0,
                participant_id=participant.pk,
                participant=participant.public_id,
                configuration=configuration,
                stage=stage,
                arm=arm,
                question=question,
                asked_wall=wall_now(),
                transcript=Transcript(earlier=earlier, current=current),
            )
        )
    return claims


async def _ask(
    probe: Probe, claim: Claim, doors: RecordedDoors, messages: Mapping[str, UUID]
) -> Asked:
    seen = await preview(claim, await doors.doors(claim.lab_id, claim.configuration))
    asked = Asked(
        question=probe.question,
        knew=seen.prompt.sections,
        prompt_tokens=prompt_tokens(seen.prompt),
        recall_ms=seen.timings["recall"],
        degraded=bool(seen.degraded),
    )
    if not probe.evidence:
        return asked
    evidence = [messages[each] for each in probe.evidence]
    return replace(
        asked,
        coverage=_covered(evidence, seen),
        verbatim=_verbatim(evidence, claim.transcript, seen),
        recalled=await _recalled(evidence, claim, seen),
    )


def _covered(evidence: Sequence[UUID], seen: Preview) -> float:
    """The share whose content the prompt brings back, in whatever form."""
    brought = set() if seen.recall is None else set(seen.recall.message_ids)
    return sum(each in brought for each in evidence) / len(evidence)


def _verbatim(evidence: Sequence[UUID], transcript: Transcript, seen: Preview) -> float:
    """The share that stands in the prompt word for word."""
    texts = {
        utterance.id: utterance.text
        for session in transcript.earlier
        for utterance in session.utterances
    }
    brought = set() if seen.recall is None else set(seen.recall.message_ids)
    found = (each in brought and texts.get(each, "\x00") in seen.prompt.system for each in evidence)
    return sum(found) / len(evidence)


async def _recalled(
    evidence: Sequence[UUID], claim: Claim, seen: Preview
) -> dict[int, float] | None:
    """By relevance alone: the share of the evidence among the best of everything encoded."""
    architecture = seen.architecture
    if architecture is None or not architecture.searches or seen.vector is None:
        return None
    ranked = await architecture.ranked(
        claim.transcript, claim.question.text, seen.vector, claim.question.at, limit=max(DEPTHS)
    )
    return {
        depth: sum(each in ranked[:depth] for each in evidence) / len(evidence) for depth in DEPTHS
    }
