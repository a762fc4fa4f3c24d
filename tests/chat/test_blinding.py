"""The arm never reaches the browser: no page, header, cookie or frame differs by it.

Two participations from the link to the withdrawal, and in every arm the stage at which it is drawn
(nothing can tell it before) and what follows, with models that say the same to everybody. What is
left once ids, tokens, times and the assistant's words are taken out
(``memlab.research.blinding.normal``) is compared byte by byte.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client

from chat import conversation, sessions, steps
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.makers import makers
from chat.safety import pauses
from experiments import doors
from experiments.enums import Closed, Moment
from experiments.models import Allocation, Lab, Participant, Session, Study
from memlab.core.clock import wall_now
from memlab.core.ledger import Job
from memlab.core.llm import open_model
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memlab.core.work import unit
from memlab.research.blinding.normal import Exchange, frames_for_all, same_for_all
from questionnaires.content import InstrumentContent, Text
from questionnaires.models import Response
from tests.chat.sockets import Tab
from tests.conversations import ScriptedDoors, scripted_doors, silence
from tests.entering import USUAL, hidden_fields, link_of, page_name
from tests.journey.walking import browser_of
from tests.questionnaires.asked import LIKERT, ask
from tests.studies import enrol, enter, make_study, reference_of

pytestmark = pytest.mark.django_db(transaction=True)

ARCHITECTURES = tuple(settings.MEMORY_ARCHITECTURES)
CANARY = "xyzzyarm"
#: Architectures that are no words of everyday language, and what a memory consists of.
TELLING = (
    *(name for name in ARCHITECTURES if name not in ("working", "confidence", "compression")),
    *(CANARY, "architecture", "recall", "episode", "likes hiking"),
)
QUESTIONS = InstrumentContent(key="few", title=Text(en="Few", zh="少"), items=LIKERT)
ANSWERS = {"like_1": 4, "like_2": 4, "check": 2}


def the_same_for_all() -> ScriptedDoors:
    """Models that say the same in every arm, so that a difference can only be ours. What is learned
    from a conversation is what the offline model makes of it."""
    fakes = scripted_doors()
    fakes.talking.answers[PromptTask.REPLY] = "That sounds good."
    offline = open_model("offline", "offline-1")
    return replace(fakes, extraction=offline)  # type: ignore[arg-type]


def keeper_of(fakes: ScriptedDoors) -> doors.DoorKeeper:
    return doors.DoorKeeper(
        lambda configuration, keys: doors.StudyDoors(
            talking=fakes.talking, extraction=fakes.extraction, embedder=fakes.embedder
        )
    )


class Browser:
    """Django's client, keeping every answer that it was sent, redirects and cookies included."""

    def __init__(self) -> None:
        self.client = Client()
        self.received: list[Exchange] = []

    def get(self, path: str) -> Any:
        return self._followed(self.client.get(path), f"GET {path}")

    def post(self, path: str, fields: dict[str, Any]) -> Any:
        return self._followed(self.client.post(path, fields), f"POST {path}")

    def send(self, path: str, fields: dict[str, Any]) -> Any:
        response = self.client.post(path, fields, content_type="application/json")
        return self._followed(response, f"POST {path}")

    def _followed(self, response: Any, asked: str) -> Any:
        self._keep(response, asked)
        while response.status_code == 302 and response["Location"].startswith("/"):
            path = response["Location"]
            response = self.client.get(path)
            self._keep(response, f"GET {path}")
        return response

    def _keep(self, response: Any, asked: str) -> None:
        cookies = [("Set-Cookie", morsel.OutputString()) for morsel in response.cookies.values()]
        self.received.append(
            Exchange(
                asked=asked,
                status=response.status_code,
                headers=(*response.items(), *cookies),
                body=response.content,
            )
        )


@dataclass
class Told:
    """All that one browser received."""

    browser: Browser = field(default_factory=Browser)
    tabs: list[Tab] = field(default_factory=list)
    code: str = ""

    def lines(self) -> list[str]:
        """As it must be in every arm."""
        own = {self.code: "code"}
        pages = [same_for_all(exchange, own) for exchange in self.browser.received]
        frames = [line for tab in self.tabs for line in frames_for_all(tab.frames)]
        return "\n".join([*pages, *frames]).splitlines()

    def everything(self) -> str:
        """As it was sent."""
        pages = [f"{each.headers}\n{each.body.decode()}" for each in self.browser.received]
        return "\n".join([*pages, *(json.dumps(tab.frames) for tab in self.tabs)])


def canary_study(lab: Lab) -> Study:
    study = make_study(
        lab,
        arms={f"{CANARY}{architecture}": architecture for architecture in ARCHITECTURES},
        stages={"minimum_gap_hours": 0},
        minimum_age=18,
        reminder_channel="list",
        hotlines="Samaritans | 116 123 | day and night",
        safety_contact_name="Dr. Ada Example",
        safety_contact_email="ada@example.org",
        debriefing="What it was about.",
        debriefing_consent="May we use your data?",
        currency="EUR",
    )
    ask(study, QUESTIONS, moment=Moment.SCREENING, stage="")
    ask(study, QUESTIONS, stage="T1")
    ask(study, "https://survey.example/s", moment=Moment.BEFORE, stage="T2")
    ask(study, QUESTIONS, stage="T2")
    return study


class Visit:
    """One participant of an arm, in a browser that keeps what it is sent."""

    def __init__(self, study: Study, architecture: str, fakes: ScriptedDoors) -> None:
        self.study, self.architecture, self.fakes = study, architecture, fakes
        self.told = Told()
        self.participant: Participant

    async def whole(self) -> Told:
        """From the link to the withdrawal."""
        await unit(self._enter)
        await self._stage("T1")
        await unit(self._draw)
        await self._stage("T2", troubled=True)
        await unit(self._leave)
        return self.told

    async def later(self) -> Told:
        """The stage at which the arm is drawn, and what follows it."""
        await self._come_back()
        await unit(self._draw)
        await self._stage("T2")
        return self.told

    def _enter(self) -> None:
        browser = self.told.browser
        path = self._filled_in(link_of(self.study))
        with lab_scope(self.study.lab_id):
            self.participant = Participant.objects.latest("pk")
            self.told.code = self.participant.code
        self._answer(path)
        for shown in ("/journey/", "/journey/messages/", "/journey/withdraw/", "/journey/end/"):
            browser.get(shown)

    def _filled_in(self, path: str) -> str:
        """Every form of the entry, from ``path`` on; where that leads."""
        browser = self.told.browser
        while (name := page_name(path)) in USUAL:
            page = browser.get(path)
            fields = {**hidden_fields(page.content.decode()), **USUAL[name]}
            before, path = path, browser.post(path, fields).request["PATH_INFO"]
            assert path != before
        return path

    async def _come_back(self) -> None:
        """As somebody who has had the first conversation, and said something in it."""
        self.participant = await unit(partial(enrol, self.study, test_mode=True))
        self.told.code = self.participant.code
        self.told.browser.client = browser_of(self.participant)
        session = await unit(enter, self.participant)
        reference = SessionRef.of(reference_of(self.participant), session.id)
        said = await unit(
            conversation.say, reference, client_id=uuid4(), text="I like hiking.", wall=wall_now()
        )
        assert await make_reply(self.study.lab_id, said.reply, self.fakes, silence)
        await unit(self._complete, session)

    def _complete(self, session: Session) -> None:
        browser = self.told.browser
        with lab_scope(self.study.lab_id):
            sessions.close(session, Closed.PARTICIPANT, at=wall_now())
        self._answer(self._filled_in(browser.get("/journey/onward/").request["PATH_INFO"]))
        self._answer(browser.get(f"/journey/after/{session.id}/").request["PATH_INFO"])

    def _draw(self) -> None:
        with lab_scope(self.study.lab_id):
            Allocation.objects.create(
                participant=self.participant,
                version=self.participant.version,
                arm_key=f"{CANARY}{self.architecture}",
                stratum="test",
                position=self.participant.pk,
                block=0,
                block_size=1,
                study_at=wall_now(),
            )

    def _answer(self, path: str) -> None:
        """Whatever is asked, from ``path`` on."""
        browser = self.told.browser
        while path.startswith("/questionnaire/"):
            with lab_scope(self.study.lab_id):
                response = Response.objects.get(pk=path.split("/")[2])
                inside = response.version_id is not None
                if not inside:
                    Response.objects.filter(pk=response.pk).update(state="complete")
            if inside:
                page = {"page": 1, "revision": 0, "seconds": 3.0, "answers": ANSWERS}
                browser.send(f"{path}save/", page)
            before, path = path, browser.get("/journey/onward/").request["PATH_INFO"]
            assert path != before

    async def _stage(self, stage: str, *, troubled: bool = False) -> None:
        browser = self.told.browser
        here = await unit(browser.get, f"/journey/stage/{stage}/")  # with all memory has to do
        if "questionnaire" in (path := here.request["PATH_INFO"]):
            await unit(self._answer, path)
            await unit(browser.get, f"/journey/stage/{stage}/")
        await self._remember()
        session = await unit(self._session, stage)
        await unit(browser.get, f"/chat/{session.id}/")
        async with Tab(self.participant, session.id) as tab:
            self.told.tabs.append(tab)
            for text in ("I like hiking.", "Where could I go?"):
                await tab.say(text)
                await tab.until("reply")
                await tab.until("timer")
                # The page again, before the cluster has done what an arm learns from.
                await unit(browser.get, f"/chat/{session.id}/")
                await self._remember()
            if troubled:
                await self._goes_wrong(tab)
                await self._is_in_danger(tab, session)
            await tab.send({"type": "end"})
            await tab.until("stage_over")
        await unit(self._after, session)

    async def _goes_wrong(self, tab: Tab) -> None:
        answers = self.fakes.talking.answers
        good = answers[PromptTask.REPLY]
        answers[PromptTask.REPLY] = ModelFailure(FailureKind.CONTENT_FILTER, "scripted")
        await tab.say("Something that is filtered.")
        await tab.until("failed")
        await tab.until("card")
        answers[PromptTask.REPLY] = good
        await tab.send({"type": "retry", "seq": 1})
        await tab.until("error")

    async def _is_in_danger(self, tab: Tab, session: Session) -> None:
        browser = self.told.browser
        await tab.say("I want to die.")
        await tab.until("failed")
        async with Tab(self.participant, session.id) as other:
            self.told.tabs.append(other)
            await other.until("timer")
        for page in ("/journey/", f"/chat/{session.id}/", "/journey/messages/"):
            await unit(browser.get, page)
        await unit(self._go_on)
        while (await tab.until("card"))["paused"]:
            pass

    def _go_on(self) -> None:
        with lab_scope(self.study.lab_id):
            pauses.resume(Participant.objects.get(pk=self.participant.pk), wall=wall_now())

    def _after(self, session: Session) -> None:
        browser = self.told.browser
        self._answer(browser.get(f"/journey/after/{session.id}/").request["PATH_INFO"])
        stage = session.stage_key
        for page in (f"/journey/done/{stage}/", "/journey/"):
            browser.get(page)

    def _leave(self) -> None:
        browser = self.told.browser
        for page in ("/journey/onward/", "/journey/debriefing/"):
            browser.get(page)
        browser.post("/journey/debriefing/", {"use": "agree"})
        for page in ("/journey/end/", "/journey/messages/", "/journey/withdraw/", "/nowhere/"):
            browser.get(page)
        browser.post("/journey/messages/", {"client_id": uuid4(), "text": "Is it over?"})
        for confirm in ({}, {"confirm": "yes"}):
            browser.post("/journey/withdraw/", {"kind": "erase", "reason": "", **confirm})
        browser.get("/journey/withdrawn/")

    async def _remember(self) -> None:
        """What the task cluster does."""
        await steps.run_steps(self.study.lab_id, self.participant.public_id, self.fakes)

    def _session(self, stage: str) -> Session:
        with lab_scope(self.study.lab_id):
            return Session.objects.get(participant=self.participant, stage_key=stage)


async def test_every_byte_is_the_same_in_every_arm(lab: Lab, settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LOG = tmp_path
    fakes = the_same_for_all()
    makers(keeper_of(fakes))
    study = await unit(canary_study, lab)
    whole = [await Visit(study, each, fakes).whole() for each in ("sensory", "confidence")]
    assert differences(*whole) == ""
    later = {each: await Visit(study, each, fakes).later() for each in ARCHITECTURES}
    for architecture, told in later.items():
        assert differences(later["sensory"], told) == "", architecture
    for told in (*whole, *later.values()):
        everything = told.everything().lower()
        assert [word for word in TELLING if word in everything] == []


def differences(one: Told, other: Told) -> str:
    return "\n".join(unified_diff(one.lines(), other.lines(), lineterm="", n=1))


@pytest.mark.parametrize("architecture", ["sensory", "confidence"])
def test_whether_the_waiting_page_is_shown_follows_from_time_alone(
    lab: Lab, architecture: str
) -> None:
    """Not from what is still to be done: the one has nothing to do at the start, the other has."""
    study = make_study(
        lab, arms={"one": architecture}, stages={"minimum_gap_hours": 0}, pacing=True
    )
    participant = enrol(study, arm="one")
    with lab_scope(lab.pk):
        sessions.close(enter(participant), Closed.PARTICIPANT, at=wall_now())
    session = enter(participant, "T2")
    prepared = timedelta(seconds=settings.CHAT_PREPARING_SECONDS)
    page, browser = f"/chat/{session.id}/", browser_of(participant)
    assert "Preparing" in browser.get(page).content.decode()
    with lab_scope(lab.pk):
        assert Job.objects.pending_of(participant.public_id).exists()
        Session.objects.filter(pk=session.pk).update(started_at=wall_now() - prepared)
    assert "Preparing" not in browser.get(page).content.decode()
