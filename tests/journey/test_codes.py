"""A completion code leaves the server only when everything that it stands for is stored."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from experiments.enums import Moment
from experiments.models import AuditEntry, CompletionCode, IssuedCode, Lab, Participant, Session
from memlab.core.tenancy import lab_scope
from memlab.journey import codes
from tests.journey.walking import DAY, START, Walker, make_way
from tests.people import signed_in

WORD = "XYZZYCODE"
OUTCOMES = ("complete", "screened_out", "declined", "withdrawn", "technical")
PAGES = ("home", "onward", "end", "debriefing", "messages", "paused")


def with_codes(lab: Lab, **fields: Any) -> Walker:
    """Every outcome of the whole study, and T1 as a recruiter's study of its own."""
    walker = Walker(make_way(lab, **fields))
    with lab_scope(lab.pk):
        for outcome in OUTCOMES:
            CompletionCode.objects.create(
                study=walker.study, outcome=outcome, code=f"{WORD}-{outcome}"
            )
        CompletionCode.objects.create(
            study=walker.study,
            stage=walker.study.stages.get(key="T1"),
            outcome="complete",
            code=f"{WORD} T1",
            return_url="https://recruiter.example/complete?cc={code}",
        )
    return walker


def bytes_of(walker: Walker) -> str:
    """All that a browser can get hold of, headers too."""
    told = []
    with lab_scope(walker.lab_id):
        sessions = [str(pk) for pk in Session.objects.values_list("pk", flat=True)]
    paths = [("after", [session]) for session in sessions]
    paths += [("stage", ["T1"]), ("stage", ["T2"]), ("done", ["T1"]), ("done", ["T2"])]
    for name, args in [*((page, []) for page in PAGES), *paths]:
        status, text = walker.page(name, *args)
        told.append(f"{name} {status} {text}")
    return "\n".join(told)


def issued(lab: Lab) -> list[tuple[str, str, str]]:
    with lab_scope(lab.pk):
        rows = IssuedCode.objects.order_by("pk").values_list("stage_key", "outcome", "code")
        return list(rows)


def test_no_byte_of_a_code_before_the_last_row_is_stored(lab: Lab) -> None:
    walker = with_codes(lab, asks=((Moment.AFTER, "T1"), (Moment.AFTER, "T2")))
    assert WORD not in bytes_of(walker)
    walker.talk("T1")
    assert WORD not in bytes_of(walker)  # its questionnaire is missing
    walker.answer()
    assert f"{WORD} T1" in bytes_of(walker)  # the stage's own; the study's not yet
    assert f"{WORD}-" not in bytes_of(walker)
    walker.at(DAY)
    walker.talk("T2")
    assert f"{WORD}-" not in bytes_of(walker)
    walker.answer()
    told = bytes_of(walker)
    assert f"{WORD}-complete" in told
    assert issued(lab) == [("T1", "complete", f"{WORD} T1"), ("", "complete", f"{WORD}-complete")]
    for outcome in OUTCOMES[1:]:
        assert f"{WORD}-{outcome}" not in told


@pytest.mark.parametrize("missing", ["session", "answer", "state"])
def test_a_complete_state_alone_shows_no_code(lab: Lab, missing: str) -> None:
    """Whatever set the state: the rows are looked at again."""
    walker = with_codes(lab, asks=((Moment.AFTER, "T2"),))
    walker.complete("T1")
    walker.at(DAY)
    walker.talk("T2")
    walker.next_page()
    if missing != "answer":
        walker.answer()
    with lab_scope(lab.pk):
        if missing == "session":
            Session.objects.filter(stage_key="T2").update(state="ended")
        if missing != "state":
            Participant.objects.update(state="complete")
    assert f"{WORD}-" not in walker.page("end")[1]
    assert ("", "complete", f"{WORD}-complete") not in issued(lab)


def test_a_stage_of_its_own_leads_back_with_its_code_in_the_address(lab: Lab) -> None:
    walker = with_codes(lab)
    walker.complete("T1")
    status, told = walker.page("done", "T1")
    assert status == 200
    assert 'href="https://recruiter.example/complete?cc=XYZZYCODE%20T1"' in told
    assert f"{WORD}-complete" not in told


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("screened", "screened_out"),
        ("ineligible", "screened_out"),
        ("declined", "declined"),
        ("withdrawn", "withdrawn"),
        ("dropped", None),
    ],
)
def test_every_end_has_its_own_code_or_none(lab: Lab, state: str, outcome: str | None) -> None:
    walker = with_codes(lab)
    with lab_scope(lab.pk):
        Participant.objects.update(state=state)
    told = walker.page("end")[1]
    shown = [each for each in OUTCOMES if f"{WORD}-{each}" in told]
    assert shown == ([] if outcome is None else [outcome])


def test_who_withdraws_in_mid_conversation_gets_the_code_once_it_is_closed(lab: Lab) -> None:
    walker = with_codes(lab)
    walker.page("stage", "T1")
    with lab_scope(lab.pk):
        Participant.objects.update(state="withdrawn")
    assert WORD not in walker.page("end")[1]
    with lab_scope(lab.pk):
        Session.objects.update(state="ended")
    assert f"{WORD}-withdrawn" in walker.page("end")[1]


def test_the_first_showing_is_what_is_kept(lab: Lab) -> None:
    walker = with_codes(lab)
    walker.complete("T1")
    walker.page("done", "T1")
    with lab_scope(lab.pk):
        first = IssuedCode.objects.get()
        CompletionCode.objects.filter(stage__isnull=False).update(code="MENDED")
        shown = codes.of_stage(walker.participant, "T1", wall=START + DAY)
        assert shown is not None
        assert shown.code == "MENDED"
        again = IssuedCode.objects.get()
        assert (again.code, again.shown_at) == (f"{WORD} T1", first.shown_at)


def test_staff_give_the_code_for_technical_problems(lab: Lab) -> None:
    walker = with_codes(lab)
    client = signed_in("Bob", lab)
    page = f"/admin/experiments/participant/{walker.participant.pk}/technical-code/"
    assert client.get(page).status_code == 200
    assert client.post(page, {"place": "T9"}).status_code == 200
    assert issued(lab) == []
    for _twice in range(2):
        assert client.post(page, {"place": ""}).status_code == 302
    assert issued(lab) == [("", "technical", "")]
    assert f"{WORD}-technical" in walker.page("home")[1]
    assert issued(lab) == [("", "technical", f"{WORD}-technical")]
    with lab_scope(lab.pk):
        entry = AuditEntry.objects.filter(action="give_code").last()
        assert entry is not None
        assert entry.details == {"outcome": "technical", "stage": ""}


def test_an_analyst_gives_no_codes(lab: Lab) -> None:
    walker = with_codes(lab)
    page = f"/admin/experiments/participant/{walker.participant.pk}/technical-code/"
    assert signed_in("Dora", lab).get(page).status_code == 404


@pytest.mark.parametrize("address", ["javascript:alert(1)", "recruiter.example/x", "//x"])
def test_an_address_that_is_none_is_refused(lab: Lab, address: str) -> None:
    with_codes(lab)
    with lab_scope(lab.pk):
        code = CompletionCode.objects.first()
        code.return_url = address
        with pytest.raises(ValidationError, match="https://"):
            code.full_clean()
