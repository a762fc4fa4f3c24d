from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "0004_confidence")]

    operations: list[migrations.operations.base.Operation] = []
