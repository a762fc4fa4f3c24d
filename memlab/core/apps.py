from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "memlab.core"
    label = "core"
    verbose_name = "Memlab core"
    default_auto_field = "django.db.models.BigAutoField"
