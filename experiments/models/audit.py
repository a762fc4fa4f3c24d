"""What staff did, per lab. Django's own LogEntry knows no lab and would leak names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import AuditAction
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

if TYPE_CHECKING:
    from experiments.rights import Viewer

#: Actions that tell something of the arm of whom they were about: only some memories can be edited
#: or downloaded, and only an arm's memory has steps.
OF_AN_ARM = frozenset(
    {
        AuditAction.EDIT_MEMORY,
        AuditAction.EXPORT_MEMORY,
        AuditAction.JOB_RESTARTED,
        AuditAction.CONSOLIDATE_BY_HAND,
    }
)


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

    def seen_by(self, viewer: Viewer) -> AuditQuerySet:
        """All entries but those that tell something of an arm, which are for whoever has unblinded
        themselves: to whom isn't asked, for an entry knows its row and not always a participant."""
        return self if viewer.unblinded_to_any else self.exclude(action__in=OF_AN_ARM)


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
