"""What staff did, per lab. Django's own LogEntry knows no lab and would leak names."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class AuditQuerySet(TenantQuerySet["AuditEntry"]):
    def record(
        self,
        action: str,
        *,
        user_id: int | None = None,
        target: models.Model | None = None,
        **details: Any,
    ) -> AuditEntry:
        """Write one entry for the active lab; ``details`` must be JSON and hold no transcript."""
        return self.create(
            action=action,
            user_id=user_id,
            target_kind=target._meta.label if target is not None else "",
            target_id=str(target.pk) if target is not None else "",
            details=details,
        )


class AuditEntry(TenantModel):
    at = models.DateTimeField(_("at"), auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    action = models.CharField(_("action"), max_length=60)
    target_kind = models.CharField(_("kind"), max_length=80, blank=True)
    target_id = models.CharField(_("id"), max_length=64, blank=True)
    details = models.JSONField(_("details"), default=dict)

    objects = TenantManager.from_queryset(AuditQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.target_kind} {self.target_id}".strip()
