"""What two tabs, or a tab and a member of staff, do at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.urls import reverse

from chat import conversation, sessions
from chat.safety import pauses
from experiments.enums import (
    Exclusion,
    IdentifierKind,
    ParticipantState,
    SessionState,
    StudyStatus,
    WithdrawalKind,
    WithdrawnBy,
)
from experiments.models import (
    EntryLink,
    Identifier,
    Identity,
    Lab,
    Participant,
    Session,
    StaffMessage,
    Study,
    Tombstone,
)
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.tenancy import lab_scope
from memlab.journey.withdrawing import withdraw
from tests.entering import hidden_fields
from tests.journey.waits import somebody_waits_for_us
from tests.journey.walking import browser_of
from tests.studies import enrol, make_study, reference_of

pytestmark = pytest.mark.django_db


def while_entering(participant: Participant, act: Callable[[], None]) -> None:
    """Run ``act`` when T1 has been entered and isn't committed yet; it commits once ``act``
    waits for it."""
    entered = Event()

    def enter() -> None:
        try:
            with lab_scope(participant.lab_id):
                sessions.enter_stage(participant, "T1", wall=wall_now())
                entered.set()
                somebody_waits_for_us()
        finally:
            connection.close()

    tab = Thread(target=enter)
    tab.start()
    assert entered.wait(10)
    act()
    tab.join()


@pytest.mark.django_db(transaction=True)
def test_a_stage_that_is_entered_while_somebody_withdraws_is_closed(own_lab: Lab) -> None:
    participant = enrol(make_study(own_lab))

    def leave() -> None:
        with lab_scope(own_lab.pk):
            withdraw(participant, WithdrawalKind.ALL, by=WithdrawnBy.PARTICIPANT, wall=wall_now())

    while_entering(participant, leave)
    with lab_scope(own_lab.pk):
        assert list(Session.objects.values_list("state", "closed_by")) == [
            (SessionState.ENDED, "withdrawn")
        ]
    assert not Due.objects.filter(kind=DueKind.SESSION).exists()


@pytest.mark.django_db(transaction=True)
def test_a_stage_that_is_entered_while_staff_pause_is_paused(own_lab: Lab) -> None:
    participant = enrol(make_study(own_lab))

    def pause() -> None:
        with lab_scope(own_lab.pk):
            pauses.pause(Participant.objects.get(pk=participant.pk), wall=wall_now())

    while_entering(participant, pause)
    with lab_scope(own_lab.pk):
        session = Session.objects.get()
        assert session.paused_at is not None
    reference = conversation.SessionRef.of(reference_of(participant), session.pk)
    with pytest.raises(conversation.Refused, match="paused"):
        conversation.say(reference, client_id=participant.public_id, text="Hello", wall=wall_now())


@pytest.fixture
def study(lab: Lab) -> Study:
    return make_study(lab)


@pytest.mark.parametrize("left", ["withdrawn", "declined", "ineligible"])
def test_nobody_consents_who_has_just_left(study: Study, left: str) -> None:
    with lab_scope(study.lab_id):
        participant = Participant.objects.create(study=study)
        elsewhere = Participant.objects.get(pk=participant.pk)
        if left == "withdrawn":
            elsewhere.withdraw()
        else:
            elsewhere.turn_away(ParticipantState(left), Exclusion.PARTICIPATION)
        with pytest.raises(ValidationError, match="nobody can agree"):
            participant.give_consent(wall=wall_now())
        participant.refresh_from_db()
        assert (participant.state, participant.consented_at) == (left, None)


def test_nobody_consents_to_a_study_that_was_closed_meanwhile(study: Study) -> None:
    with lab_scope(study.lab_id):
        study.open()
    link = EntryLink.objects.issue(lab_id=study.lab_id, study_id=study.pk)
    path, client = reverse("journey:join", args=[link]), Client()
    client.post(path, hidden_fields(client.get(path).content.decode()))
    information = reverse("journey:information")
    assert client.get(information).status_code == 200
    with lab_scope(study.lab_id):
        study.move_to(StudyStatus.CLOSED)
    refused = client.get(information)
    assert refused.status_code == 403
    assert "takes no new participants" in refused.content.decode()
    assert client.post(reverse("journey:consent"), {"agree": "yes"}).status_code == 403
    with lab_scope(study.lab_id):
        assert Participant.objects.get().consented_at is None


def test_what_leads_to_a_person_is_not_written_once_they_are_anonymised(study: Study) -> None:
    participant = enrol(study)
    with lab_scope(study.lab_id):
        Participant.objects.get(pk=participant.pk).anonymise(wall=wall_now())
        for write in (
            lambda: participant.hold(),
            lambda: StaffMessage.objects.post(
                participant, "It is me, Li Wei", client_id=participant.public_id
            ),
        ):
            with pytest.raises(Participant.DoesNotExist):
                write()
        assert not StaffMessage.objects.exists()
    assert browser_of(participant).get(reverse("journey:home")).status_code == 404


def test_who_tried_a_study_out_is_not_kept_from_it(study: Study) -> None:
    identity = Identity(IdentifierKind.EMAIL, "staff@example.org")
    with lab_scope(study.lab_id):
        tried = Participant.objects.create(study=study, test_mode=True)
        Identifier.objects.keep(tried, identity)
        assert Tombstone.objects.lay(tried) == 0
        assert not Tombstone.objects.bars(study, [identity])
        real = Participant.objects.create(study=study)
        Identifier.objects.keep(real, identity)
        assert Tombstone.objects.lay(real) == 1
        assert Tombstone.objects.bars(study, [identity])
