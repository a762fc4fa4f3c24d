from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from experiments.models import Participant
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.llm.tokens import count_tokens
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memory.architectures.gist import Gist
from memory.architectures.rendering import fitting_traits, profile_lines
from memory.architectures.wording import CHINESE, ENGLISH
from memory.enums import Reason
from memory.models import ConsolidationRun, MemoryEvent, Trait
from tests.doors import ScriptedModel, traits_from
from tests.memory.conftest import Maker, run, setting
from tests.memory.dialogue import START, after, end_of, session
from tests.memory.models.test_profile import trait

TALK = session(
    ("I'm a PhD student.", "Interesting! I am a doctor and love tea."),
    ("I like tea.", "Me too."),
    ("My grandmother died.", "I'm sorry."),
    ("Did you get that? secret", None),
)
WORDS = {
    "PhD": {"dimension": "basic_info", "key": "occupation", "text": "PhD student"},
    "tea": {"dimension": "preferences", "text": "likes tea"},
    "died": {
        "dimension": "significant_events",
        "text": "grandmother died",
        "emotion": "grief",
    },
    "secret": {"dimension": "goals", "text": "never"},
    "doctor": {"dimension": "social", "text": "never"},
}


@pytest.fixture
def learning(model: ScriptedModel) -> ScriptedModel:
    model.answers[PromptTask.EXTRACT_PROFILE] = traits_from(WORDS)
    return model


pytestmark = pytest.mark.django_db(transaction=True)


def learned(participant: Participant) -> list[str]:
    with lab_scope(participant.lab_id):
        return [trait.worded() for trait in Trait.objects.of_participant(participant.pk)]


def test_the_profile_comes_from_the_participants_own_messages(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    done = run(make(Gist, participant).consolidate(TALK, end_of(TALK)))
    assert (done.written, done.degraded) == ({"trait": 3}, ())
    assert learned(participant) == [
        "occupation: PhD student",
        "likes tea",
        "grandmother died (grief)",
    ]
    (prompt,) = learning.asked(PromptTask.EXTRACT_PROFILE)
    assert [statement.text for statement in prompt.material] == [
        "I'm a PhD student.",
        "I like tea.",
        "My grandmother died.",
    ]
    with lab_scope(participant.lab_id):
        row = Trait.objects.get(dimension="preferences")
        source = TALK.turns[1].said
        assert (row.message_ids, row.learned_at, row.stage_key) == ([source.id], source.at, "T1")
        assert row.salience == pytest.approx(0.7)


def test_what_is_known_is_not_learned_from_its_echo(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    gist = make(Gist, participant)
    run(gist.consolidate(TALK, end_of(TALK)))
    later = session(("What a day!", "You like tea, don't you?"), number=2, day=7)
    echo = {"dimension": "personality", "text": "The user likes tea."}
    learning.answers[PromptTask.EXTRACT_PROFILE] = traits_from({"day": echo})
    assert run(gist.consolidate(later, end_of(later))).written == {"trait": 0}
    with lab_scope(participant.lab_id):
        assert ConsolidationRun.objects.get(subject=later.id).dropped == {"echo": 1}


def test_the_profile_and_the_last_turns_come_back(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    gist = make(Gist, participant, recent_turns=1)
    run(gist.consolidate(TALK, end_of(TALK)))
    recall = run(gist.recall(after(TALK), "hello", None, START))
    assert [section.rendered() for section in recall.sections] == [
        "[What you know about the user]\n"
        "Basics: occupation: PhD student\n"
        "Likes and dislikes: likes tea\n"
        "Significant events: grandmother died (grief)",
        "[The last turns of earlier conversations]\n"
        "User: My grandmother died.\nAssistant: I'm sorry.",
    ]
    first, second, third = TALK.turns
    assert list(recall.message_ids) == [
        first.said.id,
        second.said.id,
        third.said.id,
        third.answered.id,
    ]
    assert [reading.reason for reading in recall.memories] == [Reason.PROFILE] * 3
    assert [reading.stage for reading in recall.memories] == ["T1"] * 3


def test_provenance_stands_beside_each_trait(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    gist = make(Gist, participant, study=setting(language="zh-hans", provenance=True))
    run(gist.consolidate(TALK, end_of(TALK)))
    profile, _recent = run(gist.recall(after(TALK), "hello", None, START)).sections
    assert profile.rendered() == (
        "[你所了解的用户]\n"
        "基本情况：occupation：PhD student [T1]\n"
        "喜好：likes tea [T1]\n"
        "重要经历：grandmother died（grief） [T1]"
    )


def test_a_later_session_is_told_what_is_known(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    gist = make(Gist, participant)
    later = session(("I like tea!", "Yes."), number=2, day=7)
    run(gist.consolidate(TALK, end_of(TALK)))
    done = run(gist.consolidate(later, end_of(later)))
    assert done.written == {"trait": 0}
    assert learning.asked(PromptTask.EXTRACT_PROFILE)[-1].known == (
        "basic_info: occupation: PhD student",
        "preferences: likes tea",
        "significant_events: grandmother died",
    )


def test_consolidating_twice_changes_nothing(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    gist = make(Gist, participant)
    run(gist.consolidate(TALK, end_of(TALK)))
    asked = len(learning.prompts)
    assert run(gist.consolidate(TALK, end_of(TALK))).written is None
    assert len(learning.prompts) == asked
    with lab_scope(participant.lab_id):
        assert (Trait.objects.count(), MemoryEvent.objects.count()) == (3, 3)


@pytest.mark.parametrize(
    ("parameters", "dimensions"),
    [
        ({}, {"occupation: PhD student", "likes tea", "grandmother died (grief)"}),
        ({"extract_significant_events": False}, {"occupation: PhD student", "likes tea"}),
        ({"emotional_extraction": False}, {"occupation: PhD student", "likes tea"}),
    ],
)
def test_emotional_extraction_can_be_switched_off(
    participant: Participant,
    make: Maker,
    learning: ScriptedModel,
    parameters: dict[str, Any],
    dimensions: set[str],
) -> None:
    run(make(Gist, participant, **parameters).consolidate(TALK, end_of(TALK)))
    assert set(learned(participant)) == dimensions


@pytest.mark.parametrize("task", [PromptTask.EXTRACT_PROFILE, PromptTask.RATE_SALIENCE])
def test_a_failed_model_degrades_and_a_retry_heals(
    participant: Participant, make: Maker, learning: ScriptedModel, task: PromptTask
) -> None:
    gist, answer = make(Gist, participant), learning.answers[task]
    learning.answers[task] = ModelFailure(FailureKind.TIMEOUT, "scripted")
    assert run(gist.consolidate(TALK, end_of(TALK))).degraded == ("extraction:timeout",)
    with lab_scope(participant.lab_id):
        assert (Trait.objects.count(), ConsolidationRun.objects.count()) == (0, 0)
    learning.answers[task] = answer
    assert run(gist.consolidate(TALK, end_of(TALK))).written == {"trait": 3}


def test_an_empty_session_is_consolidated_without_a_model(
    participant: Participant, make: Maker
) -> None:
    gist, empty = make(Gist, participant), session()
    gist.doors.extraction.answers.clear()
    assert run(gist.consolidate(empty, START)).written == {"trait": 0}
    assert run(gist.consolidate(empty, START)).written is None


def test_what_the_budget_leaves_out_is_a_near_miss(
    participant: Participant, make: Maker, learning: ScriptedModel
) -> None:
    texts = [("p" * 30, 0.2), ("q" * 30, 0.9)]
    with lab_scope(participant.lab_id):
        Trait.objects.learn(
            [trait(participant, text, salience=salience) for text, salience in texts], now=START
        )
    gist = make(Gist, participant, gist_max_chars=60)
    recall = run(gist.recall(after(), "hello", None, START))
    assert recall.sections[0].lines == (f"Likes and dislikes: {'q' * 30}",)
    (missed,) = run(gist.near_misses(after(), recall, None, START))
    assert (missed.reason, missed.recalled) == (Reason.OVER_BUDGET, False)
    assert missed.text == f"preferences: {'p' * 30}"


def many(participant: Participant) -> list[Trait]:
    return [
        trait(
            participant,
            f"likes {number}",
            salience=[0.1, 0.5, 0.9][number % 3],
            learned_at=START + timedelta(days=number),
        )
        for number in range(12)
    ]


def test_whole_traits_are_left_out_least_salient_then_oldest(participant: Participant) -> None:
    kept = fitting_traits(many(participant), wording=ENGLISH, characters=85, tokens=0)
    assert [row.text for row in kept] == [
        "likes 2",
        "likes 4",
        "likes 5",
        "likes 7",
        "likes 8",
        "likes 10",
        "likes 11",
    ]


@pytest.mark.parametrize("wording", [ENGLISH, CHINESE])
@pytest.mark.parametrize("budget", [0, 5, 20, 60, 100, 1000])
def test_the_budget_is_kept_and_filled(participant: Participant, wording: Any, budget: int) -> None:
    traits = many(participant)

    def size(kept: list[Trait]) -> int:
        return len("\n".join(profile_lines(kept, wording=wording, provenance=False)))

    kept = fitting_traits(traits, wording=wording, characters=budget, tokens=0)
    assert size(kept) <= budget
    ranked = sorted(traits, key=lambda row: (-row.salience, -row.learned_at.timestamp()))
    assert len(kept) == len(traits) or size(ranked[: len(kept) + 1]) > budget


def test_a_budget_in_tokens_takes_the_place_of_characters(participant: Participant) -> None:
    kept = fitting_traits(many(participant), wording=ENGLISH, characters=5, tokens=30)
    text = "\n".join(profile_lines(kept, wording=ENGLISH, provenance=False))
    assert 0 < count_tokens(text) <= 30
    assert len(text) > 5
