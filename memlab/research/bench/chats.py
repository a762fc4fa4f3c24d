"""Participants in the middle of a study, each with an open conversation under the hybrid memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import uuid4

import numpy as np
from django.http import HttpResponse
from numpy.random import Generator

from chat import sessions
from chat.models import Message, Reply, ReplyState
from chat.models.message import message_id
from experiments.access import COOKIE, ParticipantRef, remember
from experiments.enums import Closed, SessionState
from experiments.models import Participant, Session
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.values import Role
from memlab.research.bench.clients import Seat
from memlab.research.bench.laboratory import enrol, make_study, remembered, sentence
from memlab.research.bench.vectors import unrelated
from memory.enums import ProfilePart
from memory.models import Episode, Trait
from memory.models.profile import normalised, trait_id

EARLIER = (("t1", 8.0), ("t2", 7.0))  # stage, and how many days ago it was
TURNS, EPISODES, TRAITS = 20, 60, 12


def seats(count: int) -> list[Seat]:
    """A study of ``count`` participants who have come to their third conversation.

    Each has two finished conversations of 20 turns, 60 episodes and 12 traits; nothing is pending.
    """
    random = np.random.default_rng(11)
    now = wall_now()
    study = make_study(f"bench of {count} chats")
    return [_seat(each, random, now=now) for each in enrol(study, count, wall=now)]


def _seat(participant: Participant, random: Generator, *, now: datetime) -> Seat:
    with lab_scope(participant.lab_id):
        for number, (stage, days) in enumerate(EARLIER, start=1):
            _finished(participant, number, stage, random, at=now - timedelta(days=days))
        _remember(participant, random, now=now)
        session = Session.objects.create(
            participant=participant,
            version=participant.version,
            stage_key="t3",
            number=len(EARLIER) + 1,
            manipulation=True,
            started_at=now,
            last_activity_at=now,
        )
        sessions.plan_closing(session)
    return Seat(session=session.id, cookie=_cookie(participant))


def _finished(
    participant: Participant, number: int, stage: str, random: Generator, *, at: datetime
) -> None:
    session = Session.objects.create(
        participant=participant,
        version=participant.version,
        stage_key=stage,
        number=number,
        state=SessionState.COMPLETE,
        closed_by=Closed.PARTICIPANT,
        manipulation=stage != "t1",
        turns=TURNS,
        last_seq=2 * TURNS,
        started_at=at,
        last_activity_at=at,
        ended_at=at,
    )
    messages = Message.objects.bulk_create(_messages(session, random, at=at))
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


def _messages(session: Session, random: Generator, *, at: datetime) -> Iterator[Message]:
    for seq in range(1, 2 * TURNS + 1):
        asks = seq % 2 == 1
        yield Message(
            id=message_id(session.id, seq),
            session=session,
            seq=seq,
            role=Role.PARTICIPANT if asks else Role.ASSISTANT,
            text=sentence(random),
            client_id=uuid4() if asks else None,
            at=at,
            recorded_at=at,
        )


def _remember(participant: Participant, random: Generator, *, now: datetime) -> None:
    ages = np.sort(random.uniform(5.0, 9.0, size=EPISODES))[::-1]
    vectors = unrelated(random, EPISODES)
    Episode.objects.bulk_create(remembered(participant, vectors, ages, now=now, random=random))
    Trait.objects.bulk_create(_trait(participant, random, now=now) for _ in range(TRAITS))


def _trait(participant: Participant, random: Generator, *, now: datetime) -> Trait:
    text = sentence(random, 4, 8)
    return Trait(
        id=trait_id(
            participant=participant.public_id,
            dimension=ProfilePart.PREFERENCES,
            normalised_text=normalised(text),
        ),
        participant=participant,
        session_id=uuid4(),
        session_number=1,
        dimension=ProfilePart.PREFERENCES,
        text=text,
        normalised=normalised(text),
        salience=float(random.uniform()),
        stage_key="t1",
        message_ids=[uuid4()],
        learned_at=now,
    )


def _cookie(participant: Participant) -> str:
    response = HttpResponse()
    remember(response, ParticipantRef(participant.lab_id, participant.public_id))
    return f"{COOKIE}={response.cookies[COOKIE].value}"
