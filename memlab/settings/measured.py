"""Production as a measurement starts it: static files from where they lie, none collected."""

from memlab.settings.production import *

STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
