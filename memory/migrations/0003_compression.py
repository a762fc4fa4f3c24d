from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_more_kinds")]

    operations: list[migrations.operations.base.Operation] = []
