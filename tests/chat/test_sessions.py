"""How sessions close: by the participant, their timer, silence, their window, their last turn."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.exceptions import ValidationError

from chat import claims, conversation, sessions
from chat.conversation import Refused, SessionRef
from chat.models import Message, Reply
from chat.sessions import StageNotOpen
from experiments.enums import SessionState
from experiments.models import Lab, Participant, Session
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.tenancy import lab_scope
from tests.conversations import START
from tests.studies import enrol, enter, make_study, reference_of, scripted

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


class Visit:
    """A participant with a scripted clock in their first session; ``at`` moves the clock."""

    def __init__(self, lab: Lab, *, arm: str | None = None, **stages: Any) -> None:
        study = make_study(lab, stages={"minimum_gap_hours": 0, **stages})
        self.lab, self.person = lab, scripted(study, start=START, arm=arm)
        self.session = enter(self.person)
        self.reference = SessionRef.of(reference_of(self.person), self.session.id)

    def at(self, minutes: float) -> datetime:
        with lab_scope(self.lab.pk):
            self.person.refresh_from_db()
            self.person.move_script(START + minutes * MINUTE)
        return START

    def say(self, minutes: float = 0) -> UUID:
        wall = self.at(minutes)
        return conversation.say(self.reference, client_id=uuid4(), text="Hi", wall=wall).reply

    def fail(self, reply: UUID, kind: FailureKind = FailureKind.TIMEOUT) -> list[dict[str, Any]]:
        claim = claims.claim(self.lab.pk, reply, wall=START)
        assert claim is not None
        frames = claims.fail(claim, ModelFailure(kind, "scripted"), wall=START)
        assert frames is not None
        return frames

    def finish(self, reply: UUID) -> None:
        """As if the model had answered."""
        with lab_scope(self.lab.pk):
            row = Reply.objects.select_related("session").get(pk=reply)
            row.succeed()
            session = Session.objects.select_for_update().get(pk=row.session_id)
            session.turns += 1
            session.save(update_fields=["turns"])
            claims._move_on(session, now=self.person.study_time(START))

    def close_if_due(self, minutes: float) -> Session:
        wall = self.at(minutes)
        with lab_scope(self.lab.pk):
            sessions.close_if_due(self.session.id, wall=wall)
            return Session.objects.get(pk=self.session.pk)

    def replies(self) -> list[UUID]:
        with lab_scope(self.lab.pk):
            rows = Reply.objects.filter(session=self.session).order_by("message__seq")
            return list(rows.values_list("id", flat=True))

    def due(self) -> tuple[datetime | None, datetime | None] | None:
        row = Due.objects.filter(kind=DueKind.SESSION, subject=self.session.id).first()
        return None if row is None else (row.study_at, row.wall_at)


def refusal(visit: Visit, minutes: float = 0) -> str:
    with pytest.raises(Refused) as refused:
        visit.say(minutes)
    return str(refused.value.code)


def test_the_timer_closes_at_its_study_time_however_late_anybody_looks(lab: Lab) -> None:
    visit = Visit(lab, maximum_minutes=10)
    assert visit.due() == (START + 10 * MINUTE, None)  # a scripted clock has no wall time
    assert visit.close_if_due(9.9).state == "open"
    assert refusal(visit, 10) == "not_open"
    session = visit.close_if_due(500)
    assert (session.state, session.closed_by) == ("ended", "timer")
    assert session.ended_at == START + 10 * MINUTE
    assert visit.due() is None


def test_silence_closes_only_once_the_minima_are_met(lab: Lab) -> None:
    visit = Visit(lab, minimum_turns=1, minimum_minutes=20, idle_minutes=5)
    assert visit.due() is None
    visit.finish(visit.say(1))
    assert visit.due() == (START + 20 * MINUTE, None)
    session = visit.close_if_due(60)
    assert (session.state, session.closed_by) == ("ended", "idle")
    assert session.ended_at == START + 20 * MINUTE


def test_writing_puts_silence_off(lab: Lab) -> None:
    visit = Visit(lab, idle_minutes=5)
    conversation.touch(visit.reference, wall=visit.at(4))
    assert visit.due() == (START + 9 * MINUTE, None)


def test_a_window_that_closes_expires_the_session(lab: Lab) -> None:
    visit = Visit(lab, window_hours=1, finish_hours=0.5, idle_minutes=600)
    visit.say(61)  # begun within the window: half an hour more to finish
    session = visit.close_if_due(91)
    assert session.state == "closing"  # the reply is still being made
    visit.fail(visit.replies()[0])
    session = visit.close_if_due(92)
    assert (session.state, session.closed_by) == ("expired", "window")
    assert session.ended_at == START + 90 * MINUTE


def test_the_last_turn_closes_and_a_failed_one_is_not_used_up(lab: Lab) -> None:
    visit = Visit(lab, maximum_turns=2)
    visit.finish(visit.say())
    second = visit.say()
    assert refusal(visit) == "not_open"
    visit.fail(second, FailureKind.CONTENT_FILTER)
    third = visit.say()
    assert refusal(visit) == "not_open"
    visit.finish(third)
    with lab_scope(lab.pk):
        session = Session.objects.get(pk=visit.session.pk)
        assert (session.state, session.closed_by, session.turns) == ("ended", "turns", 2)


def test_closing_refuses_messages_and_retry_and_settles_what_is_pending(lab: Lab) -> None:
    visit = Visit(lab, arm="gist")
    visit.fail(visit.say())
    pending = visit.say()
    assert conversation.finish(visit.reference, wall=START)
    view = conversation.view(visit.reference, settled_seq=0, wall=START)
    assert (view.history["draining"], view.over) == (True, None)
    assert refusal(visit) == "not_open"
    with pytest.raises(Refused):
        conversation.retry(visit.reference, seq=3, wall=START)
    assert not Job.objects.filter(subject=visit.session.id).exists()
    with lab_scope(lab.pk), pytest.raises(StageNotOpen):
        # The next stage would be backfilled without the turn that is still being made.
        sessions.enter_stage(visit.person, "T2", wall=START)
    frames = visit.fail(pending)
    assert [frame["type"] for frame in frames] == ["failed", "stage_over"]
    assert frames[0]["retryable"] is False
    assert Job.objects.filter(subject=visit.session.id, state="pending").count() == 1
    assert enter(visit.person, "T2").state == SessionState.OPEN


def test_finishing_twice_and_too_early(lab: Lab) -> None:
    visit = Visit(lab, minimum_turns=1)
    assert not conversation.finish(visit.reference, wall=START)
    visit.finish(visit.say())
    assert conversation.finish(visit.reference, wall=START)
    assert conversation.finish(visit.reference, wall=START)


def test_the_same_message_is_acknowledged_even_after_the_end(lab: Lab) -> None:
    visit = Visit(lab)
    client_id = uuid4()
    first = conversation.say(visit.reference, client_id=client_id, text="Hi", wall=START)
    visit.finish(first.reply)
    conversation.finish(visit.reference, wall=START)
    again = conversation.say(visit.reference, client_id=client_id, text=" Hi ", wall=START)
    assert (again.seq, again.repeated) == (first.seq, True)
    with lab_scope(lab.pk):
        assert Message.objects.filter(client_id=client_id).count() == 1


def test_who_left_the_study_says_nothing_more(lab: Lab) -> None:
    visit = Visit(lab)
    with lab_scope(lab.pk):
        Participant.objects.filter(pk=visit.person.pk).update(state="withdrawn")
    assert refusal(visit) == "not_open"


def test_skipping_days_moves_what_is_due_and_never_an_open_conversation(lab: Lab) -> None:
    study = make_study(lab, stages={"idle_minutes": 5})
    wall = START
    person = enrol(study, wall=wall, test_mode=True)
    session = enter(person, wall=wall)
    due = Due.objects.get(kind=DueKind.SESSION, subject=session.id)
    assert (due.study_at, due.wall_at) == (wall + 5 * MINUTE, wall + 5 * MINUTE)
    with lab_scope(lab.pk):
        with pytest.raises(ValidationError):
            person.skip(timedelta(days=1))
        sessions.close_if_due(session.id, wall=wall + 6 * MINUTE)
        with pytest.raises(StageNotOpen):
            sessions.enter_stage(person, "T2", wall=wall + 7 * MINUTE)
        person.skip(timedelta(days=2))
        assert person.study_time(wall) == wall + timedelta(days=2)
        second = sessions.enter_stage(person, "T2", wall=wall + 7 * MINUTE).session
    due = Due.objects.get(kind=DueKind.SESSION, subject=second.id)
    assert due.study_at == wall + timedelta(days=2, minutes=12)
    assert due.wall_at == wall + 12 * MINUTE
