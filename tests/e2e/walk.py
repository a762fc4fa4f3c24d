"""Somebody who goes through a whole study in a browser, and looks at every page on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from urllib.parse import urlsplit

from django.urls import resolve
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, expect

from tests.e2e import pictures
from tests.e2e.hands import Hands

#: Every page is looked at by axe, however often it comes; else each kind of page once.
EVERYTHING = bool(os.environ.get("MEMLAB_E2E_ALL"))
WAITS_FOR_MEMORY = 90_000  # ms
LEAVES = 30_000  # ms
#: What is still unanswered on a questionnaire's page: of a group of radio buttons all choices.
OPEN_QUESTIONS = """() => {
  const inputs = [...document.querySelectorAll("#questionnaire input, #questionnaire textarea")]
    .filter((input) => input.type !== "hidden");
  const groups = new Map();
  inputs.forEach((input, index) => {
    const key = input.type === "radio" || input.type === "checkbox" ? input.name : input.id;
    if (!groups.has(key)) groups.set(key, { type: input.type, inputs: [], done: false });
    const group = groups.get(key);
    input.dataset.nth = index;
    group.inputs.push(index);
    group.done ||= input.checked || (group.type === "textarea" && input.value !== "");
  });
  return [...groups.values()].filter((group) => !group.done);
}"""
#: The next page of a questionnaire has come, with the focus at its top, or another address.
SAVED = """here => location.href !== here || document.activeElement?.id === "progress-text" """


@dataclass
class Watch:
    """What a browser complains of, and where it goes beside the study's own address."""

    address: str
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> Watch:
        context.on("request", self._asked)
        context.on("console", self._said)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        return self

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.foreign.append(request.url)

    def _said(self, line: ConsoleMessage) -> None:
        if line.type in ("error", "warning"):
            self.errors.append(f"{line.text} ({line.location.get('url', '')})")


@dataclass
class Walk:
    """One participant's way: ``until`` goes on from page to page, as whoever takes part would."""

    page: Page
    hands: Hands
    axe: Callable[[Page], None]
    language: str
    lines: Sequence[str]  # what is said in a conversation
    words: str  # what is written into a text field
    email: str = ""
    password: str = ""
    skips: Sequence[int] = (1, 7, 7)  # days, while nothing is open
    met: list[str] = field(default_factory=list)
    looked_at: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._days = iter(self.skips)
        self._points = cycle((6, 2, 5, 4, 7, 3, 1))

    def until(self, *names: str) -> str:
        """Go on to the first page of one of these names."""
        steps: dict[str, Callable[[], None]] = {
            "journey:join": lambda: self.leave("form .button--primary"),
            "journey:age": lambda: self.leave("[name=of_age][value=yes]"),
            "journey:information": lambda: self.leave("form .button--primary"),
            "journey:consent": self._consent,
            "journey:contact": self._give_address,
            "journey:code": self._keep_code,
            "journey:home": self._go_on_from_home,
            "journey:done": lambda: self.leave(".button-row .button"),
            "journey:debriefing": self._read_debriefing,
            "questionnaires:answer": self._answer,
            "chat:conversation": self._talk,
        }
        while (name := self.arrive()) not in names:
            assert name in steps, f"{name} after {self.met}"
            steps[name]()
        return name

    def arrive(self) -> str:
        """The name of the page that has come, once it is looked at."""
        self.page.wait_for_load_state()
        name = resolve(urlsplit(self.page.url).path).view_name
        if name == "questionnaires:answer":
            expect(self.page.locator("#next")).to_be_visible()
        if name == "chat:conversation":
            self.page.locator("#chat-log .message").first.wait_for(timeout=WAITS_FOR_MEMORY)
        self.met.append(name)
        self.look(name)
        return name

    def look(self, name: str) -> None:
        """What every page has to be: in its language, as wide as the screen, without barriers."""
        heading = " / ".join(self.page.locator("h1").all_inner_texts())
        assert heading
        assert self.page.get_attribute("html", "lang") == self.language
        wide = self.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, f"{name} is wider than the screen"
        asked = self.page.locator(".sd-question").all_inner_texts()
        kind = (name, "".join([heading, *asked]))
        if EVERYTHING or kind not in self.looked_at:
            self.looked_at.add(kind)
            self.axe(self.page)
            pictures.keep(self.page, " ".join([name, heading, *asked[:1]]))

    def leave(self, selector: str) -> None:
        """Press what leads to another page."""
        with self.page.expect_navigation(timeout=LEAVES):
            self.hands.press(self.page.locator(selector).first)

    def _consent(self) -> None:
        self.hands.choose(self.page.locator("[name=agree]"))
        for question in self.page.locator("input[type=radio][value=yes]").all():
            self.hands.choose(question)
        self.leave("form .button--primary")

    def _give_address(self) -> None:
        self.hands.write(self.page.locator("#email"), self.email)
        self.leave("form .button--primary")

    def _keep_code(self) -> None:
        if self.password:
            for name in ("password", "again"):
                self.hands.write(self.page.locator(f"#{name}"), self.password)
        self.leave("form .button--primary")

    def _go_on_from_home(self) -> None:
        if self.page.locator(".hero--now").count():
            self.leave(".hero--now .button--primary")
            return
        self.hands.write(self.page.locator("#skip-days"), str(next(self._days)))
        self.leave("form:has(#skip-days) .button")

    def _read_debriefing(self) -> None:
        if self.page.locator("[name=use]").count():
            self.hands.choose(self.page.locator("[name=use][value=agree]"))
        self.leave("main .button--primary")

    def _answer(self) -> None:
        """Every page of one questionnaire."""
        here = self.page.url
        while self.page.url == here:
            self._fill_page()
            self.hands.press(self.page.locator("#next"))
            self.page.wait_for_function(SAVED, arg=here, timeout=LEAVES)

    def _fill_page(self) -> None:
        """Until nothing is open, for an answer may bring up another question."""
        while asked := self.page.evaluate(OPEN_QUESTIONS):
            group = asked[0]
            inputs = [self.page.locator(f"[data-nth='{nth}']") for nth in group["inputs"]]
            if group["type"] == "textarea":
                self.hands.write(inputs[0], self.words)
            else:
                self.hands.choose(inputs[(next(self._points) - 1) % len(inputs)])

    def _talk(self) -> None:
        for line in self.lines:
            self.say(line)
            self.expect_answer()
        self.look("chat:conversation, talked")
        self.finish()

    def say(self, text: str) -> None:
        said = self.page.locator(".message--participant")
        before = said.count()
        self.hands.write(self.page.locator("#chat-text"), text)
        self.hands.press(self.page.locator("#chat-send"))
        expect(said).to_have_count(before + 1)

    def expect_answer(self) -> None:
        """Everything that was said is answered, and nothing waits."""
        said = self.page.locator(".message--participant").count()
        settled = self.page.locator(".message--assistant[data-state=settled]")
        expect(settled).to_have_count(said + 1, timeout=LEAVES)

    def finish(self) -> None:
        self.hands.press(self.page.locator("#chat-finish"))
        expect(self.page.locator("#finish-dialog")).to_be_visible()
        self.look("chat:conversation, finishing")
        with self.page.expect_navigation(timeout=LEAVES):
            self.hands.press(self.page.locator("#finish-yes"))
