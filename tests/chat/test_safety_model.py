"""Screening by the extraction model: planned with the message, checked, never silent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chat import conversation
from chat.conversation import SessionRef
from chat.models import AdverseEvent, ModelScreening
from chat.models.message import message_id
from chat.safety import screening
from chat.safety.enums import Category, Severity
from chat.safety.prompts import risk_prompt
from chat.safety.screen import Risk
from chat.safety.screening import UnusableAnswer, risk_in
from experiments.models import Lab, Participant, Session
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.llm.offline import OfflineModel
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask, Statement
from memlab.core.work import unit
from tests.conversations import ScriptedDoors, scripted_doors
from tests.studies import enrol, enter, make_study, reference_of

pytestmark = pytest.mark.usefixtures("kept_rows")

HIT = '{"category": "self_harm", "severity": "serious"}'
NOTHING = '{"category": "none", "severity": "none"}'


@pytest.fixture
def session(own_lab: Lab) -> Session:
    return enter(enrol(make_study(own_lab, risk_asks_model=True, risk_pauses=False)))


def said(session: Session, text: str = "Nobody would cry.") -> UUID:
    def say() -> UUID:
        with lab_scope(session.lab_id):
            person = Participant.objects.get(pk=session.participant_id)
        reference = SessionRef.of(reference_of(person), session.id)
        stored = conversation.say(reference, client_id=uuid4(), text=text, wall=wall_now())
        return message_id(session.id, stored.seq)

    return say()


def doors(answer: Any) -> ScriptedDoors:
    made = scripted_doors()
    made.extraction.answers[PromptTask.SCREEN_RISK] = answer
    return made


def rows(session: Session) -> tuple[list[Any], list[Any]]:
    with lab_scope(session.lab_id):
        return (
            list(AdverseEvent.objects.values_list("source", "category", "severity", "rule")),
            list(ModelScreening.objects.values_list("state", "attempts", "failure")),
        )


async def test_hit_of_the_model_opens_an_event_once(session: Session) -> None:
    message = await unit(said, session)
    due = await unit(Due.objects.get, kind=DueKind.SCREEN, lab_id=session.lab_id)
    assert due.subject == message
    answering = doors(HIT)
    assert await screening.screen(session.lab_id, message, answering, wall=wall_now())
    assert not await screening.screen(session.lab_id, message, answering, wall=wall_now())
    assert await unit(rows, session) == (
        [("model", "self_harm", "serious", "model")],
        [("done", 1, "")],
    )
    (prompt,) = answering.extraction.asked(PromptTask.SCREEN_RISK)
    assert [each.text for each in prompt.material] == [
        "Hello, how was your day?",
        "Nobody would cry.",
    ]
    assert not await unit(Due.objects.filter(kind=DueKind.SCREEN, subject=message).exists)


async def test_model_that_sees_nothing_leaves_nothing(session: Session) -> None:
    message = await unit(said, session)
    assert await screening.screen(session.lab_id, message, doors(NOTHING), wall=wall_now())
    assert await unit(rows, session) == ([], [("done", 1, "")])


async def test_what_rule_and_model_both_notice_are_two_events_of_one_message(
    session: Session,
) -> None:
    message = await unit(said, session, "I want to die.")
    await screening.screen(session.lab_id, message, doors(HIT), wall=wall_now())
    found, _screenings = await unit(rows, session)
    assert sorted(row[0] for row in found) == ["model", "rule"]


async def test_failures_are_tried_again_and_then_kept(session: Session) -> None:
    message, wall = await unit(said, session), wall_now()
    broken = doors([ModelFailure(FailureKind.TIMEOUT, "late"), "I think so", "{}"])
    states = []
    for _ in range(6):
        assert not await screening.screen(session.lab_id, message, broken, wall=wall)
        states += (await unit(rows, session))[1]
        wall += timedelta(minutes=20)
    assert states == [
        ("pending", 1, "timeout"),
        ("pending", 2, "no_json"),
        ("pending", 3, "bad_category"),
        ("pending", 4, "bad_category"),
        ("failed", 5, "bad_category"),
        ("failed", 5, "bad_category"),
    ]


async def test_death_while_asking_counts_as_an_attempt(session: Session) -> None:
    message, wall = await unit(said, session), wall_now()
    for _ in range(5):
        assert await unit(screening._begin, session.lab_id, message, wall=wall) is not None
    assert not await screening.screen(session.lab_id, message, doors(HIT), wall=wall)
    assert (await unit(rows, session))[1] == [("failed", 5, "died")]


async def test_other_lab_s_message_is_nobody_s(session: Session) -> None:
    message = await unit(said, session)
    other = await unit(Lab.objects.found, name="Elsewhere")
    assert not await screening.screen(other.pk, message, doors(HIT), wall=wall_now())
    assert (await unit(rows, session))[1] == [("pending", 0, "")]


@pytest.mark.parametrize(
    ("answer", "risk"),
    [
        (HIT, Risk(Category.SELF_HARM, Severity.SERIOUS, "model")),
        (f"```json\n{HIT}\n```", Risk(Category.SELF_HARM, Severity.SERIOUS, "model")),
        (NOTHING, None),
    ],
)
def test_answer_is_read(answer: str, risk: Risk | None) -> None:
    assert risk_in(answer) == risk


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("", "no_json"),
        ("no", "no_json"),
        ("[1]", "no_json"),
        ("{", "no_json"),
        ("{}", "bad_category"),
        ('{"category": "filtered", "severity": "acute"}', "bad_category"),
        ('{"category": ["abuse"], "severity": "acute"}', "bad_category"),
        ('{"category": "none", "severity": "acute"}', "bad_category"),
        ('{"category": "abuse", "severity": "none"}', "bad_severity"),
        ('{"category": "abuse", "severity": 3}', "bad_severity"),
        ('{"category": "abuse"}', "bad_severity"),
    ],
)
def test_answer_that_is_none_is_refused(answer: str, code: str) -> None:
    with pytest.raises(UnusableAnswer, match=code):
        risk_in(answer)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I want to die.", Category.SELF_HARM),
        ("我不想活了", Category.SELF_HARM),
        ("He beats me.", Category.ABUSE),
        ("What a nice day", None),
        ("想死你了", None),
    ],
)
async def test_offline_model_answers_as_it_is_asked(text: str, category: Category | None) -> None:
    for language in ("en", "zh-hans"):
        prompt = risk_prompt(language=language, material=[Statement(id="participant", text=text)])
        answer = await OfflineModel().complete(prompt, json=True)
        risk = risk_in(answer.text)
        assert (None if risk is None else risk.category) == category
