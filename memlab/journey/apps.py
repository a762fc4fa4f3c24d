from django.apps import AppConfig


class JourneyConfig(AppConfig):
    name = "memlab.journey"
    default_auto_field = "django.db.models.BigAutoField"
