"""The estimate of tokens: the same everywhere, additive enough for budgets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.core.llm.tokens import count_message_tokens, count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("你好", 2),
        ("今天天气不错。", 7),
        ("hello world", 3),
        ("one two three four five six seven eight nine ten", 13),
        ("internationalization", 4),
        ("2026", 2),
        ("我有2只cat!", 7),
    ],
)
def test_known_texts(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_messages_cost_their_delimiters() -> None:
    assert count_message_tokens(["你好", "hello"]) == 2 + 2 + 4 + 4


@given(st.text(max_size=60), st.text(max_size=60))
def test_joining_two_lines_never_costs_more_than_both(first: str, second: str) -> None:
    joined = count_tokens(first + "\n" + second)
    assert max(count_tokens(first), count_tokens(second)) <= joined
    assert joined <= count_tokens(first) + count_tokens(second)
