
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("experiments", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("seq", models.PositiveIntegerField(verbose_name="number")),
                (
                    "role",
                    models.CharField(
                        choices=[("participant", "participant"), ("assistant", "assistant")],
                        max_length=12,
                        verbose_name="role",
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                ("client_id", models.UUIDField(editable=False, null=True)),
                ("at", models.DateTimeField(verbose_name="study time")),
                ("recorded_at", models.DateTimeField(verbose_name="wall time")),
                (
                    "lab",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.lab",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to="experiments.session",
                    ),
                ),
            ],
            options={
                "verbose_name": "message",
                "verbose_name_plural": "messages",
                "ordering": ["session", "seq"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Reply",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "pending"), ("done", "done"), ("failed", "failed")],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("attempt", models.PositiveIntegerField(default=0, verbose_name="attempt")),
                (
                    "deaths",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="Attempts that ended with their process.",
                    ),
                ),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("failure", models.CharField(blank=True, max_length=32, verbose_name="failure")),
                (
                    "failure_detail",
                    models.CharField(blank=True, max_length=300, verbose_name="failure detail"),
                ),
                ("retryable", models.BooleanField(default=False, verbose_name="can be retried")),
                ("partial", models.TextField(blank=True, verbose_name="partial text")),
                (
                    "lab",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.lab",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="making",
                        to="chat.message",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="chat.message",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replies",
                        to="experiments.session",
                    ),
                ),
            ],
            options={
                "verbose_name": "reply",
                "verbose_name_plural": "replies",
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempt", models.PositiveIntegerField(verbose_name="attempt")),
                (
                    "architecture",
                    models.CharField(blank=True, max_length=40, verbose_name="architecture"),
                ),
                ("prompt", models.JSONField(verbose_name="prompt")),
                ("sections", models.JSONField(default=list, verbose_name="sections")),
                ("recalled", models.JSONField(default=list, verbose_name="recalled")),
                ("near_misses", models.JSONField(default=list, verbose_name="near misses")),
                ("degraded", models.JSONField(default=list, verbose_name="degraded")),
                ("provider", models.CharField(max_length=32, verbose_name="provider")),
                (
                    "model",
                    models.CharField(
                        help_text="The id the provider returned.",
                        max_length=120,
                        verbose_name="model",
                    ),
                ),
                (
                    "request_id",
                    models.CharField(blank=True, max_length=120, verbose_name="request id"),
                ),
                (
                    "finish_reason",
                    models.CharField(blank=True, max_length=32, verbose_name="finish reason"),
                ),
                (
                    "prompt_tokens",
                    models.PositiveIntegerField(null=True, verbose_name="prompt tokens"),
                ),
                (
                    "completion_tokens",
                    models.PositiveIntegerField(null=True, verbose_name="completion tokens"),
                ),
                ("tries", models.PositiveSmallIntegerField(default=1, verbose_name="tries")),
                ("timings", models.JSONField(default=dict, verbose_name="timings, ms")),
                ("recorded_at", models.DateTimeField(auto_now_add=True, verbose_name="wall time")),
                (
                    "lab",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.lab",
                    ),
                ),
                (
                    "reply",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="receipts",
                        to="chat.reply",
                    ),
                ),
            ],
            options={
                "verbose_name": "receipt",
                "verbose_name_plural": "receipts",
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                fields=("lab", "session", "seq"), name="message_seq"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                fields=("lab", "session", "client_id"), name="message_client_id"
            ),
        ),
        migrations.AddIndex(
            model_name="reply",
            index=models.Index(
                condition=models.Q(("state", "pending")), fields=["session"], name="pending_replies"
            ),
        ),
        migrations.AddConstraint(
            model_name="reply",
            constraint=models.UniqueConstraint(
                fields=("lab", "message"), name="one_reply_a_message"
            ),
        ),
        migrations.AddConstraint(
            model_name="reply",
            constraint=models.UniqueConstraint(
                fields=("lab", "question"), name="one_reply_a_question"
            ),
        ),
        migrations.AddConstraint(
            model_name="receipt",
            constraint=models.UniqueConstraint(fields=("lab", "reply"), name="one_receipt_a_reply"),
        ),
    ]
