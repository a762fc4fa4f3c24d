from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("core", "0005_dropped_steps")]

    operations = [
        migrations.AlterField(
            model_name="due",
            name="kind",
            field=models.CharField(
                choices=[
                    ("reply", "reply"),
                    ("session", "session"),
                    ("steps", "memory steps"),
                    ("maintain", "memory maintenance"),
                    ("alert", "safety alert"),
                    ("screen", "risk screening"),
                    ("window", "stage window"),
                    ("reminder", "reminder"),
                    ("withdrawal", "withdrawal"),
                    ("debriefing", "debriefing"),
                ],
                max_length=24,
                verbose_name="kind",
            ),
        ),
    ]
