"""The payment ledger: earned once a stage, approved and paid once, and never lost."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from threading import Barrier, Thread

import pytest
from django.db import connection

from experiments.models import AuditEntry, Consent, Lab, Participant, Payment, Session
from experiments.payments import as_csv
from memlab.core.csv_files import CsvForm
from memlab.core.tenancy import lab_scope
from tests.people import member, person, signed_in
from tests.studies import enrol, enter, make_study

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATES = ("earned", "approved", "paid", "withheld")


def earned(lab: Lab, *, test_mode: bool = False, amount: str = "7.50") -> Payment:
    study = make_study(lab, currency="EUR", stages={"payment": amount})
    person = enrol(study, test_mode=test_mode)
    session = enter(person)
    with lab_scope(lab.pk):
        payment = Payment.objects.earn(session, now=NOON)
        assert isinstance(payment, Payment)
        return payment


def user(lab: Lab) -> int:
    return int(person("Alice").pk)


@pytest.mark.django_db
def test_a_stage_is_earned_once_in_the_currency_of_the_version(lab: Lab) -> None:
    first = earned(lab)
    with lab_scope(lab.pk):
        session = Session.objects.get()
        again = Payment.objects.earn(session, now=NOON)
        assert again is not None
        assert (again.pk, Payment.objects.count()) == (first.pk, 1)
        assert (first.amount, first.currency, first.state) == (Decimal("7.50"), "EUR", "earned")
        assert first.code == Participant.objects.get().code


@pytest.mark.django_db
def test_a_stage_that_pays_nothing_has_no_row(lab: Lab) -> None:
    session = enter(enrol(make_study(lab)))
    with lab_scope(lab.pk):
        assert Payment.objects.earn(session, now=NOON) is None
        assert Payment.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("move", "reached"),
    [
        ("approve", {"earned": "approved", "withheld": "approved"}),
        ("mark_paid", {"approved": "paid"}),
        ("withhold", {"earned": "withheld", "approved": "withheld"}),
    ],
)
def test_each_move_takes_the_states_it_may(lab: Lab, move: str, reached: dict[str, str]) -> None:
    payment = earned(lab)
    more = {"reason": "Sent nothing."} if move == "withhold" else {}
    with lab_scope(lab.pk):
        for state in STATES:
            Payment.objects.filter(pk=payment.pk).update(state=state)
            changed = getattr(Payment.objects.all(), move)(user_id=user(lab), wall=NOON, **more)
            payment.refresh_from_db()
            assert payment.state == reached.get(state, state)
            assert [row.pk for row in changed] == ([payment.pk] if state in reached else [])


@pytest.mark.django_db
def test_a_test_run_earns_and_is_never_paid(lab: Lab) -> None:
    payment = earned(lab, test_mode=True)
    with lab_scope(lab.pk):
        assert Payment.objects.all().approve(user_id=user(lab), wall=NOON) == []
        payment.refresh_from_db()
        assert payment.state == "earned"


@pytest.mark.django_db
def test_what_is_earned_outlives_the_participant(lab: Lab) -> None:
    study = make_study(lab, currency="EUR", stages={"payment": "7.50", "opening_line": ""})
    session = enter(enrol(study))
    with lab_scope(lab.pk):
        payment = Payment.objects.earn(session, now=NOON)
        assert payment is not None
        code = payment.code
        Session.objects.all().delete()
        Consent.objects.all().delete()
        Participant.objects.all().delete()
        kept = Payment.objects.get()
        assert (kept.participant_id, kept.code, kept.amount) == (None, code, Decimal("7.50"))
        assert len(Payment.objects.all().approve(user_id=user(lab), wall=NOON)) == 1


def test_two_members_who_pay_at_once_pay_once(own_lab: Lab) -> None:
    payment = earned(own_lab)
    start, paid = Barrier(2), []

    def pay(who: int) -> None:
        start.wait()
        with lab_scope(own_lab.pk):
            paid.extend(Payment.objects.all().mark_paid(user_id=who, wall=NOON))
        connection.close()

    who = user(own_lab)
    with lab_scope(own_lab.pk):
        Payment.objects.all().approve(user_id=who, wall=NOON)
    tills = [Thread(target=pay, args=(who,)) for _ in range(2)]
    for till in tills:
        till.start()
    for till in tills:
        till.join()
    assert [row.pk for row in paid] == [payment.pk]


LIST = "/admin/experiments/payment/"


@pytest.mark.django_db
def test_staff_approve_pay_and_download_what_they_chose(lab: Lab) -> None:
    payment = earned(lab)
    client = signed_in("Alice", lab)
    chosen = {"_selected_action": [payment.pk]}
    for action, state in (("mark_paid", "earned"), ("approve", "approved"), ("mark_paid", "paid")):
        assert client.post(LIST, {**chosen, "action": action}).status_code == 302
        with lab_scope(lab.pk):
            payment.refresh_from_db()
            assert payment.state == state
    with lab_scope(lab.pk):
        kept = AuditEntry.objects.filter(action="pay").order_by("pk")
        assert [entry.details for entry in kept] == [{"state": "approved"}, {"state": "paid"}]
    raw = client.post(LIST, {**chosen, "action": "download_raw"})
    assert raw["Content-Type"] == "text/csv; charset=utf-8"
    lines = raw.content.decode().split("\r\n")
    assert lines[0].startswith("participant,study,stage,amount,currency,state,")
    assert lines[1].startswith(f"{payment.code},A study of remembering,T1,7.50,EUR,paid,,")
    excel = client.post(LIST, {**chosen, "action": "download_excel"})
    assert excel.content.decode().startswith("\ufeffparticipant,")


@pytest.mark.django_db
def test_a_payment_is_withheld_with_a_reason_that_no_spreadsheet_runs(lab: Lab) -> None:
    payment = earned(lab)
    client = signed_in("Erin", lab)
    page = f"{LIST}{payment.pk}/withhold/"
    assert client.get(page).status_code == 200
    assert client.post(page, {"reason": "=1+1"}).status_code == 302
    with lab_scope(lab.pk):
        payment.refresh_from_db()
        assert (payment.state, payment.reason) == ("withheld", "=1+1")
        rows = list(Payment.objects.select_related("study"))
        assert ",'=1+1," in as_csv(rows, CsvForm.EXCEL).decode()
        assert ",=1+1," in as_csv(rows, CsvForm.RAW).decode()
    assert client.get(page).status_code == 404  # nothing is left to withhold


@pytest.mark.django_db
def test_assistants_look_at_payments_and_analysts_do_not(lab: Lab) -> None:
    payment = earned(lab)
    member("Alice", lab)
    bob, dora = signed_in("Bob", lab), signed_in("Dora", lab)
    assert payment.code in bob.get(LIST).content.decode()
    assert dora.get(LIST).status_code == 404
    for action in ("approve", "download_raw"):
        bob.post(LIST, {"_selected_action": [payment.pk], "action": action})
    with lab_scope(lab.pk):
        payment.refresh_from_db()
        assert payment.state == "earned"
        assert not AuditEntry.objects.filter(action__in=["pay", "export_payments"]).exists()
