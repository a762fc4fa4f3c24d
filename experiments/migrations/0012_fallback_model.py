import django.db.models.deletion
from django.db import migrations, models

from memlab.core.tenancy.operations import SecureForeignKeys


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0011_pauses'),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='fallback_key',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='experiments.providerkey', verbose_name='fallback key'),
        ),
        migrations.AddField(
            model_name='study',
            name='fallback_model',
            field=models.CharField(blank=True, help_text='It gets the same prompt, sampling and tools as the talking model.', max_length=120, verbose_name='fallback model'),
        ),
        migrations.AddField(
            model_name='study',
            name='fallback_provider',
            field=models.CharField(blank=True, choices=[('offline', 'offline (demo and tests)'), ('dashscope', 'DashScope (Qwen)'), ('openai_compatible', 'OpenAI-compatible')], help_text='Of a model that answers where the talking model fails before its first word. It changes the partner: each use is a deviation from the protocol. Empty: none.', max_length=32, verbose_name='fallback provider'),
        ),
        migrations.AlterField(
            model_name='doorprobe',
            name='use',
            field=models.CharField(choices=[('talking', 'Talking'), ('fallback', 'Fallback'), ('extraction', 'Extraction'), ('embedding', 'Embedding')], max_length=12, verbose_name='use'),
        ),
        SecureForeignKeys("Study", "fallback_key"),
    ]
