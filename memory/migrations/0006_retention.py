import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0002_tenancy'),
        ('memory', '0005_homeostasis'),
    ]

    operations = [
        migrations.CreateModel(
            name='RetainedItem',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('session_id', models.UUIDField(verbose_name='session')),
                ('session_number', models.PositiveSmallIntegerField(verbose_name='session number')),
                ('state', models.CharField(choices=[('working', 'Working set'), ('archived', 'Archive')], default='working', max_length=8, verbose_name='state')),
                ('importance', models.FloatField(verbose_name='importance')),
                ('hits', models.PositiveIntegerField(default=0, verbose_name='hits')),
                ('anchor', models.DateTimeField(verbose_name='last access (study time)')),
                ('anchor_turn', models.PositiveIntegerField(verbose_name='last access (turn)')),
                ('archive_at', models.DateTimeField(help_text='When its score reaches the threshold; empty if it never does.', null=True, verbose_name='leaves at (study time)')),
                ('archive_turn', models.PositiveIntegerField(help_text='For arms that count in turns.', null=True, verbose_name='leaves after turn')),
                ('archived_at', models.DateTimeField(null=True, verbose_name='archived at (study time)')),
                ('rehearsals', models.PositiveIntegerField(default=0, verbose_name='rehearsals')),
                ('rehearsed_at', models.DateTimeField(null=True, verbose_name='last offered (study time)')),
                ('encoded_at', models.DateTimeField(verbose_name='said at (study time)')),
                ('embedder', models.CharField(max_length=120, verbose_name='embedder')),
                ('vector', pgvector.django.VectorField()),
                ('text', models.CharField(max_length=200, verbose_name='text')),
                ('keywords', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None, verbose_name='keywords')),
                ('keyword_words', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, editable=False, size=None)),
                ('words', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, editable=False, size=None)),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, verbose_name='messages')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'retained item',
                'verbose_name_plural': 'retained items',
                'ordering': ['encoded_at', 'id'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'participant', 'state'], name='retained_of_participant'), models.Index(condition=models.Q(('state', 'working')), fields=['lab', 'participant', 'archive_at'], name='retained_leaves_at'), models.Index(condition=models.Q(('state', 'working')), fields=['lab', 'participant', 'archive_turn'], name='retained_leaves_after')],
                'constraints': [models.CheckConstraint(condition=models.Q(('importance__gte', 0), ('importance__lte', 1)), name='retained_importance_range'), models.CheckConstraint(condition=models.Q(models.Q(('archived_at__isnull', True), ('state', 'working')), models.Q(('archived_at__isnull', False), ('state', 'archived')), _connector='OR'), name='retained_archived_since')],
            },
        ),
        # As of episodes: a vector in the row itself, however long the texts are.
        migrations.RunSQL(
            'ALTER TABLE "memory_retaineditem" ALTER COLUMN "vector" SET STORAGE MAIN',
            'ALTER TABLE "memory_retaineditem" ALTER COLUMN "vector" SET STORAGE EXTERNAL',
        ),
        SecureTenantTables("RetainedItem"),
    ]
