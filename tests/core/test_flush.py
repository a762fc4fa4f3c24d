"""The tests' own flush leaves nothing of a lab behind, whatever protects it."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import call_command

from experiments.enums import AuditAction
from experiments.models import AuditEntry, Lab, LabDirectory
from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.operations import is_tenant
from tests.studies import enrol, make_study


@pytest.mark.django_db(transaction=True)
def test_flush_empties_every_table_of_a_lab() -> None:
    lab = Lab.objects.found(name="Soon gone")
    enrol(make_study(lab), arm="hybrid")
    with lab_scope(lab.pk):
        AuditEntry.objects.record(AuditAction.ADD)
    call_command("flush", verbosity=0, interactive=False)
    with lab_scope(lab.pk):
        left = {
            model._meta.label: model._default_manager.count()
            for model in apps.get_models()
            if is_tenant(model)
        }
        assert {label for label, rows in left.items() if rows} == set()
        assert not Lab.objects.exists()
    assert len(left) > 30
    assert not LabDirectory.objects.exists()
