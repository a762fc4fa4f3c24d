import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    dependencies = [
        ("experiments", "0005_entry"),
    ]

    operations = [
        migrations.CreateModel(
            name='CompletionCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome', models.CharField(choices=[('complete', 'Complete'), ('screened_out', 'Screened out'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn'), ('technical', 'Technical problem')], max_length=12, verbose_name='outcome')),
                ('code', models.CharField(max_length=64, verbose_name='completion code')),
                ('return_url', models.CharField(blank=True, help_text='Where the participant goes back to; {code} stands for the code.', max_length=500, verbose_name='return address')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('stage', models.ForeignKey(blank=True, help_text="Where a stage is a recruiter's study of its own; empty: the whole study.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='completion_codes', to='experiments.stage', verbose_name='stage')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='completion_codes', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'completion code',
                'verbose_name_plural': 'completion codes',
                'ordering': ['study', 'stage__number', 'outcome'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'study', 'stage', 'outcome'), name='one_code_an_outcome', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='DebriefingView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('shown_at', models.DateTimeField(verbose_name='shown (study time)')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='debriefings', to='experiments.participant', verbose_name='participant')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.studyversion', verbose_name='version')),
            ],
            options={
                'verbose_name': 'debriefing that was shown',
                'verbose_name_plural': 'debriefings that were shown',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant'), name='debriefed_once')],
            },
        ),
        migrations.CreateModel(
            name='IssuedCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage_key', models.CharField(blank=True, max_length=20, verbose_name='stage')),
                ('outcome', models.CharField(choices=[('complete', 'Complete'), ('screened_out', 'Screened out'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn'), ('technical', 'Technical problem')], max_length=12, verbose_name='outcome')),
                ('code', models.CharField(blank=True, max_length=64, verbose_name='completion code')),
                ('issued_at', models.DateTimeField(auto_now_add=True, verbose_name='issued at')),
                ('shown_at', models.DateTimeField(null=True, verbose_name='first shown at')),
                ('given_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='given by')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='issued_codes', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'issued code',
                'verbose_name_plural': 'issued codes',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'stage_key', 'outcome'), name='a_code_is_issued_once')],
            },
        ),
        migrations.CreateModel(
            name='Payment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=12, verbose_name='code')),
                ('stage_key', models.CharField(max_length=20, verbose_name='stage')),
                ('test_mode', models.BooleanField(default=False, verbose_name='test run')),
                ('amount', models.DecimalField(decimal_places=2, max_digits=8, verbose_name='amount')),
                ('currency', models.CharField(blank=True, max_length=3, verbose_name='currency')),
                ('state', models.CharField(choices=[('earned', 'Earned'), ('approved', 'Approved'), ('paid', 'Paid'), ('withheld', 'Withheld')], default='earned', max_length=8, verbose_name='state')),
                ('reason', models.CharField(blank=True, max_length=200, verbose_name='reason')),
                ('earned_at', models.DateTimeField(verbose_name='earned (study time)')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('decided_at', models.DateTimeField(null=True, verbose_name='approved or withheld at')),
                ('paid_at', models.DateTimeField(null=True, verbose_name='paid at')),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='approved or withheld by')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('paid_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='paid by')),
                ('participant', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='payments', to='experiments.participant', verbose_name='participant')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.study', verbose_name='study')),
            ],
            options={
                'verbose_name': 'payment',
                'verbose_name_plural': 'payments',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'code', 'stage_key'), name='one_payment_a_stage'), models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='payment_is_more_than_nothing')],
            },
        ),
        migrations.CreateModel(
            name='StaffMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_staff', models.BooleanField(verbose_name='from staff')),
                ('client_id', models.UUIDField(editable=False)),
                ('text', models.TextField(max_length=2000, verbose_name='text')),
                ('sent_at', models.DateTimeField(auto_now_add=True, verbose_name='sent at')),
                ('read_at', models.DateTimeField(null=True, verbose_name='read at')),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='author')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='staff_messages', to='experiments.participant', verbose_name='participant')),
            ],
            options={
                'verbose_name': 'message to or from staff',
                'verbose_name_plural': 'messages to and from staff',
                'ordering': ['sent_at', 'pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'client_id'), name='one_staff_message_a_form')],
            },
        ),
        SecureTenantTables(
            "CompletionCode", "DebriefingView", "IssuedCode", "Payment", "StaffMessage"
        ),
    ]
