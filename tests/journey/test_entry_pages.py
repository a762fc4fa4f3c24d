"""Age gate, information, consents, address and code: each step once, in order, and kept."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.test import Client

from experiments.enums import ConsentKind, Exclusion, IdentifierKind, ParticipantState
from experiments.models import Identifier, Lab, Participant, ProviderKey, Recruiter, Study
from memlab.core.tenancy import lab_scope
from tests.entering import enter, hidden_fields, link_of, step
from tests.studies import make_study

pytestmark = pytest.mark.django_db

SEPARATE = {
    "sensitive_consent": "I agree that what I tell of my health is used.",
    "abroad_consent": "I agree that my messages go abroad.",
    "telemetry_consent": "I agree that typing times are recorded.",
}
ALL_YES = {
    "agree": "yes",
    "agree_sensitive": "yes",
    "agree_abroad": "yes",
    "agree_telemetry": "no",
}


def only(study: Study) -> Participant:
    with lab_scope(study.lab_id):
        return Participant.objects.select_related("version").get(study=study)


def at(page: str, lab: Lab, **fields: Any) -> tuple[Client, Study]:
    """A browser that stands before ``page``."""
    study = make_study(lab, **fields)
    client = Client()
    step(client, link_of(study))
    pages = {"age": {"of_age": "yes"}, "information": {}, "consent": ALL_YES, "contact": {}}
    location = client.get("/journey/onward/", follow=True).request["PATH_INFO"]
    while location != f"/journey/{page}/":
        step(client, location, **pages[location.split("/")[2]])
        location = client.get("/journey/onward/", follow=True).request["PATH_INFO"]
    return client, study


# Age


def test_who_is_too_young_is_turned_away_for_good(lab: Lab) -> None:
    client, study = at("age", lab, minimum_age=16)
    page = client.get("/journey/age/").content.decode()
    assert "Are you at least 16 years old?" in page
    assert step(client, "/journey/age/", of_age="no")["Location"] == "/journey/onward/"
    young = only(study)
    assert (young.state, young.exclusion) == (ParticipantState.INELIGIBLE, Exclusion.AGE)
    assert client.get("/journey/onward/")["Location"] == "/journey/end/"
    for page in ("age", "information", "consent"):
        assert client.post(f"/journey/{page}/", {"of_age": "yes"}).status_code == 302
    assert only(study).state == ParticipantState.INELIGIBLE


@pytest.mark.parametrize("fields", [{}, {"of_age": "maybe"}, {"of_age": "yes", "minimum": "3"}])
def test_the_age_gate_wants_an_answer_to_what_it_asked(lab: Lab, fields: dict[str, str]) -> None:
    client, study = at("age", lab, minimum_age=16)
    assert client.post("/journey/age/", fields).status_code == 400
    assert only(study).of_age_at is None


def test_a_version_that_wants_older_people_asks_again(lab: Lab) -> None:
    client, _study = at("consent", lab, minimum_age=16)
    with lab_scope(lab.pk):
        Study.objects.update(minimum_age=18)
    assert client.get("/journey/onward/")["Location"] == "/journey/age/"
    step(client, "/journey/age/", of_age="yes")
    answer = step(client, "/journey/information/")
    assert answer["Location"] == "/journey/onward/"
    assert client.get("/journey/onward/")["Location"] == "/journey/consent/"


# Information


def test_the_information_says_that_it_is_an_ai_and_where_data_go(lab: Lab) -> None:
    with lab_scope(lab.pk):
        key = ProviderKey(
            label="ours", provider="openai_compatible", base_url="https://api.deepseek.com"
        )
        key.seal("sk-0123456789")
        key.save()
        named = ProviderKey(label="named", provider="dashscope", region="Alibaba, Hangzhou")
        named.seal("sk-0123456789")
        named.save()
    client, _study = at(
        "information",
        lab,
        talking_provider="openai_compatible",
        talking_model="deepseek-chat",
        talking_key=key,
        extraction_provider="dashscope",
        extraction_model="qwen-plus",
        extraction_key=named,
        relevance="raw",
    )
    page = client.get("/journey/information/")
    assert "artificial intelligence (AI), not with a person" in page.content.decode()
    assert {each.operator: each.what for each in page.context["destinations"]} == {
        "The server of the study": (
            "Everything that you write and answer, to keep it",
            "Your messages, to find related ones",
        ),
        "DeepSeek, mainland China": ("Your messages, to answer them",),
        "Alibaba, Hangzhou": ("Your messages, to summarise them",),
    }


def test_an_open_study_shows_what_was_frozen_not_what_is_being_edited(lab: Lab) -> None:
    study = make_study(lab, information="Frozen words.")
    with lab_scope(lab.pk):
        study.open()
        Study.objects.update(information="Words in the making.")
    client = Client()
    step(client, link_of(study, test_mode=False))
    assert "Frozen words." in client.get("/journey/information/").content.decode()


def test_a_study_is_known_by_what_was_frozen_not_by_what_staff_make_of_it(lab: Lab) -> None:
    study = make_study(lab)
    with lab_scope(lab.pk):
        study.open()
    newcomer, client, link = Client(), Client(), link_of(study, test_mode=False)
    step(client, link)
    assert client.get("/journey/information/").status_code == 200
    with lab_scope(lab.pk):
        Study.objects.update(title="Does forgetting please?", language="zh-hans")
    for browser, page in ((newcomer, link), (client, "/journey/information/")):
        told = browser.get(page).content.decode()
        assert "A study of remembering" in told
        assert 'lang="en"' in told
    assert enter(client, "/journey/information/")[-1] == "/journey/"
    with lab_scope(lab.pk):
        Study.objects.get().open(reason="an amendment")
    for page in ("/journey/", "/journey/withdraw/", "/journey/stage/T2/"):
        told = client.get(page).content.decode()
        assert "A study of remembering" in told
        assert "Does forgetting please?" not in told
        assert 'lang="en"' in told
    assert "Does forgetting please?" in newcomer.get(link).content.decode()


# Consent


def test_consent_pins_the_version_and_keeps_every_word(lab: Lab) -> None:
    client, study = at("consent", lab, **SEPARATE)
    step(client, "/journey/consent/", **ALL_YES)
    participant = only(study)
    with lab_scope(lab.pk):
        rows = {row.kind: row for row in participant.consents.all()}
        assert participant.version == study.versions.get()
        assert {row.version_id for row in rows.values()} == {participant.version_id}
    assert {kind: row.agreed for kind, row in rows.items()} == {
        ConsentKind.PARTICIPATION: True,
        ConsentKind.SENSITIVE: True,
        ConsentKind.ABROAD: True,
        ConsentKind.TELEMETRY: False,
    }
    assert rows["sensitive"].text == SEPARATE["sensitive_consent"]
    assert rows["participation"].text == (
        "What this is about.\n\n"
        "The server of the study\n"
        "– Everything that you write and answer, to keep it\n"
        "– Your messages, to answer them\n"
        "– Your messages, to summarise them\n"
        "– Your messages, to find related ones\n\n"
        "I take part."
    )
    for row in rows.values():
        assert row.sha256 == hashlib.sha256(row.text.encode()).hexdigest()
    assert participant.consented_at is not None


def test_a_study_amended_between_reading_and_agreeing_is_read_again(lab: Lab) -> None:
    client, study = at("consent", lab)
    shown = hidden_fields(client.get("/journey/consent/").content.decode())
    with lab_scope(lab.pk):
        Study.objects.update(information="What this is about, as of today.")
    answer = client.post("/journey/consent/", {**shown, "agree": "yes"})
    assert answer["Location"] == "/journey/information/"
    assert only(study).consented_at is None
    page = client.get("/journey/information/").content.decode()
    assert "as of today" in page
    assert "has been changed since you read this" in page
    stale = client.post("/journey/information/", shown)
    assert (stale.status_code, only(study).consented_at) == (409, None)
    step(client, "/journey/information/")
    step(client, "/journey/consent/", agree="yes")
    participant = only(study)
    assert participant.version is not None
    assert participant.version.configuration.information == "What this is about, as of today."


def test_a_tab_from_before_an_amendment_agrees_to_nothing(lab: Lab) -> None:
    client, study = at("consent", lab)
    old = hidden_fields(client.get("/journey/consent/").content.decode())
    with lab_scope(lab.pk):
        Study.objects.update(consent="I take part, and more.")
    step(client, "/journey/information/")
    answer = client.post("/journey/consent/", {**old, "agree": "yes"})
    assert answer["Location"] == "/journey/information/"
    assert only(study).consented_at is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({**ALL_YES, "agree": ""}, "Please tick the box"),
        ({**ALL_YES, "agree_abroad": ""}, "Please choose one of the two."),
        ({**ALL_YES, "agree_abroad": "perhaps"}, "Please choose one of the two."),
        ({**ALL_YES, "agree_telemetry": ""}, "Please choose one of the two."),
    ],
)
def test_an_unanswered_consent_is_asked_again_and_keeps_the_other_answers(
    lab: Lab, fields: dict[str, str], words: str
) -> None:
    client, study = at("consent", lab, **SEPARATE)
    answer = step(client, "/journey/consent/", **fields)
    assert answer.status_code == 400
    html = answer.content.decode()
    assert words in html
    assert 'name="agree_sensitive" value="yes" required checked' in html
    with lab_scope(lab.pk):
        assert only(study).consents.count() == 0


@pytest.mark.parametrize("kind", ["sensitive", "abroad"])
def test_declining_a_consent_that_is_needed_is_declining(lab: Lab, kind: str) -> None:
    client, study = at("consent", lab, **SEPARATE)
    step(client, "/journey/consent/", **{**ALL_YES, f"agree_{kind}": "no"})
    participant = only(study)
    assert (participant.state, participant.exclusion) == (ParticipantState.DECLINED, kind)
    with lab_scope(lab.pk):
        assert participant.consents.count() == 0
    assert participant.version is None


def test_whoever_declined_may_think_again_from_the_start(lab: Lab) -> None:
    study = make_study(lab)
    client, path = Client(), link_of(study)
    step(client, path)
    step(client, "/journey/information/")
    client.post("/journey/consent/", {"decline": "yes"})
    declined = only(study)
    assert declined.state == ParticipantState.DECLINED
    assert declined.exclusion == Exclusion.PARTICIPATION
    assert client.get("/journey/onward/")["Location"] == "/journey/end/"
    assert "Think again" in client.get(path).content.decode()
    assert only(study).state == ParticipantState.DECLINED
    assert enter(client, path) == ["join", "information", "consent", "code", "/journey/"]
    assert (only(study).pk, only(study).state) == (declined.pk, ParticipantState.ACTIVE)


def test_agreeing_twice_is_agreeing_once(lab: Lab) -> None:
    client, study = at("consent", lab)
    fields = {**hidden_fields(client.get("/journey/consent/").content.decode()), "agree": "yes"}
    client.post("/journey/consent/", fields)
    first = only(study).consented_at
    assert client.post("/journey/consent/", fields).status_code == 302
    assert only(study).consented_at == first


def test_an_arm_may_be_drawn_at_consent(lab: Lab) -> None:
    client, study = at("consent", lab, allocation_time="consent")
    step(client, "/journey/consent/", agree="yes")
    with lab_scope(lab.pk):
        assert only(study).allocations.count() == 1


def test_a_draft_that_is_not_usable_says_why(lab: Lab) -> None:
    study = make_study(lab, embedding_provider="dashscope", embedding_model="unmeasured")
    client = Client()
    step(client, link_of(study))
    answer = client.get("/journey/onward/", follow=True)
    assert answer.status_code == 409
    assert "unmeasured" in answer.content.decode()


# Address and code


def test_an_address_is_kept_sealed_and_apart(lab: Lab) -> None:
    client, study = at("contact", lab, asks_email=True)
    wrong = step(client, "/journey/contact/", email="ada@example")
    assert wrong.status_code == 400
    assert 'value="ada@example"' in wrong.content.decode()
    step(client, "/journey/contact/", email=" Ada@Example.org ")
    with lab_scope(lab.pk):
        identifier = Identifier.objects.get()
    assert (identifier.kind, identifier.value) == (IdentifierKind.EMAIL, "Ada@Example.org")
    assert identifier.participant_id == only(study).pk
    assert client.get("/journey/onward/")["Location"] == "/journey/code/"


def test_two_people_may_share_an_address(lab: Lab) -> None:
    study = make_study(lab, asks_email=True)
    enter(Client(), link_of(study), contact={"email": "both@example.org"})
    with lab_scope(lab.pk):
        assert Identifier.objects.count() == 0  # "without" was pressed
    for _number in range(2):
        client = Client()
        for page in (link_of(study), "/journey/information/"):
            step(client, page)
        step(client, "/journey/consent/", agree="yes")
        step(client, "/journey/contact/", email="both@example.org")
    with lab_scope(lab.pk):
        assert Identifier.objects.count() == 2


def test_a_recruiter_that_forbids_addresses_keeps_them_from_being_asked(lab: Lab) -> None:
    study = make_study(lab, asks_email=True)
    with lab_scope(lab.pk):
        forbids = Recruiter.objects.create(study=study)
        allows = Recruiter.objects.create(study=study, forbids_email=False)
    query = "?PROLIFIC_PID={}&STUDY_ID=S&SESSION_ID=X"
    one = enter(Client(), f"/join/{forbids.test_token}/{query.format('one')}")
    two = enter(Client(), f"/join/{allows.test_token}/{query.format('two')}")
    assert one == ["join", "information", "consent", "code", "/journey/"]
    assert two == ["join", "information", "consent", "contact", "code", "/journey/"]


@pytest.mark.parametrize(
    ("password", "again", "words"),
    [
        ("correct horse", "correct house", "The two passwords differ."),
        ("correct horse", "", "The two passwords differ."),
        ("short", "short", "too short"),
        ("password123", "password123", "too common"),
        ("x" * 201, "x" * 201, "At most 200 characters."),
    ],
)
def test_a_bad_password_is_refused_with_the_reason(
    lab: Lab, password: str, again: str, words: str
) -> None:
    client, study = at("code", lab)
    answer = step(client, "/journey/code/", password=password, again=again)
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert (only(study).password, only(study).code_seen_at) == ("", None)


def test_a_study_without_passwords_takes_none(lab: Lab) -> None:
    client, study = at("code", lab, passwords=False)
    assert 'type="password"' not in client.get("/journey/code/").content.decode()
    step(client, "/journey/code/", password="correct horse", again="correct horse")
    assert only(study).password == ""
    assert only(study).code_seen_at is not None


def test_no_page_can_be_jumped_to(lab: Lab) -> None:
    client, study = at("information", lab, asks_email=True)
    for page in ("consent", "contact", "code"):
        answer = client.post(f"/journey/{page}/", {"agree": "yes", "email": "a@example.org"})
        assert answer.status_code == 302
    participant = only(study)
    assert (participant.consented_at, participant.code_seen_at) == (None, None)
    with lab_scope(lab.pk):
        assert Identifier.objects.count() == 0
