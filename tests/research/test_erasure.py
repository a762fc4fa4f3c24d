"""Withdrawal in all its kinds: what stops at once, what goes, and what is left."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django_q.models import OrmQ
from django_q.tasks import async_task

from chat import claims, conversation, sessions
from chat.conversation import Refused, SessionRef
from chat.models import AdverseEvent, Message, Receipt, Reply, ReplyState
from experiments.enums import (
    AuditAction,
    Closed,
    ParticipantState,
    SessionState,
    WithdrawalKind,
    WithdrawalState,
    WithdrawnBy,
)
from experiments.models import (
    Allocation,
    AllocationCounter,
    AuditEntry,
    Deviation,
    ErasureReceipt,
    IssuedLink,
    Lab,
    Participant,
    Payment,
    Session,
    Withdrawal,
)
from experiments.models.withdrawal import receipt_hash
from memlab.core import erasure_log
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.lease import ParticipantLease
from memlab.core.ledger import Job, JobKind, JobState
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.personal import rules
from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.purge import check_references
from memlab.journey.withdrawing import Withdrawn, person_of, withdraw
from memlab.research import erasure
from memlab.research.dashboard import needs
from memory.models import Episode, MemoryEvent
from tests.admin.filled import FilledLab, fill
from tests.core.personal import unmentioned

CANARY = "CANARYALICE"


@pytest.fixture(autouse=True)
def log(settings, tmp_path: Path) -> Path:
    settings.ERASURE_LOG = tmp_path / "erasures"
    return settings.ERASURE_LOG / erasure_log.NAME


@pytest.fixture
def filled(lab: Lab) -> FilledLab:
    made = fill(lab, CANARY)
    with lab_scope(lab.pk):
        Withdrawal.objects.all().delete()
        ErasureReceipt.objects.all().delete()
    return made


def ask(filled: FilledLab, kind: WithdrawalKind, *, reason: str = "") -> Withdrawn:
    with lab_scope(filled.lab.pk):
        person = Participant.objects.get(pk=filled.participant.pk)
        return withdraw(person, kind, by=WithdrawnBy.PARTICIPANT, wall=wall_now(), reason=reason)


def carry_out(withdrawn: Withdrawn) -> bool:
    row = withdrawn.withdrawal
    return erasure.carry_out(row.lab_id, row.pk, wall=wall_now())


def reference(filled: FilledLab) -> SessionRef:
    return SessionRef(
        lab_id=filled.lab.pk,
        participant=filled.participant.public_id,
        session=filled.session.pk,
    )


def due_kinds(filled: FilledLab) -> set[str]:
    return set(Due.objects.filter(lab_id=filled.lab.pk).values_list("kind", flat=True))


def rows_left(filled: FilledLab) -> dict[str, int]:
    """Rows that the rules find of the erased participant, whatever is kept aside."""
    with lab_scope(filled.lab.pk):
        person = person_of(filled.participant)
        found = {rule.model: rule.of(person).count() for rule in rules()}
    return {model: count for model, count in found.items() if count}


# What stops at once


def test_conversation_is_closed_and_what_is_being_made_is_fenced(filled: FilledLab) -> None:
    said = conversation.say(reference(filled), client_id=uuid4(), text="one more", wall=wall_now())
    claim = claims.claim(filled.lab.pk, said.reply, wall=wall_now())
    assert claim is not None
    ask(filled, WithdrawalKind.ALL)
    assert not claims.heartbeat(claim, wall=wall_now())
    late = claims.fail(
        claim, ModelFailure(FailureKind.TIMEOUT, "slow", partial=CANARY), wall=wall_now()
    )
    assert late is None
    with lab_scope(filled.lab.pk):
        session = Session.objects.get(pk=filled.session.pk)
        reply = Reply.objects.get(pk=said.reply)
        assert (session.state, session.closed_by) == (SessionState.ENDED, Closed.WITHDRAWN)
        assert (reply.state, reply.failure, reply.partial) == (ReplyState.FAILED, "withdrawn", "")
        assert Message.objects.get(pk=said.reply).text == ""
        person = Participant.objects.get(pk=filled.participant.pk)
        assert person.state == ParticipantState.WITHDRAWN
    with pytest.raises(Refused, match="not_open"):
        conversation.say(reference(filled), client_id=uuid4(), text="more", wall=wall_now())
    assert due_kinds(filled) == {"withdrawal"}


def test_steps_and_leases_are_gone_and_staff_can_not_start_them_again(filled: FilledLab) -> None:
    person = filled.participant.public_id
    holder = ParticipantLease.objects.acquire(
        lab_id=filled.lab.pk, participant=person, wall=wall_now()
    )
    assert holder is not None
    waiting = Job.objects.enqueue(
        lab_id=filled.lab.pk,
        kind=JobKind.BY_HAND,
        participant=person,
        subject=uuid4(),
        study_at=wall_now(),
    )
    ask(filled, WithdrawalKind.CHAT)
    assert not ParticipantLease.objects.renew(participant=person, holder=holder, wall=wall_now())
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.DROPPED}
    assert not waiting.begin()


def test_leaving_the_chat_leaves_the_rest_of_the_study_open(filled: FilledLab) -> None:
    with lab_scope(filled.lab.pk):
        Due.objects.plan(
            lab_id=filled.lab.pk,
            kind=DueKind.WINDOW,
            subject=filled.participant.public_id,
            study_at=wall_now(),
            wall_at=wall_now(),
        )
    assert carry_out(ask(filled, WithdrawalKind.CHAT))
    with lab_scope(filled.lab.pk):
        person = Participant.objects.get(pk=filled.participant.pk)
        assert (person.state, person.has_left_chat) == (ParticipantState.ACTIVE, True)
        with pytest.raises(sessions.StageNotOpen):
            sessions.enter_stage(person, "T2", wall=wall_now())
    assert due_kinds(filled) == {"window"}


def test_who_has_gone_far_can_only_go_further(filled: FilledLab) -> None:
    first = ask(filled, WithdrawalKind.ALL)
    assert ask(filled, WithdrawalKind.ALL).withdrawal.pk == first.withdrawal.pk
    with pytest.raises(ValidationError, match="further than that already"):
        ask(filled, WithdrawalKind.CHAT)
    with pytest.raises(ValidationError, match="At most 500 characters; this has 501"):
        ask(filled, WithdrawalKind.ERASE, reason="x" * 501)
    assert ask(filled, WithdrawalKind.ERASE).code


def test_all_keeps_the_data(filled: FilledLab) -> None:
    before = rows_left(filled)
    assert carry_out(ask(filled, WithdrawalKind.ALL, reason="no time"))
    after = rows_left(filled)
    assert after.pop("experiments.Withdrawal") == 1
    before.pop("core.ParticipantLease", None)
    assert after == before


# Anonymise


def test_anonymising_removes_what_leads_to_the_person(filled: FilledLab, log: Path) -> None:
    old = filled.participant
    with lab_scope(filled.lab.pk):
        Participant.objects.filter(pk=old.pk).update(password="secret", time_zone="Europe/Berlin")
        AuditEntry.objects.record(AuditAction.EXTEND_WINDOW, target=old, code=old.code)
    assert carry_out(ask(filled, WithdrawalKind.ANONYMISE, reason="private"))
    with lab_scope(filled.lab.pk):
        person = Participant.objects.get(pk=old.pk)
        assert {person.code, person.public_id}.isdisjoint({old.code, old.public_id})
        assert (person.password, person.time_zone, person.needs_redaction) == ("", "", True)
        assert person.anonymised_at is not None
        assert person.withdrawals.get().reason == ""
        assert Message.objects.filter(session__participant=person).count() == 5
        details = AuditEntry.objects.filter(action=AuditAction.EXTEND_WINDOW).get().details
        assert details == {"erased": True}
    assert [line.kind for line in erasure_log.read().lines] == ["anonymise"]
    assert str(old.public_id) not in log.read_text()
    assert old.code not in log.read_text()


def test_anonymising_takes_the_words_of_staff_out_of_the_log(filled: FilledLab) -> None:
    with lab_scope(filled.lab.pk):
        link = IssuedLink.objects.filter(participant=filled.participant).get()
        AuditEntry.objects.record(AuditAction.REVOKE_LINK, target=link, label=CANARY)
        AuditEntry.objects.record(AuditAction.UNBLIND, target=filled.participant, reason=CANARY)
        Payment.objects.update(participant=filled.participant, reason=CANARY)
    assert carry_out(ask(filled, WithdrawalKind.ANONYMISE))
    with lab_scope(filled.lab.pk):
        blank = AuditEntry.objects.filter(details={"erased": True})
        assert set(blank.values_list("action", "target_id")) == {
            ("revoke_link", str(link.pk)),
            ("unblind", str(filled.participant.pk)),
        }
        assert set(Payment.objects.values_list("participant", "reason")) == {(None, "")}


def test_an_alert_that_waits_is_sent_though_its_participant_is_anonymised(
    filled: FilledLab,
) -> None:
    with lab_scope(filled.lab.pk):
        event = AdverseEvent.objects.filter(participant=filled.participant)[0]
        event.queue_alert(wall=wall_now())
    assert carry_out(ask(filled, WithdrawalKind.ANONYMISE))
    assert due_kinds(filled) == {"alert"}
    assert carry_out(ask(filled, WithdrawalKind.ERASE))
    assert due_kinds(filled) == set()


# Erase


def test_erasing_takes_every_row_and_leaves_one_that_is_only_counted(filled: FilledLab) -> None:
    old = filled.participant
    with lab_scope(filled.lab.pk):
        AuditEntry.objects.record(AuditAction.UNBLIND, target=old, reason=CANARY)
        Payment.objects.update(participant=old, reason=CANARY)
        counters = list(AllocationCounter.objects.values_list("stratum", "used"))
    withdrawn = ask(filled, WithdrawalKind.ERASE, reason=f"{CANARY} reason")
    assert carry_out(withdrawn)
    assert rows_left(filled) == {}
    with lab_scope(filled.lab.pk):
        (shell,) = Participant.objects.all()
        assert shell.pk != old.pk
        assert {shell.public_id, shell.code}.isdisjoint({old.public_id, old.code})
        assert (shell.state, shell.version_id) == (ParticipantState.WITHDRAWN, old.version_id)
        assert shell.erased_on is not None
        allocation = Allocation.objects.get()
        assert (allocation.participant_id, allocation.stratum) == (shell.pk, "erased")
        assert list(AllocationCounter.objects.values_list("stratum", "used")) == counters
        row = Withdrawal.objects.get()
        assert (row.participant_id, row.reason, row.code_hash) == (shell.pk, "", "")
        assert row.state == WithdrawalState.CARRIED_OUT
        assert {
            moment.hour + moment.minute + moment.second
            for moment in (
                shell.entered_at,
                shell.consented_at,
                allocation.study_at,
                allocation.recorded_at,
                row.requested_at,
                row.requested_wall,
                row.carried_out_at,
            )
        } == {0}
        entry = AuditEntry.objects.get(action=AuditAction.UNBLIND)
        assert (entry.target_id, entry.details) == ("", {"erased": True})
        deviation = Deviation.objects.all()[0]
        assert (deviation.participant_id, deviation.session_id, deviation.details) == (
            None,
            None,
            {},
        )
        assert set(Payment.objects.values_list("participant", "reason")) == {(None, "")}
        receipt = ErasureReceipt.objects.get()
        assert receipt.code_hash == receipt_hash(withdrawn.code.lower())
        assert receipt.counts["chat.Message"] == 5
        assert receipt.counts["memory.Episode"] == 1
    assert not Due.objects.filter(lab_id=filled.lab.pk).exists()
    assert not Job.objects.filter(participant=old.public_id).exists()


def test_the_log_says_what_the_receipt_says_and_names_nobody(filled: FilledLab, log: Path) -> None:
    old = filled.participant
    carry_out(ask(filled, WithdrawalKind.ERASE))
    (line,) = erasure_log.read().lines
    with lab_scope(filled.lab.pk):
        receipt = ErasureReceipt.objects.get()
    assert (line.receipt, line.sha256, line.counts) == (
        receipt.code_hash,
        receipt.sha256,
        receipt.counts,
    )
    assert line.person == erasure_log.person_hash(old.public_id)
    for word in (CANARY, old.code, str(old.public_id), old.public_id.hex):
        assert word not in log.read_text()


def test_tasks_that_name_the_person_leave_the_queue(filled: FilledLab) -> None:
    async_task("chat.tasks.run_steps", filled.lab.pk, str(filled.participant.public_id))
    async_task("chat.tasks.close_session", filled.lab.pk, str(filled.session.pk))
    other = str(uuid4())
    async_task("chat.tasks.run_steps", filled.lab.pk, other)
    carry_out(ask(filled, WithdrawalKind.ERASE))
    assert [row.task["args"] for row in OrmQ.objects.all()] == [(filled.lab.pk, other)]


def test_nothing_can_be_written_for_a_person_who_is_gone(filled: FilledLab) -> None:
    with lab_scope(filled.lab.pk):
        episode = Episode.objects.get()
        event = MemoryEvent.objects.get()
    carry_out(ask(filled, WithdrawalKind.ERASE))
    for row, key in ((episode, uuid4()), (event, None)):
        row.pk = key
        with pytest.raises(IntegrityError):
            insert(filled, row)


def insert(filled: FilledLab, row: Episode | MemoryEvent) -> None:
    """As a process would that still knew the person; its commit looks at the foreign keys."""
    with lab_scope(filled.lab.pk):
        row.save(force_insert=True)
        check_references()


def test_a_second_run_finds_nothing_to_do(filled: FilledLab) -> None:
    withdrawn = ask(filled, WithdrawalKind.ERASE)
    assert [carry_out(withdrawn), carry_out(withdrawn)] == [True, False]
    assert "Withdrawals that aren't carried out" not in home(filled)
    assert len(erasure_log.read().lines) == 1


@pytest.mark.parametrize("place", ["_erase", "_certify", "check_references"])
def test_death_before_the_commit_leaves_everything_and_the_next_run_does_it_once(
    filled: FilledLab, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    withdrawn = ask(filled, WithdrawalKind.ERASE)
    whole = rows_left(filled)
    real = getattr(erasure, place)

    def dies(*args: object, **kwargs: object) -> None:
        real(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(erasure, place, dies)
    with pytest.raises(KeyboardInterrupt):
        carry_out(withdrawn)
    assert rows_left(filled) == whole
    assert due_kinds(filled) == {"withdrawal"}
    monkeypatch.setattr(erasure, place, real)
    assert carry_out(withdrawn)
    assert rows_left(filled) == {}
    assert len(erasure_log.read().lines) == 1  # one line, though one was written before the death
    with lab_scope(filled.lab.pk):
        assert Participant.objects.count() == Withdrawal.objects.count() == 1


def test_a_log_that_can_not_be_written_stops_the_erasure(filled: FilledLab, settings) -> None:
    settings.ERASURE_LOG.parent.joinpath("file").write_text("")
    settings.ERASURE_LOG = settings.ERASURE_LOG.parent / "file" / "erasures"
    withdrawn = ask(filled, WithdrawalKind.ERASE)
    with pytest.raises(erasure_log.ErasureLogError, match="Nothing has been erased"):
        carry_out(withdrawn)
    assert rows_left(filled)["chat.Message"] == 5
    assert "Withdrawals that aren't carried out" in home(filled)


def home(filled: FilledLab) -> list[str]:
    """What the back office's first page says is to be done, eleven minutes from now."""
    with lab_scope(filled.lab.pk):
        found = needs(
            lab_id=filled.lab.pk, sees_work=False, wall=wall_now() + timedelta(minutes=11)
        )
    return [str(need.title) for need in found]


def test_half_a_line_is_closed_off_and_told(filled: FilledLab, log: Path) -> None:
    log.parent.mkdir()
    log.write_text('{"at": "2026-01')
    carry_out(ask(filled, WithdrawalKind.ERASE))
    found = erasure_log.read()
    assert (len(found.lines), found.broken) == (1, (1,))
    assert json.loads(log.read_text().splitlines()[1])["kind"] == "erase"


def test_somebody_elses_rows_stay(lab: Lab, other_lab: Lab, filled: FilledLab) -> None:
    others = fill(other_lab, "CANARYCHARLIE")
    before = rows_left(others)
    carry_out(ask(filled, WithdrawalKind.ERASE))
    assert rows_left(others) == before
    with lab_scope(other_lab.pk):
        assert Receipt.objects.count() == 1


def test_every_rule_has_rows_in_this_test(filled: FilledLab) -> None:
    """A table without a row here would be erased unseen."""
    ask(filled, WithdrawalKind.ALL)
    empty = {rule.model for rule in rules()} - set(rows_left(filled))
    assert empty <= EMPTY
    assert unmentioned() == []


#: Tables of participants that may have no row there.
EMPTY = {
    "core.ParticipantLease",
    "experiments.ReturnKey",
    "questionnaires.Answer",
    "questionnaires.Response",
    "questionnaires.Score",
}
