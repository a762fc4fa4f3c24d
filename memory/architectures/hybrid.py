"""L4, hybrid memory: the gist, and episodes that fade, come back when cued, and last the longer
for it (Ebbinghaus 1885; Tulving 1972; Hou, Tamoto & Miyashita 2024)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray

from memlab.core.embeddings.base import EmbeddingFailure
from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, Recall, Role, SessionTranscript, Transcript
from memlab.core.work import unit
from memory import hybrid_search, search
from memory.architectures.base import NO_EFFECTS, NO_QUERY_VECTOR, Consolidation, Effects
from memory.architectures.gist import Gist, Ratings, salience_of
from memory.architectures.parameters import HYBRID, PRESETS
from memory.architectures.rendering import episodes_section
from memory.architectures.wording import wording
from memory.encoding import NOBODY, Moment, moments, own_messages
from memory.enums import Encode, Encoding, MemoryKind, Reason, RunPart
from memory.episode_keys import Keys, dense_keys, hybrid_keys
from memory.extraction import ExtractionFailed
from memory.formulas import forgetting
from memory.hybrid_search import Fusion
from memory.models import ConsolidationRun, Episode, Trait
from memory.models.episode import Curve, episode_id
from memory.search import Found, Query
from memory.words import words

NEAR_MISSES = 20


class Hybrid(Gist):
    """Brings what ``gist`` brings, and the episodes that the present message calls to mind.

    With ``forgetting_curve`` off (an ablation) the ``retrieval_top_k`` most relevant episodes are
    recalled, whatever their age: neither probability nor threshold applies.
    """

    key = "hybrid"
    title = _("L4 · Hybrid memory")
    parameters = HYBRID
    presets = PRESETS
    searches = True
    seed_instructions = {
        "en": (
            "You have two kinds of memory: you clearly recall the latest conversation, and details "
            "of earlier times come back to you when something reminds you of them. What the user "
            "brings up may awaken related memories."
        ),
        "zh-hans": (
            "你有两种记忆：最近的对话你记得清楚；更早的细节，会在有所触动时重新浮现。"
            "用户谈到的事情，可能唤起你与之相关的往日记忆。"
        ),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.curve = Curve.of(self.values)
        self.encode = Encode(self.values["encode"])
        self.encoding = Encoding(self.values["encoding"])
        self.fusion = Fusion.of(self.values)

    # What it brings to a turn

    async def recall(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> Recall:
        if query_vector is None:
            gist = await super().recall(transcript, query, query_vector, now)
            return replace(gist, degraded=(NO_QUERY_VECTOR,))
        asked = await self._query(transcript, query, query_vector, now)
        traits, found = await unit(self._load, asked)
        return self._with_episodes(self._gist(transcript, traits, now), found, Reason.RECALLED)

    async def near_misses(
        self,
        transcript: Transcript,
        recall: Recall,
        query_vector: NDArray[float32] | None,
        now: datetime,
    ) -> tuple[MemoryReading, ...]:
        """The nearest episodes that weren't recalled, then the traits that were left out.

        ``hybrid`` takes the words of the transcript's question; without one, none.
        """
        if query_vector is None:
            return await super().near_misses(transcript, recall, query_vector, now)
        query = transcript.question.text if transcript.question else ""
        asked = await self._query(transcript, query, query_vector, now)
        traits, missed = await unit(self._load_missed, asked, _episodes_of(recall.memories))
        return (
            *(
                episode.reading(self._missed_because(episode), curve=self.curve, recalled=False)
                for episode in missed
            ),
            *self._left_out(traits, recall),
        )

    async def ranked(
        self,
        transcript: Transcript,
        query: str,
        query_vector: NDArray[float32],
        now: datetime,
        *,
        limit: int,
    ) -> tuple[UUID, ...]:
        asked = await self._query(transcript, query, query_vector, now)
        return tuple(episode.ends_with for episode in await unit(self._load_ranked, asked, limit))

    def commit_recall(
        self, recall: Recall, now: datetime, *, reply: UUID, effects: Effects = NO_EFFECTS
    ) -> None:
        if self.values["update_on_recall"]:
            Episode.objects.reconsolidate(
                _episodes_of(recall.strengthens or recall.memories),
                curve=self.curve,
                now=now,
                reply=reply,
            )

    async def _query(
        self, transcript: Transcript, asked: str, vector: NDArray[float32], now: datetime
    ) -> Query:
        return Query(
            participant_id=self.participant_id,
            session=transcript.current.id,
            embedder=self.doors.embedder.id,
            vector=vector,
            now=now,
            curve=self.curve,
            relevance=self.setting.scale("query_passage"),
            # The first Chinese text loads a dictionary: not on the event loop.
            words=await asyncio.to_thread(words, asked) if self.fusion else (),
        )

    def _load(self, asked: Query) -> tuple[list[Trait], list[Found]]:
        with lab_scope(self.lab_id):
            traits = list(Trait.objects.of_participant(self.participant_id))
            return traits, self._found(asked)

    def _found(self, asked: Query) -> list[Found]:
        limit = self.values["retrieval_top_k"]
        if not self.values["forgetting_curve"]:
            return self._best(asked, limit=limit)
        if self.fusion is not None:
            return hybrid_search.recall(asked, self.fusion, limit=limit)
        return search.recall(asked, limit=limit)

    def _best(self, asked: Query, *, limit: int, without: Sequence[UUID] = ()) -> list[Found]:
        """By the arm's ranking alone, forgotten or not."""
        if self.fusion is not None:
            return hybrid_search.nearest(asked, self.fusion, limit=limit, without=without)
        return search.nearest(asked, limit=limit, without=without)

    def _load_missed(
        self, asked: Query, brought: Sequence[UUID]
    ) -> tuple[list[Trait], list[Found]]:
        with lab_scope(self.lab_id):
            traits = list(Trait.objects.of_participant(self.participant_id))
            return traits, self._best(asked, limit=NEAR_MISSES, without=brought)

    def _load_ranked(self, asked: Query, limit: int) -> list[Found]:
        with lab_scope(self.lab_id):
            return self._best(asked, limit=limit)

    def _with_episodes(self, gist: Recall, found: Sequence[Found], reason: Reason) -> Recall:
        section = episodes_section(
            found,
            wording=wording(self.setting.language),
            provenance=self.setting.provenance_in_prompt,
        )
        covered = [message for episode in found for message in episode.message_ids]
        return replace(
            gist,
            sections=(*gist.sections, *section),
            memories=(*gist.memories, *self._readings(found, reason, recalled=True)),
            message_ids=tuple(dict.fromkeys([*gist.message_ids, *covered])),
            searched=True,
        )

    def _readings(
        self, found: Sequence[Found], reason: Reason, *, recalled: bool
    ) -> tuple[MemoryReading, ...]:
        return tuple(
            episode.reading(reason, curve=self.curve, recalled=recalled) for episode in found
        )

    def _missed_because(self, episode: Found) -> Reason:
        passes = episode.probability >= self.curve.recall_threshold
        if passes or not self.values["forgetting_curve"]:
            return Reason.BEYOND_LIMIT
        least = forgetting.least_recallable_relevance(
            elapsed_days=episode.elapsed,
            consolidation=episode.g,
            threshold=self.curve.recall_threshold,
            salience=episode.salience,
            bonus=self.curve.recall_bonus,
        )
        return Reason.FORGOTTEN if least is None else Reason.BELOW_THRESHOLD

    # What a session adds

    async def consolidate(self, session: SessionTranscript, now: datetime) -> Consolidation:
        """Episodes and profile, each written once; what fails doesn't hold up the other."""
        written_parts = await unit(self._written_parts, session.id)
        ratings: Ratings = {}
        runs: list[Consolidation] = []
        if RunPart.EPISODES not in written_parts:
            runs.append(await self._consolidate_episodes(session, ratings, now))
        if RunPart.PROFILE not in written_parts:
            said = own_messages(session, encode=self.encode)
            runs.append(await self._consolidate_profile(session, said, ratings, now))
        written: Counter[str] = Counter()
        for run in runs:
            written.update(run.written or {})
        reasons = dict.fromkeys(reason for run in runs for reason in run.degraded)
        return Consolidation(written=dict(written), degraded=tuple(reasons))

    async def _consolidate_episodes(
        self, session: SessionTranscript, ratings: Ratings, now: datetime
    ) -> Consolidation:
        encoded = moments(session, encode=self.encode, encoding=self.encoding)
        try:
            await self._rate([moment.rated for moment in encoded], ratings)
            keys = await self._keys(session, encoded)
        except ExtractionFailed as failure:
            return Consolidation(degraded=(failure.code,))
        except EmbeddingFailure as failure:
            return Consolidation(degraded=(f"embedding:{failure.kind}",))
        return await unit(self._write_episodes, session, encoded, keys, ratings, now)

    async def _keys(self, session: SessionTranscript, encoded: Sequence[Moment]) -> list[Keys]:
        names, embedder = self._names(), self.doors.embedder
        if self.fusion is None:
            return await dense_keys(encoded, names=names, embedder=embedder)
        in_context = moments(session, encode=self.encode, encoding=Encoding.IN_CONTEXT)
        return await hybrid_keys(in_context, encoding=self.encoding, names=names, embedder=embedder)

    def _names(self) -> Mapping[Role, str]:
        """Who speaks, for what is embedded; only where both sides are encoded."""
        if self.encode is not Encode.ALL:
            return NOBODY
        return {
            Role.PARTICIPANT: str(self.values["participant_name"]),
            Role.ASSISTANT: str(self.values["assistant_name"]),
        }

    def _write_episodes(
        self,
        session: SessionTranscript,
        encoded: Sequence[Moment],
        keys: Sequence[Keys],
        ratings: Ratings,
        now: datetime,
    ) -> Consolidation:
        with lab_scope(self.lab_id):
            run = ConsolidationRun.objects.claim(
                participant_id=self.participant_id,
                subject=session.id,
                part=RunPart.EPISODES,
                now=now,
            )
            if run is None:
                return Consolidation()
            episodes = [
                self._episode(session, moment, key, ratings)
                for moment, key in zip(encoded, keys, strict=True)
            ]
            written = {MemoryKind.EPISODE.value: Episode.objects.encode(episodes, now=now)}
            run.record(written=written, dropped={})
        return Consolidation(written=written)

    def _episode(
        self,
        session: SessionTranscript,
        moment: Moment,
        keys: Keys,
        ratings: Ratings,
    ) -> Episode:
        rating, end = ratings[moment.rated.id], moment.ends_with
        salience = salience_of(rating)
        g = forgetting.initial_consolidation(
            salience=salience, initial=self.curve.initial_g, gain=self.curve.salience_gain
        )
        wordings = wording(self.setting.language)
        return Episode(
            id=episode_id(participant=self.participant, ends_with=end.id),
            lab_id=self.lab_id,
            participant_id=self.participant_id,
            session_id=session.id,
            session_number=session.number,
            stage_key=session.stage,
            text="\n".join(wordings.utterance(utterance) for utterance in moment.utterances),
            message_ids=moment.message_ids,
            ends_with=end.id,
            form=f"{self.encode}/{self.encoding}",
            embedder=self.doors.embedder.id,
            vector=keys.vector,
            second_vector=keys.second_vector,
            words=keys.words,
            words_before=keys.words_before,
            encoded_at=end.at,
            anchor=end.at,
            g=g,
            recallable_until=self.curve.recallable_until(g=g, anchor=end.at, salience=salience),
            intensity=rating.intensity,
            self_disclosure=rating.self_disclosure,
            value_relevance=rating.value_relevance,
            salience=salience,
            importance=salience,
        )


def _episodes_of(readings: Sequence[MemoryReading]) -> list[UUID]:
    return [reading.id for reading in readings if reading.kind == MemoryKind.EPISODE]
