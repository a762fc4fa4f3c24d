"""`make run`: one machine, the embedded database unless DATABASE_URL is set."""

import os

from memlab.core import env
from memlab.core.devdb import development_url
from memlab.core.devsecrets import development_secrets
from memlab.settings.base import *

_secrets = development_secrets(ROOT / ".data")

DEBUG = env.switched("MEMLAB_DEBUG", default=False)
SECRET_KEY = env.text("SECRET_KEY", _secrets.django)
PROVIDER_KEY_SECRETS = env.listed("MEMLAB_SECRET_KEYS", _secrets.provider_keys)
ALLOWED_HOSTS = env.listed("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
DATABASES = {"default": env.database(os.environ.get("DATABASE_URL") or development_url())}
EMAIL_BACKEND = EMAIL_BACKEND or env.mail("console:").backend
SITE_URL = env.text("MEMLAB_SITE_URL", f"http://127.0.0.1:{env.text('MEMLAB_PORT', '8000')}")
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
ALLOWED_MODEL_URLS += env.listed("MEMLAB_EXTRA_MODEL_URLS")
