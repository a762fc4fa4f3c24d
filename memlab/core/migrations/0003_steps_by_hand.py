from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0002_maintenance'),
    ]

    operations = [
        migrations.AlterField(
            model_name='job',
            name='kind',
            field=models.CharField(choices=[('observe', 'learning from a turn'), ('consolidate', 'consolidating a session'), ('begin', 'beginning a session'), ('maintain', 'memory maintenance'), ('by_hand', 'consolidation by hand')], max_length=16, verbose_name='kind'),
        ),
    ]
