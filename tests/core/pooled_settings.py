"""The test settings with psycopg's pool, as a web process in production has it."""

from memlab.settings.test import *

DATABASES["default"] |= {
    "NAME": DATABASES["default"]["TEST"]["NAME"],
    "OPTIONS": {"pool": {"min_size": 2, "max_size": 4}},
}
