"""What the processes of these tests run under: everything comes from the test that starts them."""

from memlab.core import env as environment
from memlab.settings.test import *  # noqa: F403

DATABASES = {"default": environment.database(environment.text("DATABASE_URL"))}
PROVIDER_KEY_SECRETS = environment.listed("MEMLAB_SECRET_KEYS")
ALLOWED_MODEL_URLS = environment.listed("MEMLAB_MODEL_URLS")
