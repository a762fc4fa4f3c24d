import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('experiments', '0003_talking_calls_tools'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='consent',
            name='one_consent_a_participant',
        ),
        migrations.AddField(
            model_name='consent',
            name='agreed',
            field=models.BooleanField(default=True, verbose_name='agreed'),
        ),
        migrations.AddField(
            model_name='consent',
            name='kind',
            field=models.CharField(choices=[('participation', 'Taking part'), ('sensitive', 'Sensitive data'), ('abroad', 'Transfer abroad'), ('telemetry', 'Telemetry'), ('debriefed', 'Use of the data, after the debriefing')], default='participation', max_length=16, verbose_name='kind'),
        ),
        migrations.AddField(
            model_name='participant',
            name='password',
            field=models.CharField(blank=True, editable=False, max_length=128),
        ),
        migrations.AddField(
            model_name='participant',
            name='paused_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='By the risk screen or by staff; nothing can be said until staff resume.', null=True, verbose_name='paused (wall time)'),
        ),
        migrations.AddField(
            model_name='participant',
            name='time_zone',
            field=models.CharField(blank=True, editable=False, help_text="As the participant's browser named it; empty: the study's.", max_length=64, verbose_name='time zone'),
        ),
        migrations.AddField(
            model_name='stage',
            name='closes_at',
            field=models.TimeField(blank=True, help_text="Time of day in the participant's zone to which the end is put off.", null=True, verbose_name='closes at'),
        ),
        migrations.AddField(
            model_name='stage',
            name='finish_hours',
            field=models.FloatField(default=24, help_text='Beyond the window, for whoever has started.', validators=[django.core.validators.MinValueValidator(0)], verbose_name='hours to finish'),
        ),
        migrations.AddField(
            model_name='stage',
            name='opens_at',
            field=models.TimeField(blank=True, help_text="Time of day in the participant's zone to which the opening is put off.", null=True, verbose_name='opens at'),
        ),
        migrations.AddField(
            model_name='stage',
            name='payment',
            field=models.DecimalField(decimal_places=2, default=0, help_text="For this stage, in the study's currency.", max_digits=8, validators=[django.core.validators.MinValueValidator(0)], verbose_name='payment'),
        ),
        migrations.AddField(
            model_name='stage',
            name='reminder_hours',
            field=models.JSONField(blank=True, default=list, help_text='E.g. [0, 24, 48]; empty for none.', verbose_name='reminders, hours after opening'),
        ),
        migrations.AddField(
            model_name='study',
            name='abroad_consent',
            field=models.TextField(blank=True, help_text='Asked for separately where there is a statement here.', verbose_name='consent to transfer abroad'),
        ),
        migrations.AddField(
            model_name='study',
            name='asks_email',
            field=models.BooleanField(default=False, help_text='For reminders. Off where a recruiter forbids addresses.', verbose_name='asks for an e-mail address'),
        ),
        migrations.AddField(
            model_name='study',
            name='currency',
            field=models.CharField(blank=True, help_text='Of payments, e.g. EUR or CNY.', max_length=3, verbose_name='currency'),
        ),
        migrations.AddField(
            model_name='study',
            name='debriefing',
            field=models.TextField(blank=True, verbose_name='debriefing'),
        ),
        migrations.AddField(
            model_name='study',
            name='debriefing_after',
            field=models.DateTimeField(blank=True, null=True, verbose_name='debriefing from'),
        ),
        migrations.AddField(
            model_name='study',
            name='debriefing_consent',
            field=models.TextField(blank=True, help_text='Whether the data may still be used, asked once the purpose is known.', verbose_name='consent after the debriefing'),
        ),
        migrations.AddField(
            model_name='study',
            name='debriefing_hold',
            field=models.CharField(choices=[('none', 'Nothing'), ('date', 'A date'), ('cohort', 'The end of the cohort: the study is closed and nobody is on their way')], default='none', max_length=8, verbose_name='debriefing is held'),
        ),
        migrations.AddField(
            model_name='study',
            name='ends_on_missed',
            field=models.BooleanField(default=False, help_text='Off: who missed a stage may take part in those that follow.', verbose_name='a missed stage ends participation'),
        ),
        migrations.AddField(
            model_name='study',
            name='excludes_earlier',
            field=models.BooleanField(default=False, help_text="People who took part in another study of the lab, by their recruiter's id.", verbose_name='excludes earlier participants'),
        ),
        migrations.AddField(
            model_name='study',
            name='hotlines',
            field=models.TextField(blank=True, help_text='One a line, shown on the crisis card: name | number | when or for whom.', verbose_name='hotlines'),
        ),
        migrations.AddField(
            model_name='study',
            name='minimum_age',
            field=models.PositiveSmallIntegerField(default=18, help_text='In years; 0 for no age gate.', validators=[django.core.validators.MaxValueValidator(120)], verbose_name='minimum age'),
        ),
        migrations.AddField(
            model_name='study',
            name='passwords',
            field=models.BooleanField(default=True, help_text='With their code it lets them go on from another device.', verbose_name='participants may set a password'),
        ),
        migrations.AddField(
            model_name='study',
            name='preregistration_url',
            field=models.URLField(blank=True, verbose_name='preregistration'),
        ),
        migrations.AddField(
            model_name='study',
            name='risk_asks_model',
            field=models.BooleanField(default=False, help_text='Beside the rules: one more call for every message.', verbose_name='extraction model screens too'),
        ),
        migrations.AddField(
            model_name='study',
            name='risk_pauses',
            field=models.BooleanField(default=True, help_text='Until staff let it go on.', verbose_name='a hit pauses the session'),
        ),
        migrations.AddField(
            model_name='study',
            name='safety_contact_email',
            field=models.EmailField(blank=True, max_length=254, verbose_name="safety contact's e-mail"),
        ),
        migrations.AddField(
            model_name='study',
            name='safety_contact_name',
            field=models.CharField(blank=True, max_length=120, verbose_name='safety contact'),
        ),
        migrations.AddField(
            model_name='study',
            name='sensitive_consent',
            field=models.TextField(blank=True, help_text='Asked for separately where there is a statement here.', verbose_name='consent to sensitive data'),
        ),
        migrations.AddField(
            model_name='study',
            name='strata',
            field=models.JSONField(blank=True, default=list, help_text='Answers or scores by which allocation is balanced, at most four.', verbose_name='strata'),
        ),
        migrations.AddField(
            model_name='study',
            name='target_size',
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name='target size'),
        ),
        migrations.AddField(
            model_name='study',
            name='telemetry_consent',
            field=models.TextField(blank=True, help_text='For paste, focus and typing times; voluntary. Empty: nothing is recorded.', verbose_name='consent to telemetry'),
        ),
        migrations.AlterField(
            model_name='participant',
            name='state',
            field=models.CharField(choices=[('invited', 'Invited'), ('active', 'Active'), ('ineligible', 'Not eligible'), ('screened', 'Screened out'), ('declined', 'Declined'), ('dropped', 'Dropped out'), ('withdrawn', 'Withdrawn'), ('complete', 'Complete')], default='invited', max_length=10, verbose_name='state'),
        ),
        migrations.AddConstraint(
            model_name='consent',
            constraint=models.UniqueConstraint(fields=('lab', 'participant', 'kind'), name='one_consent_of_a_kind'),
        ),
    ]
