import django.db.models.deletion
import uuid
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    dependencies = [("chat", "0003_tools"), ("experiments", "0011_pauses")]

    operations = [
        migrations.CreateModel(
            name='AdverseEvent',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('source', models.CharField(choices=[('rule', "the risk screen's rules"), ('model', 'the extraction model'), ('filter', "the provider's content filter"), ('staff', 'staff'), ('participant', 'the participant')], max_length=12, verbose_name='noticed by')),
                ('category', models.CharField(choices=[('self_harm', 'suicide or self-harm'), ('harm_to_others', 'harm to others'), ('abuse', 'abuse or violence suffered'), ('danger', 'acute danger'), ('filtered', "refused by the provider's content filter"), ('other', 'something else')], max_length=16, verbose_name='category')),
                ('severity', models.CharField(choices=[('concern', 'concern'), ('serious', 'serious'), ('acute', 'acute')], max_length=8, verbose_name='severity')),
                ('rule', models.CharField(blank=True, max_length=60, verbose_name='rule')),
                ('state', models.CharField(choices=[('open', 'open'), ('acknowledged', 'acknowledged'), ('closed', 'closed')], default='open', max_length=12, verbose_name='state')),
                ('note', models.TextField(blank=True, verbose_name='note')),
                ('occurred_at', models.DateTimeField(verbose_name='happened (study time)')),
                ('recorded_at', models.DateTimeField(verbose_name='recorded (wall time)')),
                ('acknowledged_at', models.DateTimeField(null=True, verbose_name='acknowledged')),
                ('closed_at', models.DateTimeField(null=True, verbose_name='closed')),
                ('alert', models.CharField(choices=[('none', 'not needed'), ('earlier', 'told with an earlier event'), ('queued', 'waiting to be sent'), ('sending', 'being sent'), ('sent', 'sent'), ('unknown', 'unknown: the process ended while sending'), ('failed', 'could not be sent')], default='none', max_length=8, verbose_name='alert')),
                ('alert_attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('alert_failure', models.CharField(blank=True, help_text='A code, never text.', max_length=60, verbose_name='failure')),
                ('alert_begun_at', models.DateTimeField(editable=False, null=True)),
                ('told_at', models.DateTimeField(null=True, verbose_name='contact told')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('message', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chat.message', verbose_name='message')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adverse_events', to='experiments.participant', verbose_name='participant')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.session', verbose_name='session')),
            ],
            options={
                'verbose_name': 'adverse event',
                'verbose_name_plural': 'adverse events',
                'ordering': ['-recorded_at'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'message', 'source'), name='one_event_a_message_and_source')],
            },
        ),
        migrations.CreateModel(
            name='ModelScreening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('pending', 'pending'), ('done', 'done'), ('failed', 'given up')], default='pending', max_length=8, verbose_name='state')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('failure', models.CharField(blank=True, help_text='A code, never text.', max_length=60, verbose_name='failure')),
                ('finished_at', models.DateTimeField(null=True, verbose_name='finished at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='screenings', to='chat.message', verbose_name='message')),
            ],
            options={
                'verbose_name': 'screening by the model',
                'verbose_name_plural': 'screenings by the model',
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'message'), name='one_screening_a_message')],
            },
        ),
        SecureTenantTables('AdverseEvent', 'ModelScreening'),
    ]
