"""L1, L2 and the full history: what comes from the transcript alone."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from experiments.models import Participant
from memory.architectures.full_history import FullHistory
from memory.architectures.sensory import Sensory
from memory.architectures.working import Working
from tests.memory.conftest import Maker, run, setting
from tests.memory.dialogue import START, after, end_of, session

pytestmark = pytest.mark.django_db

FIRST = session(*((f"said {n}", f"answered {n}") for n in range(1, 6)), opening="Welcome.")
SECOND = session(
    ("said 6", "answered 6"), ("lost", None), ("said 7", "answered 7"), number=2, day=7
)
BOTH = after(FIRST, SECOND, day=14)


def test_sensory_memory_brings_nothing(participant: Participant, make: Maker) -> None:
    sensory = make(Sensory, participant)
    recall = run(sensory.recall(BOTH, "hello", None, START))
    assert (recall.sections, recall.memories, recall.message_ids) == ((), (), ())
    assert recall.searched is False
    assert run(sensory.consolidate(FIRST, end_of(FIRST))).written is None


def test_working_memory_brings_the_last_turns(participant: Participant, make: Maker) -> None:
    recall = run(make(Working, participant, turns=3).recall(BOTH, "hello", None, START))
    (section,) = recall.sections
    assert section.rendered() == (
        "[The last turns of earlier conversations]\n"
        "User: said 5\nAssistant: answered 5\n"
        "User: said 6\nAssistant: answered 6\n"
        "User: said 7\nAssistant: answered 7"
    )
    turns = [*FIRST.turns[-1:], *SECOND.turns]
    assert list(recall.message_ids) == [
        each.id for turn in turns for each in (turn.said, turn.answered)
    ]


def test_working_memory_holds_seven_turns(participant: Participant, make: Maker) -> None:
    nine = session(*((f"said {n}", f"answered {n}") for n in range(9)))
    recall = run(make(Working, participant).recall(after(nine), "hello", None, START))
    assert len(recall.message_ids) == 14
    assert recall.sections[0].lines[0] == "User: said 2"


def test_working_memory_of_a_newcomer_is_empty(participant: Participant, make: Maker) -> None:
    recall = run(make(Working, participant).recall(after(), "hello", None, START))
    assert recall.sections == ()


def test_provenance_and_language_are_the_studys(participant: Participant, make: Maker) -> None:
    study = setting(language="zh-hans", provenance=True)
    working = make(Working, participant, study=study, turns=1)
    (section,) = run(working.recall(BOTH, "hello", None, START)).sections
    assert section.rendered() == (
        "[此前对话的最后几轮]\n[T2] 用户：said 7\n[T2] AI助手：answered 7"
    )


def test_a_parameter_that_is_not_declared_is_refused(participant: Participant, make: Maker) -> None:
    with pytest.raises(ValidationError, match="turnz is no parameter"):
        make(Working, participant, turnz=7)


def test_full_history_brings_every_turn_in_order(participant: Participant, make: Maker) -> None:
    recall = run(make(FullHistory, participant).recall(BOTH, "hello", None, START))
    (section,) = recall.sections
    assert section.lines[::2] == tuple(f"User: said {n}" for n in range(1, 8))
    assert len(recall.message_ids) == 14


def test_full_history_drops_the_oldest_beyond_the_budget(
    participant: Participant, make: Maker
) -> None:
    # Each line is 5 tokens, so a turn is 10.
    shown = {}
    for budget in (9, 10, 29, 30, 70, 10_000):
        history = make(FullHistory, participant, study=setting(context_tokens=budget))
        recall = run(history.recall(BOTH, "hello", None, START))
        shown[budget] = [line for section in recall.sections for line in section.lines][::2]
    everything = [f"User: said {n}" for n in range(1, 8)]
    assert shown == {
        9: [],
        10: everything[-1:],
        29: everything[-2:],
        30: everything[-3:],
        70: everything,
        10_000: everything,
    }
