"""What two browsers were sent is laid side by side: what may differ is marked, all else stays."""

from __future__ import annotations

from typing import Any

import pytest

from memlab.research.blinding.normal import Exchange, frames_for_all, same_for_all

ONE = "5b6f0c52-6c39-4b0e-9a51-3a2f1f5f7c10"
TOKEN = 'csrfmiddlewaretoken" value="'
OTHER = "11111111-6c39-4b0e-9a51-3a2f1f5f7c10"


def page(body: str = "Hello", **headers: str) -> str:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    exchange = Exchange(asked="GET /", status=200, headers=named, body=body.encode())
    return same_for_all(exchange, {"QX7": "code"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f'<a href="/chat/{ONE}/">', f'<a href="/chat/{OTHER}/">'),
        (f'{TOKEN}{64 * "a"}"', f'{TOKEN}{64 * "b"}"'),
        ("It is 9:05 a.m. now", "It is noon now"),
        ("from March 2, 2026, 9 a.m. on", "from March 10, 2026, 10:15 p.m. on"),
        ('"at": "2026-11-21T09:00:00.120Z"', '"at": "2026-11-21T09:00:01Z"'),
    ],
)
def test_ids_tokens_and_times_are_taken_out(one: str, other: str) -> None:
    assert one != other
    assert page(one) == page(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"body": "Hello"}, {"body": "Hello "}),
        ({"body": "You have 3 parts."}, {"body": "You have 4 parts."}),
        ({"ETag": '"a"'}, {"ETag": '"b"'}),
        ({"Vary": "Cookie", "Age": "0"}, {"Age": "0", "Vary": "Cookie"}),
        ({"Server_Timing": "recall;dur=3"}, {"Server_Timing": "recall;dur=4"}),
        ({"Content_Length": "5"}, {"Content_Length": "6"}),
        (
            {"Set_Cookie": "csrftoken=" + "a" * 32},
            {"Set_Cookie": "csrftoken=" + "a" * 33},
        ),
    ],
)
def test_nothing_else_is(one: dict[str, str], other: dict[str, str]) -> None:
    assert page(**one) != page(**other)


def test_what_was_taken_out_leaves_its_length() -> None:
    told = page(f"QX7 {ONE}", Content_Length="40")
    assert told == "GET / 200\nContent-Length: ‹as long as the body›\n\n‹code 3› ‹id 36›"


def reply(words: str, *tokens: str, **more: Any) -> list[str]:
    pieces = [
        {"type": "token", "seq": 3, "attempt": 1, "n": n, "text": text}
        for n, text in enumerate(tokens)
    ]
    return frames_for_all([*pieces, {"type": "reply", "seq": 3, "text": words, **more}])


def test_a_reply_s_words_and_how_the_clock_cut_them_tell_nothing() -> None:
    assert reply("Yes.", "Yes.") == reply("I see, I see.", "I ", "see, ", "I see.")


def test_everything_else_in_a_frame_does() -> None:
    assert reply("Yes.", "Yes.") != reply("Yes.", "Yes.", attempt=2)
    assert reply("Yes.", "Yes.") != reply("Yes.")
    said = {"type": "message", "seq": 2, "text": "Hi"}
    assert frames_for_all([said]) != frames_for_all([{**said, "text": "Hello"}])


def test_the_words_of_a_history_are_the_assistant_s_alone() -> None:
    items = [{"role": "participant", "text": "Hi"}, {"role": "assistant", "text": "Hello"}]
    assert frames_for_all([{"type": "history", "items": items}]) == [
        '{"type": "history", "items": [{"role": "participant", "text": "Hi"}, '
        '{"role": "assistant", "text": "‹words›"}]}'
    ]
