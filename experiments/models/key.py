"""Keys to providers: a lab's own, encrypted at rest, never shown again."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core import sealing
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet


class ProviderKeyQuerySet(TenantQuerySet["ProviderKey"]):
    def rotate(self) -> int:
        """Encrypt every key anew with the newest secret; the number of rows changed."""
        rows = list(self.select_for_update())
        for row in rows:
            row.encrypted = sealing.sealed_anew(row.encrypted)
            row.save(update_fields=["encrypted"])
        return len(rows)


class ProviderKey(TenantModel):
    label = models.CharField(_("label"), max_length=80)
    provider = models.CharField(_("provider"), max_length=32)
    base_url = models.URLField(
        _("base URL"),
        blank=True,
        help_text=_("For OpenAI-compatible servers; must be on the installation's list."),
    )
    region = models.CharField(
        _("operator and region"),
        max_length=120,
        blank=True,
        help_text=_(
            "Shown in the information sheet, e.g. DeepSeek, China. Empty: the server's name."
        ),
    )
    encrypted = models.BinaryField(editable=False)
    hint = models.CharField(_("ends with"), max_length=4, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = TenantManager.from_queryset(ProviderKeyQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("provider key")
        verbose_name_plural = _("provider keys")
        constraints = [
            models.UniqueConstraint(fields=["lab", "label"], name="provider_key_label_in_lab")
        ]

    def __str__(self) -> str:
        return f"{self.label} (…{self.hint})"

    def seal(self, secret: str) -> None:
        """Keep a new key. Only its last four characters stay readable."""
        self.encrypted = sealing.seal(secret)
        self.hint = secret[-4:] if len(secret) >= 12 else ""

    def opened(self) -> str:
        """The key itself, for the door that needs it.

        Raises ImproperlyConfigured if no secret of the installation fits any more.
        """
        try:
            return sealing.unseal(self.encrypted)
        except sealing.Unreadable:
            raise ImproperlyConfigured(
                f"The provider key {self.label!r} can't be decrypted with the secrets in "
                "MEMLAB_SECRET_KEYS. Put the old secret back behind the new one, or enter the "
                "key again."
            ) from None
