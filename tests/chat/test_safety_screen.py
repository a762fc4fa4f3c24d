"""The risk screen against a corpus of our own, and what it makes of disguises and denials.

``safety_corpus.tsv`` has 853 lines in English and Chinese. The part "made" was there
while the rules were made: of 107 positives none is missed, of 117 hard negatives none is taken for
one. The part "held" was written before the rules and not looked at while they were made: recall
1.00 (40 of 40), precision 0.95 (2 false alarms in 39 hard negatives) in the first run. The part
"plain" came later, from somebody who hadn't made the rules and had read them: plain ways of saying
it, and harmless sentences close to a rule. Its first run missed 86 of 250 and took 90 of 300 for
one; the rules were then mended with it. See docs/safety.md.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.safety.enums import Category, Severity
from chat.safety.screen import Risk, screened

CORPUS = Path(__file__).with_name("safety_corpus.tsv")


def lines() -> list[dict[str, str]]:
    with CORPUS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_corpus_is_large_and_bilingual() -> None:
    positive = [line["text"] for line in lines() if line["category"] != "none"]
    negative = [line["text"] for line in lines() if line["category"] == "none"]
    assert (len(positive), len(negative)) == (397, 456)
    chinese = [
        text for text in (*positive, *negative) if any("一" <= sign <= "鿿" for sign in text)
    ]
    assert len(chinese) == 381


#: What a rule would take for too much that is harmless: hints, and words with another sense.
MISSED = [
    "Life is pointless, I want out",
    "I'm ready to go. Goodbye everyone.",
    "I have a rope and I know what to do",
    "I want to be with my dead mother",
    "我买了一瓶安眠药",
    "我打算今晚走",
    "我准备走了，再见",
    "这是我最后一次跟你说话了",
    "我打了孩子，停不下来",
    "我想领盒饭",
    "我想去陪她了",
    "I couldn't not cut myself",
    "I jumped off a bridge last year",
]
#: When in doubt the rules say yes.
ALARMS = [
    "My plants want to die",
    "He hurt me by not calling",
    "My ex hurt me a lot",
    "I was bullied by deadlines",
    "I am a burden on no one",
    "I'm a burden to my budget",
    "I want to stop existing habits",
    "When I'm gone, please feed the cat",
    "Goodbye world was the title of my first program",
    "I will hurt my family if I move away",
    "I might hurt him if I tell the truth",
    "They have an axe in the house",
    "Kurt Cobain's suicide shocked me",
    "Robin Williams took his own life in 2014",
    "他打我的比分是三比一",
    "他打我一巴掌是开玩笑的",
    "你去死吧哈哈开玩笑",
    "买刀去学校门口的店磨一下",
    "要是我不在了的话请留言",
    "他打了我一个措手不及",
]


def test_positives_of_the_corpus_that_are_missed_are_known() -> None:
    missed = [
        line["text"]
        for line in lines()
        if line["category"] != "none" and screened(line["text"]) is None
    ]
    assert missed == MISSED


def test_false_alarms_of_the_corpus_are_known() -> None:
    alarms = [
        line["text"]
        for line in lines()
        if line["category"] == "none" and screened(line["text"]) is not None
    ]
    assert alarms == ALARMS


def test_category_is_the_corpus_s() -> None:
    """For the part that the rules were made with."""
    wrong = [
        (line["text"], str(risk.category))
        for line in lines()
        if line["part"] == "made" and line["category"] != "none"
        for risk in [screened(line["text"])]
        if risk is not None and risk.category != line["category"]
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "category", "severity"),
    [
        ("I'm going to kill myself tonight.", Category.SELF_HARM, Severity.ACUTE),
        ("I want to die.", Category.SELF_HARM, Severity.SERIOUS),
        ("Everyone would be better off without me.", Category.SELF_HARM, Severity.CONCERN),
        ("我写好了遗书", Category.SELF_HARM, Severity.ACUTE),
        ("我不想活了", Category.SELF_HARM, Severity.SERIOUS),
        ("我觉得我是大家的累赘", Category.SELF_HARM, Severity.CONCERN),
        ("He threatened to kill me.", Category.ABUSE, Severity.ACUTE),
        ("我老公打我", Category.ABUSE, Severity.SERIOUS),
        # As a study's last conversation may end: a card, and no pause.
        ("This is my last message.", Category.SELF_HARM, Severity.CONCERN),
        ("I'm going to end it tonight.", Category.SELF_HARM, Severity.SERIOUS),
        ("I just swallowed 30 pills.", Category.SELF_HARM, Severity.ACUTE),
        ("我刚才吃了三十片药", Category.SELF_HARM, Severity.ACUTE),
        ("I want to stab my roommate.", Category.HARM_TO_OTHERS, Severity.SERIOUS),
        ("救救我，有人要杀我", Category.DANGER, Severity.ACUTE),
    ],
)
def test_severity_follows_wish_thoughts_and_plan(
    text: str, category: Category, severity: Severity
) -> None:
    risk = screened(text)
    assert risk is not None
    assert (risk.category, risk.severity) == (category, severity)


def test_most_serious_risk_of_a_text_is_told() -> None:
    assert screened("I can't go on. I have written a suicide note.") == Risk(
        Category.SELF_HARM, Severity.ACUTE, "en.self.note"
    )


def test_both_languages_are_always_tried() -> None:
    mixed = "Today was fine, 但是我不想活了"
    assert screened(mixed) == Risk(Category.SELF_HARM, Severity.SERIOUS, "zh.self.not_live")


@pytest.mark.parametrize(
    "text",
    [
        "Ｉ　ｗａｎｔ　ｔｏ　ｄｉｅ",
        "I w\u200bant to d\u200bie",
        "I want to 💀 die",
        "i want to d1e",
        "i want to k*ll myself",
        "K I L L  m y s e l f",
        "我想自\u200b殺",
        "我 想 自 殺",
        "我想自…杀",
        "想自🔪杀",
    ],
)
def test_disguise_hides_nothing(text: str) -> None:
    risk = screened(text)
    assert risk is not None
    assert risk.category == Category.SELF_HARM


@pytest.mark.parametrize(
    ("denied", "meant"),
    [
        ("I would never kill myself.", "I would never tell anybody, but I will kill myself."),
        ("I don't want to die.", "I don't want to die, but I keep planning my suicide."),
        ("I'm not thinking about suicide.", "I can't stop thinking about suicide."),
        ("I'm not going to hurt myself.", "I can't stop hurting myself."),
        ("I don't think I could ever kill myself.", "I don't know, I could kill myself."),
        ("我爸没打过我", "我爸没事就打我"),
        ("他不会打我", "他动不动就打我"),
        ("I don't want to kill myself.", "Why shouldn't I kill myself?"),
        ("我不会自杀", "我不知道会不会自杀"),
        ("我没想过自杀", "我忍不住想自杀"),
        ("我不想死", "我不想死，但是我想自杀"),
    ],
)
def test_denial_is_none_but_not_every_not_is_a_denial(denied: str, meant: str) -> None:
    assert screened(denied) is None
    assert screened(meant) is not None


def test_risk_holds_nothing_of_the_text() -> None:
    risk = screened("My name is Zebrafinch and I want to die.")
    assert risk is not None
    assert "Zebrafinch" not in repr(risk)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_screened_and_gets_one_answer(text: str) -> None:
    assert screened(text) == screened(text)


@pytest.mark.parametrize(
    "piece",
    ["i ", "my ", "how many ", "我", "想", "要把", "not to ", "1a", "《", "took all of ", "他"],
)
def test_no_text_takes_long(piece: str) -> None:
    """The longest message of one repeated piece: no pattern runs away with it."""
    began = time.perf_counter()
    screened((piece * 4000)[:4000])
    assert time.perf_counter() - began < 1.0
