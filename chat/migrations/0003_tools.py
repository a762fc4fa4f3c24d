from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0002_tenancy")]

    operations = [
        migrations.AddField(
            model_name="receipt",
            name="rounds",
            field=models.PositiveSmallIntegerField(
                default=1,
                help_text="How often the model was asked, repetitions apart: more if it called tools.",
                verbose_name="rounds",
            ),
        ),
        migrations.AddField(
            model_name="receipt",
            name="tools",
            field=models.JSONField(default=list, verbose_name="tool calls"),
        ),
    ]
