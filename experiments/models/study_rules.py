"""What staff edit of a study's rules, in parts that ``Study`` puts together."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import DebriefingHold, ReminderChannel
from experiments.rules import DebriefingRules, EntryRules, ReminderRules, SafetyRules
from experiments.screening import screen_out_rules
from experiments.strata import factors
from memlab.core import sealing, webhook


class EntryFields(models.Model):
    """Who may take part."""

    minimum_age = models.PositiveSmallIntegerField(
        _("minimum age"),
        default=18,
        validators=[MaxValueValidator(120)],
        help_text=_("In years; 0 for no age gate."),
    )
    sensitive_consent = models.TextField(
        _("consent to sensitive data"),
        blank=True,
        help_text=_("Asked for separately where there is a statement here."),
    )
    abroad_consent = models.TextField(
        _("consent to transfer abroad"),
        blank=True,
        help_text=_("Asked for separately where there is a statement here."),
    )
    telemetry_consent = models.TextField(
        _("consent to telemetry"),
        blank=True,
        help_text=_("For paste, focus and typing times; voluntary. Empty: nothing is recorded."),
    )
    asks_email = models.BooleanField(
        _("asks for an e-mail address"),
        default=False,
        help_text=_("For reminders. Off where a recruiter forbids addresses."),
    )
    passwords = models.BooleanField(
        _("participants may set a password"),
        default=True,
        help_text=_("With their code it lets them go on from another device."),
    )
    excludes_earlier = models.BooleanField(
        _("excludes earlier participants"),
        default=False,
        help_text=_("People who took part in another study of the lab, by their recruiter's id."),
    )
    strata = models.JSONField(
        _("strata"),
        default=list,
        blank=True,
        help_text=_(
            "Answers or scores by which allocation is balanced, at most four: "
            '[{"name": "age", "source": "screening:age_group", "levels": {"young": [1, 2], '
            '"old": [3]}}, {"name": "trust", "source": "baseline:score:trust", "cuts": [3.5]}]'
        ),
    )
    screen_out = models.JSONField(
        _("screened out"),
        default=list,
        blank=True,
        help_text=_(
            'Answers with which nobody takes part: [{"source": "screening:age_group", '
            '"operator": "in", "value": [1, 5]}]'
        ),
    )
    self_access = models.BooleanField(
        _("participants may download their data"),
        default=True,
        help_text=_("By themselves, from their page; staff can always do it for them."),
    )
    target_size = models.PositiveIntegerField(_("target size"), null=True, blank=True)
    preregistration_url = models.URLField(_("preregistration"), blank=True)
    ends_on_missed = models.BooleanField(
        _("a missed stage ends participation"),
        default=False,
        help_text=_("Off: who missed a stage may take part in those that follow."),
    )

    class Meta:
        abstract = True

    def clean_entry(self) -> None:
        """Raises ValidationError for strata or rules that can't be read."""
        for name, parse in (("strata", factors), ("screen_out", screen_out_rules)):
            declared = getattr(self, name)
            if not isinstance(declared, list):
                raise ValidationError({name: _now("A list, in square brackets.")})
            try:
                parse(declared)
            except ValidationError as error:
                raise ValidationError({name: error.messages}) from None

    def entry_rules(self) -> EntryRules:
        lists = ("strata", "screen_out")
        return EntryRules(
            **{name: getattr(self, name) for name in EntryRules.__slots__ if name not in lists},
            strata=tuple(self.strata),
            screen_out=tuple(self.screen_out),
        )


class SafetyFields(models.Model):
    """What happens when somebody seems to be in danger."""

    safety_contact_name = models.CharField(_("safety contact"), max_length=120, blank=True)
    safety_contact_email = models.EmailField(_("safety contact's e-mail"), blank=True)
    hotlines = models.TextField(
        _("hotlines"),
        blank=True,
        help_text=_("One a line, shown on the crisis card: name | number | when or for whom."),
    )
    risk_asks_model = models.BooleanField(
        _("extraction model screens too"),
        default=False,
        help_text=_("Beside the rules: one more call for every message."),
    )
    risk_pauses = models.BooleanField(
        _("a hit pauses the session"),
        default=True,
        help_text=_("Until staff let it go on."),
    )

    class Meta:
        abstract = True

    def safety_rules(self) -> SafetyRules:
        return SafetyRules(
            contact_name=self.safety_contact_name,
            contact_email=self.safety_contact_email,
            hotlines=self.hotlines,
            asks_model=self.risk_asks_model,
            pauses=self.risk_pauses,
        )


class DebriefingFields(models.Model):
    """What participants learn afterwards, and what they are paid."""

    debriefing = models.TextField(_("debriefing"), blank=True)
    debriefing_hold = models.CharField(
        _("debriefing is held"),
        max_length=8,
        choices=DebriefingHold.choices,
        default=DebriefingHold.NONE,
    )
    debriefing_after = models.DateTimeField(_("debriefing from"), null=True, blank=True)
    debriefing_consent = models.TextField(
        _("consent after the debriefing"),
        blank=True,
        help_text=_("Whether the data may still be used, asked once the purpose is known."),
    )
    currency = models.CharField(
        _("currency"), max_length=3, blank=True, help_text=_("Of payments, e.g. EUR or CNY.")
    )

    class Meta:
        abstract = True

    def debriefing_rules(self) -> DebriefingRules:
        after = self.debriefing_after
        return DebriefingRules(
            text=self.debriefing,
            hold=DebriefingHold(self.debriefing_hold),
            after="" if after is None else after.isoformat(),
            consent=self.debriefing_consent,
        )


class ReminderFields(models.Model):
    """How participants are reminded of a stage; when, is each stage's to say."""

    reminder_channel = models.CharField(
        _("reminders by"),
        max_length=8,
        choices=ReminderChannel.choices,
        default=ReminderChannel.EMAIL,
    )
    webhook_url = models.URLField(
        _("webhook"),
        blank=True,
        help_text=_("Gets a signed JSON with participant's code, stage and kind; HTTPS only."),
    )
    webhook_sealed = models.BinaryField(default=bytes, editable=False)

    class Meta:
        abstract = True

    def reminder_rules(self) -> ReminderRules:
        return ReminderRules(channel=ReminderChannel(self.reminder_channel))

    def clean_reminders(self) -> None:
        """Raises ValidationError for a webhook that must not be called, or that there isn't."""
        if self.webhook_url:
            try:
                webhook.check_url(self.webhook_url)
            except ValidationError as error:
                raise ValidationError({"webhook_url": error.messages}) from None
        elif self.reminder_channel == ReminderChannel.WEBHOOK:
            raise ValidationError({"webhook_url": _now("Say where the webhook leads.")})

    def seal_webhook(self, secret: str) -> None:
        """Keep the secret that signs what the webhook gets. It can't be read again."""
        self.webhook_sealed = sealing.seal(secret)

    def webhook_secret(self) -> str:
        """The secret that signs; empty where there is none.

        Raises ImproperlyConfigured if no secret of the installation fits any more.
        """
        return sealing.unseal(self.webhook_sealed) if self.webhook_sealed else ""
