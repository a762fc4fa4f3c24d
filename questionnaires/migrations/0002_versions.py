from django.db import migrations, models
from django.db.models import Q

from memlab.core.tenancy.operations import AppendOnly


class Migration(migrations.Migration):
    dependencies = [("questionnaires", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="instrument",
            name="licence",
            field=models.TextField(blank=True, help_text="Whose wording it is, and where it is to be had. Participants don't see it.", verbose_name="licence"),
        ),
        migrations.AddConstraint(
            model_name="placement",
            constraint=models.CheckConstraint(
                condition=Q(moment__in=["before", "after"], stage__isnull=False)
                | (~Q(moment__in=["before", "after"]) & Q(stage__isnull=True)),
                name="stage_where_the_moment_has_one",
            ),
        ),
        AppendOnly("InstrumentVersion"),
    ]
