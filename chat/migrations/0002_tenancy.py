"""Labs are kept apart by the database itself."""

from django.db import migrations

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):
    dependencies = [("chat", "0001_initial"), ("experiments", "0002_tenancy")]

    operations = [SecureTenantTables("Message", "Reply", "Receipt")]
