import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):
    dependencies = [("experiments", "0006_conclusion")]

    operations = [
        migrations.AddField(
            model_name='participant',
            name='reminders_stopped_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='By the link that every reminder holds.', null=True, verbose_name='reminders stopped (wall time)'),
        ),
        migrations.AddField(
            model_name='study',
            name='reminder_channel',
            field=models.CharField(choices=[('none', 'None'), ('email', 'E-mail, with a calendar entry'), ('webhook', 'Webhook of the study'), ('list', "Today's list, for recruiters that forbid addresses")], default='email', max_length=8, verbose_name='reminders by'),
        ),
        migrations.AddField(
            model_name='study',
            name='webhook_sealed',
            field=models.BinaryField(default=bytes),
        ),
        migrations.AddField(
            model_name='study',
            name='webhook_url',
            field=models.URLField(blank=True, help_text="Gets a signed JSON with participant's code, stage and kind; HTTPS only.", verbose_name='webhook'),
        ),
        migrations.CreateModel(
            name='Extension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('until', models.DateTimeField(verbose_name='until (study time)')),
                ('reason', models.CharField(max_length=200, verbose_name='reason')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='extensions', to='experiments.participant', verbose_name='participant')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
            ],
            options={
                'verbose_name': 'extension',
                'verbose_name_plural': 'extensions',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Reminder',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('stage', 'A stage is open'), ('extended', 'A window was extended'), ('debriefing', 'The debriefing can be read')], default='stage', max_length=10, verbose_name='kind')),
                ('stage_key', models.CharField(blank=True, max_length=20, verbose_name='stage')),
                ('number', models.PositiveSmallIntegerField(verbose_name='number')),
                ('channel', models.CharField(choices=[('none', 'None'), ('email', 'E-mail, with a calendar entry'), ('webhook', 'Webhook of the study'), ('list', "Today's list, for recruiters that forbid addresses")], max_length=8, verbose_name='channel')),
                ('state', models.CharField(choices=[('planned', 'Planned'), ('sending', 'Being sent'), ('sent', 'Sent'), ('simulated', 'Simulated (test run)'), ('expired', 'Expired by rule'), ('unknown', 'Unknown: it may have been sent'), ('failed', 'Failed')], default='planned', max_length=10, verbose_name='state')),
                ('rule', models.CharField(blank=True, choices=[('late', 'Its moment had long passed'), ('overtaken', 'The next one was due as well'), ('stage_over', 'The stage was done or over'), ('not_open', 'The stage was not open any more'), ('talking', 'The participant was in conversation'), ('not_active', 'The participant was not active'), ('paused', 'The participant was paused'), ('stopped', 'The participant wanted no reminders'), ('no_address', 'There was no address')], max_length=10, verbose_name='rule')),
                ('failure', models.CharField(blank=True, max_length=60, verbose_name='failure')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('due_at', models.DateTimeField(verbose_name='due (study time)')),
                ('sending_at', models.DateTimeField(null=True, verbose_name='sending began (wall time)')),
                ('settled_at', models.DateTimeField(null=True, verbose_name='settled (wall time)')),
                ('sent_at', models.DateTimeField(null=True, verbose_name='sent (study time)')),
                ('told_opens_at', models.DateTimeField(editable=False, null=True)),
                ('told_closes_at', models.DateTimeField(editable=False, null=True)),
                ('sequence', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reminders', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'reminder',
                'verbose_name_plural': 'reminders',
                'ordering': ['-due_at'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'kind', 'stage_key', 'number', 'channel'), name='one_reminder_of_a_number')],
            },
        ),
        migrations.CreateModel(
            name='WindowMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('lost', models.CharField(choices=[('missed', 'Missed: never begun'), ('lapsed', 'Lapsed: begun, not finished in time')], max_length=8, verbose_name='how')),
                ('at', models.DateTimeField(verbose_name='at (study time)')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('lifted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.extension', verbose_name='lifted by')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='window_marks', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'lost stage',
                'verbose_name_plural': 'lost stages',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_by', None)), fields=('lab', 'participant', 'stage_key'), name='one_standing_mark_a_stage')],
            },
        ),
        SecureTenantTables("Extension", "Reminder", "WindowMark"),
    ]
