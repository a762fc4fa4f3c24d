"""What studies keep about a participant beside conversations, memories and answers.

An erased participant leaves an empty row behind, to which the arm and the withdrawal are handed,
so that the study's counts stay true. Everything else goes, the participant's own row last: from
then on the foreign keys refuse whatever a process that knew them still tries to write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from experiments.models import (
    Allocation,
    AuditEntry,
    Deviation,
    Identifier,
    Participant,
    Payment,
    Tombstone,
    Withdrawal,
)
from experiments.models.audit import AuditQuerySet
from memlab.core.clock import wall_now
from memlab.core.personal import Counts, Person, Personal, Rows

COUNTED = "Counted for the empty row that an erased participant leaves in the study's flow."
OWED = "What is owed can still be paid, to whoever shows the code; what was paid loses the code."
OF_THE_STUDY = "The log of what was done to a study stays, without whom it was done to."
BLANK = {"erased": True}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def leave_shell(person: Person) -> Counts:
    """Hand what is counted to an empty row."""
    shell = Participant.objects.get(pk=person.pk).leave_shell(wall=wall_now())
    Allocation.objects.filter(participant=person.pk).hand_to_shell(shell)
    Withdrawal.objects.filter(participant=person.pk).hand_to_shell(shell)
    Deviation.objects.filter(participant=person.pk).update(
        participant=None, session=None, study_at=None, details={}
    )
    return {}


def detach_payments(person: Person) -> Counts:
    """The ledger knows its rows by their code, and nothing leads from that to the person."""
    Payment.objects.filter(participant=person.pk).detach()
    return {}


def blank_audit(person: Person) -> Counts:
    """Who of the staff did what and when stays; to whom, and every detail of it, goes."""
    blanked = _about(person).update(target_id="", details=BLANK)
    return {"experiments.AuditEntry": blanked + _blank_mentions(person)}


def blank_mentions(person: Person) -> Counts:
    """What the audit log says of the person's code and ids goes, and what it says of their rows
    beside which row it was: labels and reasons are in the words of whoever wrote them."""
    blanked = _about(person).exclude(details={}).update(details=BLANK)
    return {"experiments.AuditEntry": blanked + _blank_mentions(person)}


def _about(person: Person) -> AuditQuerySet:
    """The entries about rows of theirs."""
    found = [
        pk
        for kind, ids in person.rows.items()
        for pk, target in AuditEntry.objects.filter(target_kind=kind).values_list("pk", "target_id")
        if target in ids
    ]
    return AuditEntry.objects.filter(pk__in=found)


def _blank_mentions(person: Person) -> int:
    naming = [pk for pk, details in _details() if _names(details, person)]
    return AuditEntry.objects.filter(pk__in=naming).update(details=BLANK)


def _details() -> Iterator[tuple[int, Any]]:
    return (
        AuditEntry.objects.exclude(details__in=[{}, BLANK]).values_list("pk", "details").iterator()
    )


def _names(details: Any, person: Person) -> bool:
    text = json.dumps(details, ensure_ascii=False)
    ids = {str(each) for each in person.ids}
    return person.code in text or not ids.isdisjoint(_UUID.findall(text.lower()))


def lay_tombstones(person: Person) -> Counts:
    """Who was here doesn't come a second time by oversight: keyed digests alone are left."""
    laid = Tombstone.objects.lay(Participant.objects.get(pk=person.pk))
    return {"experiments.Tombstone": laid}


def _identifier_told(identifier: Identifier) -> dict[str, str]:
    return {"value": identifier.value}


PERSONAL = Personal(
    rows=(
        Rows(
            model="experiments.Identifier",
            identifies=True,
            hidden=frozenset({"digest", "sealed"}),
            tells=_identifier_told,
        ),
        Rows(model="experiments.IssuedLink", identifies=True),
        Rows(
            model="experiments.EntryLink",
            by="public_id",
            identifies=True,
            hidden=frozenset({"token_hash"}),
        ),
        Rows(
            model="experiments.ReturnKey",
            by="public_id",
            identifies=True,
            hidden=frozenset({"code_digest"}),
        ),
        Rows(model="experiments.StaffMessage", identifies=True),
        Rows(model="experiments.IssuedCode", identifies=True),
        Rows(model="experiments.DebriefingView"),
        Rows(model="experiments.Payment", kept=OWED),
        Rows(model="experiments.WindowMark"),
        Rows(model="experiments.Extension", removable={"reason": ""}),
        Rows(model="experiments.Reminder"),
        Rows(model="experiments.Session", evidence_fields=frozenset({"degraded"})),
        Rows(model="experiments.Consent"),
        Rows(
            model="experiments.Allocation",
            kept=COUNTED,
            evidence=True,
            # Where in the sequence others were drawn follows from these.
            hidden=frozenset({"position", "block", "block_size"}),
        ),
        Rows(
            model="experiments.Withdrawal",
            kept=COUNTED,
            removable={"reason": ""},
            # How many rows of which table went tells what memory there was.
            hidden=frozenset({"code_hash", "parts"}),
        ),
        Rows(model="experiments.Deviation", kept=OF_THE_STUDY, evidence=True),
        Rows(model="experiments.Participant", path="pk", hidden=frozenset({"password"})),
    ),
    erase=(lay_tombstones, leave_shell, detach_payments, blank_audit),
    anonymise=(lay_tombstones, detach_payments, blank_mentions),
)
