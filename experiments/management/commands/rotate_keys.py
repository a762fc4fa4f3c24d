"""Encrypt every provider key anew with the newest of MEMLAB_SECRET_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand

from experiments.models import LabDirectory, ProviderKey
from memlab.core.tenancy import lab_scope


class Command(BaseCommand):
    help = "Encrypt all provider keys with the newest secret; then older ones can be removed."

    def handle(self, *args: Any, **options: Any) -> None:
        changed = 0
        for lab_id in LabDirectory.objects.values_list("lab_id", flat=True):
            with lab_scope(lab_id):
                changed += ProviderKey.objects.all().rotate()
        self.stdout.write(f"{changed} keys are encrypted with the newest secret.")
