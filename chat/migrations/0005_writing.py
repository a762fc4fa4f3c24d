import django.db.models.deletion
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    dependencies = [("chat", "0004_safety"), ("experiments", "0011_pauses")]

    operations = [
        migrations.CreateModel(
            name='Writing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('typing_ms', models.PositiveIntegerField(help_text='Pauses of more than two seconds are left out.', verbose_name='time typing, ms')),
                ('pastes', models.PositiveSmallIntegerField(verbose_name='times pasted')),
                ('pasted_characters', models.PositiveIntegerField(verbose_name='characters pasted')),
                ('departures', models.PositiveSmallIntegerField(verbose_name='times away from the page')),
                ('away_ms', models.PositiveIntegerField(verbose_name='time away from the page, ms')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='writings', to='chat.message', verbose_name='message')),
            ],
            options={
                'verbose_name': 'writing of a message',
                'verbose_name_plural': 'writing of messages',
                'ordering': ['message'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'message'), name='one_writing_a_message')],
            },
        ),
        SecureTenantTables('Writing'),
    ]
