from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "0006_retention")]

    operations: list[migrations.operations.base.Operation] = []
