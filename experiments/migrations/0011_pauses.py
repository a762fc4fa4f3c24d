import datetime

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0010_launch")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="paused_at",
            field=models.DateTimeField(
                editable=False,
                help_text="Nothing can be said, and nothing closes it by itself, until it goes on.",
                null=True,
                verbose_name="paused (study time)",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="stood_still",
            field=models.DurationField(
                default=datetime.timedelta,
                editable=False,
                help_text="How long it was paused: its times are put off by as much.",
                verbose_name="stood still",
            ),
        ),
    ]
