import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django
import uuid
from django.db import migrations, models

from memlab.core.tenancy.operations import AppendOnly, SecureTenantTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('experiments', '0002_tenancy'),
    ]

    operations = [
        pgvector.django.VectorExtension(),
        migrations.CreateModel(
            name='ConsolidationRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.UUIDField(help_text="Of a turn, the reply's id.", verbose_name='session or turn')),
                ('part', models.CharField(choices=[('episodes', 'Episodes'), ('profile', 'Profile')], max_length=12, verbose_name='part')),
                ('written', models.JSONField(default=dict, help_text='Rows, by kind.', verbose_name='written')),
                ('dropped', models.JSONField(default=dict, help_text="Refused items of the model's answer, by reason.", verbose_name='dropped')),
                ('study_at', models.DateTimeField(verbose_name='at (study time)')),
                ('wall_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'consolidation run',
                'verbose_name_plural': 'consolidation runs',
                'ordering': ['pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'subject', 'part'), name='a_part_is_consolidated_once')],
            },
        ),
        migrations.CreateModel(
            name='Episode',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
                ('session_id', models.UUIDField(verbose_name='session')),
                ('session_number', models.PositiveSmallIntegerField(verbose_name='session number')),
                ('recallable_until', models.DateTimeField(help_text='Later than this not even a perfect cue would bring it back.', verbose_name='recallable until (study time)')),
                ('anchor', models.DateTimeField(verbose_name='last recalled or encoded (study time)')),
                ('g', models.FloatField(verbose_name='consolidation g')),
                ('salience', models.FloatField(verbose_name='emotional salience')),
                ('encoded_at', models.DateTimeField(verbose_name='said at (study time)')),
                ('recall_count', models.PositiveIntegerField(default=0, verbose_name='recalls')),
                ('importance', models.FloatField(verbose_name='importance')),
                ('intensity', models.FloatField(verbose_name='emotional intensity')),
                ('self_disclosure', models.FloatField(verbose_name='self-disclosure')),
                ('value_relevance', models.FloatField(verbose_name='value relevance')),
                ('ends_with', models.UUIDField(verbose_name='last message')),
                ('embedder', models.CharField(max_length=120, verbose_name='embedder')),
                ('vector', pgvector.django.VectorField()),
                ('text', models.TextField(verbose_name='text')),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, verbose_name='messages')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('form', models.CharField(max_length=24, verbose_name='encoded from')),
                ('last_recalled_at', models.DateTimeField(null=True, verbose_name='last recalled (study time)')),
            ],
            options={
                'verbose_name': 'episode',
                'verbose_name_plural': 'episodes',
                'ordering': ['encoded_at', 'id'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'participant', 'recallable_until'], name='episode_recallable')],
                'constraints': [models.CheckConstraint(condition=models.Q(('g__gt', 0)), name='episode_g_above_zero'), models.CheckConstraint(condition=models.Q(('salience__gte', 0), ('salience__lte', 1)), name='episode_salience_range')],
            },
        ),
        migrations.CreateModel(
            name='MemoryEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('event', models.CharField(choices=[('encoded', 'Encoded'), ('recalled', 'Recalled and strengthened')], max_length=20, verbose_name='event')),
                ('memory_kind', models.CharField(choices=[('episode', 'Episode'), ('trait', 'Trait of the profile')], max_length=20, verbose_name='kind of memory')),
                ('memory_id', models.UUIDField(verbose_name='memory')),
                ('before', models.JSONField(null=True, verbose_name='before')),
                ('after', models.JSONField(null=True, verbose_name='after')),
                ('cause', models.CharField(choices=[('consolidation', 'Consolidation of a session'), ('recall', 'Recall by a reply')], max_length=20, verbose_name='cause')),
                ('session_id', models.UUIDField(null=True, verbose_name='session')),
                ('reply_id', models.UUIDField(null=True, verbose_name='reply')),
                ('study_at', models.DateTimeField(verbose_name='at (study time)')),
                ('wall_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'memory event',
                'verbose_name_plural': 'memory events',
                'ordering': ['pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'participant', 'id'], name='event_of_participant'), models.Index(fields=['lab', 'memory_id', 'id'], name='event_of_memory')],
                'constraints': [models.UniqueConstraint(fields=('lab', 'public_id'), name='memory_event_public_id'), models.UniqueConstraint(condition=models.Q(('reply_id__isnull', False)), fields=('lab', 'reply_id', 'memory_id', 'event'), name='a_reply_changes_a_memory_once')],
            },
        ),
        migrations.CreateModel(
            name='Trait',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('session_id', models.UUIDField(verbose_name='session')),
                ('session_number', models.PositiveSmallIntegerField(verbose_name='session number')),
                ('dimension', models.CharField(choices=[('basic_info', 'Basic information'), ('preferences', 'Preferences'), ('constraints', 'Constraints'), ('goals', 'Goals'), ('personality', 'Personality'), ('social', 'Social life'), ('emotional_needs', 'Emotional needs'), ('core_values', 'Core values'), ('significant_events', 'Significant events')], max_length=20, verbose_name='dimension')),
                ('key', models.CharField(blank=True, help_text='For basic information, e.g. occupation.', max_length=60, verbose_name='key')),
                ('text', models.CharField(max_length=200, verbose_name='text')),
                ('normalised', models.CharField(editable=False, max_length=400)),
                ('emotion', models.CharField(blank=True, max_length=40, verbose_name='emotion')),
                ('salience', models.FloatField(verbose_name='emotional salience')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('message_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, verbose_name='messages')),
                ('learned_at', models.DateTimeField(verbose_name='said at (study time)')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'trait',
                'verbose_name_plural': 'traits',
                'ordering': ['learned_at', 'id'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'dimension', 'normalised'), name='a_trait_is_known_once')],
            },
        ),
        # A vector of 1.5 kB would make rows with a longer text move it out of line, and every
        # distance fetch it from there. MAIN keeps it in the row as long as the row fits a page.
        migrations.RunSQL(
            'ALTER TABLE "memory_episode" ALTER COLUMN "vector" SET STORAGE MAIN',
            'ALTER TABLE "memory_episode" ALTER COLUMN "vector" SET STORAGE EXTERNAL',
        ),
        SecureTenantTables("ConsolidationRun", "Episode", "MemoryEvent", "Trait"),
        AppendOnly("MemoryEvent"),
    ]
