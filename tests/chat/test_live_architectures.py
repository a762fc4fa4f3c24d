"""A conversation under each memory that learns from what was said, through a socket, with every
provider: what is told in one stage is in the prompt of the next, and on its receipt."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from chat import conversation, steps
from chat.conversation import SessionRef
from chat.makers import makers
from chat.models import Receipt
from chat.models.message import message_id
from experiments.doors import DoorKeeper
from experiments.models import Lab, Participant, Session
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import MemoryEvent
from tests.chat.sockets import Tab
from tests.chat.test_faults import key_to
from tests.standin import Answer, StandIn
from tests.studies import enrol, enter, make_study, reference_of

TOLD = "My name is Ada and I keep a parrot called Rio."
ASKED = "Do you remember my parrot?"
PROVIDERS = ("offline", "dashscope", "openai_compatible")
ARCHITECTURES = ("gist", "hybrid", "compression", "homeostatic", "retention", "random_recall")
#: The arms that learn nothing, and whether they bring an earlier conversation's words.
KEEPS_WORDS = {"sensory": False, "working": True, "full_history": True}
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
async def _doors(kept_rows: None, standin: StandIn, settings) -> AsyncIterator[None]:
    settings.ALLOWED_MODEL_URLS = [standin.openai_url, standin.dashscope_url]
    yield
    await makers().aclose()


def as_json(holding: str, **fields: Any) -> Answer:
    """An extraction's answer; only for a prompt that asks for this key."""
    return Answer(text=json.dumps({holding: [fields]}), match=f'\\"{holding}\\"')


def extractions(message: str) -> list[Answer]:
    """What a model extracts from ``TOLD``, whichever of the memories asks: each more often than
    any of them does."""
    told = {"message": message, "text": "Keeps a parrot called Rio"}
    tags = [{"dimension": "pet", "value": "parrot"}]
    answers = [
        as_json("traits", dimension="social", key=None, emotion=None, **told),
        as_json(
            "ratings", message=message, intensity=0.5, self_disclosure=0.5, value_relevance=0.5
        ),
        as_json("statements", topic="parrot", tags=tags, **told),
        as_json("appraisals", message=message, valence=0.2, offensiveness=0.0, boundary=False,
                events=[]),
        # Two memories ask for items, in two forms; what one has too much is no harm to the other.
        as_json("items", bin="fact", importance=0.8, keywords=["parrot"], **told),
    ]  # fmt: skip
    return answers * 3


async def arrived(standin: StandIn, lab: Lab, provider: str, architecture: str) -> Participant:
    def arrive() -> Participant:
        doors: dict[str, Any] = {}
        if provider != "offline":
            key = key_to(standin, lab, provider)
            for use in ("talking", "extraction"):
                doors |= {
                    f"{use}_provider": provider,
                    f"{use}_model": f"{use}-2026",
                    f"{use}_key": key,
                }
        study = make_study(
            lab,
            arms={architecture: architecture},
            stages={"manipulation": True, "opening_line": "", "minimum_turns": 0},
            **doors,
        )
        return enrol(study, arm=architecture, test_mode=True)

    return await unit(arrive)


async def remember(person: Participant) -> None:
    keeper = DoorKeeper()
    try:
        await steps.run_steps(person.lab_id, person.public_id, keeper)
    finally:
        await keeper.aclose()


async def said(person: Participant, session: Session, text: str) -> Tab:
    async with Tab(person, session.id) as tab:
        await tab.say(text)
        await tab.until("reply")
    return tab


def next_day(person: Participant) -> Session:
    with lab_scope(person.lab_id):
        later = Participant.objects.get(pk=person.pk)
        later.skip(DAY)
    return enter(later, "T2")


def receipt_of(session: Session) -> Receipt:
    with lab_scope(session.lab_id):
        found: Receipt = Receipt.objects.get(reply__session=session)
        return found


def events_of(person: Participant) -> list[tuple[str, str]]:
    with lab_scope(person.lab_id):
        return list(MemoryEvent.objects.values_list("event", "memory_kind").order_by("pk"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
async def test_what_is_told_in_one_stage_is_known_in_the_next(
    architecture: str, provider: str, own_lab: Lab, standin: StandIn
) -> None:
    standin.default = Answer(text="How nice. Tell me more.")
    person = await arrived(standin, own_lab, provider, architecture)
    first = await unit(enter, person)
    standin.script(extractions(str(message_id(first.id, 1))))
    await said(person, first, TOLD)
    await remember(person)
    reference = SessionRef.of(reference_of(person), first.id)
    assert await unit(conversation.finish, reference, wall=wall_now())
    await remember(person)
    learned = await unit(events_of, person)
    assert "encoded" in {event for event, _kind in learned}

    second = await unit(next_day, person)
    await remember(person)
    tab = await said(person, second, ASKED)
    receipt = await unit(receipt_of, second)
    assert (receipt.architecture, receipt.provider) == (architecture, provider)
    assert receipt.degraded == []
    assert "Rio" in receipt.prompt["system"]
    assert any("Rio" in line for section in receipt.sections for line in section["lines"])
    # For a profile, the offline model's rules learn the name, where the others learn of the parrot.
    recalled = [
        reading
        for reading in receipt.recalled
        if "Rio" in reading["text"] or "Ada" in reading["text"]
    ]
    assert recalled
    assert all(reading["reason"] for reading in recalled)
    assert not any(word in text for text in tab.raw for word in (architecture, "recalled"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("architecture", KEEPS_WORDS)
async def test_what_is_told_comes_back_word_for_word_where_an_arm_keeps_words(
    architecture: str, provider: str, own_lab: Lab, standin: StandIn
) -> None:
    standin.default = Answer(text="How nice. Tell me more.")
    person = await arrived(standin, own_lab, provider, architecture)
    first = await unit(enter, person)
    await said(person, first, TOLD)
    reference = SessionRef.of(reference_of(person), first.id)
    assert await unit(conversation.finish, reference, wall=wall_now())
    await remember(person)
    assert await unit(events_of, person) == []

    second = await unit(next_day, person)
    tab = await said(person, second, ASKED)
    receipt = await unit(receipt_of, second)
    assert (receipt.architecture, receipt.provider) == (architecture, provider)
    assert receipt.degraded == []
    assert (TOLD in str(receipt.prompt)) == KEEPS_WORDS[architecture]
    assert not any(architecture in text for text in tab.raw)
