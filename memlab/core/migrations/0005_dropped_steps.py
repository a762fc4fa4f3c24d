from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0004_journey'),
    ]

    operations = [
        migrations.AlterField(
            model_name='job',
            name='state',
            field=models.CharField(choices=[('pending', 'pending'), ('done', 'done'), ('failed', 'given up'), ('dropped', 'dropped')], default='pending', max_length=8, verbose_name='state'),
        ),
    ]
