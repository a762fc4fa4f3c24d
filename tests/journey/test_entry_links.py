"""Links into a study: open, personal, of a recruiter; and the same person coming back by them."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from experiments.access import COOKIE
from experiments.enums import (
    Exclusion,
    IdentifierKind,
    ParticipantState,
    RecruiterKind,
    StudyStatus,
)
from experiments.models import (
    EntryLink,
    Identifier,
    Identity,
    Lab,
    Participant,
    Recruiter,
    Study,
    Tombstone,
)
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from tests.entering import enter, hidden_fields, link_of, step
from tests.studies import enrol, make_study

pytestmark = pytest.mark.django_db

PID = "5f8a1b2c3d4e5f6a7b8c9d0e"


def opened(study: Study) -> Study:
    with lab_scope(study.lab_id):
        study.open()
    return study


def prolific(study: Study, **fields: Any) -> Recruiter:
    with lab_scope(study.lab_id):
        return Recruiter.objects.create(study=study, **fields)


def came(recruiter: Recruiter, person: str = PID, study: str = "S1", session: str = "X1") -> str:
    return f"/join/{recruiter.token}/?PROLIFIC_PID={person}&STUDY_ID={study}&SESSION_ID={session}"


def people(study: Study) -> list[Participant]:
    with lab_scope(study.lab_id):
        return list(Participant.objects.filter(study=study).order_by("pk"))


def personal_link(study: Study, *, days: float = 10, **fields: Any) -> tuple[str, Participant]:
    with lab_scope(study.lab_id):
        participant = Participant.objects.create(study=study, **fields)
        token = EntryLink.objects.issue(
            lab_id=study.lab_id,
            study_id=study.pk,
            participant=participant,
            expires_at=wall_now() + timedelta(days=days),
        )
    return f"/join/{token}/", participant


# Open links


def test_an_open_link_leads_through_every_page_to_the_overview(lab: Lab) -> None:
    study = opened(make_study(lab, minimum_age=18, asks_email=True))
    client = Client()
    assert enter(client, link_of(study, test_mode=False)) == [
        "join",
        "age",
        "information",
        "consent",
        "contact",
        "code",
        "/journey/",
    ]
    [participant] = people(study)
    assert participant.state == ParticipantState.ACTIVE
    with lab_scope(lab.pk):
        assert participant.version == study.versions.get()


def test_opening_a_link_makes_nothing_and_sets_no_cookie(lab: Lab) -> None:
    study = opened(make_study(lab))
    for path in (
        link_of(study, test_mode=False),
        personal_link(study)[0],
        came(prolific(study)),
    ):
        before = people(study)
        for ask in (Client().get, Client().head):
            answer = ask(path)
            assert answer.status_code == 200
            assert COOKIE not in answer.cookies
        assert people(study) == before
        assert {person.state for person in before} <= {ParticipantState.INVITED}


def test_a_post_without_the_pages_own_token_is_refused(lab: Lab) -> None:
    study = opened(make_study(lab))
    client = Client(enforce_csrf_checks=True)
    answer = client.post(link_of(study, test_mode=False))
    assert (answer.status_code, people(study)) == (403, [])
    assert COOKIE not in answer.cookies


@pytest.mark.parametrize("url", ["return", "forget", "age", "information", "consent", "code"])
def test_every_form_of_the_entry_is_protected(lab: Lab, url: str) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse(f"journey:{url}")).status_code == 403


def test_the_same_browser_is_the_same_participant(lab: Lab) -> None:
    study = opened(make_study(lab))
    client, path = Client(), link_of(study, test_mode=False)
    enter(client, path)
    assert client.get(path)["Location"] == "/journey/onward/"
    assert len(people(study)) == 1


def test_a_study_that_is_not_open_takes_test_runs_only(lab: Lab) -> None:
    study = make_study(lab)
    refused = Client().post(link_of(study, test_mode=False))
    assert (refused.status_code, people(study)) == (403, [])
    assert enter(Client(), link_of(study))[-1] == "/journey/"
    assert [person.test_mode for person in people(study)] == [True]


def test_a_closed_study_lets_those_go_on_who_are_in_it(lab: Lab) -> None:
    study = opened(make_study(lab))
    inside, undecided = prolific(study), came(prolific(study), person="undecided")
    enter(Client(), came(inside))
    step(Client(), undecided)
    with lab_scope(lab.pk):
        Study.objects.update(status=StudyStatus.CLOSED)
    assert enter(Client(), came(inside)) == ["join", "/journey/"]
    assert Client().get(undecided).status_code == 403


def test_a_revoked_link_is_no_link(lab: Lab) -> None:
    study = opened(make_study(lab))
    path = link_of(study, test_mode=False)
    assert EntryLink.objects.revoke(study_id=study.pk) == 1
    assert Client().get(path).status_code == 404


# Personal links


def test_a_personal_link_brings_the_same_person_into_any_browser(lab: Lab) -> None:
    study = opened(make_study(lab))
    path, participant = personal_link(study)
    assert enter(Client(), path)[-1] == "/journey/"
    assert enter(Client(), path) == ["join", "/journey/"]
    assert people(study) == [participant]


def test_a_personal_link_ends_at_its_moment_but_not_for_its_browser(lab: Lab) -> None:
    study = opened(make_study(lab))
    path, participant = personal_link(study)
    client = Client()
    enter(client, path)
    EntryLink.objects.filter(participant=participant.public_id).update(expires_at=wall_now())
    answer = Client().post(path)
    assert (answer.status_code, COOKIE in answer.cookies) == (410, False)
    assert client.get(path)["Location"] == "/journey/onward/"


def test_a_personal_link_in_somebody_elses_browser_swaps_by_a_click_only(lab: Lab) -> None:
    study = opened(make_study(lab))
    (mine, me), (yours, you) = personal_link(study), personal_link(study)
    client = Client()
    enter(client, mine)
    assert str(me.code) in client.get("/journey/").content.decode()
    client.get(yours)
    assert me.code in client.get("/journey/").content.decode()
    enter(client, yours)
    assert you.code in client.get("/journey/").content.decode()


# Recruiters


def test_a_recruiters_id_is_one_participant_from_any_browser(lab: Lab) -> None:
    study = opened(make_study(lab))
    recruiter = prolific(study, expected_study="S1")
    assert enter(Client(), came(recruiter))[-1] == "/journey/"
    assert enter(Client(), came(recruiter, session="X2")) == ["join", "/journey/"]
    [participant] = people(study)
    assert participant.recruiter_id == recruiter.pk
    with lab_scope(lab.pk):
        identifier = Identifier.objects.get()
    assert (identifier.kind, identifier.value) == (IdentifierKind.PROLIFIC, PID)
    assert PID not in identifier.digest
    assert PID.encode() not in bytes(identifier.sealed)


def test_another_id_is_another_participant_in_the_same_browser(lab: Lab) -> None:
    study = opened(make_study(lab))
    recruiter, client = prolific(study), Client()
    enter(client, came(recruiter))
    enter(client, came(recruiter, person="somebody-else"))
    assert len(people(study)) == 2


def test_a_test_run_under_an_id_is_not_its_real_participant(lab: Lab) -> None:
    study = opened(make_study(lab))
    recruiter = prolific(study)
    enter(Client(), came(recruiter))
    enter(Client(), came(recruiter).replace(recruiter.token, recruiter.test_token))
    assert [person.test_mode for person in people(study)] == [False, True]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "“PROLIFIC_PID” is missing"),
        ("?PROLIFIC_PID=&STUDY_ID=S1&SESSION_ID=X", "“PROLIFIC_PID” is missing"),
        ("?PROLIFIC_PID=%20&STUDY_ID=S1&SESSION_ID=X", "“PROLIFIC_PID” is missing"),
        ("?PROLIFIC_PID=a&PROLIFIC_PID=b&STUDY_ID=S1&SESSION_ID=X", "more than once"),
        (f"?PROLIFIC_PID={'a' * 101}&STUDY_ID=S1&SESSION_ID=X", "too long"),
        (
            "?PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D&STUDY_ID=S1&SESSION_ID=X",
            "wasn't filled in",
        ),
        ("?PROLIFIC_PID=a%00b&STUDY_ID=S1&SESSION_ID=X", "can't be read"),
        ("?PROLIFIC_PID=a%0Ab&STUDY_ID=S1&SESSION_ID=X", "can't be read"),
        ("?PROLIFIC_PID=a&SESSION_ID=X", "“STUDY_ID” is missing"),
        ("?PROLIFIC_PID=a&STUDY_ID=S2&SESSION_ID=X", "another study of your recruiter"),
        ("?PROLIFIC_PID=a&STUDY_ID=S1", "“SESSION_ID” is missing"),
        ("?prolific_pid=a&STUDY_ID=S1&SESSION_ID=X", "“PROLIFIC_PID” is missing"),
    ],
)
def test_bad_parameters_get_a_page_that_says_so_and_make_nothing(
    lab: Lab, query: str, words: str
) -> None:
    study = opened(make_study(lab))
    recruiter = prolific(study, expected_study="S1")
    for ask in (Client().get, Client().post):
        answer = ask(f"/join/{recruiter.token}/{query}")
        assert answer.status_code == 400
        assert words in answer.content.decode().replace("&#x27;", "'")
        assert COOKIE not in answer.cookies
    with lab_scope(lab.pk):
        assert (Participant.objects.count(), Identifier.objects.count()) == (0, 0)


def test_any_recruiter_is_mapped_by_its_parameters_names(lab: Lab) -> None:
    study = opened(make_study(lab))
    sona = prolific(study, kind=RecruiterKind.SONA)
    credamo = prolific(
        study,
        kind=RecruiterKind.OTHER,
        name="Credamo",
        person_parameter="uid",
        study_parameter="survey",
        expected_study="77",
    )
    assert sona.query_string() == "id=%SURVEY_CODE%"
    enter(Client(), f"/join/{sona.token}/?id=12345")
    enter(Client(), f"/join/{credamo.token}/?uid=12345&survey=77")
    enter(Client(), f"/join/{credamo.token}/?uid=12345&survey=77&more=1")
    with lab_scope(lab.pk):
        kinds = list(Identifier.objects.order_by("pk").values_list("kind", "source"))
    assert kinds == [("sona", ""), ("other", "credamo")]


def test_a_recruiters_study_of_a_stage_leads_the_same_person_on_to_it(lab: Lab) -> None:
    study = opened(make_study(lab, stages={"minimum_gap_hours": 0}))
    with lab_scope(lab.pk):
        second = study.stages.get(key="T2")
    main, later = prolific(study), prolific(study, stage=second, expected_study="S9")
    stranger = Client().post(came(later, person="stranger", study="S9"))
    assert (stranger.status_code, len(people(study))) == (403, 0)
    enter(Client(), came(main))
    client = Client()
    answer = step(client, came(later, study="S9"))
    assert answer["Location"] == "/journey/stage/T2/"
    assert len(people(study)) == 1


def test_who_comes_by_the_first_stages_recruiter_is_admitted(lab: Lab) -> None:
    study = opened(make_study(lab))
    with lab_scope(lab.pk):
        first = study.stages.get(key="T1")
    enter(Client(), came(prolific(study, stage=first)))
    assert len(people(study)) == 1


def test_the_door_looks_the_same_whether_or_not_somebody_is_known(lab: Lab) -> None:
    study = opened(make_study(lab))
    recruiter = prolific(study)
    enter(Client(), came(recruiter))
    pages = []
    for person in (PID, "never-seen-here-0123456789"):
        html = Client().get(came(recruiter, person=person)).content.decode()
        pages.append(html.replace(_token_of(html), ""))
    assert pages[0] == pages[1]


def _token_of(html: str) -> str:
    return html.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]


# People who can't come


def test_who_was_erased_is_not_enrolled_again(lab: Lab) -> None:
    study = opened(make_study(lab))
    recruiter = prolific(study)
    with lab_scope(lab.pk):
        gone = Participant.objects.create(study=study)
        Identifier.objects.keep(gone, Identity(IdentifierKind.PROLIFIC, PID))
        assert Tombstone.objects.lay(gone) == 1
        assert Tombstone.objects.lay(gone) == 1
        Identifier.objects.all().delete()
        gone.delete()
    answer = Client().post(came(recruiter))
    assert (answer.status_code, people(study)) == (403, [])
    with lab_scope(lab.pk):
        assert (Identifier.objects.count(), Tombstone.objects.count()) == (0, 1)
        other = opened(make_study(lab))
    enter(Client(), came(prolific(other)))
    assert len(people(other)) == 1


def test_an_address_of_somebody_erased_ends_the_entry(lab: Lab) -> None:
    study = opened(make_study(lab, asks_email=True))
    with lab_scope(lab.pk):
        gone = enrol(study)
        Identifier.objects.keep(gone, Identity(IdentifierKind.EMAIL, "Ada@Example.org"))
        Tombstone.objects.lay(gone)
        Identifier.objects.all().delete()
    client = Client()
    address = {"email": " ada@example.ORG", "without": ""}
    client.post(link_of(study, test_mode=False))
    step(client, "/journey/information/")
    step(client, "/journey/consent/", agree="yes")
    step(client, "/journey/contact/", email=address["email"])
    newest = people(study)[-1]
    assert (newest.state, newest.exclusion) == (ParticipantState.INELIGIBLE, Exclusion.ERASED)
    with lab_scope(lab.pk):
        assert Identifier.objects.count() == 0


def test_earlier_participants_are_excluded_where_the_study_says_so(lab: Lab) -> None:
    first = opened(make_study(lab))
    enter(Client(), came(prolific(first)))
    step(Client(), came(prolific(first), person="only-looked"))
    for excludes, states in ((True, ["ineligible", "invited"]), (False, ["invited", "invited"])):
        second = opened(make_study(lab, excludes_earlier=excludes))
        recruiter = prolific(second)
        step(Client(), came(recruiter))
        step(Client(), came(recruiter, person="only-looked"))
        assert [person.state for person in people(second)] == states


def test_an_earlier_participant_of_another_lab_is_nobody_here(lab: Lab, other_lab: Lab) -> None:
    theirs = opened(make_study(other_lab))
    enter(Client(), came(prolific(theirs)))
    ours = opened(make_study(lab, excludes_earlier=True))
    assert enter(Client(), came(prolific(ours)))[-1] == "/journey/"
    with lab_scope(lab.pk):
        mine = Identifier.objects.get().digest
    with lab_scope(other_lab.pk):
        assert Identifier.objects.get().digest != mine


# Time zones


@pytest.mark.parametrize(
    ("named", "kept"),
    [("Asia/Shanghai", "Asia/Shanghai"), ("Mars/Olympus", ""), ("", ""), ("../../etc", "")],
)
def test_the_browsers_time_zone_is_kept_if_there_is_one_of_that_name(
    lab: Lab, named: str, kept: str
) -> None:
    study = opened(make_study(lab))
    Client().post(link_of(study, test_mode=False), {"time_zone": named})
    assert [person.time_zone for person in people(study)] == [kept]


def test_a_later_browser_does_not_move_somebodys_windows(lab: Lab) -> None:
    study = opened(make_study(lab))
    path, _participant = personal_link(study)
    Client().post(path, {"time_zone": "Asia/Shanghai"})
    Client().post(path, {"time_zone": "Europe/Berlin"})
    assert people(study)[0].time_zone == "Asia/Shanghai"


# Two at once


@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_once_are_one_participant(lab: Lab) -> None:
    study = opened(make_study(lab))
    recruiter = prolific(study)
    barrier, answers = Barrier(6), []

    def tab() -> None:
        client = Client()
        html = client.get(came(recruiter)).content.decode()
        barrier.wait()
        answers.append(client.post(came(recruiter), hidden_fields(html)).status_code)
        connection.close()

    tabs = [Thread(target=tab) for _number in range(6)]
    for each in tabs:
        each.start()
    for each in tabs:
        each.join()
    assert answers == [302] * 6
    assert len(people(study)) == 1
