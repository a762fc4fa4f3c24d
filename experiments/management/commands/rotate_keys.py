"""Encrypt keys and identifiers anew with the newest of MEMLAB_SECRET_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand

from experiments.models import Identifier, LabDirectory, ProviderKey
from memlab.core.tenancy import lab_scope


class Command(BaseCommand):
    help = "Encrypt all provider keys and participants' identifiers with the newest secret."

    def handle(self, *args: Any, **options: Any) -> None:
        keys = identifiers = 0
        for lab_id in LabDirectory.objects.values_list("lab_id", flat=True):
            with lab_scope(lab_id):
                keys += ProviderKey.objects.all().rotate()
                identifiers += Identifier.objects.all().rotate()
        self.stdout.write(
            f"{keys} keys and {identifiers} identifiers are encrypted with the newest secret."
        )
