import django.core.validators
import django.db.models.deletion
import experiments.models.recruiter
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.operations import SecureForeignKeys, SecureTenantTables


def note_links(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Links from before the labs' own list are listed without a label."""
    studies = apps.get_model("experiments", "Study")
    notes = apps.get_model("experiments", "IssuedLink")
    for link in apps.get_model("experiments", "EntryLink").objects.order_by("pk"):
        with lab_scope(link.lab_id):
            if studies.objects.filter(pk=link.study_id).exists():
                notes.objects.create(lab_id=link.lab_id, link=link, study_id=link.study_id)



class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0004_rules_of_a_study'),
    ]

    operations = [
        migrations.CreateModel(
            name='FailedReturn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64, unique=True)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('since', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='ReturnKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code_digest', models.CharField(db_index=True, max_length=64)),
                ('lab_id', models.BigIntegerField()),
                ('participant', models.UUIDField(unique=True)),
            ],
        ),
        migrations.AddField(
            model_name='allocation',
            name='drawn_from',
            field=models.JSONField(default=dict, help_text='Weights, and under minimisation what each arm would have meant.', verbose_name='drawn from'),
        ),
        migrations.AddField(
            model_name='allocation',
            name='method',
            field=models.CharField(choices=[('blocks', 'Permuted blocks of random size, in strata'), ('simple', 'Simple: every draw by the weights alone'), ('minimisation', "Minimisation (Pocock and Simon) over the strata's factors")], default='blocks', max_length=12, verbose_name='method'),
        ),
        migrations.AddField(
            model_name='entrylink',
            name='expires_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='entrylink',
            name='participant',
            field=models.UUIDField(help_text='Public id of whom a personal link brings.', null=True),
        ),
        migrations.AddField(
            model_name='entrylink',
            name='recruiter_id',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='participant',
            name='code_seen_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='saw their code'),
        ),
        migrations.AddField(
            model_name='participant',
            name='contact_asked_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='asked for an address'),
        ),
        migrations.AddField(
            model_name='participant',
            name='exclusion',
            field=models.CharField(blank=True, choices=[('age', 'Below the minimum age'), ('earlier', 'Took part in an earlier study'), ('erased', 'Had their data erased'), ('screening', 'Screened out by an answer'), ('participation', 'Declined to take part'), ('sensitive', 'Declined consent to sensitive data'), ('abroad', 'Declined consent to transfer abroad')], editable=False, max_length=16, verbose_name='why not in the study'),
        ),
        migrations.AddField(
            model_name='participant',
            name='of_age_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='said to be old enough'),
        ),
        migrations.AddField(
            model_name='participant',
            name='read_version',
            field=models.ForeignKey(editable=False, help_text='Whose information sheet was read.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.studyversion', verbose_name='version read'),
        ),
        migrations.AddField(
            model_name='providerkey',
            name='region',
            field=models.CharField(blank=True, help_text="Shown in the information sheet, e.g. DeepSeek, China. Empty: the server's name.", max_length=120, verbose_name='operator and region'),
        ),
        migrations.AddField(
            model_name='study',
            name='allocation_method',
            field=models.CharField(choices=[('blocks', 'Permuted blocks of random size, in strata'), ('simple', 'Simple: every draw by the weights alone'), ('minimisation', "Minimisation (Pocock and Simon) over the strata's factors")], default='blocks', max_length=12, verbose_name='method of allocation'),
        ),
        migrations.AddField(
            model_name='study',
            name='minimisation_probability',
            field=models.FloatField(default=0.8, help_text='Under minimisation. At 1 whoever knows the earlier ones knows the next arm.', validators=[django.core.validators.MinValueValidator(0.5), django.core.validators.MaxValueValidator(1)], verbose_name='probability of the preferred arm'),
        ),
        migrations.AddField(
            model_name='study',
            name='screen_out',
            field=models.JSONField(blank=True, default=list, help_text='Answers with which nobody takes part: [{"source": "screening:age_group", "operator": "in", "value": [1, 5]}]', verbose_name='screened out'),
        ),
        migrations.AlterField(
            model_name='allocation',
            name='stratum',
            field=models.CharField(max_length=200, verbose_name='stratum'),
        ),
        migrations.AlterField(
            model_name='allocationcounter',
            name='stratum',
            field=models.CharField(max_length=200, verbose_name='stratum'),
        ),
        migrations.AlterField(
            model_name='study',
            name='strata',
            field=models.JSONField(blank=True, default=list, help_text='Answers or scores by which allocation is balanced, at most four: [{"name": "age", "source": "screening:age_group", "levels": {"young": [1, 2], "old": [3]}}, {"name": "trust", "source": "baseline:score:trust", "cuts": [3.5]}]', verbose_name='strata'),
        ),
        migrations.CreateModel(
            name='Recruiter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('prolific', 'Prolific'), ('sona', 'SONA'), ('other', 'Another recruiter')], default='prolific', max_length=8, verbose_name='recruiter')),
                ('name', models.CharField(blank=True, help_text='Of another recruiter, e.g. Credamo.', max_length=40, verbose_name='name')),
                ('person_parameter', models.CharField(blank=True, help_text='Empty: as the recruiter usually calls it.', max_length=40, verbose_name='parameter of the person')),
                ('study_parameter', models.CharField(blank=True, max_length=40, verbose_name="parameter of the recruiter's study")),
                ('session_parameter', models.CharField(blank=True, max_length=40, verbose_name='parameter of the submission')),
                ('expected_study', models.CharField(blank=True, help_text='Whoever comes with another one is turned away. Empty: not checked.', max_length=100, verbose_name="the recruiter's id of this study")),
                ('forbids_email', models.BooleanField(default=True, help_text='Nobody who comes from here is asked for an e-mail address.', verbose_name='forbids addresses')),
                ('token', models.CharField(default=experiments.models.recruiter._token, editable=False, max_length=32)),
                ('test_token', models.CharField(default=experiments.models.recruiter._token, editable=False, max_length=32)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('stage', models.ForeignKey(blank=True, help_text="For a recruiter's study of one stage alone; it leads the same people on.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='recruiters', to='experiments.stage', verbose_name='stage')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruiters', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'recruiter',
                'verbose_name_plural': 'recruiters',
                'ordering': ['pk'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.AddField(
            model_name='participant',
            name='recruiter',
            field=models.ForeignKey(blank=True, editable=False, help_text='Who sent them; empty: nobody.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='participants', to='experiments.recruiter', verbose_name='recruiter'),
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('email', 'E-mail address'), ('prolific', 'Prolific id'), ('sona', 'SONA code'), ('other', 'Id of another recruiter'), ('code', "Code of the lab's own")], max_length=8, verbose_name='kind')),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('laid_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'tombstone',
                'verbose_name_plural': 'tombstones',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='Identifier',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('test_mode', models.BooleanField(default=False, verbose_name='test run')),
                ('kind', models.CharField(choices=[('email', 'E-mail address'), ('prolific', 'Prolific id'), ('sona', 'SONA code'), ('other', 'Id of another recruiter'), ('code', "Code of the lab's own")], max_length=8, verbose_name='kind')),
                ('source', models.CharField(blank=True, max_length=40, verbose_name='recruiter')),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('sealed', models.BinaryField()),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='identifiers', to='experiments.participant', verbose_name='participant')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'identifier',
                'verbose_name_plural': 'identifiers',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['lab', 'kind', 'digest'], name='identifier_by_digest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'email'), _negated=True), fields=('lab', 'study', 'test_mode', 'kind', 'digest'), name='one_participant_an_identifier'), models.UniqueConstraint(fields=('lab', 'participant', 'kind', 'source'), name='one_identifier_of_a_kind')],
            },
        ),
        migrations.CreateModel(
            name='IssuedLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(blank=True, max_length=80, verbose_name='label')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.entrylink', verbose_name='link')),
                ('participant', models.ForeignKey(help_text='Whom a personal link brings; empty for an open one.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='issued_links', to='experiments.participant', verbose_name='participant')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='issued_links', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'entry link',
                'verbose_name_plural': 'entry links',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'link'), name='one_note_of_a_link')],
            },
        ),
        migrations.AddConstraint(
            model_name='recruiter',
            constraint=models.UniqueConstraint(fields=('lab', 'token'), name='recruiter_token'),
        ),
        migrations.AddConstraint(
            model_name='recruiter',
            constraint=models.UniqueConstraint(fields=('lab', 'test_token'), name='recruiter_test_token'),
        ),
        migrations.AddConstraint(
            model_name='tombstone',
            constraint=models.UniqueConstraint(fields=('lab', 'study', 'kind', 'digest'), name='one_tombstone_a_digest'),
        ),
        SecureTenantTables("Recruiter", "Tombstone", "Identifier", "IssuedLink"),
        SecureForeignKeys("Participant", "recruiter", "read_version"),
        migrations.RunPython(note_links, migrations.RunPython.noop),
    ]
