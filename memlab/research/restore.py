"""After a restore: whoever is in the log of erasures and back in the database is erased again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from experiments.enums import WithdrawalKind, WithdrawnBy
from experiments.models import LabDirectory, Participant, Withdrawal
from experiments.models.withdrawal import ORDER
from memlab.core.erasure_log import Line, person_hashes
from memlab.core.tenancy import lab_scope
from memlab.journey.withdrawing import withdraw
from memlab.research import erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """Somebody whom the log says was erased or anonymised, and who is in the database."""

    lab_id: int
    participant_id: int
    line: Line


def returned(lines: Sequence[Line]) -> Iterator[Returned]:
    """Everybody who is back. Labs are looked through one by one, whatever the log says of them."""
    logged = _furthest(lines)
    for lab_id in LabDirectory.objects.order_by("lab_id").values_list("lab_id", flat=True):
        with lab_scope(lab_id):
            people = list(Participant.objects.order_by("pk").values_list("pk", "public_id"))
        for pk, public_id in people:
            for known in person_hashes(public_id):
                if known in logged:
                    yield Returned(lab_id=lab_id, participant_id=pk, line=logged[known])


def _furthest(lines: Sequence[Line]) -> Mapping[str, Line]:
    """The line that went furthest, by every name that its person had."""
    by_receipt = {line.receipt: line for line in lines}
    found: dict[str, Line] = {}
    for line in lines:
        before = by_receipt.get(line.follows)
        for name in (line.person, *(() if before is None else (before.person,))):
            known = found.get(name)
            if known is None or _rank(line) > _rank(known):
                found[name] = line
    return found


def _rank(line: Line) -> int:
    return ORDER.index(WithdrawalKind(line.kind))


def erase_again(back: Returned, *, wall: datetime) -> None:
    """As it was asked for then, under the receipt that the person holds. Safe to repeat."""
    with lab_scope(back.lab_id):
        person = Participant.objects.get(pk=back.participant_id)
        asked = person.withdrawals.values_list("kind", flat=True)
        kind = max([WithdrawalKind(back.line.kind), *map(WithdrawalKind, asked)], key=ORDER.index)
        withdrawn = withdraw(person, kind, by=WithdrawnBy.REPLAY, wall=wall)
        # The backup may hold the wish, but not that it was carried out, or the other way round.
        Withdrawal.objects.filter(pk=withdrawn.withdrawal.pk).reopen(code_hash=back.line.receipt)
    erasure.carry_out(back.lab_id, withdrawn.withdrawal.pk, wall=wall)
