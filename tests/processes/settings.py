"""What the processes of these tests run under: everything comes from the test that starts them."""

import os

from memlab.settings.test import *

DATABASES = {"default": env.database(env.text("DATABASE_URL"))}
PROVIDER_KEY_SECRETS = env.listed("MEMLAB_SECRET_KEYS")
ALLOWED_MODEL_URLS = env.listed("MEMLAB_MODEL_URLS")
LOGGING["root"]["level"] = os.environ.get("MEMLAB_LOG_LEVEL", "INFO")
