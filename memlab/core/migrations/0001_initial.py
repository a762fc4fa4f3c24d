
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
                            ("reply", "reply"),
                            ("session", "session"),
                            ("steps", "memory steps"),
                        ],
                        max_length=24,
                        verbose_name="kind",
                    ),
                ),
                (
                    "subject",
                    models.UUIDField(help_text="Public id of the reply, session or participant."),
                ),
                ("study_at", models.DateTimeField(null=True, verbose_name="study time")),
                (
                    "wall_at",
                    models.DateTimeField(db_index=True, null=True, verbose_name="wall time"),
                ),
            ],
            options={
                "verbose_name": "due work",
                "verbose_name_plural": "due work",
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
                            ("observe", "learning from a turn"),
                            ("consolidate", "consolidating a session"),
                            ("begin", "beginning a session"),
                            ("maintain", "memory maintenance"),
                        ],
                        max_length=16,
                        verbose_name="kind",
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
                    models.DateTimeField(
                        help_text="Study time of what the step belongs to.",
                        verbose_name="study time",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "pending"), ("done", "done"), ("failed", "given up")],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                (
                    "not_before",
                    models.DateTimeField(
                        help_text="Wall time of the next attempt.",
                        null=True,
                        verbose_name="not before",
                    ),
                ),
                (
                    "failure",
                    models.CharField(
                        blank=True,
                        help_text="A code, never text.",
                        max_length=80,
                        verbose_name="failure",
                    ),
                ),
                ("result", models.JSONField(default=dict, help_text="Counts only.")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("finished_at", models.DateTimeField(null=True, verbose_name="finished at")),
            ],
            options={
                "verbose_name": "memory step",
                "verbose_name_plural": "memory steps",
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
