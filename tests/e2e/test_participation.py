"""Whole participations in a real browser with a real web process and task cluster.

One test run of the standard protocol from a recruiter's link to the debriefing, one in which
somebody seems to be in danger, and one that ends in an erasure; in both languages, on a wide screen
and on a phone. By default each is done once; ``MEMLAB_E2E_ALL=1`` does all of them in every way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from chat.models import AdverseEvent
from chat.safety.enums import Category, Source
from experiments.enums import Language, Outcome, PaymentState, SessionState, WithdrawalKind
from experiments.models import (
    Allocation,
    CompletionCode,
    Consent,
    DebriefingView,
    Deviation,
    IssuedCode,
    Lab,
    Participant,
    Payment,
    Recruiter,
    Session,
    Study,
)
from experiments.study_templates import create_study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.launch.demonstration import open_demonstration
from questionnaires.enums import ResponseState
from questionnaires.models import Answer, Response, Score
from tests.e2e.hands import Hands, Keyboard, Pointer
from tests.e2e.live import TaskProcess, WebProcess
from tests.e2e.walk import EVERYTHING, Walk, Watch
from tests.people import PASSWORD, member
from tests.research.canary import packed_with, tables_with
from tests.standin.mail import MailServer, mail_server

pytestmark = pytest.mark.usefixtures("kept_rows")
Width = Literal["wide", "phone"]
EN, ZH = Language.ENGLISH, Language.CHINESE
EVERY_WAY: list[tuple[Language, Width]] = [
    (language, width) for language in (EN, ZH) for width in ("wide", "phone")
]
PROLIFIC = "?PROLIFIC_PID=5f1d7a4e9c2b&STUDY_ID=64aa01&SESSION_ID=77bb02"
TEXTS = {
    EN: {
        "title": "Everyday conversations",
        "information": "You will talk with an AI four times.\n\nYou may stop at any time.",
        "sensitive": "I agree that what I say about my health is stored.",
        "use": "May your conversations be analysed, now that you know the purpose?",
        "debriefing": "We wanted to know what an assistant's memory changes.\n\nThank you.",
        "words": "I thought of the hills.",
        "danger": "I don't want to live anymore.",
        "afterwards": "I talked to my sister, and I am better.",
    },
    ZH: {
        "title": "日常对话",
        "information": "您将与一个 AI 交谈四次。\n\n您可以随时退出。",
        "sensitive": "我同意保存我谈到的健康状况。",
        "use": "现在您知道了研究目的，您的对话可以用于分析吗？",
        "debriefing": "我们想了解助手的记忆会带来什么变化。\n\n感谢您的参与。",
        "words": "我想起了那些山。",
        "danger": "我不想活了。",
        "afterwards": "我和姐姐谈过了，现在好多了。",
    },
}
LINES = {
    EN: ("I like hiking in the hills.", "My sister comes to visit in May."),
    ZH: ("我喜欢去山里徒步。", "我姐姐五月份会来看我。"),
}


@dataclass(frozen=True)
class Installation:
    """What runs for all tests of this module, and where it writes."""

    web: WebProcess
    mail: MailServer
    folder: Path


@pytest.fixture(scope="module")
def installation(
    kept_rows: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("installation")
    with mail_server() as mail:
        environment = {
            "MEMLAB_EMAIL_URL": f"smtp://127.0.0.1:{mail.port}",
            "MEMLAB_ERASURE_LOG": str(folder / "erasures"),
            "MEMLAB_TASK_WORKERS": "1",
        }
        web = WebProcess(environment, folder / "web.log")
        tasks = TaskProcess(environment, folder / "tasks.log")
        try:
            tasks.start()
            web.start()
            yield Installation(web, mail, folder)
        finally:
            web.kill()
            tasks.kill()


def make_study(lab: Lab, language: Language) -> Study:
    """The standard protocol as a lab would open it, with short conversations."""
    text = TEXTS[language]

    def adjust(study: Study) -> None:
        study.time_zone = "Asia/Shanghai" if language is ZH else "Europe/Berlin"
        study.information = text["information"]
        study.sensitive_consent = text["sensitive"]
        study.debriefing, study.debriefing_consent = text["debriefing"], text["use"]
        study.safety_contact_name, study.safety_contact_email = "Dr. Ada", "ada@example.org"
        study.hotlines = "Helpline | 116 123 | day and night"
        study.currency, study.target_size, study.pacing = "EUR", 40, False
        study.asks_email = True

    with lab_scope(lab.pk):
        study = create_study("controlled", title=text["title"], language=language, adjust=adjust)
        study.stages.update(minimum_minutes=0, minimum_turns=2, payment="2.50")
        for outcome in Outcome:
            CompletionCode.objects.create(
                study=study,
                outcome=outcome,
                code=f"CODE-{outcome.upper()}",
                return_url="https://app.prolific.com/submissions/complete?cc={code}",
            )
        Recruiter.objects.create(study=study, expected_study="64aa01")
        open_demonstration(study, wall=wall_now(), user_id=None)
    return study


@dataclass
class Visitor:
    """Somebody with a browser of their own at a study of their own."""

    study: Study
    walk: Walk
    page: Page
    watch: Watch
    web: WebProcess

    def come(self, *, test_run: bool = True) -> None:
        """By the recruiter's link; days can be skipped in a test run."""
        with lab_scope(self.study.lab_id):
            recruiter = Recruiter.objects.get(study=self.study)
        token = recruiter.test_token if test_run else recruiter.token
        self.page.goto(f"{self.web.address}/join/{token}/{PROLIFIC}")

    def let_go_on(self) -> None:
        """As staff do it: signed in, on the participant's page."""
        with lab_scope(self.study.lab_id):
            lab = Lab.objects.get()
            member("Alice", lab)
        assert self.page.context.browser is not None
        context = self.page.context.browser.new_context()
        desk = context.new_page()
        change = f"/admin/experiments/participant/{self.participant().pk}/change/"
        desk.goto(f"{self.web.address}/admin/login/?next={change}")
        desk.fill("[name=username]", "alice@example.org")
        desk.fill("[name=password]", PASSWORD)
        with desk.expect_navigation():
            desk.click("form [type=submit]")
        if desk.locator(".ml-lab").count():  # in more labs than one by now
            with desk.expect_navigation():
                desk.get_by_role("button", name=lab.name).click()
            desk.goto(f"{self.web.address}{change}")
        desk.locator("a[href*='/resume/']").first.click()
        desk.locator("#content form [type=submit]").first.click()
        expect(desk.locator("a[href*='/resume/']")).to_have_count(0)
        context.close()

    def participant(self) -> Participant:
        with lab_scope(self.study.lab_id):
            return Participant.objects.get(study=self.study)


@pytest.fixture
def visit(
    installation: Installation,
    own_lab: Lab,
    browser: Browser,
    axe: Callable[[Page], None],
) -> Iterator[Callable[..., Visitor]]:
    """``visit(language, width, keyboard=False)``; when the test ends the browser mustn't have
    complained of anything, nor asked anybody but the study's own server."""
    made: list[Visitor] = []

    def come(language: Language, width: Width, *, keyboard: bool = False, **walk: Any) -> Visitor:
        on_phone: dict[str, Any] = {
            "viewport": {"width": 390, "height": 844},
            "has_touch": True,
            "is_mobile": True,
        }
        on_desk: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
        context = browser.new_context(
            **(on_phone if width == "phone" else on_desk), timezone_id="Asia/Tokyo"
        )
        page = context.new_page()
        web = installation.web
        hands: Hands = Keyboard(page) if keyboard else Pointer(page, touches=width == "phone")
        defaults = {"lines": LINES[language], "words": TEXTS[language]["words"]}
        walker = Walk(page, hands, axe, str(language), **{**defaults, **walk})
        watch = Watch(web.address).over(context)
        made.append(Visitor(make_study(own_lab, language), walker, page, watch, web))
        return made[-1]

    yield come
    for visitor in made:
        visitor.page.context.close()
        assert (visitor.watch.errors, visitor.watch.foreign) == ([], [])


def ways(*few: tuple[Language, Width]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("language", "width"), EVERY_WAY if EVERYTHING else few)


WHOLE = [
    "journey:join", "journey:age", "journey:information", "journey:consent", "journey:code",
    "questionnaires:answer",
    "journey:home", "chat:conversation", *["questionnaires:answer"] * 5, "journey:done",
    *["journey:home"] * 2, "chat:conversation", *["questionnaires:answer"] * 6, "journey:done",
    *["journey:home"] * 2, "chat:conversation", *["questionnaires:answer"] * 6, "journey:done",
    *["journey:home"] * 2, "chat:conversation", *["questionnaires:answer"] * 8,
    "questionnaires:answer", "journey:debriefing", "journey:end",
]  # fmt: skip


@ways((EN, "wide"))
def test_whole_participation_by_keyboard_alone(
    visit: Callable[..., Visitor], language: Language, width: Width
) -> None:
    """From the recruiter's link to the debriefing; the focus is visible at every stop."""
    visitor = visit(language, width, keyboard=True, password="a password of mine")
    visitor.come()
    visitor.walk.until("journey:end")
    assert visitor.walk.met == WHOLE
    page = visitor.page
    assert page.locator(".completion__code").inner_text() == "CODE-COMPLETE"
    assert page.locator(".completion a").get_attribute("href") == (
        "https://app.prolific.com/submissions/complete?cc=CODE-COMPLETE"
    )
    assert rows_of(visitor.participant()) == {
        "state": "complete",
        "consents": [("debriefed", True), ("participation", True), ("sensitive", True)],
        "sessions": [(f"t{number}", SessionState.COMPLETE) for number in (1, 2, 3, 4)],
        "arms": 1,
        "responses": {(ResponseState.COMPLETE, 27)},
        "answers": 112,
        "payments": [("2.50", PaymentState.EARNED)] * 4,
        "codes": [("complete", "CODE-COMPLETE", True)],
        "debriefed": 1,
    }


def rows_of(participant: Participant) -> dict[str, Any]:
    """What a participation left in the database."""
    mine = {"participant": participant}
    with lab_scope(participant.lab_id):
        responses = Response.objects.filter(**mine)
        assert Score.objects.filter(response__participant=participant).exists()
        return {
            "state": participant.state,
            "consents": sorted(Consent.objects.filter(**mine).values_list("kind", "agreed")),
            "sessions": list(
                Session.objects.filter(**mine).order_by("number").values_list("stage_key", "state")
            ),
            "arms": Allocation.objects.filter(**mine).count(),
            "responses": {
                (state, responses.filter(state=state).count())
                for state in responses.values_list("state", flat=True)
            },
            "answers": Answer.objects.filter(
                response__participant=participant, raw__isnull=False
            ).count(),
            "payments": [(str(row.amount), row.state) for row in Payment.objects.filter(**mine)],
            "codes": [
                (row.outcome, row.code, row.shown_at is not None)
                for row in IssuedCode.objects.filter(**mine)
            ],
            "debriefed": DebriefingView.objects.filter(**mine).count(),
        }


@ways((ZH, "phone"))
def test_somebody_in_danger_is_helped_and_goes_on(
    visit: Callable[..., Visitor], installation: Installation, language: Language, width: Width
) -> None:
    """The card, the pause, the alert, a word to the team, and staff who let them go on."""
    visitor = visit(language, width)
    walk, page, text = visitor.walk, visitor.page, TEXTS[language]
    visitor.come()
    walk.until("journey:done")
    walk.leave(".button-row .button")
    walk.until("chat:conversation")
    walk.say(text["danger"])
    expect(page.locator("#crisis-card")).to_be_visible()
    expect(page.locator("#chat-paused")).to_be_visible()
    walk.look("chat:conversation, with the card")

    page.goto(f"{visitor.web.address}/journey/")
    assert walk.arrive() == "journey:paused"
    walk.leave(".button[href$='/messages/']")
    assert walk.arrive() == "journey:messages"
    walk.hands.write(page.locator("#message-text"), text["danger"])
    walk.leave("form .button--primary")
    assert walk.arrive() == "journey:messages"
    expect(page.locator(".card--urgent")).to_be_visible()

    person = visitor.participant()
    with lab_scope(person.lab_id):
        events = AdverseEvent.objects.filter(participant=person, message__text=text["danger"])
        assert [(each.source, each.category) for each in events] == [
            (Source.RULE, Category.SELF_HARM)
        ]
    expect_alert(installation.mail, person)
    visitor.let_go_on()

    page.goto(f"{visitor.web.address}/journey/onward/")
    assert walk.arrive() == "chat:conversation"
    expect(page.locator("#chat-paused")).to_be_hidden()
    for line in (text["afterwards"], text["words"]):
        walk.say(line)
    expect(page.locator(".message--assistant[data-state=settled]")).to_have_count(3, timeout=30_000)
    walk.finish()
    assert walk.until("journey:done") == "journey:done"
    with lab_scope(person.lab_id):
        kinds = Deviation.objects.filter(participant=person).order_by("pk")
        assert list(kinds.values_list("kind", flat=True)) == ["paused", "resumed"]


def expect_alert(mail: MailServer, person: Participant) -> None:
    """One mail to the safety contact, in which the participant is a code and nothing is quoted."""
    deadline = time.monotonic() + 60
    while not (mine := [each for each in mail.taken if person.code in each["Subject"]]):
        assert time.monotonic() < deadline, "no alert came"
        time.sleep(0.2)
    (letter,) = mine
    assert letter["To"] == "ada@example.org"
    body = letter.get_content()
    assert not [text["danger"] for text in TEXTS.values() if text["danger"] in body]


@ways((EN, "phone"))
def test_whoever_withdraws_with_erasure_leaves_no_word(
    visit: Callable[..., Visitor], installation: Installation, language: Language, width: Width
) -> None:
    """After the first part, with a word of theirs wherever one can leave one."""
    word = f"Quetzal{uuid4().hex[:8]}"
    lines = [f"{line} {word}" for line in LINES[language]]
    visitor = visit(language, width, lines=lines, email=f"{word}@example.org")
    walk, page = visitor.walk, visitor.page
    with lab_scope(visitor.study.lab_id):
        Recruiter.objects.update(forbids_email=False)
    visitor.come(test_run=False)
    walk.until("journey:done")
    assert "journey:contact" in walk.met
    walk.leave(".button-row .button")
    walk.arrive()
    walk.leave(".button[href$='/messages/']")
    walk.hands.write(page.locator("#message-text"), f"I am {word}.")
    walk.leave("form .button--primary")
    walk.arrive()
    walk.leave("main p > .button[href='/journey/']")
    assert walk.arrive() == "journey:home"
    assert {
        "chat_message.text", "chat_receipt.prompt", "experiments_staffmessage.text"
    } <= tables_with(word)  # fmt: skip

    person = visitor.participant()
    walk.leave(".quiet-link[href$='/withdraw/']")
    assert walk.arrive() == "journey:withdraw"
    walk.hands.choose(page.locator(f"[name=kind][value={WithdrawalKind.ERASE}]"))
    walk.hands.write(page.locator("#reason"), word)
    walk.leave("form .button--primary")
    walk.arrive()
    walk.leave("[name=confirm]")
    assert walk.arrive() == "journey:withdrawn"
    assert page.locator(".code").inner_text()
    expect_erased(visitor.study, person.code)

    assert tables_with(word) | tables_with(str(person.public_id)) == set()
    assert tables_with(person.code) == {"experiments_payment.code"}  # until it is paid
    assert packed_with(word) == []
    assert files_with(installation.folder, word) == []
    page.reload()
    walk.look("journey:withdrawn, done")
    visitor.come(test_run=False)
    walk.look("journey:join, erased")
    assert not page.locator("form").count()
    assert "403" in visitor.watch.errors.pop()  # what a browser says of a page that refuses


def expect_erased(study: Study, code: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        with lab_scope(study.lab_id):
            if not Participant.objects.filter(code=code).exists():
                return
        assert time.monotonic() < deadline, "the erasure isn't carried out"
        time.sleep(0.2)


def files_with(folder: Path, word: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"web.log", "tasks.log"} <= {path.name for path in files}
    return [path for path in files if word.lower() in path.read_text(errors="replace").lower()]
