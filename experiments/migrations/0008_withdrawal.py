import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0007_time'),
    ]

    operations = [
        migrations.AddField(
            model_name='participant',
            name='anonymised_at',
            field=models.DateTimeField(editable=False, help_text='Nothing leads to the person any more but what they wrote themselves.', null=True, verbose_name='anonymised (wall time)'),
        ),
        migrations.AddField(
            model_name='participant',
            name='chat_left_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='left the conversations (study time)'),
        ),
        migrations.AddField(
            model_name='participant',
            name='erased_on',
            field=models.DateField(editable=False, help_text='An empty row in place of a person whose data are gone: it is only counted.', null=True, verbose_name='erased on'),
        ),
        migrations.AddField(
            model_name='participant',
            name='needs_redaction',
            field=models.BooleanField(default=False, editable=False, help_text='What was said has to be gone through before it is shared.', verbose_name='needs redaction'),
        ),
        migrations.AddField(
            model_name='study',
            name='self_access',
            field=models.BooleanField(default=True, help_text='By themselves, from their page; staff can always do it for them.', verbose_name='participants may download their data'),
        ),
        migrations.AlterField(
            model_name='session',
            name='closed_by',
            field=models.CharField(blank=True, choices=[('participant', 'The participant finished'), ('timer', 'Its time was over'), ('idle', 'Idle after the minima were met'), ('turns', 'Its last turn was used'), ('window', "The stage's window closed"), ('staff', 'By staff'), ('withdrawn', 'The participant withdrew')], max_length=12, verbose_name='closed by'),
        ),
        migrations.CreateModel(
            name='ErasureReceipt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('chat', 'From the conversations only'), ('all', 'From everything that is still to come'), ('anonymise', 'From everything, and what leads to the person is removed'), ('erase', 'From everything, and all data are erased')], max_length=12, verbose_name='kind')),
                ('code_hash', models.CharField(max_length=64, verbose_name='SHA-256 of the code')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('counts', models.JSONField(default=dict, verbose_name='rows, by table')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
            ],
            options={
                'verbose_name': 'receipt of an erasure',
                'verbose_name_plural': 'receipts of erasures',
                'ordering': ['-at', '-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'code_hash'), name='one_receipt_an_erasure')],
            },
        ),
        migrations.CreateModel(
            name='Withdrawal',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('chat', 'From the conversations only'), ('all', 'From everything that is still to come'), ('anonymise', 'From everything, and what leads to the person is removed'), ('erase', 'From everything, and all data are erased')], max_length=12, verbose_name='kind')),
                ('requested_by', models.CharField(choices=[('participant', 'The participant'), ('staff', 'A member of staff'), ('operator', 'At the terminal'), ('replay', 'Again, after a restore')], max_length=12, verbose_name='asked for by')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('requested_at', models.DateTimeField(verbose_name='asked for (study time)')),
                ('requested_wall', models.DateTimeField(verbose_name='asked for (wall time)')),
                ('code_hash', models.CharField(blank=True, editable=False, max_length=64)),
                ('state', models.CharField(choices=[('requested', 'Requested'), ('carried_out', 'Carried out')], default='requested', max_length=12, verbose_name='state')),
                ('parts', models.JSONField(default=dict, verbose_name='rows, by table')),
                ('carried_out_at', models.DateTimeField(null=True, verbose_name='carried out (wall time)')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='withdrawals', to='experiments.participant', verbose_name='participant')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='member of staff')),
            ],
            options={
                'verbose_name': 'withdrawal',
                'verbose_name_plural': 'withdrawals',
                'ordering': ['-requested_wall'],
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(fields=('lab', 'participant', 'kind'), name='one_withdrawal_of_a_kind')],
            },
        ),
        SecureTenantTables("ErasureReceipt", "Withdrawal"),
    ]
