import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from memlab.core.tenancy.operations import AppendOnly, SecureTenantTables


class Migration(migrations.Migration):
    dependencies = [("experiments", "0008_withdrawal")]

    operations = [
        migrations.CreateModel(
            name='Deviation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('window_extended', 'A window was extended'), ('paused', 'A participant was paused'), ('resumed', 'A paused participant was let go on'), ('memory_edited', 'A memory was edited'), ('step_restarted', 'A memory step was started again'), ('consolidated', 'A memory was consolidated by hand'), ('resent', 'Something was sent again'), ('model_fallback', 'Another model answered'), ('degraded_turn', 'A turn was degraded'), ('overridden', 'Opened although a launch check fails'), ('amended', 'The study was amended'), ('allocated_by_hand', 'An arm was chosen by hand'), ('withdrawn_by_staff', 'Staff withdrew a participant'), ('session_closed', 'Staff closed a session'), ('other', 'Something else')], max_length=24, verbose_name='kind')),
                ('details', models.JSONField(default=dict, verbose_name='details')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('study_at', models.DateTimeField(null=True, verbose_name='at (study time)')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deviations', to='experiments.participant', verbose_name='participant')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.session', verbose_name='session')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deviations', to='experiments.study', verbose_name='study')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'deviation',
                'verbose_name_plural': 'deviations from the protocol',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'study', 'kind'], name='deviation_of_study')],
            },
        ),
        SecureTenantTables("Deviation"),
        AppendOnly("Deviation"),
    ]
