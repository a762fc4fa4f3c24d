"""Production: everything comes from the environment (docs/operations.md)."""

from pathlib import Path

from memlab.core import env
from memlab.settings.base import *

SECRET_KEY = env.text("SECRET_KEY")
SECRET_KEY_FALLBACKS = env.listed("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.listed("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS]
DATABASES = {
    "default": {
        **env.database(env.text("DATABASE_URL")),
        # The pool breaks the task workers: it is for the web processes only.
        "OPTIONS": (
            {"pool": {"min_size": 2, "max_size": env.whole("MEMLAB_POOL", 10)}}
            if env.switched("MEMLAB_WEB_PROCESS")
            else {}
        ),
    }
}
ERASURE_LOG = Path(env.text("MEMLAB_ERASURE_LOG"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = env.switched("MEMLAB_SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = 31536000
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
