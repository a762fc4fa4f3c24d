from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0005_writing'),
    ]

    operations = [
        migrations.AddField(
            model_name='receipt',
            name='fallback_after',
            field=models.CharField(blank=True, help_text="How the study's talking model had failed when its fallback made this reply. Empty: it is the talking model's own.", max_length=32, verbose_name='fallback after'),
        ),
    ]
