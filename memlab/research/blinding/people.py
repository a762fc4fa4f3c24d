"""A study with an arm of each kind, and participants who have come to its first remembering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from uuid import UUID, uuid4

from django.http import HttpResponse

from chat.models import Message, Reply, ReplyState
from chat.models.message import message_id
from experiments.access import COOKIE, ParticipantRef, remember
from experiments.enums import Closed, Language, SessionState
from experiments.models import Allocation, Lab, Participant, Session, Study
from experiments.study_templates import create_study
from memlab.core.tenancy import lab_scope
from memlab.core.values import Role
from questionnaires.models import Placement

STAGE = "t2"
#: What everybody said in the first conversation.
SAID = (
    "I have a dog called Bruno, and we go hiking by the river every Sunday.",
    "My sister Anna moved to Lisbon last year. I miss her a lot.",
    "At work I feel tired, because we have a new project and too little time.",
    "I love cooking for friends. My best dish is a mushroom risotto.",
)
HEARD = "That sounds like a lot. Would you like to tell me more about it?"
#: And what they say in the second: questions that memory helps with, and something new.
SAYS = (
    "Hello again! Do you remember what my dog is called?",
    "We went hiking by the river again, and it was wonderful.",
    "What could I cook for my sister when she visits?",
    "I am still tired because of the project at work.",
)
AGO = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A participant at the door of the second conversation; ``code`` is on their pages."""

    lab_id: int
    participant: UUID
    arm: str
    code: str
    cookie: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The study's pacing: a floor in ms and a rate in tokens a second."""

    first_token_ms: int = 600
    tokens_per_second: float = 100.0


def people(architectures: Sequence[str], each: int, pace: Pace, *, wall: datetime) -> list[Person]:
    """``each`` of every arm, in an order in which the arms take turns."""
    study = _study(pace)
    with lab_scope(study.lab_id):
        kinds = dict(study.arms.values_list("architecture", "key"))
        arms = [
            [_person(study, kinds[kind], kind, wall=wall) for _ in range(each)]
            for kind in architectures
        ]
    return [person for row in zip_longest(*arms) for person in row if person is not None]


def _study(pace: Pace) -> Study:
    """The template with every memory system, without what is asked between conversations."""
    lab = Lab.objects.found(name="What could be told apart")
    with lab_scope(lab.pk):

        def paced(study: Study) -> None:
            study.pacing = True
            study.pacing_first_token_ms = pace.first_token_ms
            study.pacing_tokens_per_second = pace.tokens_per_second

        study = create_study(
            "controlled-all", title="Conversations", language=Language.ENGLISH, adjust=paced
        )
        Placement.objects.filter(study=study).delete()
        study.stages.update(minimum_minutes=0, minimum_turns=0)
        study.open()
    return study


def _person(study: Study, arm: str, architecture: str, *, wall: datetime) -> Person:
    at = wall - AGO
    participant = Participant.objects.create(study=study)
    participant.give_consent(wall=at)
    participant.saw_code(wall=at)
    Allocation.objects.create(
        participant=participant,
        version=participant.version,
        arm_key=arm,
        stratum=participant.stratum,
        position=participant.pk,
        block=0,
        block_size=1,
        study_at=wall,
    )
    _talked(participant, at=at)
    reference = ParticipantRef(participant.lab_id, participant.public_id)
    response = HttpResponse()
    remember(response, reference)
    return Person(
        lab_id=participant.lab_id,
        participant=participant.public_id,
        arm=architecture,
        code=participant.code,
        cookie=f"{COOKIE}={response.cookies[COOKIE].value}",
    )


def _talked(participant: Participant, *, at: datetime) -> None:
    """The first conversation, which is over."""
    session = Session.objects.create(
        participant=participant,
        version=participant.version,
        stage_key="t1",
        number=1,
        state=SessionState.COMPLETE,
        closed_by=Closed.PARTICIPANT,
        manipulation=False,
        turns=len(SAID),
        last_seq=2 * len(SAID),
        started_at=at,
        last_activity_at=at,
        ended_at=at + timedelta(minutes=10),
    )
    messages = Message.objects.bulk_create(_messages(session, at=at))
    Reply.objects.bulk_create(
        Reply(
            id=answer.id,
            session=session,
            message=answer,
            question=question,
            state=ReplyState.DONE,
            attempt=1,
        )
        for question, answer in zip(messages[::2], messages[1::2], strict=True)
    )


def _messages(session: Session, *, at: datetime) -> Iterator[Message]:
    texts = [text for said in SAID for text in (said, HEARD)]
    for seq, text in enumerate(texts, start=1):
        asks = seq % 2 == 1
        moment = at + timedelta(minutes=seq)
        yield Message(
            id=message_id(session.id, seq),
            session=session,
            seq=seq,
            role=Role.PARTICIPANT if asks else Role.ASSISTANT,
            text=text,
            client_id=uuid4() if asks else None,
            at=moment,
            recorded_at=moment,
        )
