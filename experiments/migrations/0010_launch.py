import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureTenantTables


class Migration(migrations.Migration):
    dependencies = [("experiments", "0009_amendments")]

    operations = [
        migrations.AddField(
            model_name='study',
            name='varied',
            field=models.JSONField(blank=True, default=list, help_text='Parameters in which arms may differ although they share them, by name.', verbose_name='varied on purpose'),
        ),
        migrations.AddField(
            model_name='studyversion',
            name='amended_from',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.studyversion', verbose_name='amends'),
        ),
        migrations.AddField(
            model_name='studyversion',
            name='opened_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='opened by'),
        ),
        migrations.AddField(
            model_name='studyversion',
            name='overrides',
            field=models.JSONField(blank=True, default=list, help_text='Launch checks that failed when it was opened, and why that was accepted.', verbose_name='overrides'),
        ),
        migrations.AddField(
            model_name='studyversion',
            name='reason',
            field=models.TextField(blank=True, help_text='For the amendment.', verbose_name='reason'),
        ),
        # The foreign key that carries the lab, beside Django's own.
        migrations.RunSQL(
            'ALTER TABLE "experiments_studyversion" ADD CONSTRAINT'
            ' "experiments_studyversion_amended_from_id_lab_fk"'
            ' FOREIGN KEY ("lab_id", "amended_from_id")'
            ' REFERENCES "experiments_studyversion" ("lab_id", "id") DEFERRABLE INITIALLY DEFERRED',
            'ALTER TABLE "experiments_studyversion" DROP CONSTRAINT'
            ' "experiments_studyversion_amended_from_id_lab_fk"',
        ),
        migrations.CreateModel(
            name='DoorProbe',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('use', models.CharField(choices=[('talking', 'Talking'), ('extraction', 'Extraction'), ('embedding', 'Embedding')], max_length=12, verbose_name='use')),
                ('provider', models.CharField(max_length=32, verbose_name='provider')),
                ('model', models.CharField(max_length=120, verbose_name='model')),
                ('answered', models.BooleanField(verbose_name='answered')),
                ('answered_model', models.CharField(blank=True, max_length=200, verbose_name='model that answered')),
                ('failure', models.CharField(blank=True, max_length=400, verbose_name='failure')),
                ('milliseconds', models.FloatField(verbose_name='milliseconds')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='experiments.providerkey', verbose_name='key')),
                ('lab', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.lab')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='probes', to='experiments.study', verbose_name='study')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'call to a model',
                'verbose_name_plural': 'calls to models for launch',
                'ordering': ['-pk'],
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        SecureTenantTables("DoorProbe"),
    ]
