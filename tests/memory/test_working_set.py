from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.core.llm.tokens import count_tokens
from memory.models import RetainedItem
from memory.models.retention_rule import Retention
from memory.words import words
from memory.working_set import Cued, carried, context_markdown, fitting, keyword_in, line
from tests.memory.dialogue import START, identified


def row(
    text: str, *, importance: float = 0.5, hits: int = 0, keywords: tuple[str, ...] = ()
) -> RetainedItem:
    return RetainedItem(
        id=identified(text),
        text=text,
        importance=importance,
        hits=hits,
        anchor=START,
        anchor_turn=1,
        keywords=list(keywords),
        keyword_words=sorted({word for keyword in keywords for word in words(keyword)}),
    )


def cued(
    text: str,
    score: float,
    *,
    relevance: float | None = 0.0,
    archived: bool = False,
    **fields: float,
) -> Cued[RetainedItem]:
    return Cued(item=row(text, **fields), relevance=relevance, score=score, archived=archived)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keywords", "message", "found"),
    [
        (("peanuts",), "Is there a peanut in it?", "peanuts"),
        (("piano lessons",), "My lesson at the piano was fun.", "piano lessons"),
        (("piano lessons",), "The piano is out of tune.", None),
        (("cat",), "I concatenate strings.", None),
        (("the",), "What about the weather?", None),
        (("花生过敏",), "我对花生过敏，这个能吃吗？", "花生过敏"),
        (("年糕",), "年糕今天怎么样？", "年糕"),
        (("猫",), "我们去看熊猫吧", None),
        (("猫",), "我的猫病了", "猫"),
        (("Kyoto", "读书"), "我明年去 Kyoto", "Kyoto"),
        ((), "anything", None),
    ],
)
def test_a_message_holds_a_keyword(
    keywords: tuple[str, ...], message: str, found: str | None
) -> None:
    assert keyword_in(keywords, frozenset(words(message))) == found


def test_the_best_come_first_and_what_is_called_up_counts_as_touched() -> None:
    chosen = carried(
        at_hand=[cued("old", 0.2), cued("good", 0.8), cued("asked", 0.3, relevance=0.7)],
        woken=[cued("asleep", -1.0, relevance=0.9, archived=True, importance=0.3)],
        wake_relevance=0.6,
        retention=Retention(),
        budget=1000,
    )
    # asked: 0.5 × 2; asleep: 0.3 × 2.
    assert [each.item.text for each in chosen.shown] == ["asked", "good", "asleep", "old"]
    assert chosen.woken == {identified("asleep")}
    assert chosen.called_up == {identified("asleep"), identified("asked")}


def test_what_wakes_has_its_place_before_what_scores_more() -> None:
    chosen = carried(
        at_hand=[cued(f"good number {n}", 0.9) for n in range(50)],
        woken=[cued("asleep", -1.0, relevance=0.9, archived=True, importance=0.1)],
        wake_relevance=0.6,
        retention=Retention(),
        budget=30,
    )
    assert len(chosen.shown) == 6  # 3 tokens of it, and 5 of each of the others
    assert chosen.shown[-1].item.text == "asleep"
    assert chosen.woken == {identified("asleep")}


def test_what_no_longer_fits_is_neither_shown_nor_woken() -> None:
    asleep = [cued(f"asleep number {n}", -1.0, relevance=0.9, archived=True) for n in range(3)]
    chosen = carried(at_hand=[], woken=asleep, wake_relevance=0.6, retention=Retention(), budget=12)
    assert len(chosen.shown) == len(chosen.woken) == 2


@given(st.lists(st.text("ab 茶猫", min_size=1, max_size=30), max_size=12), st.integers(0, 80))
def test_the_budget_is_kept_and_filled(texts: list[str], budget: int) -> None:
    kept = fitting(texts, budget=budget)
    sizes = [count_tokens(line(text)) for text in texts]
    assert sum(sizes[:kept]) <= budget
    assert kept == len(texts) or sum(sizes[: kept + 1]) > budget


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "# What the user told you\n\n- tea\n- a cat\n"),
        ("zh-hans", "# 用户告诉过你的事\n\n- tea\n- a cat\n"),
    ],
)
def test_context_md(language: str, expected: str) -> None:
    assert "".join(context_markdown(["tea", "a cat"], language=language)) == expected


def test_of_equals_the_one_accessed_last_comes_first() -> None:
    early, late = cued("early", 0.5), cued("late", 0.5)
    late.item.anchor = START + timedelta(days=1)
    chosen = carried(
        at_hand=[early, late], woken=[], wake_relevance=0.6, retention=Retention(), budget=99
    )
    assert [each.item.text for each in chosen.shown] == ["late", "early"]
