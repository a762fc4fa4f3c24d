from __future__ import annotations

import pytest

from memory.encoding import CONTEXT_CHARACTERS, moments, own_messages
from memory.enums import Encode, Encoding
from tests.memory.dialogue import session, texts

TALK = session(
    ("I have a cat.", "What is it called?"),
    ("Are you there?", None),
    ("Miso.", "A lovely name."),
    opening="Tell me about yourself.",
)


@pytest.mark.parametrize(
    ("encode", "encoding", "expected"),
    [
        (Encode.USER, Encoding.MESSAGE, ["I have a cat.", "Miso."]),
        (
            Encode.USER,
            Encoding.IN_CONTEXT,
            ["Tell me about yourself.\nI have a cat.", "What is it called?\nMiso."],
        ),
        (
            Encode.TURN,
            Encoding.MESSAGE,
            ["I have a cat.\nWhat is it called?", "Miso.\nA lovely name."],
        ),
        (
            Encode.ALL,
            Encoding.IN_CONTEXT,
            [
                "Tell me about yourself.",
                "Tell me about yourself.\nI have a cat.",
                "I have a cat.\nWhat is it called?",
                "What is it called?\nAre you there?",
                "Are you there?\nMiso.",
                "Miso.\nA lovely name.",
            ],
        ),
    ],
)
def test_moments_are_what_the_arm_encodes(
    encode: Encode, encoding: Encoding, expected: list[str]
) -> None:
    assert [moment.embedded() for moment in moments(TALK, encode=encode, encoding=encoding)] == (
        expected
    )


def test_a_moment_covers_every_message_that_went_into_it() -> None:
    _first, second = moments(TALK, encode=Encode.USER, encoding=Encoding.IN_CONTEXT)
    asked, named = TALK.utterances[2], TALK.utterances[4]
    assert second.message_ids == [asked.id, named.id]
    assert second.ends_with == named
    assert second.rated == named


def test_a_turns_salience_is_its_participants() -> None:
    first, _second = moments(TALK, encode=Encode.TURN, encoding=Encoding.MESSAGE)
    assert first.rated.text == "I have a cat."
    assert first.ends_with.text == "What is it called?"


def test_a_long_context_is_embedded_by_its_end() -> None:
    talk = session(("One.", "x" * 1000 + "end"), ("Two.", "Yes."))
    _first, second = moments(talk, encode=Encode.USER, encoding=Encoding.IN_CONTEXT)
    context, said = second.embedded().split("\n")
    assert said == "Two."
    assert len(context) == CONTEXT_CHARACTERS
    assert context.endswith("end")


def test_own_messages_are_the_participants_of_finished_turns() -> None:
    assert texts(own_messages(TALK)) == ["I have a cat.", "Miso."]
    assert texts(own_messages(TALK, encode=Encode.ALL)) == [
        "I have a cat.",
        "Are you there?",
        "Miso.",
    ]


def test_an_empty_session_has_no_moments() -> None:
    assert moments(session(), encode=Encode.ALL, encoding=Encoding.IN_CONTEXT) == []


def test_what_is_embedded_names_its_speakers_where_names_are_given() -> None:
    moment = moments(TALK, encode=Encode.ALL, encoding=Encoding.IN_CONTEXT)[1]
    assert moment.before is not None
    names = {moment.before.role: "Nora", moment.said[0].role: ""}
    assert moment.embedded(names) == f"Nora: {moment.before.text}\n{moment.said[0].text}"
