"""The crisis card in a real browser: shown beside the conversation, put away, brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from chat.safety.card import card_of, frame_of
from experiments.rules import SafetyRules
from tests.e2e.site import RenderedSite
from tests.e2e.test_participant_pages import CHAT, STUDY

HOTLINES = {
    "en": "988 Lifeline (US) | 988 | call or text, day and night\n"
    "Samaritans (UK, Ireland) | 116 123 | day and night\n"
    "Crisis Text Line (US) | text HOME to 741741",
    "zh-hans": "全国统一心理援助热线 | 12356 | 各地服务时间不同\n"
    "希望24热线 | 400-161-9995 | 24 小时",
}
# Runs the page's own modules on frames, as chat.js does with those of a socket.
TAKE = """async (frames) => {
  const { CrisisCard } = await import("/static/chat/card.js");
  const { Composer } = await import("/static/chat/composer.js");
  const { SessionStorage } = await import("/static/chat/storage.js");
  const conversation = await import("/static/chat/conversation.js");
  const texts = document.querySelector("#chat-texts").dataset;
  if (!window.tried) {
    const storage = new SessionStorage("try");
    const limits = { message_characters: 4000, frame_bytes: 16384 };
    const nothing = { onSend: (text) => window.tried.sent.push(text), onTyping: () => {} };
    window.tried = { state: conversation.newConversation(), sent: [] };
    window.tried.card = new CrisisCard(document, texts, storage);
    window.tried.composer = new Composer(document, texts, limits, storage, nothing);
    window.tried.composer.focus();
  }
  for (const frame of frames) {
    window.tried.state = conversation.received(window.tried.state, frame, 0).state;
  }
  window.tried.card.render(window.tried.state.card);
  window.tried.composer.pause(window.tried.state.paused);
}"""


def frame(language: str = "en", *, times: int = 1, paused: bool = False) -> dict[str, Any]:
    rules = SafetyRules(contact_name="Dr. Ada Example", hotlines=HOTLINES[language])
    return frame_of(card_of(rules, language=language, paused=paused), times=times)


def open_chat(page: Page, site: RenderedSite, language: str = "en") -> None:
    """The page without its own script, which would look for a server."""
    site.pages["/static/chat/chat.js"] = ""
    site.open(page, "chat/chat.html", {"study": STUDY, **CHAT}, language=language)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("width", [1280, 390])
def test_card_is_shown_beside_the_conversation(
    page: Page, site: RenderedSite, axe: Callable[[Page], None], language: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    open_chat(page, site, language)
    shown = frame(language)
    page.evaluate(TAKE, [shown])
    card = page.locator("#crisis-card")
    expect(card).to_be_visible()
    expect(page.locator("#crisis-title")).to_have_text(shown["title"])
    expect(card.locator("li")).to_have_count(len(shown["hotlines"]))
    number = card.locator(".hotlines__number").first
    expect(number).to_have_attribute("href", "tel:988" if language == "en" else "tel:12356")
    expect(page.locator("#chat-text")).to_be_focused()  # not taken away from who writes
    expect(page.locator("#crisis-announcer")).to_contain_text(shown["title"])
    assert page.evaluate("document.documentElement.scrollWidth") == width
    axe(page)


def test_card_is_put_away_and_reached_again_by_keyboard(page: Page, site: RenderedSite) -> None:
    open_chat(page, site)
    page.evaluate(TAKE, [frame()])
    card, opener = page.locator("#crisis-card"), page.locator("#crisis-open")
    page.locator("#crisis-close").press("Enter")
    expect(card).to_be_hidden()
    expect(opener).to_be_focused()
    opener.press("Enter")
    expect(card).to_be_visible()
    expect(card).to_be_focused()


def test_card_stays_away_over_a_reload_until_something_new_is_noticed(
    page: Page, site: RenderedSite
) -> None:
    open_chat(page, site)
    page.evaluate(TAKE, [frame()])
    page.click("#crisis-close")
    page.reload()
    history = {"type": "history", "settled_seq": 0, "items": [], "card": frame()}
    page.evaluate(TAKE, [history])
    expect(page.locator("#crisis-card")).to_be_hidden()
    expect(page.locator("#crisis-open")).to_be_visible()
    page.evaluate(TAKE, [frame(times=2)])
    expect(page.locator("#crisis-card")).to_be_visible()


def test_pause_keeps_the_draft_and_sends_nothing(
    page: Page, site: RenderedSite, axe: Callable[[Page], None]
) -> None:
    open_chat(page, site)
    page.evaluate(TAKE, [frame()])
    page.fill("#chat-text", "A draft")
    page.evaluate(TAKE, [frame(times=2, paused=True)])
    expect(page.locator("#chat-paused")).to_be_visible()
    page.focus("#chat-text")
    page.keyboard.type(" and more")
    page.keyboard.press("Enter")
    expect(page.locator("#chat-text")).to_have_value("A draft")
    assert page.evaluate("window.tried.sent") == []
    axe(page)
    page.evaluate(TAKE, [frame(times=2)])
    expect(page.locator("#chat-paused")).to_be_hidden()
    page.focus("#chat-text")
    page.keyboard.press("Enter")
    assert page.evaluate("window.tried.sent") == ["A draft"]


@pytest.mark.parametrize("width", [1280, 390])
def test_page_of_a_pause_is_accessible(
    page: Page, site: RenderedSite, axe: Callable[[Page], None], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    rules = SafetyRules(
        contact_name="Dr. Ada Example", contact_email="ada@example.org", hotlines=HOTLINES["en"]
    )
    card = card_of(rules, language="en", paused=True)
    context = {"study": STUDY, "card": card, "noticed": True}
    site.open(page, "journey/paused.html", context, language="en")
    expect(page.get_by_role("link", name="ada@example.org")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    axe(page)
