"""Carrying out a withdrawal: everything about a person goes, or what leads to the person does.

One transaction does it all. If the process dies before its commit nothing has happened in the
database and the due row brings the task back; after it, the withdrawal is carried out and the task
finds nothing to do. Only two things lie outside of the transaction, and both may be done twice:
files are removed before it, and the line in the log of erasures, which is found again by its
receipt, is written last in it. A line whose transaction didn't commit is right all the same, for a
wish to be erased can't be taken back.

A process that still holds a reply or a memory writes nothing afterwards: replies are fenced by
their attempt, and the participant's row itself is gone, so that foreign keys refuse every other
write. If it was quicker and its rows are there when ours go, our transaction fails, and is tried
again.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from experiments.enums import WithdrawalKind, WithdrawalState
from experiments.models import ErasureReceipt, Participant, Session, Withdrawal
from experiments.models.withdrawal import REMOVING
from memlab.core import erasure_log
from memlab.core.due import Due, DueKind
from memlab.core.personal import Counts, Person, Work, declared, rules
from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.purge import check_references, purging, until_undisturbed
from memlab.journey.withdrawing import person_of

logger = logging.getLogger(__name__)


def carry_out(lab_id: int, withdrawal_id: UUID, *, wall: datetime) -> bool:
    """Do what was asked for; False if it was done before. Safe to run twice, at once too."""
    if _erases(lab_id, withdrawal_id):
        _remove_files(lab_id, withdrawal_id)
    return until_undisturbed(partial(_carry_out, lab_id, withdrawal_id, wall=wall))


def _carry_out(lab_id: int, withdrawal_id: UUID, *, wall: datetime) -> bool:
    with lab_scope(lab_id):
        withdrawal = _locked(lab_id, withdrawal_id)
        if withdrawal is None or withdrawal.state == WithdrawalState.CARRIED_OUT:
            Due.objects.settle(lab_id=lab_id, kind=DueKind.WITHDRAWAL, subject=withdrawal_id)
            return False
        if withdrawal.kind in REMOVING:
            _remove(withdrawal, wall=wall)
        else:
            withdrawal.carried_out(parts={}, wall=wall)  # it was all done when it was asked for
        kind = withdrawal.kind
    logger.info("withdrawal %s carried out: %s", withdrawal_id, kind)
    return True


def _remove(withdrawal: Withdrawal, *, wall: datetime) -> None:
    kind, code_hash = WithdrawalKind(withdrawal.kind), withdrawal.code_hash
    person = person_of(withdrawal.participant).with_rows()
    follows = Withdrawal.objects.anonymised_under(withdrawal.participant)
    with purging():
        erases = kind is WithdrawalKind.ERASE
        parts = _erase(person) if erases else _anonymise(person, wall=wall)
    withdrawal.refresh_from_db()  # it may have been handed to the row that is only counted
    withdrawal.carried_out(parts=parts, wall=_settled_at(withdrawal, wall))
    check_references()
    _certify(person, kind, code_hash=code_hash, follows=follows, counts=parts, wall=wall)


def _locked(lab_id: int, withdrawal_id: UUID) -> Withdrawal | None:
    """The withdrawal with its participant, locked in the order of everybody: sessions first."""
    found = Withdrawal.objects.filter(lab_id=lab_id, pk=withdrawal_id).first()
    if found is None:
        return None
    mine = Session.objects.filter(participant=found.participant_id).order_by("number")
    list(mine.select_for_update(of=("self",)).values_list("pk", flat=True))
    Participant.objects.select_for_update().get(pk=found.participant_id)
    locked: Withdrawal | None = (
        Withdrawal.objects.select_for_update(of=("self",)).filter(pk=withdrawal_id).first()
    )
    return locked


def _settled_at(withdrawal: Withdrawal, wall: datetime) -> datetime:
    """When it was done; of an erased participant only the day is kept."""
    if withdrawal.kind != WithdrawalKind.ERASE:
        return wall
    return wall.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _erase(person: Person) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for personal in declared():
        counts.update(_all(personal.erase, person))
    for rule in rules():
        if not rule.kept:
            counts[rule.model] += rule.erase(person)
    return _told(counts)


def _anonymise(person: Person, *, wall: datetime) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for personal in declared():
        counts.update(_all(personal.anonymise, person))
    for rule in rules():
        if rule.identifies:
            counts[rule.model] += rule.erase(person)
        elif rule.removable:
            counts[rule.model] += rule.of(person).order_by().update(**rule.removable)
    Participant.objects.get(pk=person.pk).anonymise(wall=wall)
    return _told(counts)


def _all(works: tuple[Work, ...], person: Person) -> Counts:
    counts: Counter[str] = Counter()
    for work in works:
        counts.update(work(person))
    return counts


def _told(counts: Counter[str]) -> dict[str, int]:
    return {table: count for table, count in sorted(counts.items()) if count}


def _certify(
    person: Person,
    kind: WithdrawalKind,
    *,
    code_hash: str,
    follows: str,
    counts: Counts,
    wall: datetime,
) -> None:
    """The receipt, in the database and outside of it."""
    listed = sorted(f"{model} {key}" for model, keys in person.rows.items() for key in keys)
    sha256 = hashlib.sha256("\n".join(listed).encode()).hexdigest()
    ErasureReceipt.objects.get_or_create(
        code_hash=code_hash,
        defaults={"kind": kind, "at": wall, "counts": dict(counts), "sha256": sha256},
    )
    erasure_log.append(
        erasure_log.Line(
            at=wall.astimezone(UTC).isoformat(timespec="seconds"),
            kind=str(kind),
            lab=person.lab_id,
            person=erasure_log.person_hash(person.public_id),
            receipt=code_hash,
            counts=dict(counts),
            sha256=sha256,
            follows=follows,
        )
    )


def _erases(lab_id: int, withdrawal_id: UUID) -> bool:
    with lab_scope(lab_id):
        return Withdrawal.objects.filter(
            lab_id=lab_id,
            pk=withdrawal_id,
            kind=WithdrawalKind.ERASE,
            state=WithdrawalState.REQUESTED,
        ).exists()


def _remove_files(lab_id: int, withdrawal_id: UUID) -> None:
    """Outside of any transaction, for a storage may be far away; who comes twice finds none."""
    with lab_scope(lab_id):
        withdrawal = Withdrawal.objects.select_related("participant").get(pk=withdrawal_id)
        person = person_of(withdrawal.participant)
        files = [each for rule in rules() if not rule.kept for each in rule.files(person)]
    for storage, name in files:
        storage.delete(name)
