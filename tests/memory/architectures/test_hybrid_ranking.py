"""L4 with the ranking ``hybrid``: what it stores beside the dense one, and what it then brings."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from experiments.models import Participant
from memlab.core.embeddings.base import Form
from memlab.core.values import Transcript
from memory.architectures.hybrid import Hybrid
from memory.architectures.random_recall import RandomRecall
from memory.enums import Reason
from tests.doors import ScriptedEmbedder
from tests.memory.architectures.test_hybrid import asked, episodes_of, stored
from tests.memory.conftest import Maker, run, setting
from tests.memory.dialogue import START, after, end_of, said, session

pytestmark = pytest.mark.django_db(transaction=True)

TALK = session(
    ("My cats are ill.", "Oh no, what is the matter?"),
    ("They don't eat.", "Call the vet."),
)
ABOUT_KYOTO, ABOUT_MISO, ABOUT_BREAD = "Kyoto it is.", "Miso sleeps.", "Bread again."
QUESTION = "How is Miso?"
#: The question is nearest to Kyoto and names Miso.
VECTORS = {
    ABOUT_KYOTO: [0.95, 0.3122],
    ABOUT_MISO: [0.9, 0.4359],
    ABOUT_BREAD: [0.1, 0.995],
    QUESTION: [1.0, 0.0],
}
DIARY = session((ABOUT_KYOTO, "I see."), (ABOUT_MISO, "I see."), (ABOUT_BREAD, "I see."))
PARAMETERS: dict[str, Any] = {
    "encoding": "message",
    "initial_g": 20.0,
    "recall_threshold": 0.45,
    "recent_turns": 0,
}


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    """By default as elsewhere; with ``VECTORS`` where a test's texts are theirs."""
    return ScriptedEmbedder()


@pytest.fixture
def diary(embedder: ScriptedEmbedder) -> ScriptedEmbedder:
    embedder.vectors = dict(VECTORS)
    embedder.dimensions = 2
    return embedder


def keys(participant: Participant) -> list[tuple[str, str, bool]]:
    return [
        (row.words, row.words_before, row.second_vector is not None) for row in stored(participant)
    ]


def test_dense_stores_one_vector_and_no_words(
    participant: Participant, make: Maker, embedder: ScriptedEmbedder
) -> None:
    run(make(Hybrid, participant).consolidate(TALK, end_of(TALK)))
    assert keys(participant) == [("", "", False), ("", "", False)]
    assert len(embedder.embedded) == 2


def test_hybrid_stores_words_and_the_other_vector_where_something_was_said_before(
    participant: Participant, make: Maker, embedder: ScriptedEmbedder
) -> None:
    run(make(Hybrid, participant, ranking="hybrid").consolidate(TALK, end_of(TALK)))
    assert keys(participant) == [("cat ill", "", False), ("eat", "matter", True)]
    assert embedder.embedded == [
        ("My cats are ill.", Form.PASSAGE),
        ("Oh no, what is the matter?\nThey don't eat.", Form.PASSAGE),
        ("They don't eat.", Form.PASSAGE),
    ]


def test_the_first_vector_is_that_of_the_encoding(participant: Participant, make: Maker) -> None:
    memory = make(Hybrid, participant, ranking="hybrid", encoding="message")
    run(memory.consolidate(TALK, end_of(TALK)))
    _first, second = stored(participant)
    alone, whole = run(
        memory.doors.embedder.embed(
            ["They don't eat.", "Oh no, what is the matter?\nThey don't eat."], Form.PASSAGE
        )
    )
    assert list(second.vector) == pytest.approx(alone.tolist())
    assert list(second.second_vector or ()) == pytest.approx(whole.tolist())
    # What stands in the prompt, and counts as brought back, is what the encoding says.
    assert second.text == "User: They don't eat."
    assert second.message_ids == [second.ends_with]


def test_names_are_words_where_both_sides_are_encoded(
    participant: Participant, make: Maker
) -> None:
    memory = make(
        Hybrid,
        participant,
        ranking="hybrid",
        encode="all",
        participant_name="Carla",
        assistant_name="Ben",
    )
    run(memory.consolidate(TALK, end_of(TALK)))
    assert keys(participant)[1][:2] == ("ben matter", "carla cat ill")


def test_chinese_is_cut_into_words(participant: Participant, make: Maker) -> None:
    talk = session(("我养了一只猫，叫咪咪。", "它几岁了？"), ("三岁。", "真可爱。"))
    memory = make(Hybrid, participant, study=setting(language="zh-hans"), ranking="hybrid")
    run(memory.consolidate(talk, end_of(talk)))
    assert keys(participant) == [("养 一只 猫 咪咪", "", False), ("三岁", "几岁", True)]


def test_what_the_question_names_comes_first(
    participant: Participant, make: Maker, diary: ScriptedEmbedder
) -> None:
    run(make(Hybrid, participant, ranking="hybrid", **PARAMETERS).consolidate(DIARY, START))
    now = START + timedelta(days=1)
    brought = {}
    for ranking in ("dense", "hybrid"):
        memory = make(Hybrid, participant, ranking=ranking, **PARAMETERS)
        brought[ranking] = asked(memory, after(DIARY), QUESTION, now)
    kyoto, miso = f"User: {ABOUT_KYOTO}", f"User: {ABOUT_MISO}"
    assert episodes_of(brought["dense"]) == [kyoto, miso]
    assert episodes_of(brought["hybrid"]) == [miso, kyoto]
    # Bread stays away from both, and what passed has the same numbers.
    by_id = {ranking: {each.id: each for each in got.memories} for ranking, got in brought.items()}
    assert by_id["dense"] == by_id["hybrid"]


def test_the_limit_keeps_the_best_by_fused_rank_and_the_receipt_says_so(
    participant: Participant, make: Maker, diary: ScriptedEmbedder
) -> None:
    memory = make(Hybrid, participant, ranking="hybrid", retrieval_top_k=1, **PARAMETERS)
    run(memory.consolidate(DIARY, START))
    now = START + timedelta(days=1)
    transcript = replace(after(DIARY), question=said(QUESTION, at=now))
    recall = asked(memory, transcript, QUESTION, now)
    assert episodes_of(recall) == [f"User: {ABOUT_MISO}"]
    vector = run(memory.doors.embedder.embed([QUESTION], Form.QUERY))[0]
    others = run(memory.near_misses(transcript, recall, vector, now))
    assert [(each.text, each.reason) for each in others] == [
        (f"User: {ABOUT_KYOTO}", Reason.BEYOND_LIMIT),
        (f"User: {ABOUT_BREAD}", Reason.BELOW_THRESHOLD),
    ]


def order(memory: Hybrid, transcript: Transcript, query: str, **more: Any) -> list[str]:
    vector = run(memory.doors.embedder.embed([query], Form.QUERY))[0]
    now = START + timedelta(days=3650)
    ids = run(memory.ranked(transcript, query, vector, now, limit=3))
    texts = {utterance.id: utterance.text for utterance in DIARY.utterances}
    return [texts[each] for each in ids]


def test_everything_encoded_is_ranked_forgotten_or_not(
    participant: Participant, make: Maker, diary: ScriptedEmbedder
) -> None:
    memory = make(Hybrid, participant, ranking="hybrid", **PARAMETERS)
    run(memory.consolidate(DIARY, START))
    assert order(memory, after(DIARY), QUESTION) == [ABOUT_MISO, ABOUT_KYOTO, ABOUT_BREAD]
    dense = make(Hybrid, participant, **PARAMETERS)
    assert order(dense, after(DIARY), QUESTION) == [ABOUT_KYOTO, ABOUT_MISO, ABOUT_BREAD]


def test_without_the_forgetting_curve_the_ranking_alone_decides(
    participant: Participant, make: Maker, diary: ScriptedEmbedder
) -> None:
    memory = make(
        Hybrid,
        participant,
        ranking="hybrid",
        forgetting_curve=False,
        retrieval_top_k=2,
        **PARAMETERS,
    )
    run(memory.consolidate(DIARY, START))
    recall = asked(memory, after(DIARY), QUESTION, START + timedelta(days=3650))
    assert episodes_of(recall) == [f"User: {ABOUT_MISO}", f"User: {ABOUT_KYOTO}"]


def test_the_control_strengthens_what_hybrid_ranking_would_recall(
    participant: Participant, make: Maker, diary: ScriptedEmbedder
) -> None:
    parameters = {"ranking": "hybrid", "retrieval_top_k": 1, **PARAMETERS}
    hybrid = make(Hybrid, participant, **parameters)
    run(hybrid.consolidate(DIARY, START))
    now = START + timedelta(days=1)
    by_hybrid = asked(hybrid, after(DIARY), QUESTION, now)
    by_chance = asked(make(RandomRecall, participant, **parameters), after(DIARY), QUESTION, now)
    assert [each.id for each in by_chance.strengthens] == [each.id for each in by_hybrid.memories]
    assert len(episodes_of(by_chance)) == 1
