"""What holds of confidence whatever is said and called, in any order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.models import Lab, Participant
from memlab.core.llm.base import ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import Grounds, Statement
from memory.architectures.base import NO_EFFECTS
from memory.architectures.confidence import Confidence
from memory.architectures.confidence_desk import Desk
from memory.architectures.confidence_tools import FIELDS
from memory.models import Belief
from tests.memory.architectures.confidence.talking import (
    Called,
    forget,
    look_for,
    replayed,
    save,
    update,
    weaken,
)
from tests.memory.conftest import Maker, new_participant
from tests.memory.dialogue import START, identified

SAID = (
    "I like tea. I like green tea. I live in Leeds. I moved to York. I have a cat. "
    "Basketball is fun. I am shy."
)
CODES = st.sampled_from(["m1", "m2", "m3", "m4"])
CALLS = st.one_of(
    st.sampled_from(
        [
            save("likes tea"),
            save("likes green tea"),
            save("likes basketball"),
            save("shy", "personality"),
            save("lives in Leeds", "event"),
            save("has a cat", "event"),
            look_for("tea"),
            look_for("Leeds, basketball"),
        ]
    ),
    CODES.map(weaken),
    CODES.map(forget),
    st.builds(update, CODES, st.sampled_from(["moved to York", "lives in Leeds", "has a cat"])),
)
TURNS = st.lists(st.lists(CALLS, max_size=5), max_size=8)
BESIDE = st.sampled_from([save("likes tea"), look_for("tea")])
WIDELY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def turn(memory: Confidence, number: int, calls: Sequence[Called]) -> None:
    """One turn with its calls, as synchronously as an open scope needs it."""
    now = START + timedelta(hours=number)
    grounds = Grounds(present=Statement(id=str(identified(f"said {number}")), text=SAID))
    rows = list(Belief.objects.of_participant(memory.participant_id))
    recall, effects = memory.boot.recall(rows, (), grounds, now), NO_EFFECTS
    for name, arguments in calls:
        desk = Desk(
            recall=recall,
            grounds=grounds,
            rows={row.pk: row for row in rows},
            staged=effects.staged,
            offered=list(FIELDS),
            categories=memory.categories,
            words=memory.words,
            values=memory.values,
            band_of=memory.boot.band,
        )
        _result, effects = desk.answer(_call(name, arguments))
    memory.commit_recall(recall, now, reply=identified(f"{rows} {number}"), effects=effects)


def _call(name: str, arguments: Any) -> ToolCall:
    return ToolCall(id="1", name=name, arguments=json.dumps(arguments))


def confidences(participant: Participant) -> dict[Any, float]:
    rows = Belief.objects.of_participant(participant.pk)
    return dict(rows.values_list("pk", "confidence"))


@WIDELY
@given(TURNS)
def test_any_turns_leave_rows_that_are_the_replay_of_their_events(
    lab: Lab, make: Maker, turns: list[list[Called]]
) -> None:
    participant = new_participant(lab)
    memory = make(Confidence, participant)
    with lab_scope(lab.pk):
        for number, calls in enumerate(turns):
            before = confidences(participant)
            turn(memory, number, calls)
            after = confidences(participant)
            assert all(0 < each <= 1 for each in after.values())
            # Patience: a turn takes one step from a memory, and none that it took is given back.
            assert all(after[key] >= before[key] - 0.25 for key in before.keys() & after.keys())
    rows = replayed(participant)
    with lab_scope(lab.pk):
        stored = {row.pk: row.state() for row in Belief.objects.of_participant(participant.pk)}
    assert rows == stored


@WIDELY
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3), st.lists(st.sampled_from([save("likes tea"), look_for("tea")]))
        ),
        min_size=4,
        max_size=4,
    ),
    st.lists(st.just(look_for("tea")), max_size=2),
)
def test_exactly_four_contradictions_in_four_turns_make_a_memory_vanish(
    lab: Lab, make: Maker, doubts: list[tuple[int, list[Called]]], quiet: list[Called]
) -> None:
    """However often a turn weakens it, and whatever is saved or looked for beside."""
    participant = new_participant(lab)
    memory = make(Confidence, participant, tool_calls=100)
    life = []
    with lab_scope(lab.pk):
        turn(memory, 0, [save("likes tea")])
        for number, (times, beside) in enumerate(doubts):
            turn(memory, 1 + 2 * number, quiet)
            # Hidden before the last turn, it has to be looked for to have a code.
            calls = [look_for("tea"), *[weaken("m1")] * times, *beside]
            turn(memory, 2 + 2 * number, calls)
            life.append(list(confidences(participant).values()))
    assert life == [[0.75], [0.5], [0.25], []]
    assert replayed(participant) == {}


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_what_was_doubted_comes_back_to_certainty_and_no_further(
    steps: int, lab: Lab, make: Maker
) -> None:
    participant = new_participant(lab)
    memory = make(Confidence, participant)
    with lab_scope(lab.pk):
        turn(memory, 0, [save("likes tea")])
        for number in range(steps):
            turn(memory, 1 + number, [weaken("m1")])
        for number in range(6):
            turn(memory, 10 + number, [save("likes tea")])
        assert list(confidences(participant).values()) == [1.0]
