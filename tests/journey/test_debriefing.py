"""The debriefing is held as long as it must be, reaches everybody, and is kept as it was shown."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.enums import (
    DebriefingHold,
    Moment,
    ParticipantState,
    WithdrawalKind,
    WithdrawnBy,
)
from experiments.models import Consent, DebriefingView, Lab, Participant, Reminder, Study
from experiments.rules import DebriefingRules
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.journey import debriefing, tasks
from memlab.journey.debriefing import is_released
from memlab.journey.withdrawing import withdraw
from questionnaires.models import Response
from tests.journey.walking import DAY, START, Walker, make_way
from tests.studies import enrol

TEXT = "We compared ways to remember.\n\nXYZZY was the secret."


@pytest.mark.parametrize(
    ("hold", "after", "cohort_over", "test_mode", "released"),
    [
        ("none", "", False, False, True),
        ("date", "2026-03-02T08:59:00+00:00", False, False, True),
        ("date", "2026-03-02T09:00:00+00:00", False, False, True),
        ("date", "2026-03-02T09:01:00+00:00", True, True, False),
        ("date", "", False, False, True),
        ("cohort", "", False, False, False),
        ("cohort", "", True, False, True),
        ("cohort", "", False, True, True),
    ],
)
def test_what_a_debriefing_waits_for(
    hold: str, after: str, cohort_over: bool, test_mode: bool, released: bool
) -> None:
    rules = DebriefingRules(text=TEXT, hold=DebriefingHold(hold), after=after)
    found = is_released(rules, now=START, cohort_over=cohort_over, test_mode=test_mode)
    assert found is released


def walked(lab: Lab, *, state: str = "complete", **fields: Any) -> Walker:
    walker = Walker(make_way(lab, **{"debriefing": TEXT, **fields}))
    with lab_scope(lab.pk):
        Participant.objects.update(state=state)
        walker.participant.refresh_from_db()
    return walker


def views(lab: Lab) -> int:
    with lab_scope(lab.pk):
        return int(DebriefingView.objects.count())


@pytest.mark.parametrize("state", ["complete", "dropped", "withdrawn"])
def test_it_reaches_whoever_consented_however_it_ended(lab: Lab, state: str) -> None:
    walker = walked(lab, state=state)
    leads = "/journey/end/" if state == "withdrawn" else "/journey/debriefing/"
    assert walker.page("onward") == (302, leads)
    assert 'href="/journey/debriefing/"' in walker.page("end")[1]
    status, told = walker.page("debriefing")
    assert status == 200
    assert "XYZZY was the secret." in told
    assert walker.page("onward") == (302, "/journey/end/")


@pytest.mark.parametrize("state", ["active", "declined", "screened", "ineligible"])
def test_it_is_for_nobody_else(lab: Lab, state: str) -> None:
    walker = walked(lab, state=state)
    assert walker.page("debriefing") == (302, "/journey/end/")
    assert "XYZZY" not in walker.page("end")[1]
    assert views(lab) == 0


def test_it_is_kept_once_when_it_was_shown_and_under_which_hash(lab: Lab) -> None:
    walker = walked(lab)
    walker.page("debriefing")
    walker.at(DAY)
    with lab_scope(lab.pk):
        Study.objects.update(debriefing="Another text, for those who come later.")
    assert "XYZZY" in walker.page("debriefing")[1]  # the version of the consent
    with lab_scope(lab.pk):
        view = DebriefingView.objects.get()
        assert view.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
        assert (view.shown_at, view.version_id) == (START, walker.participant.version_id)


def test_questions_come_before_the_text(lab: Lab) -> None:
    walker = walked(lab, asks=((Moment.DEBRIEFING, ""),))
    status, told = walker.page("debriefing")
    with lab_scope(lab.pk):
        response = Response.objects.get(moment="debriefing")
    assert (status, told) == (302, reverse("questionnaires:answer", args=[response.pk]))
    assert views(lab) == 0
    walker.answer()
    assert "XYZZY" in walker.page("debriefing")[1]
    assert views(lab) == 1


def test_a_browser_that_fetches_ahead_has_shown_nobody_the_debriefing(lab: Lab) -> None:
    walker = walked(lab)
    ahead = walker.client.get("/journey/debriefing/", headers={"sec-purpose": "prefetch"})
    assert (ahead.status_code, ahead.content) == (503, b"")
    assert views(lab) == 0


def test_nothing_is_asked_of_whoever_withdrew(lab: Lab) -> None:
    walker = walked(lab, state="withdrawn", asks=((Moment.DEBRIEFING, ""),))
    assert "XYZZY" in walker.page("debriefing")[1]
    with lab_scope(lab.pk):
        assert not Response.objects.exists()


@pytest.mark.parametrize(("answer", "agreed"), [("agree", True), ("refuse", False)])
def test_whether_the_data_may_be_used_is_answered_once(lab: Lab, answer: str, agreed: bool) -> None:
    walker = walked(lab, debriefing_consent="May we use your data?")
    address = "/journey/debriefing/"
    assert "May we use your data?" in walker.page("debriefing")[1]
    assert walker.client.post(address, {"use": "perhaps"}).status_code == 400
    assert walker.client.post(address, {"use": answer}).status_code == 302
    other = "agree" if answer == "refuse" else "refuse"
    walker.client.post(address, {"use": other})
    with lab_scope(lab.pk):
        consent = Consent.objects.get(kind="debriefed")
        assert (consent.agreed, consent.text) == (agreed, "May we use your data?")
        assert walker.participant.refuses_use is not agreed


def ended_live(lab: Lab, **fields: Any) -> Participant:
    """Somebody on the wall clock whose participation has just ended."""
    study = make_way(lab, **{"debriefing": TEXT, "reminder_channel": "email", **fields})
    participant = enrol(study)
    with lab_scope(lab.pk):
        Participant.objects.filter(pk=participant.pk).update(state="dropped")
        participant.refresh_from_db()
        debriefing.plan(participant, wall=timezone.now())
    return participant


def reminders_of(participant: Participant) -> int:
    with lab_scope(participant.lab_id):
        return int(Reminder.objects.filter(participant=participant, kind="debriefing").count())


def row_of(participant: Participant) -> Due | None:
    return Due.objects.filter(kind=DueKind.DEBRIEFING, subject=participant.public_id).first()


@pytest.mark.django_db
def test_a_dropout_is_told_once_when_the_cohort_is_over(lab: Lab) -> None:
    left = ended_live(lab, debriefing_hold="cohort")
    with lab_scope(lab.pk):
        other = enrol(left.study)
        Study.objects.update(status="closed")
    before = timezone.now()
    assert not tasks.release_debriefing(lab.pk, str(left.public_id))
    row = row_of(left)
    assert row is not None
    assert row.wall_at is not None
    assert timedelta(minutes=59) < row.wall_at - before < timedelta(minutes=61)
    assert reminders_of(left) == 0
    with lab_scope(lab.pk):
        Participant.objects.filter(pk=other.pk).update(state="withdrawn")
    assert tasks.release_debriefing(lab.pk, str(left.public_id))
    assert not tasks.release_debriefing(lab.pk, str(left.public_id)) or reminders_of(left) == 1
    assert (reminders_of(left), row_of(left)) == (1, None)


@pytest.mark.django_db
def test_a_date_is_waited_for_and_moves_with_skipped_days(lab: Lab) -> None:
    after = timezone.now() + 5 * DAY
    participant = ended_live(lab, debriefing_hold="date", debriefing_after=after)
    row = row_of(participant)
    assert row is not None
    assert (row.study_at, row.wall_at) == (after, after)
    with lab_scope(lab.pk):
        Participant.objects.update(test_mode=True)
        participant.refresh_from_db()
        participant.skip(6 * DAY)
    row = row_of(participant)
    assert row is not None
    assert row.wall_at == after - 6 * DAY
    assert tasks.release_debriefing(lab.pk, str(participant.public_id))


@pytest.mark.django_db
def test_who_is_led_to_it_is_told_an_hour_later_if_they_went_away(lab: Lab) -> None:
    participant = enrol(make_way(lab, debriefing=TEXT, reminder_channel="email"))
    now = timezone.now()
    with lab_scope(lab.pk):
        participant.conclude(ParticipantState.COMPLETE)
        debriefing.plan(participant, wall=now)
    row = row_of(participant)
    assert row is not None
    assert row.wall_at == now + timedelta(hours=1)


@pytest.mark.django_db
def test_who_has_read_it_is_not_told(lab: Lab) -> None:
    participant = ended_live(lab)
    with lab_scope(lab.pk):
        DebriefingView.objects.record(participant, now=START)
    assert not tasks.release_debriefing(lab.pk, str(participant.public_id))
    assert (reminders_of(participant), row_of(participant)) == (0, None)


@pytest.mark.django_db
def test_who_withdrew_from_everything_is_told_too(lab: Lab) -> None:
    participant = enrol(make_way(lab, debriefing=TEXT, reminder_channel="email"))
    with lab_scope(lab.pk):
        wall = timezone.now()
        withdraw(participant, WithdrawalKind.ALL, by=WithdrawnBy.PARTICIPANT, wall=wall)
    assert tasks.release_debriefing(lab.pk, str(participant.public_id))
    assert reminders_of(participant) == 1


@pytest.mark.django_db
def test_somebody_who_is_gone_is_no_work(lab: Lab) -> None:
    nobody = UUID("00000000-0000-4000-8000-000000000000")
    Due.objects.plan(
        lab_id=lab.pk, kind=DueKind.DEBRIEFING, subject=nobody, study_at=None, wall_at=START
    )
    assert not tasks.release_debriefing(lab.pk, str(nobody))
    assert not Due.objects.filter(subject=nobody).exists()
