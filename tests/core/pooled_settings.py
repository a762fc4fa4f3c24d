"""The test settings with psycopg's pool, as a web process in production has it."""

from memlab.settings.test import *

_database = DATABASES["default"]
DATABASES = {
    "default": {
        **_database,
        "NAME": _database["TEST"]["NAME"],
        "OPTIONS": {"pool": {"min_size": 2, "max_size": 4}},
    }
}
