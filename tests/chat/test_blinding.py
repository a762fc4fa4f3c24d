"""The arm never reaches the browser: no page, header, cookie or frame tells it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.test import Client

from chat import steps
from chat.makers import makers
from experiments import doors
from experiments.models import EntryLink, Lab, Participant, Session, Study
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memlab.core.work import unit
from tests.chat.sockets import Tab
from tests.conversations import scripted_doors
from tests.studies import make_study

pytestmark = pytest.mark.django_db(transaction=True)

ARCHITECTURES = (
    "sensory",
    "working",
    "gist",
    "hybrid",
    "full_history",
    "random_recall",
    "retention",
)
CANARY = "xyzzyarm"


def the_same_for_all() -> doors.DoorKeeper:
    """Models that say the same in every arm, so that a difference can only be ours."""
    fakes = scripted_doors(
        traits={"hiking": {"dimension": "preferences", "text": "likes hiking"}},
        items={"hiking": {"text": "likes hiking", "keywords": ["hiking"]}},
    )
    fakes.talking.answers[PromptTask.REPLY] = "That sounds good."
    return doors.DoorKeeper(
        lambda configuration, keys: doors.StudyDoors(
            talking=fakes.talking, extraction=fakes.extraction, embedder=fakes.embedder
        )
    )


class Browser:
    """Django's client, keeping every byte that it was sent."""

    def __init__(self) -> None:
        self.client = Client()
        self.received: list[str] = []

    def get(self, path: str) -> Any:
        return self._keep(self.client.get(path, follow=True))

    def post(self, path: str, fields: dict[str, str]) -> Any:
        return self._keep(self.client.post(path, fields, follow=True))

    def _keep(self, response: Any) -> Any:
        headers = "\n".join(f"{name}: {value}" for name, value in response.items())
        self.received += [headers, response.content.decode(), str(self.client.cookies)]
        return response


def canary_study(lab: Lab, architecture: str) -> Study:
    return make_study(
        lab,
        arms={f"{CANARY}key": architecture},
        stages={"minimum_gap_hours": 0},
    )


def enter_by_link(study: Study, browser: Browser) -> Participant:
    token = EntryLink.objects.issue(lab_id=study.lab_id, study_id=study.pk, test_mode=True)
    browser.get(f"/join/{token}/")
    browser.post(f"/join/{token}/", {"agree": "yes"})
    browser.post("/journey/consent/", {"agree": "yes"})
    browser.get("/journey/")
    with lab_scope(study.lab_id):
        return Participant.objects.get(study=study)


def session_of(study: Study, stage: str) -> Session:
    with lab_scope(study.lab_id):
        return Session.objects.get(stage_key=stage)


def everything_told(browser: Browser, tabs: list[Tab]) -> str:
    return "\n".join([*browser.received, *(json.dumps(tab.frames) for tab in tabs)])


async def participation(lab: Lab, architecture: str) -> tuple[str, list[Tab]]:
    """A whole participation; all that the browser received, and its tabs."""
    keeper = the_same_for_all()
    assert makers(keeper).keeper is keeper
    study = await unit(canary_study, lab, architecture)
    browser = Browser()
    participant = await unit(enter_by_link, study, browser)
    tabs = []
    for stage in ("T1", "T2"):
        await unit(browser.get, f"/journey/stage/{stage}/")
        await steps.run_steps(study.lab_id, participant.public_id, keeper)
        session = await unit(session_of, study, stage)
        await unit(browser.get, f"/chat/{session.id}/")
        async with Tab(participant, session.id) as tab:
            for text in ("I like hiking.", "Where could I go?"):
                await tab.say(text)
                await tab.until("reply")
                await tab.until("timer")
                # What the task cluster does with what an arm learns from a turn.
                await steps.run_steps(study.lab_id, participant.public_id, keeper)
            await tab.send({"type": "retry", "seq": 1})
            await tab.until("error")
            await tab.send({"type": "end"})
            await tab.until("stage_over")
        tabs.append(tab)
        await unit(browser.get, f"/journey/after/{session.id}/")
    return everything_told(browser, tabs), tabs


@pytest.mark.parametrize("architecture", ARCHITECTURES)
async def test_no_byte_that_a_browser_receives_tells_the_arm(lab: Lab, architecture: str) -> None:
    told, _tabs = await participation(lab, architecture)
    for word in (CANARY, *ARCHITECTURES, "architecture", "recall", "episode", "likes hiking"):
        assert word not in told.lower(), word


def shape(tab: Tab) -> list[tuple[Any, ...]]:
    """The frames without what time and chance put into them; tokens joined, for they come as fast
    as the machine lets them."""
    fickle = {"at", "client_id", "ends_at", "remaining_seconds", "next_url", "n"}
    frames = [frame for frame in tab.frames if frame["type"] != "token"]
    return [
        tuple(sorted((name, str(value)) for name, value in frame.items() if name not in fickle))
        for frame in frames
        if frame["type"] != "history"
    ]


async def frames_of(architecture: str) -> list[list[tuple[Any, ...]]]:
    lab = await unit(Lab.objects.found, name=architecture)
    _told, tabs = await participation(lab, architecture)
    return [shape(tab) for tab in tabs]


def test_the_same_models_give_the_same_frames_in_every_arm() -> None:
    """Each in a loop of its own, as each process has its own makers."""
    assert asyncio.run(frames_of("sensory")) == asyncio.run(frames_of("hybrid"))
