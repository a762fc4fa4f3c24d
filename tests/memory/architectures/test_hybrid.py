from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.enums import RelevanceScale
from experiments.models import Participant
from memlab.core.embeddings.base import EmbeddingFailure, Form
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.tenancy import lab_scope
from memlab.core.values import MemoryReading, PromptTask, Recall, Transcript
from memory.architectures.hybrid import NEAR_MISSES, Hybrid
from memory.architectures.random_recall import RandomRecall
from memory.enums import EventKind, MemoryKind, Reason, RunPart
from memory.models import ConsolidationRun, Episode, MemoryEvent, Trait
from tests.doors import ScriptedEmbedder, ScriptedModel, rated, traits_from
from tests.memory.conftest import Maker, new_participant, run, setting
from tests.memory.dialogue import START, after, end_of, identified, session
from tests.memory.models.test_episode import present_state

pytestmark = pytest.mark.django_db(transaction=True)

TALK = session(
    ("I want to study in Kyoto.", "Why Kyoto?"),
    ("My cat Miso is ill.", "Oh no."),
    ("I had bread today.", "Tasty."),
    opening="Tell me about yourself.",
)
WEEK = START + timedelta(days=7)


def asked(memory: Hybrid, transcript: Transcript, query: str, now: datetime) -> Recall:
    vector = run(memory.doors.embedder.embed([query], Form.QUERY))[0]
    return run(memory.recall(transcript, query, vector, now))


def missed(
    memory: Hybrid, transcript: Transcript, recall: Recall, query: str
) -> tuple[MemoryReading, ...]:
    vector = run(memory.doors.embedder.embed([query], Form.QUERY))[0]
    return run(memory.near_misses(transcript, recall, vector, recall.at))


def episodes_of(recall: Recall) -> list[str]:
    return [reading.text for reading in recall.memories if reading.kind == MemoryKind.EPISODE]


def commit(memory: Hybrid, recall: Recall, now: datetime, reply: str) -> None:
    with lab_scope(memory.lab_id):
        memory.commit_recall(recall, now, reply=identified(reply))


def stored(participant: Participant) -> list[Episode]:
    with lab_scope(participant.lab_id):
        return list(Episode.objects.of_participant(participant.pk).order_by("encoded_at"))


def test_a_session_becomes_episodes(
    participant: Participant, make: Maker, embedder: ScriptedEmbedder
) -> None:
    memory = make(Hybrid, participant)
    done = run(memory.consolidate(TALK, end_of(TALK)))
    assert (done.written, done.degraded) == ({"episode": 3, "trait": 0}, ())
    first, second, _third = stored(participant)
    opening, said = TALK.utterances[:2]
    assert first.text == "Assistant: Tell me about yourself.\nUser: I want to study in Kyoto."
    assert first.message_ids == [opening.id, said.id]
    assert (first.ends_with, first.encoded_at, first.anchor) == (said.id, said.at, said.at)
    assert (first.g, first.salience, first.importance) == pytest.approx((1.35, 0.7, 0.7))
    assert (first.form, first.stage_key, first.embedder) == ("user/in_context", "T1", "scripted")
    assert embedder.embedded[1] == ("Why Kyoto?\nMy cat Miso is ill.", Form.PASSAGE)
    assert second.recall_count == 0


@pytest.mark.parametrize(("encode", "count"), [("user", 3), ("turn", 3), ("all", 7)])
def test_what_is_encoded_is_a_parameter(
    participant: Participant, make: Maker, encode: str, count: int
) -> None:
    run(make(Hybrid, participant, encode=encode).consolidate(TALK, end_of(TALK)))
    assert len(stored(participant)) == count


def test_an_episode_comes_back_when_cued_and_is_strengthened_once(
    participant: Participant, make: Maker
) -> None:
    memory = make(Hybrid, participant, recall_threshold=0.3, encoding="message", recent_turns=0)
    run(memory.consolidate(TALK, end_of(TALK)))
    now = TALK.turns[0].said.at + timedelta(days=1)
    recall = asked(memory, after(TALK), "Kyoto study", now)
    (section,) = recall.sections
    assert section.rendered() == (
        "[Moments from earlier conversations that come to mind]\n- User: I want to study in Kyoto."
    )
    assert recall.message_ids == (TALK.turns[0].said.id,)
    assert recall.searched is True
    (reading,) = recall.memories
    assert (reading.reason, reading.recalled, reading.stage) == (Reason.RECALLED, True, "T1")
    assert (reading.elapsed_days, reading.threshold) == (1.0, 0.3)

    for _ in range(2):
        commit(memory, recall, now, "the reply")
    first, *others = stored(participant)
    assert round(first.g, 6) == 1.973858
    assert (first.recall_count, first.last_recalled_at) == (1, now)
    assert [episode.recall_count for episode in others] == [0, 0]
    with lab_scope(participant.lab_id):
        event = MemoryEvent.objects.get(event=EventKind.RECALLED)
        assert event.reply_id == identified("the reply")
        assert present_state(first) == first.encoding_event(START).after


def test_recall_and_its_near_misses_change_nothing(participant: Participant, make: Maker) -> None:
    memory = make(Hybrid, participant, recall_threshold=0.1)
    run(memory.consolidate(TALK, end_of(TALK)))
    before = [episode.strength() for episode in stored(participant)]
    recall = asked(memory, after(TALK), "Kyoto", WEEK)
    missed(memory, after(TALK), recall, "Kyoto")
    assert [episode.strength() for episode in stored(participant)] == before


def test_without_update_on_recall_nothing_is_strengthened(
    participant: Participant, make: Maker
) -> None:
    memory = make(Hybrid, participant, recall_threshold=0.01, update_on_recall=False)
    run(memory.consolidate(TALK, end_of(TALK)))
    recall = asked(memory, after(TALK), "Kyoto", START + timedelta(hours=1))
    assert episodes_of(recall)
    commit(memory, recall, recall.at, "reply")
    assert {episode.recall_count for episode in stored(participant)} == {0}


def test_if_nothing_passes_nothing_is_recalled(participant: Participant, make: Maker) -> None:
    memory = make(Hybrid, participant)
    run(memory.consolidate(TALK, end_of(TALK)))
    recall = asked(memory, after(TALK), "Kyoto study", WEEK)
    assert [section.key for section in recall.sections] == ["recent_turns"]
    assert (episodes_of(recall), recall.searched, recall.degraded) == ([], True, ())
    reasons = {reading.reason for reading in missed(memory, after(TALK), recall, "Kyoto study")}
    assert reasons == {Reason.FORGOTTEN}


def test_near_misses_say_why(participant: Participant, make: Maker) -> None:
    memory = make(
        Hybrid,
        participant,
        initial_g=20.0,
        recall_threshold=0.3,
        retrieval_top_k=1,
        encoding="message",
    )
    run(memory.consolidate(TALK, end_of(TALK)))
    query = "study in Kyoto with my cat Miso"
    recall = asked(memory, after(TALK), query, WEEK)
    assert len(episodes_of(recall)) == 1
    others = missed(memory, after(TALK), recall, query)
    assert [reading.reason for reading in others] == [Reason.BEYOND_LIMIT, Reason.BELOW_THRESHOLD]
    assert all(reading.recalled is False for reading in others)
    nearer, farther = (reading.relevance for reading in others)
    assert nearer is not None
    assert farther is not None
    assert nearer > farther


def test_near_misses_are_twenty(participant: Participant, make: Maker) -> None:
    long = session(*((f"number {n}", "I see.") for n in range(40)))
    memory = make(Hybrid, participant, initial_g=1000.0)
    run(memory.consolidate(long, end_of(long)))
    recall = asked(memory, after(long), "number", WEEK)
    assert len(missed(memory, after(long), recall, "number")) == NEAR_MISSES


def test_the_forgetting_curve_off_ranks_by_relevance_alone(
    participant: Participant, make: Maker
) -> None:
    memory = make(
        Hybrid, participant, forgetting_curve=False, retrieval_top_k=2, encoding="message"
    )
    run(memory.consolidate(TALK, end_of(TALK)))
    later = START + timedelta(days=3650)
    recall = asked(memory, after(TALK), "I had bread", later)
    assert episodes_of(recall)[0] == "User: I had bread today."
    assert len(episodes_of(recall)) == 2
    (other,) = missed(memory, after(TALK), recall, "I had bread")
    assert other.reason == Reason.BEYOND_LIMIT


def test_provenance_and_language_stand_beside_an_episode(
    participant: Participant, make: Maker
) -> None:
    talk = session(("我想去京都留学", "为什么？"))
    memory = make(
        Hybrid,
        participant,
        study=setting(language="zh-hans", provenance=True),
        encoding="message",
        initial_g=20.0,
        recent_turns=0,
    )
    run(memory.consolidate(talk, end_of(talk)))
    (section,) = asked(memory, after(talk), "我想去京都留学", START + timedelta(hours=1)).sections
    assert section.rendered() == ("[此刻想起的往日片段]\n- [T1] [相关度 1.00] 用户：我想去京都留学")


def test_a_query_without_a_vector_degrades_to_the_gist(
    participant: Participant, make: Maker
) -> None:
    memory = make(Hybrid, participant)
    run(memory.consolidate(TALK, end_of(TALK)))
    recall = run(memory.recall(after(TALK), "Kyoto", None, WEEK))
    assert recall.degraded == ("recall:no_query_vector",)
    assert [section.key for section in recall.sections] == ["recent_turns"]
    assert recall.searched is False
    assert run(memory.near_misses(after(TALK), recall, None, WEEK)) == ()


def test_raw_relevance_is_the_cosine(participant: Participant, make: Maker) -> None:
    study = replace(setting(), relevance=RelevanceScale.RAW, calibrations={})
    memory = make(Hybrid, participant, study=study, initial_g=50.0, encoding="message")
    run(memory.consolidate(TALK, end_of(TALK)))
    recall = asked(memory, after(TALK), "My cat Miso is ill.", WEEK)
    assert recall.memories[0].relevance == pytest.approx(1.0, abs=1e-6)


def test_another_embedders_episodes_are_never_recalled(
    participant: Participant, make: Maker, embedder: ScriptedEmbedder
) -> None:
    memory = make(Hybrid, participant, recall_threshold=0.0)
    run(memory.consolidate(TALK, end_of(TALK)))
    embedder.id = "another"
    assert episodes_of(asked(memory, after(TALK), "Kyoto", START)) == []


# Consolidation that fails, is repeated, or dies


def test_a_failed_embedding_leaves_the_profile_written_and_heals(
    participant: Participant, make: Maker, embedder: ScriptedEmbedder, model: ScriptedModel
) -> None:
    model.answers[PromptTask.EXTRACT_PROFILE] = traits_from(
        {"cat": {"dimension": "social", "text": "has a cat called Miso"}}
    )
    memory = make(Hybrid, participant)
    embedder.failure = EmbeddingFailure(FailureKind.UNAVAILABLE, "scripted")
    first = run(memory.consolidate(TALK, end_of(TALK)))
    assert (first.written, first.degraded) == ({"trait": 1}, ("embedding:unavailable",))
    embedder.failure = None
    second = run(memory.consolidate(TALK, end_of(TALK)))
    assert (second.written, second.degraded) == ({"episode": 3}, ())
    with lab_scope(participant.lab_id):
        assert (Trait.objects.count(), Episode.objects.count()) == (1, 3)


def test_without_ratings_no_episode_is_written(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers[PromptTask.RATE_SALIENCE] = ModelFailure(FailureKind.RATE_LIMIT, "scripted")
    memory = make(Hybrid, participant)
    done = run(memory.consolidate(TALK, end_of(TALK)))
    assert (done.written, done.degraded) == ({"trait": 0}, ("extraction:rate_limit",))
    assert stored(participant) == []
    model.answers[PromptTask.RATE_SALIENCE] = rated(0.7, 0.7, 0.7)
    assert run(memory.consolidate(TALK, end_of(TALK))).written == {"episode": 3}


def test_consolidating_twice_changes_nothing(
    participant: Participant, make: Maker, model: ScriptedModel, embedder: ScriptedEmbedder
) -> None:
    memory = make(Hybrid, participant)
    run(memory.consolidate(TALK, end_of(TALK)))
    before = [episode.encoding_event(START).after for episode in stored(participant)]
    calls = (len(model.prompts), len(embedder.embedded))
    assert run(memory.consolidate(TALK, end_of(TALK))).written == {}
    assert [episode.encoding_event(START).after for episode in stored(participant)] == before
    assert (len(model.prompts), len(embedder.embedded)) == calls
    with lab_scope(participant.lab_id):
        parts = set(ConsolidationRun.objects.values_list("part", flat=True))
        assert (parts, MemoryEvent.objects.count()) == ({RunPart.EPISODES, RunPart.PROFILE}, 3)


def test_a_run_that_overlaps_another_writes_nothing_twice(
    participant: Participant, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked before either wrote: the second to write finds the part claimed."""
    memory = make(Hybrid, participant)
    monkeypatch.setattr(memory, "_written_parts", lambda session: frozenset())
    assert run(memory.consolidate(TALK, end_of(TALK))).written == {"episode": 3, "trait": 0}
    assert run(memory.consolidate(TALK, end_of(TALK))).written == {}
    assert len(stored(participant)) == 3


def test_a_crash_in_the_write_leaves_nothing_and_a_retry_heals(
    participant: Participant, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make(Hybrid, participant)
    with monkeypatch.context() as patch:
        patch.setattr(ConsolidationRun, "record", _crash)
        with pytest.raises(RuntimeError, match="power cut"):
            run(memory.consolidate(TALK, end_of(TALK)))
    assert stored(participant) == []
    with lab_scope(participant.lab_id):
        assert MemoryEvent.objects.count() == 0
    assert run(memory.consolidate(TALK, end_of(TALK))).written == {"episode": 3, "trait": 0}


def _crash(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("power cut")


def test_backfilling_equals_having_lived_through(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    """The same transcript at the same study times gives the same memory, whenever it runs."""
    model.answers[PromptTask.EXTRACT_PROFILE] = traits_from(
        {"cat": {"dimension": "social", "text": "has a cat"}}
    )
    with lab_scope(participant.lab_id):
        twin = Participant.objects.create(study=participant.study)
    for person in (participant, twin):
        run(make(Hybrid, person).consolidate(TALK, end_of(TALK)))

    def memories(person: Participant) -> list[Any]:
        with lab_scope(person.lab_id):
            events = MemoryEvent.objects.filter(participant=person).order_by("pk")
            vectors = [list(map(float, episode.vector)) for episode in stored(person)]
            return [[(event.after, event.study_at) for event in events], vectors]

    assert memories(participant) == memories(twin)


# The yoked control


def test_random_recall_brings_as_many_as_hybrid_and_strengthens_hybrids(
    participant: Participant, make: Maker
) -> None:
    long = session(*((f"I like number {n} a lot", "I see.") for n in range(30)))
    parameters: dict[str, Any] = {
        "initial_g": 20.0,
        "recall_threshold": 0.45,
        "encoding": "message",
        "retrieval_top_k": 4,
    }
    hybrid = make(Hybrid, participant, **parameters)
    control = make(RandomRecall, participant, **parameters)
    run(hybrid.consolidate(long, end_of(long)))
    drawn = set()
    for query in ("I like number 7", "I like number 3", "something else entirely"):
        by_hybrid = asked(hybrid, after(long), query, WEEK)
        by_chance = asked(control, after(long), query, WEEK)
        assert len(episodes_of(by_chance)) == len(episodes_of(by_hybrid))
        assert [reading.id for reading in by_chance.strengthens] == [
            reading.id for reading in by_hybrid.memories
        ]
        assert by_chance == asked(control, after(long), query, WEEK)
        drawn |= {reading.id for reading in by_chance.memories}
    assert len(drawn) > 4
    last = asked(control, after(long), "I like number 7", WEEK)
    commit(control, last, WEEK, "reply")
    strengthened = {episode.pk for episode in stored(participant) if episode.recall_count}
    assert strengthened == {reading.id for reading in last.strengthens}
    others = missed(control, after(long), last, "I like number 7")
    assert {reading.reason for reading in others} == {Reason.NOT_DRAWN}


def test_a_random_draw_replays_and_differs_between_conversations(
    participant: Participant, make: Maker, lab: Any
) -> None:
    draws = []
    for person, day in ((participant, 0), (new_participant(lab), 0), (new_participant(lab), 1)):
        long = session(*((f"I like number {n} a lot", "I see.") for n in range(60)), day=day)
        control = make(RandomRecall, person, initial_g=20.0, recall_threshold=0.4)
        run(control.consolidate(long, end_of(long)))
        draws.append(episodes_of(asked(control, after(long), "I like number", WEEK)))
    assert len(draws[0]) == 5
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]


def test_presets_are_usable_and_weekly_outlasts_a_week(
    participant: Participant, make: Maker
) -> None:
    survivors = {}
    for name, preset in Hybrid.presets.items():
        curve = make(Hybrid, participant, **preset).curve
        until = curve.recallable_until(g=curve.initial_g, anchor=START, salience=0.0)
        survivors[name] = round((until - START) / timedelta(days=1), 2)
    assert survivors == {"hou-2024": 0.24, "spaced-sessions": 2.22, "weekly": 21.89}


def test_recall_asks_the_database_once_for_the_traits_and_once_for_the_episodes(
    participant: Participant, make: Maker
) -> None:
    memory = make(Hybrid, participant, recall_threshold=0.1)
    run(memory.consolidate(TALK, end_of(TALK)))
    vector = run(memory.doors.embedder.embed(["Kyoto"], Form.QUERY))[0]
    query = run(memory._query(after(TALK), "Kyoto", vector, START + timedelta(hours=1)))
    with CaptureQueriesContext(connection) as statements:
        memory._load(query)
    asked_for = [each["sql"] for each in statements if "FROM " in each["sql"]]
    assert len(asked_for) == 2


def test_an_episode_of_several_messages_is_one_item(participant: Participant, make: Maker) -> None:
    memory = make(Hybrid, participant, initial_g=20.0, recent_turns=0, recall_threshold=0.5)
    run(memory.consolidate(TALK, end_of(TALK)))
    now = START + timedelta(hours=1)
    (section,) = asked(memory, after(TALK), "Why Kyoto?\nMy cat Miso is ill.", now).sections
    assert section.lines[0] == "- Assistant: Why Kyoto?\n  User: My cat Miso is ill."
