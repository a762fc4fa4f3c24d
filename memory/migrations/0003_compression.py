from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_more_kinds")]

    operations = [
        migrations.AddField(
            model_name="memoryevent",
            name="note",
            field=models.JSONField(
                default=dict,
                help_text="What led to it; no part of the memory's state.",
                verbose_name="note",
            ),
        ),
    ]
