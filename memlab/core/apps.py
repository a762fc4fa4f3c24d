from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CoreConfig(AppConfig):
    name = "memlab.core"
    label = "core"
    verbose_name = "Memlab core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memlab.core.schedule import ensure_tick

        post_migrate.connect(ensure_tick, sender=self, dispatch_uid="memlab tick")
