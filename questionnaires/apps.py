from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class QuestionnairesConfig(AppConfig):
    name = "questionnaires"
    verbose_name = _("Questionnaires")
    default_auto_field = "django.db.models.BigAutoField"
