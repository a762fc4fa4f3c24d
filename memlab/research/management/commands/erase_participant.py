"""``manage.py erase_participant CODE``: erase everything about a participant, at once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from experiments.enums import WithdrawalKind, WithdrawnBy
from experiments.models import LabDirectory, Participant
from memlab.core.clock import wall_now
from memlab.core.erasure_log import ErasureLogError
from memlab.core.tenancy import lab_scope
from memlab.journey.withdrawing import withdraw
from memlab.research import erasure


class Command(BaseCommand):
    help = "Erase everything about a participant. It can't be undone."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("code", help="The participant's code.")
        parser.add_argument("--lab", type=int, help="The lab's id, if several labs have the code.")
        parser.add_argument("--yes", action="store_true", help="Don't ask.")

    def handle(self, *, code: str, lab: int | None, yes: bool, **options: Any) -> None:
        lab_id, participant_id, study = _find(code, lab)
        question = f"Erase everything about {code} of “{study}” in lab {lab_id}? [y/N] "
        if not yes and input(question).strip().lower() not in ("y", "yes"):
            raise CommandError("Nothing was erased.")
        with lab_scope(lab_id):
            person = Participant.objects.get(pk=participant_id)
            withdrawn = withdraw(
                person, WithdrawalKind.ERASE, by=WithdrawnBy.OPERATOR, wall=wall_now()
            )
        try:
            erasure.carry_out(lab_id, withdrawn.withdrawal.pk, wall=wall_now())
        except ErasureLogError as error:
            raise CommandError(str(error)) from None
        self.stdout.write("Erased.")
        if withdrawn.code:
            self.stdout.write(f"The code of the receipt, for the person: {withdrawn.code}")


def _find(code: str, lab: int | None) -> tuple[int, int, str]:
    """(lab, participant, study's title); CommandError with the remedy if it isn't exactly one."""
    labs = LabDirectory.objects.order_by("lab_id").values_list("lab_id", flat=True)
    found = []
    for lab_id in labs if lab is None else [lab]:
        with lab_scope(lab_id):
            people = Participant.objects.filter(code=code.strip().upper(), erased_on=None)
            found += [(lab_id, each.pk, each.study.title) for each in people]
    if not found:
        raise CommandError(f"There is no participant {code}: the code stands on their page.")
    if len(found) > 1:
        where = ", ".join(str(lab_id) for lab_id, *_rest in found)
        raise CommandError(f"Labs {where} have a participant {code}: choose one with --lab.")
    return found[0]
