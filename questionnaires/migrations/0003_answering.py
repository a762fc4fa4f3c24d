from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("questionnaires", "0002_versions")]

    operations = [
        migrations.AddField(
            model_name="response",
            name="revision",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="Counts the pages that were saved."
            ),
        ),
    ]
