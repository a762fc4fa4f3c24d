"""L3, gist memory (Brainerd & Reyna 1990): the wording fades, a profile of the person stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from experiments.parameters import Parameter
from memlab.core.tenancy import lab_scope
from memlab.core.values import (
    MemoryReading,
    Recall,
    Section,
    SessionTranscript,
    Transcript,
    Utterance,
)
from memlab.core.work import unit
from memory.architectures.base import Architecture, Consolidation
from memory.architectures.parameters import GIST
from memory.architectures.rendering import (
    fitting_traits,
    message_ids_of,
    profile_lines,
    turns_section,
)
from memory.architectures.wording import Wording, wording
from memory.echoes import without_echoes
from memory.encoding import own_messages
from memory.enums import MemoryKind, ProfilePart, Reason, RunPart
from memory.extraction import (
    ExtractedTrait,
    ExtractionFailed,
    Rating,
    extract_profile,
    rate_salience,
)
from memory.formulas.salience import emotional_salience
from memory.models import ConsolidationRun, Trait
from memory.models.profile import normalised, trait_id

_EMOTIONAL = {
    ProfilePart.EMOTIONAL_NEEDS: "extract_emotional_needs",
    ProfilePart.CORE_VALUES: "extract_core_values",
    ProfilePart.SIGNIFICANT_EVENTS: "extract_significant_events",
}

Ratings = dict[UUID, Rating]


def salience_of(rating: Rating) -> float:
    return emotional_salience(
        intensity=rating.intensity,
        self_disclosure=rating.self_disclosure,
        value_relevance=rating.value_relevance,
    )


class Gist(Architecture):
    """Brings the profile, within its budget, and the last turns of earlier sessions.

    After each session a model extracts what is new about the participant, from their own messages
    alone, and rates the messages that something was learned from; a trait is as salient as its
    message. A trait's source messages count as brought back: the profile carries their gist.
    """

    key = "gist"
    title = _("L3 · Gist memory")
    parameters: ClassVar[Sequence[Parameter]] = GIST
    consolidates = True
    seed_instructions = {
        "en": (
            "You remember what earlier conversations were about, but not how things were put. You "
            "know the user's situation and what occupies them; details may be blurred. That is how "
            "people remember: the gist stays, the wording goes."
        ),
        "zh-hans": (
            "你记得以往对话的大意，却不一定记得原话。你了解用户的处境和关心的事，细节则可能模糊。"
            "人的记忆正是如此：要义留下，措辞淡去。"
        ),
    }

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        return self._gist(transcript, await unit(self._load_traits), now)

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        """The traits that the profile's budget left out."""
        return self._left_out(await unit(self._load_traits), recall)

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        if RunPart.PROFILE in await unit(self._written_parts, session.id):
            return Consolidation()
        return await self._consolidate_profile(session, own_messages(session), {}, now)

    # What the profile brings

    def _load_traits(self) -> list[Trait]:
        with lab_scope(self.lab_id):
            return list(Trait.objects.of_participant(self.participant_id))

    def _gist(self, transcript: Transcript, traits: Sequence[Trait], now: datetime) -> Recall:
        words = wording(self.setting.language)
        shown = fitting_traits(
            traits,
            wording=words,
            characters=self.values["gist_max_chars"],
            tokens=self.values["gist_max_tokens"],
        )
        recent = list(transcript.earlier_turns())
        recent = recent[max(0, len(recent) - self.values["recent_turns"]) :]
        covered = [message for trait in shown for message in trait.message_ids]
        return Recall(
            at=now,
            sections=(
                *self._profile_section(shown, words),
                *turns_section(
                    recent,
                    key="recent_turns",
                    title=words.recent,
                    wording=words,
                    provenance=self.setting.provenance_in_prompt,
                ),
            ),
            memories=tuple(_reading(trait, Reason.PROFILE, recalled=True) for trait in shown),
            message_ids=tuple(dict.fromkeys([*covered, *message_ids_of(recent)])),
        )

    def _profile_section(self, shown: Sequence[Trait], words: Wording) -> tuple[Section, ...]:
        lines = profile_lines(shown, wording=words, provenance=self.setting.provenance_in_prompt)
        if not lines:
            return ()
        return (Section(key="profile", title=words.profile, lines=tuple(lines)),)

    def _left_out(self, traits: Sequence[Trait], recall: Recall) -> tuple[MemoryReading, ...]:
        shown = {reading.id for reading in recall.memories if reading.kind == MemoryKind.TRAIT}
        return tuple(
            _reading(trait, Reason.OVER_BUDGET, recalled=False)
            for trait in traits
            if trait.pk not in shown
        )

    # What a session adds to it

    def _dimensions(self) -> list[ProfilePart]:
        """The dimensions that this arm extracts."""
        emotional = self.values["emotional_extraction"]
        return [
            part
            for part in ProfilePart
            if part not in _EMOTIONAL or (emotional and self.values[_EMOTIONAL[part]])
        ]

    def _written_parts(self, session: UUID) -> frozenset[RunPart]:
        with lab_scope(self.lab_id):
            parts: frozenset[RunPart] = ConsolidationRun.objects.parts_of(
                participant_id=self.participant_id, subject=session
            )
            return parts

    async def _consolidate_profile(
        self,
        session: SessionTranscript,
        said: Sequence[Utterance],
        ratings: Ratings,
        now: datetime,
    ) -> Consolidation:
        known = await unit(self._load_traits)
        try:
            extracted = await extract_profile(
                self.doors.extraction,
                language=self.setting.language,
                said=said,
                known=[trait.as_known() for trait in known],
                dimensions=self._dimensions(),
            )
            news, echoes = await without_echoes(
                extracted.traits,
                text_of=lambda trait: trait.text,
                said=[each.text for each in said],
                known=[trait.text for trait in known],
            )
            sources = {trait.message for trait in news}
            await self._rate([each for each in said if each.id in sources], ratings)
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        by_id = {utterance.id: utterance for utterance in said}
        traits = [
            self._trait(trait, by_id[trait.message], session, ratings[trait.message])
            for trait in news
        ]
        dropped = {**extracted.dropped, **echoes}
        return await unit(self._write_profile, session.id, traits, dropped, now)

    async def _rate(self, said: Sequence[Utterance], ratings: Ratings) -> None:
        """Add the ratings of messages that have none yet. Raises ExtractionFailed."""
        missing = [utterance for utterance in said if utterance.id not in ratings]
        rated = await rate_salience(
            self.doors.extraction, language=self.setting.language, said=missing
        )
        ratings.update(rated.ratings)

    def _trait(
        self,
        extracted: ExtractedTrait,
        source: Utterance,
        session: SessionTranscript,
        rating: Rating,
    ) -> Trait:
        same = normalised(extracted.text, extracted.key)
        return Trait(
            id=trait_id(
                participant=self.participant,
                dimension=extracted.dimension,
                normalised_text=same,
            ),
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            session_id=session.id,
            session_number=session.number,
            stage_key=session.stage,
            dimension=extracted.dimension,
            key=extracted.key,
            text=extracted.text,
            normalised=same,
            emotion=extracted.emotion,
            salience=salience_of(rating),
            message_ids=[source.id],
            learned_at=source.at,
        )

    def _write_profile(
        self,
        session: UUID,
        traits: Sequence[Trait],
        dropped: Mapping[str, int],
        now: datetime,
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id,
                subject=session,
                part=RunPart.PROFILE,
                now=now,
            )
            if run is None:
                return Consolidation()
            written = {MemoryKind.TRAIT.value: Trait.objects.learn(traits, now=now)}
            run.record(written=written, dropped=dropped)
        return Consolidation(written=written)


def _reading(trait: Trait, reason: Reason, *, recalled: bool) -> MemoryReading:
    return MemoryReading(
        kind=MemoryKind.TRAIT,
        id=trait.pk,
        text=f"{trait.dimension}: {trait.worded()}",
        recalled=recalled,
        reason=reason,
        score=trait.salience,
        message_ids=tuple(trait.message_ids),
        stage=trait.stage_key,
    )
