"""What the chat page does by itself while no server answers: writing, keeping, saying so."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.site import RenderedSite
from tests.e2e.test_participant_pages import CHAT

PRESS_ENTER_WHILE_COMPOSING = """(properties) => {
  const event = new KeyboardEvent("keydown", {
    key: "Enter", bubbles: true, cancelable: true, ...properties,
  });
  document.querySelector("#chat-text").dispatchEvent(event);
  return event.defaultPrevented;
}"""
KEPT = """() => Object.keys(localStorage).filter((key) => key.startsWith("memlab.unsent."))"""


@pytest.fixture
def chat(page: Page, site: RenderedSite) -> Page:
    """The chat page, whose socket finds nobody."""
    site.open(page, "chat/chat.html", CHAT, language="en")
    expect(page.locator("#chat-text")).to_be_focused()
    return page


def write(chat: Page, text: str) -> None:
    chat.fill("#chat-text", text)


def test_sent_message_waits_and_survives_a_reload_once(chat: Page) -> None:
    write(chat, "Are you there?")
    chat.keyboard.press("Enter")
    expect(chat.locator(".message")).to_contain_text(["Are you there?"])
    expect(chat.locator(".message__note")).to_have_text("Not sent yet")
    expect(chat.locator("#chat-text")).to_have_value("")
    chat.reload()
    expect(chat.locator(".message")).to_contain_text(["Are you there?"])
    assert len(chat.evaluate(KEPT)) == 1


def test_messages_keep_their_order_over_a_reload(chat: Page) -> None:
    for text in ["one", "two", "three"]:
        write(chat, text)
        chat.keyboard.press("Enter")
        chat.wait_for_timeout(5)
    chat.reload()
    expect(chat.locator(".message__body")).to_have_text(["one", "two", "three"])


def test_draft_survives_a_reload_and_goes_with_sending(chat: Page) -> None:
    write(chat, "half a thought")
    chat.reload()
    expect(chat.locator("#chat-text")).to_have_value("half a thought")
    chat.click("#chat-send")
    chat.reload()
    expect(chat.locator("#chat-text")).to_have_value("")


@pytest.mark.parametrize(
    "composing",
    [pytest.param({"isComposing": True}, id="standard"), pytest.param({"keyCode": 229}, id="229")],
)
def test_enter_that_picks_a_candidate_does_not_send(
    chat: Page, composing: dict[str, object]
) -> None:
    write(chat, "考试")
    assert chat.evaluate(PRESS_ENTER_WHILE_COMPOSING, composing) is False
    expect(chat.locator("#chat-text")).to_have_value("考试")
    assert chat.evaluate(KEPT) == []


def test_shift_and_enter_start_a_line(chat: Page) -> None:
    write(chat, "one")
    chat.keyboard.press("Shift+Enter")
    chat.keyboard.type("two")
    expect(chat.locator("#chat-text")).to_have_value("one\ntwo")


def test_white_space_is_not_sent(chat: Page) -> None:
    write(chat, " \n ")
    chat.keyboard.press("Enter")
    expect(chat.locator("#chat-send")).to_have_attribute("aria-disabled", "true")
    assert chat.evaluate(KEPT) == []


@pytest.mark.parametrize(
    ("text", "counter"),
    [
        ("a" * 3600, ""),
        ("a" * 3601, "399 characters left"),
        ("🙂" * 3990, "10 characters left"),
        ("字" * 4000, "0 characters left"),
        ("字" * 4001, "1 characters too many"),
    ],
)
def test_counter_counts_as_the_server_does(chat: Page, text: str, counter: str) -> None:
    write(chat, text)
    expect(chat.locator("#chat-counter")).to_have_text(counter)


def test_too_long_message_stays_in_the_box(chat: Page) -> None:
    write(chat, "字" * 4001)
    chat.keyboard.press("Enter")
    expect(chat.locator("#chat-text")).to_have_value("字" * 4001)
    expect(chat.locator("#chat-text")).to_have_attribute("aria-invalid", "true")
    assert chat.evaluate(KEPT) == []


def test_page_says_that_the_connection_is_lost(chat: Page) -> None:
    expect(chat.locator("#chat-banner")).to_contain_text("trying again")


def test_page_says_all_the_time_that_this_is_an_ai(chat: Page) -> None:
    expect(chat.locator("header")).to_contain_text("You are talking with an AI.")
    for text in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]:
        write(chat, text)
        chat.keyboard.press("Enter")
    expect(chat.locator(".message")).to_have_count(10)
    expect(chat.get_by_text("You are talking with an AI.")).to_be_in_viewport()


def test_everything_is_reached_by_keyboard(chat: Page) -> None:
    chat.focus(".skip-link")
    expect(chat.get_by_text("Skip to the content")).to_be_in_viewport()
    for name in ["chat-finish", "chat-scroller", "chat-text", "chat-send"]:
        chat.keyboard.press("Tab")
        expect(chat.locator(f"#{name}")).to_be_focused()


def test_finish_without_a_connection_says_so_and_escape_goes_back(chat: Page) -> None:
    chat.click("#chat-finish")
    expect(chat.get_by_role("dialog")).to_contain_text("Waiting for the connection")
    expect(chat.locator("#finish-yes")).to_be_hidden()
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("dialog")).to_be_hidden()
    expect(chat.locator("#chat-finish")).to_be_focused()
