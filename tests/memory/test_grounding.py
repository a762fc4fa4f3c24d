from __future__ import annotations

import pytest

from memory.grounding import echoed, key_words, negated, shared, stated, support


@pytest.mark.parametrize(
    ("content", "said", "expected"),
    [
        ("likes basketball", "I like basketball!", 1.0),
        ("likes basketball", "Basketball is fine after all.", 0.5),
        ("The user lives in Leeds", "I live in Leeds.", 1.0),
        ("residence: Leeds", "I moved to Leeds", 0.5),
        ("likes basketball", "What a day.", 0.0),
        ("喜欢篮球", "我们去打篮球吧！", 0.5),
        ("用户喜欢篮球", "我喜欢篮球", 1.0),
        ("喜欢篮球", "今天好热", 0.0),
        ("is it", "is it", 0.0),
    ],
)
def test_support_is_the_share_of_words_that_were_said(
    content: str, said: str, expected: float
) -> None:
    assert support(content, [said]) == expected


def test_support_adds_up_over_messages() -> None:
    assert (
        support("adopted a kitten named Miso", ["I adopted a kitten.", "Her name is Miso."]) == 1.0
    )
    assert support("likes tea", []) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Leeds. Do you know it?", "I live in Leeds."),
        ("Did I say that I like Leeds?", ""),
        ("我喜欢猫。你记得我喜欢狗吗？", "我喜欢猫。"),
    ],
)
def test_a_question_states_nothing(text: str, expected: str) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doesn't like tea", True),
        ("no longer likes tea", True),
        ("hates tea", True),
        ("likes tea", False),
        ("likes nothing but tea", True),
        ("不喜欢茶", True),
        ("没有养猫", True),
        ("特别喜欢茶", False),
        ("对未来有计划", False),
        ("觉得茶不错", False),
        ("喜欢茶", False),
    ],
)
def test_a_denial_is_told_apart(text: str, expected: bool) -> None:
    assert negated(text) is expected


def test_a_chinese_word_stands_in_a_longer_one() -> None:
    assert shared({"篮球", "喜欢"}, "打篮球") == {"篮球"}
    assert shared({"tea"}, "teapot") == set()


def test_the_subject_is_no_key_word() -> None:
    assert key_words("The user likes tea") == {"like", "tea"}
    assert key_words("用户喜欢茶") == {"喜欢", "茶"}


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("likes green tea", "What a day.", True),
        ("The user likes green tea.", "What a day.", True),
        ("- [2026-03-02] likes green tea", "What a day.", True),
        ("green tea", "What a day.", True),
        ("likes green tea", "I like my green tea.", False),
        ("likes coffee", "I can't live without espresso.", False),
        ("works nights", "What a day.", False),
        ("住在利兹", "今天好热", True),
        ("住在利兹", "我住在利兹", False),
        ("is it", "What a day.", False),
    ],
)
def test_an_echo_repeats_what_is_known_word_for_word(text: str, said: str, expected: bool) -> None:
    assert echoed(text, said=[said], known=["likes green tea", "住在利兹", "nights"]) is expected
