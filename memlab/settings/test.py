"""Tests: real Postgres as the real application role, the doors replaced, nothing else."""

import os
from typing import Any

from cryptography.fernet import Fernet

from memlab.core import env
from memlab.core.devdb import development_url
from memlab.settings.base import *

SECRET_KEY = "tests-only-secret-key-of-a-sufficient-length-0123456789"
# In the environment, so that the processes which a test starts can open what it sealed.
PROVIDER_KEY_SECRETS = [os.environ.setdefault("MEMLAB_SECRET_KEYS", Fernet.generate_key().decode())]
INSTALLED_APPS = ["tests.flush", *INSTALLED_APPS]
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **env.database(os.environ.get("DATABASE_URL") or development_url()),
        # Thousands of small commits, none of which has to outlive a crash: the tests that stop
        # Postgres (tests/processes) have settings of their own.
        "OPTIONS": {"options": "-c synchronous_commit=off"},
        "TEST": {"NAME": env.text("MEMLAB_TEST_DATABASE", "test_memlab")},
    }
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_USE_FINDERS = True  # pytest forces DEBUG off: without this the admin is unstyled
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = False
