from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExperimentsConfig(AppConfig):
    name = "experiments"
    verbose_name = _("Studies and people")
    default_auto_field = "django.db.models.BigAutoField"
