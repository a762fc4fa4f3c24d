"""Beliefs change by their methods alone, and each change is an event."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from experiments.models import Participant
from memlab.core.tenancy import lab_scope
from memory.enums import Cause
from memory.models import Belief, MemoryEvent, SessionLog
from memory.models.belief import Change, belief_id
from memory.models.session_log import log_id
from tests.memory.dialogue import START, identified

pytestmark = pytest.mark.django_db

LATER = START + timedelta(hours=1)
FIRST, SECOND = identified("first"), identified("second")


def belief(participant: Participant, position: int = 0, **fields: Any) -> Belief:
    given: dict[str, Any] = {
        "content": "likes tea",
        "category": "preference",
        "factual": False,
        "message_ids": [FIRST],
        "formed_at": START,
        "changed_at": START,
    }
    return Belief(
        id=belief_id(
            participant=participant.public_id, source=identified("reply"), position=position
        ),
        participant_id=participant.pk,
        position=position,
        **(given | fields),
    )


def change(reply: str = "another reply", **note: Any) -> Change:
    return Change(cause=Cause.TOOL, now=LATER, reply=identified(reply), note=note)


def formed(participant: Participant, **fields: Any) -> Belief:
    row = belief(participant, **fields)
    assert Belief.objects.form([row], Change(cause=Cause.TOOL, now=START)) == 1
    return row


def last_event(memory: UUID) -> tuple[str, Any, Any, Any]:
    *_earlier, event = MemoryEvent.objects.of_memory(memory)
    return event.event, event.before, event.after, event.note


def test_each_method_writes_what_it_changed(participant: Participant) -> None:
    at, later = START.isoformat(), LATER.isoformat()
    with lab_scope(participant.lab_id):
        row = formed(participant, confidence=0.75)
        row.weaken(change(reason="boring"), drop=0.25)
        assert last_event(row.pk) == (
            "weakened",
            {"confidence": 0.75, "changed_at": at, "version": 1},
            {"confidence": 0.5, "changed_at": later, "version": 2},
            {"reason": "boring"},
        )
        row.reinforce(change(), message_ids=[SECOND, FIRST])
        assert last_event(row.pk)[:3] == (
            "reinforced",
            {
                "confidence": 0.5,
                "mentions": 1,
                "message_ids": [str(FIRST)],
                "changed_at": later,
                "version": 2,
            },
            {
                "confidence": 0.7,
                "mentions": 2,
                "message_ids": [str(FIRST), str(SECOND)],
                "changed_at": later,
                "version": 3,
            },
        )
        row.access(change())
        assert last_event(row.pk)[0] == "recalled"
        row.update(change(), content="likes coffee")
        assert last_event(row.pk)[2] == {
            "content": "likes coffee",
            "confidence": 1.0,
            "changed_at": later,
            "version": 5,
        }
        row.reinforce(change("a third reply"))
        assert last_event(row.pk)[0] == "mentioned"
        kept = Belief.objects.get(pk=row.pk)
        assert kept.state() == row.state()
        row.forget(change(reason="never true"))
        event, before, after, note = last_event(row.pk)
        assert (event, before, after, note) == (
            "forgotten",
            kept.state(),
            None,
            {"reason": "never true"},
        )
        assert not Belief.objects.exists()


def test_a_belief_is_formed_once(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = formed(participant)
        again = belief(participant, content="something else")
        assert Belief.objects.form([again], change()) == 0
        assert Belief.objects.get().content == row.content
        assert MemoryEvent.objects.count() == 1


@pytest.mark.parametrize("confidence", [0.0, 1.01, -0.1])
def test_a_confidence_out_of_range_is_not_stored(
    confidence: float, participant: Participant
) -> None:
    with (
        pytest.raises(IntegrityError, match="belief_confidence_range"),
        lab_scope(participant.lab_id),
        transaction.atomic(),
    ):
        formed(participant, confidence=confidence)


def test_a_reply_can_weaken_a_memory_once_only(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = formed(participant)
        row.weaken(change())
        with pytest.raises(IntegrityError, match="a_reply_changes_a_memory"), transaction.atomic():
            row.weaken(change())


def test_locked_beliefs_are_the_participants_own(
    participant: Participant, other_participant: Participant
) -> None:
    with lab_scope(participant.lab_id):
        row = formed(participant)
        theirs = formed(other_participant)
        assert row.pk != theirs.pk
        found = Belief.objects.locked([row.pk, theirs.pk], participant_id=participant.pk)
        assert list(found) == [row.pk]


@pytest.fixture
def other_participant(participant: Participant) -> Participant:
    with lab_scope(participant.lab_id):
        return Participant.objects.create(study_id=participant.study_id)


def test_a_session_has_one_log_and_it_expires_with_its_event(participant: Participant) -> None:
    session = identified("session")
    with lab_scope(participant.lab_id):

        def log(text: str) -> SessionLog:
            return SessionLog(
                id=log_id(participant=participant.public_id, session=session),
                participant_id=participant.pk,
                session_id=session,
                session_number=1,
                stage_key="T1",
                text=text,
                message_ids=[FIRST],
                at=START,
            )

        assert SessionLog.objects.write(log("Tea."), change()) == 1
        assert SessionLog.objects.write(log("Coffee."), change()) == 0
        kept = SessionLog.objects.get()
        for before, gone in ((START, 0), (LATER, 1)):
            expired = SessionLog.objects.expire(participant.pk, before=before, change=change())
            assert expired == gone
        assert last_event(kept.pk)[:3] == ("expired", kept.state(), None)
