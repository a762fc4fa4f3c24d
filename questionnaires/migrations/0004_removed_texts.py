
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('questionnaires', '0003_answering'),
    ]

    operations = [
        migrations.AlterField(
            model_name='answer',
            name='missing',
            field=models.CharField(blank=True, choices=[('skipped', 'Skipped'), ('not_shown', 'Not shown'), ('timed_out', 'Timed out'), ('removed', "Removed at the participant's wish")], max_length=9, verbose_name='missing'),
        ),
    ]
