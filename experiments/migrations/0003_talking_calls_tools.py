from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0002_tenancy")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="talking_calls_tools",
            field=models.BooleanField(
                default=True,
                help_text="Off for a server that has no function calling. A memory with tools then learns from each turn after its reply.",
                verbose_name="talking model calls tools",
            ),
        ),
    ]
