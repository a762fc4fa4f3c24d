"""From a hit to its adverse event, pause, card: in one transaction, once, in both doors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from chat import claims, conversation, sessions
from chat.conversation import Refused, SessionRef
from chat.models import AdverseEvent, Message, ModelScreening, Reply
from chat.safety import pauses
from experiments.enums import Closed, SessionState
from experiments.models import Deviation, Lab, Participant, Session, Study
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.tenancy import lab_scope
from tests.studies import enrol, enter, make_study, reference_of, scripted

pytestmark = pytest.mark.usefixtures("kept_rows")

HOTLINES = "Samaritans | 116 123 | day and night\nText line | text HOME to 741741"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def lab(own_lab: Lab) -> Lab:
    return own_lab


def careful(lab: Lab, **fields: Any) -> Study:
    return make_study(
        lab,
        **{
            "safety_contact_name": "Dr. Ada Example",
            "safety_contact_email": "ada@example.org",
            "hotlines": HOTLINES,
            **fields,
        },
    )


def say(session: Session, person: Participant, text: str, client_id: UUID | None = None) -> Any:
    return conversation.say(
        SessionRef.of(reference_of(person), session.id),
        client_id=client_id or uuid4(),
        text=text,
        wall=wall_now(),
    )


def seen(session: Session, person: Participant) -> conversation.View:
    reference = SessionRef.of(reference_of(person), session.id)
    return conversation.view(reference, settled_seq=0, wall=wall_now())


@pytest.fixture
def person(lab: Lab) -> Participant:
    return enrol(careful(lab, risk_pauses=False))


@pytest.fixture
def session(person: Participant) -> Session:
    return enter(person)


def events(lab: Lab) -> list[tuple[Any, ...]]:
    with lab_scope(lab.pk):
        rows = AdverseEvent.objects.order_by("message__seq", "source")
        return list(
            rows.values_list("message__seq", "source", "category", "severity", "rule", "alert")
        )


def test_harmless_message_leaves_nothing(lab: Lab, person: Participant, session: Session) -> None:
    assert say(session, person, "I could kill for a coffee.").followed_by == ()
    assert events(lab) == []
    assert "card" not in seen(session, person).history


def test_hit_opens_an_event_plans_the_alert_and_shows_the_card(
    lab: Lab, person: Participant, session: Session
) -> None:
    said = say(session, person, "I want to die.")
    assert events(lab) == [(2, "rule", "self_harm", "serious", "en.self.want", "queued")]
    with lab_scope(lab.pk):
        event = AdverseEvent.objects.get()
    due = Due.objects.get(kind=DueKind.ALERT, lab_id=lab.pk)
    assert (due.subject, due.lab_id) == (event.id, lab.pk)
    (card,) = said.followed_by
    assert card == seen(session, person).history["card"]
    assert (card["kind"], card["times"], card["paused"]) == ("crisis", 1, False)
    assert card["contact"] == "Dr. Ada Example"
    assert card["hotlines"] == [
        {"name": "Samaritans", "number": "116 123", "tel": "tel:116123", "when": "day and night"},
        {"name": "Text line", "number": "text HOME to 741741", "tel": "", "when": ""},
    ]
    assert "die" not in repr(card).replace("line", "")


def test_message_that_comes_twice_is_one_event(
    lab: Lab, person: Participant, session: Session
) -> None:
    client_id = uuid4()
    say(session, person, "I want to die.", client_id)
    repeated = say(session, person, "I want to die.", client_id)
    assert (repeated.repeated, repeated.followed_by) == (True, ())
    assert len(events(lab)) == 1


def store_and_die(reference: SessionRef) -> None:
    with lab_scope(reference.lab_id):
        conversation.store(
            reference, client_id=uuid4(), text="I want to die.", wall=wall_now(), hold=True
        )
        assert AdverseEvent.objects.count() == 1
        raise RuntimeError("died")


def test_message_event_and_alert_are_one_transaction(
    lab: Lab, person: Participant, session: Session
) -> None:
    """What a death right before the commit leaves: nothing, so that the page sends it again."""
    with pytest.raises(RuntimeError, match="died"):
        store_and_die(SessionRef.of(reference_of(person), session.id))
    assert events(lab) == []
    assert not Due.objects.filter(kind=DueKind.ALERT, lab_id=lab.pk).exists()
    with lab_scope(lab.pk):
        assert Message.objects.filter(session=session).count() == 1
    say(session, person, "I want to die.")
    assert len(events(lab)) == 1


def test_later_event_that_is_no_worse_comes_with_the_first_mail(
    lab: Lab, person: Participant, session: Session
) -> None:
    say(session, person, "I want to die.")
    say(session, person, "I wish I was dead.")
    say(session, person, "I'm going to kill myself tonight.")
    assert [row[3:] for row in events(lab)] == [
        ("serious", "en.self.want", "queued"),
        ("serious", "en.self.wish", "earlier"),
        ("acute", "en.self.intent", "queued"),
    ]
    assert seen(session, person).history["card"]["times"] == 3


def claim_of(session: Session, person: Participant, text: str) -> claims.Claim:
    _said, claim = claims.say(
        SessionRef.of(reference_of(person), session.id),
        client_id=uuid4(),
        text=text,
        wall=wall_now(),
    )
    assert claim is not None
    return claim


def test_content_filter_of_the_provider_opens_an_event_too(
    lab: Lab, person: Participant, session: Session
) -> None:
    claim = claim_of(session, person, "Something that a provider doesn't like.")
    failure = ModelFailure(FailureKind.CONTENT_FILTER, "refused")
    frames = claims.fail(claim, failure, wall=wall_now())
    assert frames is not None
    assert [frame["type"] for frame in frames] == ["failed", "card"]
    assert events(lab) == [(2, "filter", "filtered", "concern", "content_filter", "queued")]


def test_other_failures_open_none(lab: Lab, person: Participant, session: Session) -> None:
    claim = claim_of(session, person, "Hello.")
    frames = claims.fail(claim, ModelFailure(FailureKind.TIMEOUT, "late"), wall=wall_now())
    assert frames is not None
    assert [frame["type"] for frame in frames] == ["failed"]
    assert events(lab) == []


# Pauses


@pytest.fixture
def watched(lab: Lab) -> Participant:
    return enrol(careful(lab, stages={"maximum_minutes": 15, "minimum_minutes": 5}))


def test_serious_hit_pauses_and_withholds_every_pending_reply(
    lab: Lab, watched: Participant
) -> None:
    session = enter(watched)
    first = claim_of(session, watched, "Hello.")
    said = say(session, watched, "I want to die.")
    assert [frame["type"] for frame in said.followed_by] == ["failed", "failed", "card"]
    assert [frame.get("seq") for frame in said.followed_by] == [3, 5, None]
    assert said.followed_by[-1]["paused"] is True
    with lab_scope(lab.pk):
        withheld = list(Reply.objects.values_list("state", "failure", "retryable"))
        assert withheld == [("failed", "withheld", False)] * 2
        watched.refresh_from_db()
        assert watched.paused_at is not None
        deviation = Deviation.objects.get()
        assert (deviation.kind, deviation.participant_id) == ("paused", watched.pk)
    failure = ModelFailure(FailureKind.TIMEOUT, "late")
    assert claims.fail(first, failure, wall=wall_now()) is None  # fenced off
    for text in ("Are you there?", "I want to die."):
        with pytest.raises(Refused, match="paused"):
            say(session, watched, text)
    history = seen(session, watched).history
    assert history["paused"] is True
    assert len(events(lab)) == 1


def test_message_that_paused_may_be_sent_again(lab: Lab, watched: Participant) -> None:
    """Its ack was lost: the same numbers, and nothing twice."""
    session, client_id = enter(watched), uuid4()
    first = say(session, watched, "I want to die.", client_id)
    second = say(session, watched, "I want to die.", client_id)
    assert (second.seq, second.repeated) == (first.seq, True)


def test_concern_shows_the_card_and_pauses_nothing(lab: Lab, watched: Participant) -> None:
    session = enter(watched)
    said = say(session, watched, "I can't go on like this.")
    assert [frame["type"] for frame in said.followed_by] == ["card"]
    assert say(session, watched, "Thank you.").seq == 4


def test_claim_is_not_held_when_the_message_pauses(watched: Participant) -> None:
    session = enter(watched)
    _said, claim = claims.say(
        SessionRef.of(reference_of(watched), session.id),
        client_id=uuid4(), text="I want to die.", wall=wall_now(),
    )  # fmt: skip
    assert claim is None


def test_time_stands_still_while_paused_and_is_put_off_afterwards(
    lab: Lab, watched: Participant
) -> None:
    session = enter(watched)
    say(session, watched, "I want to die.")
    start = wall_now()
    assert seen(session, watched).timer["remaining_seconds"] is None
    assert not Due.objects.filter(kind=DueKind.SESSION, subject=session.id).exists()
    with lab_scope(lab.pk):
        assert sessions.close_if_due(session.id, wall=start + 60 * MINUTE) == SessionState.OPEN
    with lab_scope(lab.pk):
        assert pauses.resume(watched, wall=start + 60 * MINUTE)
        row = Session.objects.get(pk=session.pk)
        assert row.paused_at is None
        assert 3_598 < row.stood_still.total_seconds() < 3_602
        way = row.closing(row.stage)
        assert way is not None
        assert way == (row.started_at + 15 * MINUTE + row.stood_still, Closed.TIMER)
        assert not pauses.resume(watched, wall=start + 61 * MINUTE)
        assert list(Deviation.objects.values_list("kind", flat=True).order_by("pk")) == [
            "paused",
            "resumed",
        ]
    due = Due.objects.get(kind=DueKind.SESSION, subject=session.id)
    assert due.study_at == way[0]
    with lab_scope(lab.pk):
        assert sessions.close_if_due(session.id, wall=way[0]) == SessionState.ENDED


def test_a_pause_counts_for_no_minimum(lab: Lab) -> None:
    """Nobody sits out a conversation that must last five minutes by being paused in it."""
    person = enrol(
        careful(lab, stages={"maximum_minutes": 15, "minimum_minutes": 5, "minimum_turns": 0})
    )
    session = enter(person)
    reference = SessionRef.of(reference_of(person), session.id)
    say(session, person, "I want to die.")
    later = wall_now() + 6 * MINUTE
    assert not conversation.finish(reference, wall=later)
    with lab_scope(lab.pk):
        assert pauses.resume(person, wall=later)
    assert not conversation.finish(reference, wall=later + 4 * MINUTE)
    assert conversation.finish(reference, wall=later + 5 * MINUTE)


def test_resumed_participant_can_talk_again(lab: Lab, watched: Participant) -> None:
    session = enter(watched)
    say(session, watched, "I want to die.")
    with lab_scope(lab.pk):
        pauses.resume(watched, wall=wall_now())
    assert say(session, watched, "I talked to somebody.").seq == 4
    assert "paused" not in seen(session, watched).history


def test_staff_end_a_paused_conversation(lab: Lab, watched: Participant) -> None:
    session = enter(watched)
    say(session, watched, "I want to die.")
    with lab_scope(lab.pk):
        assert pauses.end_sessions(watched, wall=wall_now()) == 1
        row = Session.objects.get(pk=session.pk)
        assert (row.state, row.closed_by) == ("ended", "staff")
        watched.refresh_from_db()
        assert watched.paused_at is not None


def test_paused_participant_enters_no_stage(lab: Lab, watched: Participant) -> None:
    with lab_scope(lab.pk):
        pauses.pause(watched, wall=wall_now())
        watched.refresh_from_db()
    with pytest.raises(sessions.StageNotOpen):
        enter(watched)


def test_two_tabs_that_write_at_once_are_paused_by_the_first(
    lab: Lab, watched: Participant
) -> None:
    """The second's look at the session waits for the first's commit and then sees the pause."""
    session = enter(watched)
    with lab_scope(lab.pk), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        conversation.store(
            SessionRef.of(reference_of(watched), session.id),
            client_id=uuid4(), text="I want to die.", wall=wall_now(), hold=True,
        )  # fmt: skip
    with pytest.raises(Refused, match="paused"):
        say(session, watched, "And another thing.")


def test_replay_records_but_neither_pauses_nor_alerts(lab: Lab) -> None:
    person = scripted(careful(lab, risk_asks_model=True), start=wall_now())
    session = enter(person)
    say(session, person, "I want to die.")
    assert [row[-1] for row in events(lab)] == ["none"]
    say(session, person, "Go on.")
    with lab_scope(lab.pk):
        assert ModelScreening.objects.count() == 0
