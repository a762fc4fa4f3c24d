import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0002_tenancy"),
        ("memory", "0003_compression"),
    ]

    operations = [
        migrations.CreateModel(
            name='Belief',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('session_id', models.UUIDField(null=True, verbose_name='session')),
                ('session_number', models.PositiveSmallIntegerField(null=True, verbose_name='session number')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('content', models.CharField(max_length=500, verbose_name='content')),
                ('category', models.CharField(max_length=20, verbose_name='category')),
                ('factual', models.BooleanField(help_text='A fact is corrected at once; a liking is doubted step by step.', verbose_name='factual')),
                ('confidence', models.FloatField(default=1.0, verbose_name='confidence')),
                ('mentions', models.PositiveIntegerField(default=1, verbose_name='mentions')),
                ('accesses', models.PositiveIntegerField(default=0, verbose_name='accesses')),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, verbose_name='messages')),
                ('formed_at', models.DateTimeField(verbose_name='said at (study time)')),
                ('position', models.PositiveSmallIntegerField(help_text='Among the calls of the turn that formed it.', verbose_name='position')),
                ('changed_at', models.DateTimeField(verbose_name='last changed (study time)')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'belief',
                'verbose_name_plural': 'beliefs',
                'ordering': ['formed_at', 'position', 'id'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'participant'], name='belief_of_participant')],
                'constraints': [models.CheckConstraint(condition=models.Q(('confidence__gt', 0), ('confidence__lte', 1)), name='belief_confidence_range')],
            },
        ),
        migrations.CreateModel(
            name='SessionLog',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('session_id', models.UUIDField(verbose_name='session')),
                ('session_number', models.PositiveSmallIntegerField(verbose_name='session number')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('text', models.CharField(max_length=500, verbose_name='text')),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, verbose_name='messages')),
                ('at', models.DateTimeField(verbose_name='session ended (study time)')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'session log',
                'verbose_name_plural': 'session logs',
                'ordering': ['at', 'id'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'session_id'), name='a_session_has_one_log')],
            },
        ),
        SecureTenantTables("Belief", "SessionLog"),
    ]
