"""A lab's own memory goes wherever ours go: forms, turns with tools, sessions, time, replay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from chat import steps, streaming
from chat.makers import makers
from chat.models import Receipt
from experiments import architectures
from experiments.doors import DoorKeeper
from experiments.middleware import LAB_KEY
from experiments.models import Arm, Lab, Participant, Session
from experiments.rights import UNBLINDED
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memlab.research.replay import run
from memlab.research.replay.dialogue_file import read_dialogue
from memory.models import MemoryEvent
from tests.chat.sockets import Tab
from tests.chat.test_faults import PROVIDERS, key_to
from tests.conversations import START, Talk, scripted_doors
from tests.people import signed_in
from tests.research.replay.conftest import FIXTURES, plan, silent
from tests.standin import Answer, ScriptedCall, StandIn
from tests.studies import enrol, enter, make_study

pytestmark = pytest.mark.usefixtures("kept_rows")
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
ARM = {"own": ("keepsakes", {"lasts_days": 3.0, "shown": 1})}
KEEP_TEA = ScriptedCall(id="call_tea", name="keep", arguments='{"text": "喜欢喝茶 likes tea"}')


def test_it_stands_among_the_architectures_with_its_parameters() -> None:
    assert ("keepsakes", "Keepsakes") in architectures.choices()
    assert architectures.validated_parameters("keepsakes", {"shown": 3}) == {
        "lasts_days": 7.0,
        "shown": 3,
    }
    with pytest.raises(ValidationError, match="lasts_days must lie in"):
        architectures.validated_parameters("keepsakes", {"lasts_days": 0.0})


def staff(lab: Lab, **kept: Any) -> Client:
    """A browser of the lab's owner, who has turned to this lab; ``kept`` is in their session."""
    client = signed_in("Alice", lab)
    session = client.session
    session.update({LAB_KEY: lab.pk, **kept})
    session.save()
    return client


def test_staff_choose_it_for_an_arm_and_set_its_parameters(own_lab: Lab) -> None:
    study = make_study(own_lab, arms={})
    client = staff(own_lab)
    added = client.post(
        "/admin/experiments/arm/add/",
        {
            "study": study.pk,
            "key": "own",
            "name": "Our own",
            "label": "X",
            "weight": 1,
            "architecture": "keepsakes",
            "preset": "brief",
        },
    )
    assert added.status_code == 302, added.context["errors"]
    with lab_scope(own_lab.pk):
        arm = Arm.objects.get(study=study)
    assert (arm.architecture, arm.preset, arm.parameters["lasts_days"]) == (
        "keepsakes",
        "brief",
        1.0,
    )
    page = client.get(f"/admin/experiments/arm/{arm.pk}/change/").content.decode()
    assert "parameter_lasts_days" in page
    assert "How long a keepsake stays that isn" in page


@pytest.fixture
def quick(standin: StandIn, settings, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    settings.ALLOWED_MODEL_URLS = [standin.openai_url, standin.dashscope_url]
    settings.MODEL_TIMEOUTS = {"connect": 2.0, "first_token": 5.0, "between_tokens": 5.0}
    monkeypatch.setattr(streaming, "FIRST_PAUSE", 0.01)
    return standin


@pytest.fixture
async def shut_doors() -> AsyncIterator[None]:
    yield
    await makers().aclose()


def visit(standin: StandIn, lab: Lab, provider: str) -> tuple[Participant, Session]:
    """Somebody in a stage with manipulation, whose study talks through the stand-in."""
    doors: dict[str, Any] = {
        "talking_provider": provider,
        "talking_model": "talk-2026",
        "talking_key": key_to(standin, lab, provider),
    }
    study = make_study(lab, arms=ARM, stages={"manipulation": True, "opening_line": ""}, **doors)
    person = enrol(study, arm="own")
    return person, enter(person)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_live_conversation_through_the_socket_with_a_tool(
    provider: str, own_lab: Lab, quick: StandIn, shut_doors: None
) -> None:
    person, session = await unit(visit, quick, own_lab, provider)
    answers = [Answer(tool_calls=(KEEP_TEA,)), Answer(text="Good."), Answer(text="Tea it is.")]
    quick.script(answers)
    await steps.run_steps(own_lab.pk, person.public_id, DoorKeeper())  # the session's beginning
    async with Tab(person, session.id) as tab:
        await tab.say("I had a long day.")
        await tab.until("reply")
        await steps.run_steps(own_lab.pk, person.public_id, DoorKeeper())
        await tab.say("What should I drink?")
        await tab.until("reply")
    first, second = await unit(receipts, own_lab)
    assert (first.architecture, first.recalled) == ("keepsakes", [])
    assert second.sections == [
        {"key": "keepsake", "title": "What you kept", "lines": ["- I had a long day."]}
    ]
    assert [(line["kind"], line["reason"]) for line in second.recalled] == [
        ("keepsake", "recalled")
    ]
    assert [line["text"] for line in second.near_misses] == ["喜欢喝茶 likes tea"]
    assert second.degraded == []
    happened = [(event, cause) for event, cause, _at in await unit(events, own_lab)]
    assert happened == [("encoded", "tool"), ("encoded", "observation"), ("recalled", "recall")]


def receipts(lab: Lab) -> list[Receipt]:
    with lab_scope(lab.pk):
        return list(Receipt.objects.order_by("pk"))


def events(lab: Lab) -> list[tuple[str, str, datetime]]:
    with lab_scope(lab.pk):
        return list(MemoryEvent.objects.order_by("pk").values_list("event", "cause", "study_at"))


async def test_sessions_and_time_work_on_it(own_lab: Lab) -> None:
    study = await unit(make_study, own_lab, arms=ARM, stages={"opening_line": ""})
    talk = Talk(study, scripted_doors(), arm="own")
    await talk.begin()
    await talk.stage("T1", START)
    await talk.say("My name is Ada.", START + MINUTE)
    await talk.end(START + 5 * MINUTE)
    later = START + 2 * DAY
    await talk.stage("T2", later)
    reply = await talk.say("Hello again!", later + MINUTE)
    await talk.end(later + 5 * MINUTE)
    await unit(talk._move, START + 9 * DAY)
    await steps.run_steps(own_lab.pk, talk.participant.public_id, talk.doors)
    receipt = await talk.receipt(reply)
    assert receipt.sections[0]["lines"] == ["- My name is Ada."]
    assert await unit(events, own_lab) == [
        # Of a stage without manipulation, once the arm is known.
        ("encoded", "observation", START + MINUTE),
        ("reinforced", "consolidation", START + 5 * MINUTE),
        ("recalled", "recall", later + MINUTE),
        ("encoded", "observation", later + MINUTE),
        ("reinforced", "consolidation", later + 5 * MINUTE),
        # Each at its own moment, though nobody came before the ninth day.
        ("expired", "passive", later + MINUTE + 3 * DAY),
        ("expired", "passive", later + MINUTE + 3 * DAY),
    ]


async def test_staff_see_it_as_they_see_ours(own_lab: Lab) -> None:
    study = await unit(make_study, own_lab, arms=ARM, stages={"opening_line": ""})
    talk = Talk(study, scripted_doors(), arm="own")
    await talk.begin()
    await talk.stage("T1", START)
    await talk.say("My name is Ada.", START + MINUTE)
    await talk.end(START + 5 * MINUTE)

    def pages() -> str:
        unblinded = {"lab": own_lab.pk, "studies": [study.pk], "participants": []}
        client = staff(own_lab, **{UNBLINDED: unblinded})
        base = f"/admin/experiments/participant/{talk.participant.pk}"
        memory = client.get(f"{base}/memory/").content.decode()
        return memory + client.get("/admin/memory/memoryevent/").content.decode()

    shown = await unit(pages)
    assert "My name is Ada." in shown
    assert "keepsake" in shown


async def test_recorded_dialogues_replay_under_it() -> None:
    guitar = read_dialogue(FIXTURES / "guitar-zh.json")
    first = replace(guitar, sessions=guitar.sessions[:1], probes=())
    (row,) = await run.replay(plan(first, architectures=("keepsakes",)), silent())
    assert (row["architecture"], row["turns"], row["degraded"]) == ("keepsakes", 5, 0)
    assert row["memories"][0]["counts"] == {"keepsake": 5}
