"""The participants' templates in a browser: accessible, self-contained, fit for a phone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page

from chat.safety.hotlines import Hotline
from experiments.consents import Statement
from experiments.destinations import Destination
from experiments.enums import ConsentKind, Outcome, WithdrawalKind
from memlab.journey.codes import ShownCode
from memlab.journey.entry.documents import Question
from memlab.journey.overview import Earnings, StageRow
from memlab.journey.withdrawal import TOLD
from tests.e2e import pictures
from tests.e2e.site import RenderedSite

LANGUAGES = ["en", "zh-hans"]
NARROWEST = 320  # CSS pixels: WCAG 2.2, 1.4.10 (reflow)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
STUDY = {"title": "Everyday conversations"}


STATES = ["done", "missed", "lapsed", "forgone", "in_progress", "open", "later"]


def stage(number: int, state: str) -> StageRow:
    return StageRow(
        number=number,
        title=f"Conversation {number}",
        state=state,
        minutes=15,
        payment="7.50 EUR",
        url="/journey/stage/T1/",
        opens_at=NOON,
        opens_in="in 3 days",
        closes_at=NOON,
        closes_in="tomorrow",
    )


STAGES = [stage(number, state) for number, state in enumerate(STATES, start=1)]
DOCUMENT = {
    "study": STUDY,
    "document": ["You will talk with an AI.", "You can stop at any time."],
    "version": "0f" * 32,
}
INFORMATION = {
    **DOCUMENT,
    "destinations": [
        Destination("The server of the study", ("Everything that you write and answer",)),
        Destination("Alibaba Cloud, mainland China", ("Your messages, to answer them",)),
    ],
}
QUESTIONS = [
    Question(
        Statement(kind, f"I agree to what {kind} says.", required=required),
        [f"I agree to what {kind} says."],
        chosen,
        error,
    )
    for kind, required, chosen, error in (
        (ConsentKind.SENSITIVE, True, "yes", ""),
        (ConsentKind.ABROAD, True, "", "Please choose one of the two."),
        (ConsentKind.TELEMETRY, False, "", ""),
    )
]
CODE = {"study": STUDY, "code": "KD74MXZ", "return_url": "http://memlab.test/return/"}

ABOUT = {
    "study": STUDY,
    "code": "KD7-4MX",
    "earnings": Earnings(earned="7.50 EUR", total="30.00 EUR", paid="0.00 EUR"),
    "unread": 2,
    "self_access": True,
    "zone": "Europe/Berlin",
}
HOME = {**ABOUT, "times_shown": True, "stages": STAGES, "next": STAGES[5], "done": 1}
RETURN = "https://recruiter.example/complete?cc=C1A2B3"
COMPLETION = ShownCode(outcome=Outcome.COMPLETE, code="C1A2B3", url=RETURN)
TECHNICAL = ShownCode(outcome=Outcome.TECHNICAL, code="T9", url="")
END = {**ABOUT, "title": "Thank you", "text": "Everything is stored.", "state": "complete"}
DONE = {**ABOUT, "stage": {"title": "Conversation 1"}, "stages": STAGES, "done": 1}
LETTERS = [
    {"from_staff": False, "text": "When does it go on?", "sent_at": NOON, "read_at": NOON},
    {"from_staff": True, "text": "On Thursday.\nSee you then.", "sent_at": NOON, "read_at": None},
]
HOTLINES = [Hotline("Crisis line", "0800 111", "day and night"), Hotline("Letters", "a@b.c", "")]
LETTER = {"study": STUDY, "thread": LETTERS, "client_id": "1", "limit": 2000}
MESSAGE = {"title": "This link is no longer valid", "text": "Please ask for a new one."}
WITHDRAWALS = [TOLD[kind] for kind in WithdrawalKind]
WITHDRAW = {
    "study": STUDY,
    "code": "KD74MXZ",
    "choices": WITHDRAWALS,
    "chosen": "all",
    "reason": "",
    "reason_characters": 500,
    "home_url": "/",
    "self_access": True,
}
EXTERNAL = {
    "heading": "About you",
    "stage_title": "Conversation 1",
    "number": 1,
    "count": 2,
    "address": "https://survey.example/s?code=KD7",
}
# What a page would do in two seconds or later, it doesn't do.
STAY = """const later = window.setTimeout;
window.setTimeout = (act, wait, ...rest) => (wait >= 2000 ? 0 : later(act, wait, ...rest));"""
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "questions elsewhere": ("questionnaires/external.html", EXTERNAL),
    "stop reminders": ("journey/stop_reminders.html", {"study": STUDY}),
    "withdraw": ("journey/withdraw.html", WITHDRAW),
    "withdraw refused": (
        "journey/withdraw.html",
        {**WITHDRAW, "chosen": "", "kind_error": "Please choose.", "reason_error": "Too long."},
    ),
    "withdraw confirm": (
        "journey/withdraw_confirm.html",
        {**WITHDRAW, "told": WITHDRAWALS[-1], "danger": True},
    ),
    "withdrawn": (
        "journey/withdrawn.html",
        {"told": WITHDRAWALS[-1], "receipt": "KD7M-4XZ2-BCDF-GHJK", "done": True},
    ),
    "withdrawn from the chat": (
        "journey/withdrawn.html",
        {
            "study": STUDY,
            "told": WITHDRAWALS[0],
            "home_url": "/",
            "further": True,
            "self_access": True,
        },
    ),
    "my data": ("journey/my_data.html", {"study": STUDY, "with_arm": False, "home_url": "/"}),
    "join": ("journey/join.html", {"study": STUDY}),
    "join after declining": ("journey/join.html", {"study": STUDY, "declined": True}),
    "age": ("journey/age.html", {"study": STUDY, "minimum": 18}),
    "age unanswered": ("journey/age.html", {"study": STUDY, "minimum": 1, "error": "Please."}),
    "information": ("journey/information.html", INFORMATION),
    "information changed": ("journey/information.html", {**INFORMATION, "changed": True}),
    "consents": ("journey/consent.html", {**DOCUMENT, "questions": QUESTIONS}),
    "contact": ("journey/contact.html", {"study": STUDY}),
    "contact refused": (
        "journey/contact.html",
        {"study": STUDY, "given": "ada@", "error": "This is no e-mail address."},
    ),
    "code": ("journey/code.html", CODE),
    "code with a password": ("journey/code.html", {**CODE, "passwords": True}),
    "password refused": (
        "journey/code.html",
        {**CODE, "passwords": True, "errors": ["The two passwords differ."]},
    ),
    "front": ("journey/front.html", {}),
    "return": ("journey/return.html", {}),
    "return refused": ("journey/return.html", {"error": "They don't belong.", "given": "KD7"}),
    "consent": ("journey/consent.html", DOCUMENT),
    "consent refused": ("journey/consent.html", {**DOCUMENT, "error": "Please tick the box."}),
    "home": ("journey/home.html", HOME),
    "home with nothing to do": ("journey/home.html", {**HOME, "next": STAGES[-1]}),
    "home with a code": ("journey/home.html", {**HOME, "given_codes": [TECHNICAL]}),
    "home of a test run": ("journey/home.html", {**HOME, "test_mode": True, "study_now": NOON}),
    "done": ("journey/done.html", {**DONE, "next": STAGES[-1], "payment": "7.50 EUR"}),
    "done with a code": (
        "journey/done.html",
        {**DONE, "study_over": True, "completion": COMPLETION},
    ),
    "end": (
        "journey/end.html",
        {**END, "completion": COMPLETION, "debriefing": {"open": True, "read": False}},
    ),
    "end while the debriefing is held": (
        "journey/end.html",
        {**END, "state": "dropped", "debriefing": {"open": False, "from": NOON}},
    ),
    "end before the cohort's": ("journey/end.html", {**END, "debriefing": {"cohort": True}}),
    "debriefing": (
        "journey/debriefing.html",
        {**DOCUMENT, "statement": ["May your data be used?"], "error": "Please choose."},
    ),
    "debriefing answered": ("journey/debriefing.html", {**DOCUMENT, "answered": {"agreed": True}}),
    "messages": ("journey/messages.html", LETTER),
    "messages with help first": (
        "journey/messages.html",
        {**LETTER, "hotlines": HOTLINES, "urgent": True},
    ),
    "messages refused": ("journey/messages.html", {**LETTER, "error": "Too long."}),
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
    pictures.keep(page, name)
    page.set_viewport_size({"width": NARROWEST, "height": 640})
    assert not is_too_wide(page)
    pictures.keep(page, name)
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_waiting_page_is_accessible(
    page: Page, site: RenderedSite, axe: Callable[[Page], None], language: str
) -> None:
    page.add_init_script(STAY)
    site.open(page, "journey/waiting.html", {"study": STUDY}, language=language)
    axe(page)
    assert (site.foreign, site.errors) == ([], [])


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
