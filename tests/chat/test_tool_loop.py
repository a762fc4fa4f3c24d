"""What of a reply in rounds is shown, and what it is said to have cost. No database."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.streaming import Answer
from memlab.core.llm.base import Completion, Usage

PIECES = st.lists(st.text(alphabet="ab你 \n\t\u3000", max_size=5), max_size=8)


@settings(max_examples=100, deadline=None)
@given(rounds=st.lists(PIECES, min_size=1, max_size=4))
def test_what_was_shown_is_the_reply_however_it_came(rounds: list[list[str]]) -> None:
    answer = Answer()
    shown = []
    for pieces in rounds:
        answer.begin()
        shown += [answer.take(piece) for piece in pieces]
    texts = ["".join(pieces).strip() for pieces in rounds]
    assert "".join(shown) == answer.text == "\n\n".join(text for text in texts if text)


def test_a_round_that_is_tried_again_begins_anew() -> None:
    answer = Answer()
    answer.begin()
    assert answer.take("Hello. \n") == "Hello."
    for _ in range(2):
        answer.begin()
        assert answer.take(" \n") == ""
    assert answer.take(" And ") == "\n\nAnd"
    assert answer.take("bye") == " bye"
    assert answer.text == "Hello.\n\nAnd bye"


@pytest.mark.parametrize(
    ("usages", "total"),
    [
        ([Usage(10, 2)], Usage(10, 2)),
        ([Usage(10, 2), Usage(20, 3)], Usage(30, 5)),
        ([Usage(10, None), Usage(20, 3)], Usage(30, None)),
    ],
)
def test_a_sum_that_lacks_a_part_is_none(usages: list[Usage], total: Usage) -> None:
    completions = [Completion("x", (), "m", "stop", usage, None) for usage in usages]
    assert Answer(completions=completions).usage() == total
