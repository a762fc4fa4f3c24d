from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "0003_compression")]

    operations: list[migrations.operations.base.Operation] = []
