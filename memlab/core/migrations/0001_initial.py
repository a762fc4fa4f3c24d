
import memlab.core.due
import memlab.core.ledger
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="ParticipantLease",
            fields=[
                ("participant", models.UUIDField(primary_key=True, serialize=False)),
                ("lab_id", models.BigIntegerField()),
                ("holder", models.UUIDField()),
                (
                    "until",
                    models.DateTimeField(help_text="Wall time after which anybody may take over."),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Due",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lab_id", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            (memlab.core.due.DueKind["REPLY"], memlab.core.due.DueKind["REPLY"]),
                            (
                                memlab.core.due.DueKind["SESSION"],
                                memlab.core.due.DueKind["SESSION"],
                            ),
                            (memlab.core.due.DueKind["STEPS"], memlab.core.due.DueKind["STEPS"]),
                        ],
                        max_length=24,
                    ),
                ),
                (
                    "subject",
                    models.UUIDField(help_text="Public id of the reply, session or participant."),
                ),
                ("study_at", models.DateTimeField(null=True)),
                ("wall_at", models.DateTimeField(db_index=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "subject"), name="one_due_a_subject")
                ],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lab_id", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            (
                                memlab.core.ledger.JobKind["OBSERVE"],
                                memlab.core.ledger.JobKind["OBSERVE"],
                            ),
                            (
                                memlab.core.ledger.JobKind["CONSOLIDATE"],
                                memlab.core.ledger.JobKind["CONSOLIDATE"],
                            ),
                        ],
                        max_length=16,
                    ),
                ),
                ("participant", models.UUIDField()),
                (
                    "subject",
                    models.UUIDField(
                        help_text="The session, reply or participant the step is about."
                    ),
                ),
                (
                    "study_at",
                    models.DateTimeField(help_text="Study time of what the step belongs to."),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            (
                                memlab.core.ledger.JobState["PENDING"],
                                memlab.core.ledger.JobState["PENDING"],
                            ),
                            (
                                memlab.core.ledger.JobState["DONE"],
                                memlab.core.ledger.JobState["DONE"],
                            ),
                            (
                                memlab.core.ledger.JobState["FAILED"],
                                memlab.core.ledger.JobState["FAILED"],
                            ),
                        ],
                        default=memlab.core.ledger.JobState["PENDING"],
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                (
                    "not_before",
                    models.DateTimeField(help_text="Wall time of the next attempt.", null=True),
                ),
                (
                    "failure",
                    models.CharField(blank=True, help_text="A code, never text.", max_length=80),
                ),
                ("result", models.JSONField(default=dict, help_text="Counts only.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["participant", "study_at"],
                        name="pending_job_of_participant",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "subject"), name="one_job_a_cause")
                ],
            },
        ),
    ]
