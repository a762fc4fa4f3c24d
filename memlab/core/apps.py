from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class CoreConfig(AppConfig):
    name = "memlab.core"
    label = "core"
    verbose_name = _("Background work")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memlab.core.schedule import ensure_tick

        post_migrate.connect(ensure_tick, sender=self, dispatch_uid="memlab tick")
