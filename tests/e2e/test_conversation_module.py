"""conversation.js, the pure part of the chat page, run where it runs: in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from playwright.sync_api import Page

from tests.e2e.site import RenderedSite

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[2] / "chat/static/chat/protocol.schema.json").read_text()
)
SERVER_FRAME = Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": "#/$defs/server_frame"}]})

FIRST = "00000000-0000-4000-8000-000000000001"
SECOND = "00000000-0000-4000-8000-000000000002"
AT = "2026-11-21T09:00:00Z"

# Every state is frozen before it goes into the next step: a function that changes it throws.
PLAY = """async ([steps, unsent]) => {
  const module = await import("/static/chat/conversation.js");
  const freeze = (value) => {
    if (value && typeof value === "object") Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };
  let state = module.newConversation(unsent);
  let effects = [];
  for (const [name, argument, now] of steps) {
    freeze(state);
    if (name === "received") ({ state, effects } = module.received(state, argument, now));
    else state = module[name](state, argument);
  }
  const later = steps.length ? steps.at(-1)[2] + 10000 : 0;
  return {
    effects,
    ready: state.ready,
    settledSeq: state.settledSeq,
    entries: module.entries(state),
    waiting: module.isWaiting(state),
    retryable: module.retryableSeq(state),
    remaining: module.remainingSeconds(state, later),
    missing: module.missingToFinish(state, later),
  };
}"""

Step = tuple[str, Any, int]
Play = Callable[..., dict[str, Any]]


def frame(kind: str, **properties: Any) -> Step:
    """A step that receives one frame, which must be one of the protocol's."""
    content = {"type": kind, **properties}
    SERVER_FRAME.validate(content)
    return ("received", content, 1000)


def said(client_id: str, text: str) -> Step:
    return ("said", {"clientId": client_id, "text": text}, 0)


def message_item(seq: int, client_id: str, text: str) -> dict[str, Any]:
    return {
        "seq": seq,
        "role": "participant",
        "text": text,
        "state": "settled",
        "client_id": client_id,
        "at": AT,
    }


def reply_item(seq: int, state: str, *, text: str = "", attempt: int = 1, **more: Any) -> Any:
    item = {"seq": seq, "role": "assistant", "text": text, "state": state, "at": AT}
    return {**item, "attempt": attempt, **more}


def history(*items: dict[str, Any], settled_seq: int, **more: Any) -> Step:
    return frame("history", items=list(items), settled_seq=settled_seq, **more)


OPENING = history(reply_item(1, "settled", text="Hello"), settled_seq=1)
ACK = frame("ack", client_id=FIRST, seq=2, reply_seq=3)


def token(n: int, text: str, *, attempt: int = 1) -> Step:
    return frame("token", seq=3, attempt=attempt, n=n, text=text)


def reply(text: str, *, attempt: int = 1, seq: int = 3) -> Step:
    return frame("reply", seq=seq, attempt=attempt, text=text, at=AT)


def failed(*, attempt: int = 1, retryable: bool = True) -> Step:
    return frame("failed", seq=3, attempt=attempt, retryable=retryable)


def shown(outcome: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entry["state"], entry["text"]) for entry in outcome["entries"]]


@pytest.fixture
def play(page: Page, site: RenderedSite) -> Play:
    """Run steps on a new conversation and return what it then shows and asks for."""
    site.open_blank(page)

    def run(*steps: Step, unsent: list[dict[str, str]] | None = None) -> dict[str, Any]:
        outcome: dict[str, Any] = page.evaluate(PLAY, [list(steps), unsent or []])
        return outcome

    return run


def test_first_history_is_shown_and_not_announced(play: Play) -> None:
    outcome = play(OPENING)
    assert shown(outcome) == [("settled", "Hello")]
    assert outcome["effects"] == []
    assert (outcome["ready"], outcome["settledSeq"]) == (True, 1)


def test_acknowledged_message_keeps_its_place_and_awaits_its_reply(play: Play) -> None:
    before = play(OPENING, said(FIRST, "Hi"))
    after = play(OPENING, said(FIRST, "Hi"), ACK)
    assert shown(before) == [("settled", "Hello"), ("sending", "Hi")]
    assert shown(after) == [("settled", "Hello"), ("settled", "Hi"), ("pending", "")]
    assert before["entries"][1]["key"] == after["entries"][1]["key"] == FIRST
    assert (after["waiting"], after["settledSeq"]) == (True, 2)


def test_history_acknowledges_what_it_holds_and_the_rest_is_sent_again(play: Play) -> None:
    outcome = play(
        OPENING,
        said(FIRST, "Hi"),
        said(SECOND, "Are you there?"),
        ("disconnected", None, 0),
        history(message_item(2, FIRST, "Hi"), reply_item(3, "pending"), settled_seq=2),
    )
    assert outcome["effects"] == [{"kind": "send"}]
    assert shown(outcome)[1:] == [("settled", "Hi"), ("pending", ""), ("sending", "Are you there?")]


def test_what_an_earlier_page_kept_is_sent_after_the_history(play: Play) -> None:
    outcome = play(OPENING, unsent=[{"clientId": FIRST, "text": "Hi"}])
    assert outcome["effects"] == [{"kind": "send"}]
    assert shown(outcome) == [("settled", "Hello"), ("sending", "Hi")]


def test_message_without_a_connection_is_shown_as_unsent(play: Play) -> None:
    outcome = play(OPENING, said(FIRST, "Hi"), ("disconnected", None, 0))
    assert shown(outcome)[1] == ("unsent", "Hi")


def test_nothing_is_sent_into_a_closing_session(play: Play) -> None:
    closing = history(reply_item(1, "settled", text="Hello"), settled_seq=1, draining=True)
    assert play(closing, unsent=[{"clientId": FIRST, "text": "Hi"}])["effects"] == []


def test_message_of_another_tab_comes_once_however_often_it_is_told(play: Play) -> None:
    told = frame("message", seq=2, client_id=FIRST, text="Hi", reply_seq=3, at=AT)
    expected = [("settled", "Hello"), ("settled", "Hi"), ("pending", "")]
    assert shown(play(OPENING, told)) == expected
    assert shown(play(OPENING, said(FIRST, "Hi"), told, ACK, told)) == expected


@pytest.mark.parametrize(
    ("steps", "preview"),
    [
        pytest.param([token(0, "a"), token(1, "b")], "ab", id="in order"),
        pytest.param([token(0, "a"), token(2, "c"), token(3, "d")], "a", id="stops at a gap"),
        pytest.param([token(0, "a"), token(0, "a")], "a", id="repeated"),
        pytest.param([token(5, "f")], "", id="opened in mid-reply"),
        pytest.param([token(0, "a", attempt=2), token(0, "x")], "a", id="older attempt dropped"),
        pytest.param([token(0, "a"), token(0, "b", attempt=2)], "b", id="newer attempt replaces"),
        pytest.param([token(0, "a"), failed(), token(1, "b")], "", id="after its own failure"),
    ],
)
def test_preview_of_a_reply(play: Play, steps: list[Step], preview: str) -> None:
    outcome = play(OPENING, said(FIRST, "Hi"), ACK, *steps)
    assert outcome["entries"][2]["preview"] == preview


def test_finished_reply_counts_whatever_the_tokens_said_and_is_announced_once(play: Play) -> None:
    turn = [OPENING, said(FIRST, "Hi"), ACK, token(0, "nonsense")]
    once = play(*turn, reply("How are you?"))
    twice = play(*turn, reply("How are you?"), reply("How are you?"))
    assert once["effects"] == [{"kind": "announce", "text": "How are you?"}]
    assert twice["effects"] == []
    assert shown(once)[2] == shown(twice)[2] == ("settled", "How are you?")
    assert (once["settledSeq"], once["waiting"]) == (3, False)


@pytest.mark.parametrize("late", [token(1, "x", attempt=2), failed(attempt=2), reply("Other")])
def test_finished_reply_never_changes(play: Play, late: Step) -> None:
    outcome = play(OPENING, said(FIRST, "Hi"), ACK, reply("Done"), late)
    assert shown(outcome)[2] == ("settled", "Done")


def test_reply_of_an_older_attempt_is_dropped(play: Play) -> None:
    outcome = play(OPENING, said(FIRST, "Hi"), ACK, token(0, "a", attempt=2), reply("Old"))
    assert shown(outcome)[2] == ("pending", "")


@pytest.mark.parametrize(
    "unheard", [token(0, "a"), reply("Yes"), failed(), frame("waiting", seq=3)]
)
def test_frame_about_an_unknown_seq_makes_the_tab_ask(play: Play, unheard: Step) -> None:
    assert {"kind": "ask"} in play(OPENING, unheard)["effects"]


def test_reply_that_was_finished_while_away_is_announced(play: Play) -> None:
    back = history(reply_item(3, "settled", text="Welcome back"), settled_seq=3)
    outcome = play(OPENING, said(FIRST, "Hi"), ACK, ("disconnected", None, 0), back)
    assert outcome["effects"] == [{"kind": "announce", "text": "Welcome back"}]


def test_history_that_was_overtaken_by_the_reply_does_not_undo_it(play: Play) -> None:
    stale = history(reply_item(3, "pending"), settled_seq=2)
    outcome = play(OPENING, said(FIRST, "Hi"), ACK, reply("Done"), stale)
    assert shown(outcome)[2] == ("settled", "Done")
    assert outcome["settledSeq"] == 3


def test_failed_reply_can_be_retried_only_while_it_is_the_last(play: Play) -> None:
    turn = [OPENING, said(FIRST, "Hi"), ACK, failed()]
    assert play(*turn)["retryable"] == 3
    assert play(*turn, said(SECOND, "Never mind"))["retryable"] is None
    assert play(*turn[:-1], failed(retryable=False))["retryable"] is None


def test_retryable_failure_is_not_settled_and_a_final_one_is(play: Play) -> None:
    assert play(OPENING, said(FIRST, "Hi"), ACK, failed())["settledSeq"] == 2
    assert play(OPENING, said(FIRST, "Hi"), ACK, failed(retryable=False))["settledSeq"] == 3


@pytest.mark.parametrize("again", [("retried", 3, 0), frame("waiting", seq=3)])
def test_retry_here_or_in_another_tab_awaits_the_next_attempt(play: Play, again: Step) -> None:
    turn = [OPENING, said(FIRST, "Hi"), ACK, token(0, "cut"), failed(), again]
    waiting = play(*turn)
    assert (shown(waiting)[2], waiting["entries"][2]["preview"]) == (("pending", ""), "")
    assert play(*turn, token(0, "new", attempt=2))["entries"][2]["preview"] == "new"


@pytest.mark.parametrize(
    ("code", "kinds", "kept"),
    [
        ("rate_limited", ["notice", "send_later"], True),
        ("internal", ["notice", "send_later"], True),
        ("bad_frame", ["notice", "refused"], False),
        ("too_large", ["notice", "refused"], False),
        ("too_long", ["notice", "refused"], False),
        ("empty", ["notice", "refused"], False),
        ("conflict", ["notice", "refused"], False),
        ("not_open", ["notice", "ask", "refused"], False),
    ],
)
def test_error_about_a_message(play: Play, code: str, kinds: list[str], kept: bool) -> None:
    error = frame("error", code=code, message="A sentence.", client_id=FIRST)
    outcome = play(OPENING, said(FIRST, "Hi"), error)
    assert [effect["kind"] for effect in outcome["effects"]] == kinds
    assert (("sending", "Hi") in shown(outcome)) is kept


def test_refused_message_is_given_back_as_it_was(play: Play) -> None:
    error = frame("error", code="not_open", message="A sentence.", client_id=FIRST)
    outcome = play(OPENING, said(FIRST, "Hi"), error)
    assert outcome["effects"][-1] == {"kind": "refused", "clientId": FIRST, "text": "Hi"}


def test_refused_retry_makes_the_tab_ask(play: Play) -> None:
    error = frame("error", code="not_retryable", message="A sentence.")
    assert {"kind": "ask"} in play(OPENING, error)["effects"]


def timer(**changes: Any) -> Step:
    usual = {
        "ends_at": AT,
        "remaining_seconds": 600,
        "turns": 2,
        "minimum_turns": 5,
        "maximum_turns": None,
        "minimum_seconds_left": 130,
        "may_finish": False,
        "missing": ["turns", "time"],
    }
    return frame("timer", **{**usual, **changes})


def test_timer_counts_down_from_what_the_server_said(play: Play) -> None:
    outcome = play(OPENING, timer())
    assert outcome["remaining"] == 590
    assert outcome["missing"] == {"known": True, "turns": 3, "seconds": 120}


def test_timer_without_end_and_nothing_missing(play: Play) -> None:
    free = timer(ends_at=None, remaining_seconds=None, may_finish=True, missing=[])
    outcome = play(OPENING, free)
    assert outcome["remaining"] is None
    assert outcome["missing"] == {"known": True, "turns": 0, "seconds": 0}


def test_timer_never_falls_below_nothing(play: Play) -> None:
    outcome = play(OPENING, timer(remaining_seconds=4, minimum_seconds_left=2))
    assert (outcome["remaining"], outcome["missing"]["seconds"]) == (0, 0)


def test_end_of_the_stage_leads_on(play: Play) -> None:
    outcome = play(OPENING, frame("stage_over", next_url="/journey/"))
    assert outcome["effects"] == [{"kind": "leave", "nextUrl": "/journey/"}]


def test_frame_of_a_later_protocol_is_ignored(play: Play) -> None:
    later: Step = ("received", {"type": "hologram"}, 0)
    assert play(OPENING, later)["effects"] == []


RECORD = history(
    reply_item(1, "settled", text="Hello"),
    message_item(2, FIRST, "Hi"),
    reply_item(3, "settled", text="How are you?", attempt=2),
    message_item(4, SECOND, "Fine"),
    reply_item(5, "settled", text="Good"),
    settled_seq=5,
)
LIVE = [
    frame("message", seq=2, client_id=FIRST, text="Hi", reply_seq=3, at=AT),
    frame("waiting", seq=3),
    token(0, "How "),
    failed(attempt=1),
    token(0, "How ", attempt=2),
    token(1, "are", attempt=2),
    reply("How are you?", attempt=2),
    frame("message", seq=4, client_id=SECOND, text="Fine", reply_seq=5, at=AT),
    frame("ack", client_id=SECOND, seq=4, reply_seq=5),
    reply("Good", seq=5),
]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(heard=st.lists(st.sampled_from(LIVE), max_size=20))
def test_any_frames_in_any_order_then_the_history_show_the_record(
    play: Play, heard: list[Step]
) -> None:
    outcome = play(OPENING, said(SECOND, "Fine"), *heard, RECORD)
    assert shown(outcome) == [
        ("settled", "Hello"),
        ("settled", "Hi"),
        ("settled", "How are you?"),
        ("settled", "Fine"),
        ("settled", "Good"),
    ]
    assert (outcome["settledSeq"], outcome["waiting"]) == (5, False)
