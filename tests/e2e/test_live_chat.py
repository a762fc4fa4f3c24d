"""A participant talks in a real browser with the real web process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import BrowserContext, Page, WebSocket, expect

from chat.models import AdverseEvent, Message, Writing
from chat.safety import pauses
from experiments.enums import ConsentKind
from experiments.models import Lab, Participant, Session
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.chat.sockets import cookie_of
from tests.chat.test_protocol_document import validator
from tests.e2e.live import WebProcess
from tests.studies import enrol, enter, make_study

Frames = dict[str, list[dict[str, Any]]]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def web(transactional_db: None) -> Iterator[WebProcess]:
    process = WebProcess()
    process.start()
    yield process
    process.kill()


@pytest.fixture
def session(web: WebProcess, context: BrowserContext, lab: Lab) -> Session:
    """An open first conversation, which this browser's participant may enter."""
    participant = enrol(make_study(lab, stages={"minimum_turns": 1}))
    for name, morsel in SimpleCookie(cookie_of(participant)).items():
        context.add_cookies([{"name": name, "value": morsel.value, "url": web.address}])
    return enter(participant)


@pytest.fixture
def frames(context: BrowserContext) -> Iterator[Frames]:
    """Every frame of every tab, by direction; all of them must be the protocol's."""
    heard: Frames = {"client": [], "server": []}

    def listen(tab: Page) -> None:
        tab.on("websocket", lambda socket: record(socket, heard))

    context.on("page", listen)
    yield heard
    for direction, sent in heard.items():
        for frame in sent:
            validator(direction).validate(frame)


def record(socket: WebSocket, heard: Frames) -> None:
    socket.on("framesent", lambda raw: heard["client"].append(json.loads(raw)))
    socket.on("framereceived", lambda raw: heard["server"].append(json.loads(raw)))


@pytest.fixture
def chat(web: WebProcess, session: Session, frames: Frames, context: BrowserContext) -> Page:
    """The chat page with its opening line."""
    page = context.new_page()
    page.goto(f"{web.address}/chat/{session.id}/")
    expect(page.locator(".message__body")).to_have_text(["Hello, how was your day?"])
    return page


def say(chat: Page, text: str) -> None:
    chat.fill("#chat-text", text)
    chat.keyboard.press("Enter")


def expect_settled(chat: Page, count: int) -> None:
    settled = chat.locator(".message[data-state=settled]")
    expect(settled).to_have_count(count, timeout=20_000)
    expect(chat.locator(".message")).to_have_count(count)


def said_texts(session: Session) -> list[str]:
    assert session.lab_id is not None
    with lab_scope(session.lab_id):
        said = Message.objects.filter(session=session, role="participant").order_by("seq")
        return list(said.values_list("text", flat=True))


def test_reply_comes_and_is_there_after_a_reload(chat: Page, session: Session) -> None:
    say(chat, "I like hiking.")
    expect_settled(chat, 3)
    texts = chat.locator(".message__body").all_inner_texts()
    assert texts[1] == "I like hiking."
    expect(chat.locator("#chat-turns")).to_have_text("Exchanges: 1")
    chat.reload()
    expect(chat.locator(".message__body")).to_have_text(texts)
    assert said_texts(session) == ["I like hiking."]


def test_reply_is_streamed_and_every_kind_of_frame_is_the_protocols(
    chat: Page, frames: Frames
) -> None:
    say(chat, "I like hiking.")
    expect_settled(chat, 3)
    expect(chat.locator("#chat-turns")).to_have_text("Exchanges: 1")
    assert {frame["type"] for frame in frames["client"]} == {"hello", "say", "typing"}
    received = [frame["type"] for frame in frames["server"]]
    order = ["history", "timer", "ack", "message", "waiting", "token", "reply", "timer"]
    assert [
        kind for position, kind in enumerate(received) if kind != received[position - 1]
    ] == order
    tokens = [frame["text"] for frame in frames["server"] if frame["type"] == "token"]
    assert len(tokens) > 1


def test_two_tabs_show_the_same(chat: Page, context: BrowserContext) -> None:
    other = context.new_page()
    other.goto(chat.url)
    say(chat, "Hello from here.")
    expect_settled(chat, 3)
    expect_settled(other, 3)
    assert (
        other.locator(".message__body").all_inner_texts()
        == chat.locator(".message__body").all_inner_texts()
    )


def test_what_was_written_while_the_server_was_away_arrives_once(
    chat: Page, session: Session, web: WebProcess
) -> None:
    web.kill()
    say(chat, "Is anybody there?")
    expect(chat.locator(".message__note").last).to_have_text("Not sent yet")
    expect(chat.locator("#chat-banner")).to_contain_text("trying again")
    web.start()
    expect_settled(chat, 3)
    expect(chat.locator("#chat-banner")).to_be_hidden()
    assert said_texts(session) == ["Is anybody there?"]


def test_finish_says_what_is_missing_and_then_leads_on(chat: Page) -> None:
    chat.click("#chat-finish")
    expect(chat.get_by_role("dialog")).to_contain_text("Exchanges: 1 more")
    chat.keyboard.press("Escape")
    say(chat, "That was short.")
    expect_settled(chat, 3)
    chat.click("#chat-finish")
    chat.get_by_role("button", name="Finish now").click()
    expect(chat.get_by_role("heading", level=1)).to_have_text("This part is complete")


def test_live_page_is_accessible(chat: Page, axe: Callable[[Page], None]) -> None:
    say(chat, "I like hiking.")
    expect_settled(chat, 3)
    axe(chat)


def let_go_on(session: Session) -> None:
    assert session.lab_id is not None
    try:
        with lab_scope(session.lab_id):
            pauses.resume(session.participant, wall=wall_now())
    finally:
        connection.close()


def test_crisis_card_and_pause_come_and_go(
    chat: Page, session: Session, context: BrowserContext, axe: Callable[[Page], None]
) -> None:
    """Written in one tab, shown in both and after a reload, until staff resume."""
    other = context.new_page()
    other.goto(chat.url)
    expect(other.locator(".message")).to_have_count(1)
    say(chat, "I don't want to live anymore.")
    for tab in (chat, other):
        expect(tab.locator("#crisis-card")).to_be_visible()
        expect(tab.locator("#chat-paused")).to_be_visible()
        expect(tab.locator(".message--assistant").last).to_contain_text("There is no reply")
    axe(chat)
    chat.reload()
    expect(chat.locator("#crisis-card")).to_be_visible()
    assert session.lab_id is not None
    with lab_scope(session.lab_id):
        assert AdverseEvent.objects.get().message.seq == 2
    with ThreadPoolExecutor(1) as staff:  # in this thread runs Playwright's loop
        staff.submit(let_go_on, session).result()
    other.reload()
    expect(other.locator("#chat-paused")).to_be_hidden()
    expect(other.locator(".message")).to_have_count(3)
    say(other, "I talked to my sister.")
    expect(other.locator(".message[data-state=settled]")).to_have_count(4, timeout=20_000)


def test_how_a_message_is_written_is_measured_of_whoever_agreed(
    web: WebProcess, context: BrowserContext, lab: Lab
) -> None:
    study = make_study(lab, telemetry_consent="I agree that typing times are recorded.")
    with lab_scope(lab.pk):
        participant = Participant.objects.create(study=study)
        participant.give_consent(wall=wall_now(), agreed={ConsentKind.TELEMETRY: True})
    for name, morsel in SimpleCookie(cookie_of(participant)).items():
        context.add_cookies([{"name": name, "value": morsel.value, "url": web.address}])
    page = context.new_page()
    page.goto(f"{web.address}/chat/{enter(participant).id}/")
    expect(page.locator(".message__body")).to_have_count(1)
    page.locator("#chat-text").press_sequentially("Hello, Lin", delay=30)
    page.evaluate("""() => {
        const copied = new DataTransfer();
        copied.setData("text", "pasted");
        const box = document.querySelector("#chat-text");
        box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: copied }));
        window.dispatchEvent(new Event("blur"));
    }""")
    with page.expect_response("**/writing/") as answered:
        page.keyboard.press("Enter")
    assert answered.value.status == 204
    with lab_scope(lab.pk):
        writing = Writing.objects.get()
    assert (writing.pastes, writing.pasted_characters, writing.departures) == (1, 6, 1)
    assert 200 < writing.typing_ms < 20_000
