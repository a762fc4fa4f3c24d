"""What a reply was made from: kept beside it, seen by unblinded staff only."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.reply import Reply
from memlab.core.tenancy.models import TenantModel


class Receipt(TenantModel):
    """One finished reply's evidence, written in the transaction that stored it.

    ``prompt`` is the exact text the model got. ``recalled`` went into it, ``near_misses`` are the
    20 nearest that did not. ``tools`` are the model's calls in their order, over all ``rounds``, as
    are the token counts; ``tries`` counts every request. ``timings`` are milliseconds of true
    latency, before pacing.
    """

    reply = models.ForeignKey(Reply, models.PROTECT, related_name="receipts")
    attempt = models.PositiveIntegerField(_("attempt"))
    architecture = models.CharField(_("architecture"), max_length=40, blank=True)
    prompt = models.JSONField(_("prompt"))
    sections = models.JSONField(_("sections"), default=list)
    recalled = models.JSONField(_("recalled"), default=list)
    near_misses = models.JSONField(_("near misses"), default=list)
    degraded = models.JSONField(_("degraded"), default=list)
    provider = models.CharField(_("provider"), max_length=32)
    model = models.CharField(
        _("model"), max_length=120, help_text=_("The id the provider returned.")
    )
    fallback_after = models.CharField(
        _("fallback after"),
        max_length=32,
        blank=True,
        help_text=_(
            "How the study's talking model had failed when its fallback made this reply. Empty: it "
            "is the talking model's own."
        ),
    )
    request_id = models.CharField(_("request id"), max_length=120, blank=True)
    finish_reason = models.CharField(_("finish reason"), max_length=32, blank=True)
    prompt_tokens = models.PositiveIntegerField(_("prompt tokens"), null=True)
    completion_tokens = models.PositiveIntegerField(_("completion tokens"), null=True)
    tries = models.PositiveSmallIntegerField(_("tries"), default=1)
    rounds = models.PositiveSmallIntegerField(
        _("rounds"),
        default=1,
        help_text=_("How often the model was asked, repetitions apart: more if it called tools."),
    )
    tools = models.JSONField(_("tool calls"), default=list)
    timings = models.JSONField(_("timings, ms"), default=dict)
    recorded_at = models.DateTimeField(_("wall time"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("receipt")
        verbose_name_plural = _("receipts")
        constraints = [models.UniqueConstraint(fields=["lab", "reply"], name="one_receipt_a_reply")]

    def __str__(self) -> str:
        return str(self.reply_id)
