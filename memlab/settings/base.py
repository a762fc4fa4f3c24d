"""Settings that every installation shares; what differs comes from the environment."""

from pathlib import Path
from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from memlab.core import env

ROOT = Path(__file__).resolve().parents[2]

DEBUG = False
ALLOWED_HOSTS: list[str] = []

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "memlab.admin_config.BackOfficeConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "django_q",
    "memlab.core",
    "experiments",
    "memory",
    "questionnaires",
    "chat",
    "memlab.journey",
    "memlab.research",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "experiments.middleware.ActiveLabMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "memlab.urls"
ASGI_APPLICATION = "memlab.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "experiments.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = reverse_lazy("admin:login")
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_USERNAME_FORM_FIELD = "username"
AXES_ENABLE_ADMIN = False  # its tables know no lab

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [ROOT / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = ROOT / "staticfiles"
STATICFILES_DIRS = [ROOT / "static"]
MEDIA_ROOT = ROOT / "media"

SESSION_COOKIE_HTTPONLY = True
# Notes to staff may quote a lab: in their own signed cookie, never in the sessions table.
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "style-src": ["'self'"],
        "script-src": ["'self'"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
    }
}

# Chat: limits of the protocol (docs/protocol.md).
CHAT_FRAME_BYTES = 16 * 1024
CHAT_MESSAGE_CHARACTERS = 4000
CHAT_PARTICIPANT_RATE = (8, 1.0)  # bucket size, messages a second
CHAT_LAB_RATE = (400, 100.0)
# How long a paced conversation with manipulation shows that it is being prepared, in every arm
# alike, so that what a memory has to do at a session's start doesn't show (docs/blinding.md).
CHAT_PREPARING_SECONDS = env.whole("MEMLAB_PREPARING_SECONDS", 6)

# Memory architectures a study can give to an arm, by dotted path; a lab can add its own.
MEMORY_ARCHITECTURES = {
    "sensory": "memory.architectures.sensory.Sensory",
    "working": "memory.architectures.working.Working",
    "gist": "memory.architectures.gist.Gist",
    "hybrid": "memory.architectures.hybrid.Hybrid",
    "compression": "memory.architectures.compression.Compression",
    "full_history": "memory.architectures.full_history.FullHistory",
    "confidence": "memory.architectures.confidence.Confidence",
    "random_recall": "memory.architectures.random_recall.RandomRecall",
    "retention": "memory.architectures.retention.RetentionScore",
    "homeostatic": "memory.architectures.homeostatic.Homeostatic",
}

# Which questionnaire a study asks when: read when its configuration is frozen.
QUESTIONNAIRE_PLACEMENTS = "questionnaires.freezing.placements_of"

# What apps above add to a study that is made from a template.
STUDY_TEMPLATE_PARTS = ["questionnaires.demo.place"]

# What else a duplicate of a study gets, each called with the study and its copy.
STUDY_COPIES = ["questionnaires.freezing.copy_placements"]

# What looks up the answers and scores by which a study screens out and balances its arms.
QUESTIONNAIRE_FACTS = "questionnaires.facts.value_of"

# What each app keeps about a participant, for erasure and subject access: children before their
# parents, so an app of a lab's own comes first.
PERSONAL_DATA = [
    "chat.erasure.PERSONAL",
    "questionnaires.erasure.PERSONAL",
    "memory.erasure.PERSONAL",
    "experiments.erasure.PERSONAL",
    "memlab.core.erasure.PERSONAL",
]

# Folder of the log of erasures, apart from the database: after a restore it says who has to be
# erased again. Back it up apart (see docs/operations.md).
ERASURE_LOG = Path(env.text("MEMLAB_ERASURE_LOG", str(ROOT / ".data" / "erasures")))

# What the tick hands a due row to, by kind.
DUE_HANDLERS = {
    "reply": "chat.tasks.take_over_reply",
    "session": "chat.tasks.close_session",
    "steps": "chat.tasks.run_steps",
    "maintain": "chat.tasks.run_steps",  # whoever runs steps brings the memory up to date
    "alert": "chat.safety.tasks.send_alert",
    "screen": "chat.safety.tasks.screen_message",
    "window": "memlab.journey.tasks.follow_windows",
    "reminder": "memlab.journey.tasks.send_reminder",
    "withdrawal": "memlab.research.tasks.carry_out_withdrawal",
    "debriefing": "memlab.journey.tasks.release_debriefing",
}

# E-mail: alerts to safety contacts, reminders (see docs/operations.md). Empty: none is sent.
MAIL_SERVER = env.mail(env.text("MEMLAB_EMAIL_URL", ""))
EMAIL_BACKEND = MAIL_SERVER.backend
EMAIL_HOST, EMAIL_PORT = MAIL_SERVER.host, MAIL_SERVER.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL_SERVER.user, MAIL_SERVER.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL_SERVER.starttls, MAIL_SERVER.tls
EMAIL_TIMEOUT = env.whole("MEMLAB_EMAIL_TIMEOUT", 20)  # seconds, of each step with the server
DEFAULT_FROM_EMAIL = env.text("MEMLAB_EMAIL_FROM", "memlab@localhost")
# Where links in e-mails lead; participants' and staff's pages have one address.
SITE_URL = env.text("MEMLAB_SITE_URL", "http://127.0.0.1:8000").rstrip("/")

# Hosts that webhooks may lead to although they are not public or not HTTPS: host or host:port.
WEBHOOK_HOSTS = env.listed("MEMLAB_WEBHOOK_HOSTS")

# Secrets that encrypt the labs' provider keys, newest first (see docs/operations.md).
PROVIDER_KEY_SECRETS = env.listed("MEMLAB_SECRET_KEYS")

# Base URLs that OpenAI-compatible providers may be reached at.
ALLOWED_MODEL_URLS = env.listed(
    "MEMLAB_MODEL_URLS",
    "https://api.openai.com/v1,https://api.deepseek.com,https://api.deepseek.com/v1,"
    "https://dashscope.aliyuncs.com/compatible-mode/v1,http://127.0.0.1:11434/v1,"
    "http://localhost:11434/v1,http://127.0.0.1:8080/v1,http://localhost:8080/v1",
)

# How long a model may take, in seconds: to connect, until its first token, between two.
MODEL_TIMEOUTS = {"connect": 10.0, "first_token": 60.0, "between_tokens": 30.0}

# Threads for database work of the sockets and tasks of one process; a pool must be as large.
DATABASE_THREADS = env.whole("MEMLAB_DATABASE_THREADS", 4)

REDIS_URL = env.text("REDIS_URL", "")
CHANNEL_LAYERS = {
    "default": (
        {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
        if REDIS_URL
        else {"BACKEND": "chat.layers.OneProcessLayer"}
    )
}

Q_CLUSTER = {
    "name": "memlab",
    "orm": "default",
    "workers": env.whole("MEMLAB_TASK_WORKERS", 2),
    "timeout": 900,
    "retry": 1200,  # counts the wait in the queue too, so it must exceed timeout + worst wait
    "queue_limit": 8,
    "max_attempts": 0,
    "catch_up": False,
    "ack_failures": True,
    "save_limit": 200,
    "poll": 0.5,
    "label": "Tasks",
}

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "filters": {
        # Of every task django-q says that it was queued, but not which one.
        "queued": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: not record.getMessage().startswith("Enqueued ["),
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "jieba": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
        "django-q": {"filters": ["queued"]},
    },
}

UNFOLD = {
    "SITE_TITLE": "Memlab",
    "SITE_HEADER": "Memlab",
    "SITE_SUBHEADER": _("Experiments on what an AI remembers"),
    "SITE_SYMBOL": "neurology",
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("memlab/icon.svg"),
        }
    ],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_LANGUAGES": True,
    "SHOW_BACK_BUTTON": True,
    "THEME": "light",
    "BORDER_RADIUS": "8px",
    "STYLES": [lambda request: static("memlab/admin.css")],
    "COLORS": {
        # The accent of the participants' pages (static/memlab/base.css), as a scale.
        "primary": {
            "50": "#f2f7fa",
            "100": "#e4eef3",
            "200": "#cbdee8",
            "300": "#b9d0dc",
            "400": "#7fa9bf",
            "500": "#3f7c9c",
            "600": "#1d4e6b",
            "700": "#143a51",
            "800": "#102f42",
            "900": "#0c2433",
            "950": "#081822",
        },
    },
}
