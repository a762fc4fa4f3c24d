"""Labs are kept apart by the database itself."""

from django.db import migrations

from memlab.core.tenancy.operations import AppendOnly, SecureTenantTables


class Migration(migrations.Migration):
    dependencies = [("experiments", "0001_initial")]

    operations = [
        SecureTenantTables("Lab", column="id"),
        SecureTenantTables(
            "AuditEntry",
            "ProviderKey",
            "LabCalibration",
            "Study",
            "Arm",
            "Stage",
            "StudyVersion",
            "Participant",
            "Consent",
            "AllocationCounter",
            "Allocation",
            "Session",
        ),
        AppendOnly("AuditEntry"),
    ]
