"""The participants' templates in a browser: accessible, self-contained, fit for a phone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.e2e.site import RenderedSite

LANGUAGES = ["en", "zh-hans"]
NARROWEST = 320  # CSS pixels: WCAG 2.2, 1.4.10 (reflow)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
STUDY = {"title": "Everyday conversations"}


def stage(number: int, state: str) -> dict[str, Any]:
    return {
        "number": number,
        "title": f"Conversation {number}",
        "state": state,
        "opens_at": NOON,
        "closes_at": NOON,
        "url": "/chat/",
        "minutes": 15,
    }


STATES = ["done", "missed", "in_progress", "open", "later"]
STAGES = [stage(number, state) for number, state in enumerate(STATES, start=1)]
HOME = {"study": STUDY, "code": "KD7-4MX", "stages": STAGES}
DOCUMENT = {"study": STUDY, "document": ["You will talk with an AI.", "You can stop at any time."]}
MESSAGE = {"title": "This link is no longer valid", "text": "Please ask for a new one."}
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "information": ("journey/information.html", DOCUMENT),
    "consent": ("journey/consent.html", DOCUMENT),
    "consent refused": ("journey/consent.html", {**DOCUMENT, "error": "Please tick the box."}),
    "home": ("journey/home.html", HOME),
    "home of a test run": ("journey/home.html", {**HOME, "test_mode": True, "study_now": NOON}),
    "finished": (
        "journey/finished.html",
        {"study": STUDY, "code": "KD7-4MX", "next_stage": STAGES[-1], "home_url": "/"},
    ),
    "finished for good": ("journey/finished.html", {"study": STUDY, "study_over": True}),
    "message": ("journey/message.html", {**MESSAGE, "link_url": "/", "link_text": "Back"}),
    "403": ("403.html", {}),
    "404": ("404.html", {}),
    "500": ("500.html", {}),
}
CHAT = {
    "stage": {"title": "First conversation", "instructions": ["Talk about what you like."]},
    "chat_config": {
        "websocket_path": "/ws/chat/0e4b6f5e-54f2-4c0e-8f0b-1f6a5a3e0d11/",
        "language": "en",
        "limits": {"message_characters": 4000, "frame_bytes": 16384},
        "ai_notice": "You are talking with an AI.",
        "next_url": "/journey/",
    },
}
# Shows one bubble of every kind through the page's own view.
SHOW_BUBBLES = """async (frames) => {
  const { ConversationView } = await import("/static/chat/view.js");
  const conversation = await import("/static/chat/conversation.js");
  const texts = document.querySelector("#chat-texts").dataset;
  let state = conversation.newConversation();
  for (const frame of frames) ({ state } = conversation.received(state, frame, 0));
  const view = new ConversationView(document, texts, { onRetry: () => {} });
  view.render(state);
  view.renderClock(state, 0);
}"""
AT = "2026-11-21T09:00:00Z"
TIMER = {
    "type": "timer",
    "ends_at": AT,
    "remaining_seconds": 600,
    "turns": 1,
    "minimum_turns": 5,
    "maximum_turns": None,
    "minimum_seconds_left": 100,
    "may_finish": False,
    "missing": ["turns", "time"],
}


def assistant(seq: int, state: str, text: str = "", **more: Any) -> dict[str, Any]:
    item = {"seq": seq, "role": "assistant", "state": state, "text": text, "at": AT, "attempt": 1}
    return {**item, **more}


def bubbles(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "history", "items": list(items), "settled_seq": 0}, TIMER]


def is_too_wide(page: Page) -> bool:
    wide: bool = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    return wide


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_and_fits_the_narrowest_screen(
    page: Page, site: RenderedSite, axe: Callable[[Page], None], name: str, language: str
) -> None:
    template, context = PAGES[name]
    site.open(page, template, context, language=language)
    axe(page)
    page.set_viewport_size({"width": NARROWEST, "height": 640})
    assert not is_too_wide(page)
    assert page.get_attribute("html", "lang") == language
    assert (site.foreign, site.errors) == ([], [])


def test_axe_finds_what_is_wrong(
    page: Page, site: RenderedSite, axe: Callable[[Page], None]
) -> None:
    site.pages["/"] = (
        "<!doctype html><html lang=en><title>Picture</title><main><h1>A picture</h1>"
        "<img src='/static/memlab/icon.svg'></main>"
    )
    site.open_blank(page)
    with pytest.raises(AssertionError, match="image-alt"):
        axe(page)


def test_waiting_page_loads_itself_again(page: Page, site: RenderedSite) -> None:
    site.open(page, "journey/waiting.html", {"study": STUDY}, language="en")
    assert page.get_by_role("heading", level=1).inner_text() == "Preparing your conversation…"
    with page.expect_navigation(timeout=5000):
        pass


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [NARROWEST, 1280])
def test_chat_page_is_accessible_with_every_kind_of_bubble(
    page: Page, site: RenderedSite, axe: Callable[[Page], None], width: int, language: str
) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    site.open(page, "chat/chat.html", CHAT, language=language)
    said = {"role": "participant", "text": "Hi", "state": "settled", "at": AT}
    frames = bubbles(
        assistant(1, "settled", "# A title\n\n- [a link](https://example.org)\n\n`code`"),
        {**said, "seq": 2, "client_id": "0e4b6f5e-54f2-4c0e-8f0b-1f6a5a3e0d11"},
        assistant(3, "pending"),
        {**said, "seq": 4, "client_id": "0e4b6f5e-54f2-4c0e-8f0b-1f6a5a3e0d12"},
        assistant(5, "failed", retryable=True),
    )
    page.evaluate(SHOW_BUBBLES, frames)
    assert page.locator(".message").count() == 5
    axe(page)
    assert not is_too_wide(page)
    page.click("#chat-finish")
    axe(page)


def test_streaming_bubble_is_busy_until_the_reply_is_finished(
    page: Page, site: RenderedSite
) -> None:
    site.open(page, "chat/chat.html", CHAT, language="en")
    page.evaluate(SHOW_BUBBLES, bubbles(assistant(1, "settled", "Hello"), assistant(2, "pending")))
    busy = [page.locator(".message").nth(n).get_attribute("aria-busy") for n in range(2)]
    assert busy == ["false", "true"]


RENDER_MARKDOWN = """async (source) => {
  const { renderMarkdown } = await import("/static/chat/markdown.js");
  const holder = document.createElement("div");
  holder.append(renderMarkdown(source));
  document.body.append(holder);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return holder.innerHTML.trim();
}"""


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>"),
        ("# Title", "<h3>Title</h3>"),
        ("一行\n两行", "<p>一行<br>两行</p>"),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>'),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("![a cat](https://elsewhere.example/cat.png)", "<p>a cat</p>"),
        ('<img src="https://elsewhere.example/x" onerror="alert(1)">', None),
        ("[go](javascript:alert(1))", "<p>go</p>"),
        ("[go](data:text/html,x)", "<p>go</p>"),
        ("[go](//elsewhere.example/)", "<p>go</p>"),
        ("<https://example.org/>", None),
    ],
)
def test_markdown_is_shown_without_remote_content(
    page: Page, site: RenderedSite, source: str, html: str | None
) -> None:
    site.open_blank(page)
    rendered = page.evaluate(RENDER_MARKDOWN, source)
    if html is not None:
        assert rendered == html
    assert page.locator("img, script, iframe, style").count() == 0
    assert (site.foreign, site.errors) == ([], [])


def test_link_opens_elsewhere_and_tells_nothing(page: Page, site: RenderedSite) -> None:
    site.open_blank(page)
    page.evaluate(RENDER_MARKDOWN, "[a link](https://example.org/a 'title')")
    link = page.get_by_role("link")
    assert link.evaluate("link => [link.href, link.target, link.rel, link.title]") == [
        "https://example.org/a",
        "_blank",
        "noopener noreferrer nofollow",
        "",
    ]
