"""The test settings with psycopg's pool, as a web process in production has it."""

from memlab.settings import test
from memlab.settings.test import *  # noqa: F403

DATABASES = {
    "default": {
        **test.DATABASES["default"],
        "NAME": test.DATABASES["default"]["TEST"]["NAME"],
        "OPTIONS": {"pool": {"min_size": 2, "max_size": 4}},
    }
}
