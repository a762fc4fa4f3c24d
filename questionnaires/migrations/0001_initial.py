import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('experiments', '0004_rules_of_a_study'),
    ]

    operations = [
        migrations.CreateModel(
            name='Instrument',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.SlugField(max_length=40, verbose_name='key')),
                ('title_en', models.CharField(blank=True, max_length=200, verbose_name='title (English)')),
                ('title_zh', models.CharField(blank=True, max_length=200, verbose_name='title (Chinese)')),
                ('introduction_en', models.TextField(blank=True, verbose_name='introduction (English)')),
                ('introduction_zh', models.TextField(blank=True, verbose_name='introduction (Chinese)')),
                ('citation', models.TextField(blank=True, help_text='The scale that this is, or that it stands for.', verbose_name='citation')),
                ('validated', models.BooleanField(default=False, help_text='Off for wording of your own: a study that asks it opens only by override.', verbose_name='validated')),
                ('randomised', models.BooleanField(default=False, help_text='Of the items within their page.', verbose_name='random order')),
                ('score', models.CharField(choices=[('mean', 'Mean'), ('sum', 'Sum')], default='mean', max_length=4, verbose_name='score')),
                ('missing', models.CharField(choices=[('none', 'No score if any is missing'), ('share', 'Mean of those answered, from a share of them on')], default='none', max_length=5, verbose_name='missing answers')),
                ('missing_share', models.FloatField(default=0.75, validators=[django.core.validators.MinValueValidator(0.01), django.core.validators.MaxValueValidator(1)], verbose_name='share that must be answered')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
            ],
            options={
                'verbose_name': 'instrument',
                'verbose_name_plural': 'instruments',
                'ordering': ['key'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='InstrumentVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(verbose_name='number')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('content_json', models.JSONField(verbose_name='content')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('instrument', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='questionnaires.instrument', verbose_name='instrument')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
            ],
            options={
                'verbose_name': 'version of an instrument',
                'verbose_name_plural': 'versions of instruments',
                'ordering': ['-number'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(verbose_name='position')),
                ('page', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)], verbose_name='page')),
                ('code', models.SlugField(max_length=40, verbose_name='code')),
                ('type', models.CharField(choices=[('likert', 'Likert'), ('single', 'One of several'), ('multiple', 'Several of several'), ('slider', 'Slider'), ('differential', 'Semantic differential'), ('picture', 'Picture scale (IOS)'), ('number', 'Number'), ('text', 'Text'), ('date', 'Date')], max_length=12, verbose_name='type')),
                ('text_en', models.TextField(blank=True, verbose_name='text (English)')),
                ('text_zh', models.TextField(blank=True, verbose_name='text (Chinese)')),
                ('minimum', models.FloatField(blank=True, null=True, verbose_name='minimum')),
                ('maximum', models.FloatField(blank=True, null=True, verbose_name='maximum')),
                ('step', models.FloatField(blank=True, null=True, verbose_name='step')),
                ('low_en', models.CharField(blank=True, max_length=120, verbose_name='low end (English)')),
                ('low_zh', models.CharField(blank=True, max_length=120, verbose_name='low end (Chinese)')),
                ('high_en', models.CharField(blank=True, max_length=120, verbose_name='high end (English)')),
                ('high_zh', models.CharField(blank=True, max_length=120, verbose_name='high end (Chinese)')),
                ('options', models.JSONField(blank=True, default=list, help_text='[{"value": 1, "en": "never", "zh": "从不"}, …]', verbose_name='options')),
                ('reverse', models.BooleanField(default=False, verbose_name='reverse')),
                ('subscale', models.SlugField(blank=True, max_length=40, verbose_name='subscale')),
                ('required', models.BooleanField(default=True, verbose_name='required')),
                ('expected', models.FloatField(blank=True, help_text='Makes it an attention check, which is in no score.', null=True, verbose_name='expected answer')),
                ('condition', models.CharField(blank=True, help_text='E.g. mood_1 >= 4 or pet in 1, 3: an earlier item of this instrument.', max_length=200, verbose_name='condition')),
                ('instrument', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='questionnaires.instrument', verbose_name='instrument')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
            ],
            options={
                'verbose_name': 'item',
                'verbose_name_plural': 'items',
                'ordering': ['position'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Placement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('moment', models.CharField(choices=[('screening', 'Screening'), ('baseline', 'Before the first stage'), ('before', "Before a stage's conversation"), ('after', "After a stage's conversation"), ('debriefing', 'With the debriefing')], max_length=12, verbose_name='when')),
                ('position', models.PositiveSmallIntegerField(default=1, verbose_name='position')),
                ('external_url', models.URLField(blank=True, help_text='Instead of an instrument: an address that leads back with a signature.', verbose_name='external survey')),
                ('half', models.BooleanField(default=False, help_text='Asking is itself an intervention: the other half is never asked.', verbose_name='a random half only')),
                ('instrument', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='placements', to='questionnaires.instrument', verbose_name='instrument')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('stage', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='experiments.stage', verbose_name='stage')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='placements', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'questionnaire of a study',
                'verbose_name_plural': 'questionnaires of a study',
                'ordering': ['stage__number', 'moment', 'position'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Response',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('moment', models.CharField(choices=[('screening', 'Screening'), ('baseline', 'Before the first stage'), ('before', "Before a stage's conversation"), ('after', "After a stage's conversation"), ('debriefing', 'With the debriefing')], max_length=12, verbose_name='when')),
                ('stage_key', models.CharField(blank=True, max_length=20, verbose_name='stage')),
                ('position', models.PositiveSmallIntegerField(verbose_name='position')),
                ('state', models.CharField(choices=[('open', 'Open'), ('complete', 'Complete'), ('expired', 'Expired')], default='open', max_length=8, verbose_name='state')),
                ('seed', models.CharField(editable=False, help_text='Orders the items where order is random.', max_length=32)),
                ('page', models.PositiveSmallIntegerField(default=1, verbose_name='page')),
                ('started_at', models.DateTimeField(verbose_name='started (study time)')),
                ('completed_at', models.DateTimeField(null=True, verbose_name='completed (study time)')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('attention_failures', models.PositiveSmallIntegerField(editable=False, null=True, verbose_name='attention checks failed')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='experiments.participant', verbose_name='participant')),
                ('version', models.ForeignKey(help_text='Empty for an external survey.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='questionnaires.instrumentversion', verbose_name='version of the instrument')),
            ],
            options={
                'verbose_name': 'response',
                'verbose_name_plural': 'responses',
                'ordering': ['started_at'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Answer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.CharField(max_length=40, verbose_name='item')),
                ('raw', models.JSONField(null=True, verbose_name='answer')),
                ('value', models.FloatField(null=True, verbose_name='value')),
                ('scored', models.FloatField(null=True, verbose_name='value after reversing')),
                ('missing', models.CharField(blank=True, choices=[('skipped', 'Skipped'), ('not_shown', 'Not shown'), ('timed_out', 'Timed out')], max_length=9, verbose_name='missing')),
                ('shown_position', models.PositiveSmallIntegerField(help_text='Within the questionnaire, from 1.', null=True, verbose_name='shown as number')),
                ('page', models.PositiveSmallIntegerField(verbose_name='page')),
                ('page_seconds', models.FloatField(null=True, verbose_name='seconds on the page')),
                ('answered_at', models.DateTimeField(verbose_name='answered (study time)')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('response', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='questionnaires.response', verbose_name='response')),
            ],
            options={
                'verbose_name': 'answer',
                'verbose_name_plural': 'answers',
                'ordering': ['response', 'shown_position'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Score',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subscale', models.CharField(blank=True, max_length=40, verbose_name='subscale')),
                ('value', models.FloatField(null=True, verbose_name='value')),
                ('answered', models.PositiveSmallIntegerField(verbose_name='items answered')),
                ('items', models.PositiveSmallIntegerField(verbose_name='items')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('response', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scores', to='questionnaires.response', verbose_name='response')),
            ],
            options={
                'verbose_name': 'score',
                'verbose_name_plural': 'scores',
                'ordering': ['response', 'subscale'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.AddConstraint(
            model_name='instrument',
            constraint=models.UniqueConstraint(fields=('lab', 'key'), name='instrument_key_in_lab'),
        ),
        migrations.AddConstraint(
            model_name='instrumentversion',
            constraint=models.UniqueConstraint(fields=('lab', 'instrument', 'number'), name='instrument_version_number'),
        ),
        migrations.AddConstraint(
            model_name='instrumentversion',
            constraint=models.UniqueConstraint(fields=('lab', 'instrument', 'sha256'), name='instrument_version_content'),
        ),
        migrations.AddConstraint(
            model_name='item',
            constraint=models.UniqueConstraint(fields=('lab', 'instrument', 'code'), name='item_code_in_instrument'),
        ),
        migrations.AddConstraint(
            model_name='placement',
            constraint=models.UniqueConstraint(fields=('lab', 'study', 'moment', 'stage', 'position'), name='one_questionnaire_a_place', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='placement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('external_url', ''), ('instrument__isnull', False)), models.Q(('instrument__isnull', True), models.Q(('external_url', ''), _negated=True)), _connector='OR'), name='instrument_or_external_survey'),
        ),
        migrations.AddConstraint(
            model_name='response',
            constraint=models.UniqueConstraint(fields=('lab', 'participant', 'moment', 'stage_key', 'position'), name='one_response_a_place'),
        ),
        migrations.AddConstraint(
            model_name='answer',
            constraint=models.UniqueConstraint(fields=('lab', 'response', 'item'), name='one_answer_an_item'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.UniqueConstraint(fields=('lab', 'response', 'subscale'), name='one_score_a_subscale'),
        ),
        SecureTenantTables(
            "Instrument", "Item", "InstrumentVersion", "Placement", "Response", "Answer", "Score"
        ),
    ]
