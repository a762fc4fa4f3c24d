"""What staff did, per lab. Django's own LogEntry knows no lab and would leak names."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import AuditAction
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class AuditQuerySet(TenantQuerySet["AuditEntry"]):
    def record(
        self,
        action: AuditAction,
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

    @property
    def action_label(self) -> str:
        return told_action(self.action)

    @property
    def kind_label(self) -> str:
        return told_kind(self.target_kind)

    def __str__(self) -> str:
        return f"{self.action} {self.target_kind} {self.target_id}".strip()


def told_action(action: str) -> str:
    """An action in words; one that a plug-in recorded is told as it is."""
    return str(AuditAction(action).label) if action in AuditAction.values else action


def told_kind(kind: str) -> str:
    """What an entry is about, in words; a kind that is no longer there is told as it is."""
    try:
        return str(apps.get_model(kind)._meta.verbose_name) if kind else ""
    except (LookupError, ValueError):
        return kind
