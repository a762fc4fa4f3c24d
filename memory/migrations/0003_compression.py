import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0002_tenancy'),
        ('memory', '0002_more_kinds'),
    ]

    operations = [
        migrations.AddField(
            model_name='memoryevent',
            name='note',
            field=models.JSONField(default=dict, help_text="What led to it; no part of the memory's state.", verbose_name='note'),
        ),
        migrations.CreateModel(
            name='Compressible',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('session_id', models.UUIDField(verbose_name='session')),
                ('session_number', models.PositiveSmallIntegerField(verbose_name='session number')),
                ('due_at', models.DateTimeField(help_text='When it is next compressed, or at once after an edit. Empty: never.', null=True, verbose_name='next due (study time)')),
                ('activated_at', models.DateTimeField(verbose_name='last activated (study time)')),
                ('weighed_at', models.DateTimeField(verbose_name='weighed (study time)')),
                ('weight', models.FloatField(default=1.0, verbose_name='weight when weighed')),
                ('encoded_at', models.DateTimeField(verbose_name='first said (study time)')),
                ('mentions', models.PositiveIntegerField(default=0, verbose_name='mentions')),
                ('revision', models.PositiveIntegerField(default=0, verbose_name='revision')),
                ('level', models.CharField(choices=[('full', 'Full text'), ('summary', 'Summary'), ('tag', 'Tags'), ('trace', 'Trace'), ('archive', 'Archived')], default='full', max_length=8, verbose_name='level')),
                ('embedder', models.CharField(max_length=120, verbose_name='embedder')),
                ('vector', pgvector.django.VectorField()),
                ('text', models.TextField(verbose_name='text')),
                ('topic', models.CharField(blank=True, max_length=40, verbose_name='topic')),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), size=None, verbose_name='tags')),
                ('words', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), editable=False, size=None)),
                ('unembedded', models.TextField(blank=True, help_text='What staff wrote and no vector is made of.', verbose_name='not yet embedded')),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, verbose_name='messages')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('language', models.CharField(max_length=8, verbose_name='language')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'memory that compresses',
                'verbose_name_plural': 'memories that compress',
                'ordering': ['encoded_at', 'id'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'participant', 'due_at'], name='compressible_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('weight__gte', 0), ('weight__lte', 1)), name='compressible_weight_range')],
            },
        ),
        # As with episodes: the vector stays in the row, where a scan reaches it.
        migrations.RunSQL(
            'ALTER TABLE "memory_compressible" ALTER COLUMN "vector" SET STORAGE MAIN',
            'ALTER TABLE "memory_compressible" ALTER COLUMN "vector" SET STORAGE EXTERNAL',
        ),
        SecureTenantTables("Compressible"),
    ]
