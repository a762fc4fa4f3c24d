"""What a study needs to run: payments, e-mail, a time zone, how many people it is made for."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.conf import settings
from django.utils.translation import gettext as _

from experiments.enums import ReminderChannel
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State

SECRET = "webhook-secret"  # the page on which one is made


def payments(draft: Draft) -> list[Finding]:
    """Whoever is paid is paid in some currency."""
    configuration, title = draft.configuration, _("Payments")
    paid = [stage.key for stage in configuration.stages if Decimal(stage.payment) > 0]
    if not paid:
        found = _("No stage is paid.")
        return [Finding(key="payments", title=title, state=State.OK, found=found)]
    if not configuration.currency.strip():
        return [
            Finding(
                key="payments",
                title=title,
                state=State.BLOCKING,
                found=_("Paid, but in no currency: %(stages)s.") % {"stages": ", ".join(paid)},
                remedy=_("Set the currency in the study."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = ", ".join(
        f"{stage.key} {stage.payment} {configuration.currency}"
        for stage in configuration.stages
        if stage.key in paid
    )
    return [Finding(key="payments", title=title, state=State.OK, found=found)]


def mail(draft: Draft) -> list[Finding]:
    """Reminders by e-mail need somebody who sends e-mail; so do alerts."""
    configuration, title = draft.configuration, _("E-mail")
    by_mail = configuration.reminders.channel is ReminderChannel.EMAIL
    reminds = by_mail and configuration.entry.asks_email and _reminds(draft)
    if settings.EMAIL_BACKEND:
        found = (
            _("Reminders go out by e-mail.") if reminds else _("Set up; no reminders are planned.")
        )
        return [Finding(key="mail", title=title, state=State.OK, found=found)]
    return [
        Finding(
            key="mail",
            title=title,
            state=State.BLOCKING if reminds else State.WARNING,
            found=_("Reminders are planned, but this installation sends no e-mail.")
            if reminds
            else _(
                "This installation sends no e-mail: safety alerts show in the back office only."
            ),
            remedy=_("Ask whoever runs the installation to set MEMLAB_EMAIL_URL."),
        )
    ]


def webhook(draft: Draft) -> list[Finding]:
    """Reminders that leave by a webhook need to know where it leads, and what signs them."""
    if draft.configuration.reminders.channel is not ReminderChannel.WEBHOOK or not _reminds(draft):
        return []
    title, leads = _("Webhook"), draft.study.webhook_url
    if leads and draft.study.webhook_secret():
        found = _("Reminders go to %(host)s, signed.") % {"host": urlsplit(leads).hostname}
        return [Finding(key="webhook", title=title, state=State.OK, found=found)]
    found, remedy, url = (
        (
            _("The webhook has no secret, so nothing is sent to it."),
            _("Make one, and give it to whoever runs the webhook."),
            draft.page(SECRET),
        )
        if leads
        else (
            _("Reminders leave by a webhook, and there is none."),
            _("Say where it leads."),
            draft.url,
        )
    )
    return [
        Finding(
            key="webhook",
            title=title,
            state=State.BLOCKING,
            found=found,
            remedy=remedy,
            url=url,
            overridable=False,
        )
    ]


def _reminds(draft: Draft) -> bool:
    return any(stage.reminder_hours for stage in draft.configuration.stages)


def zone(draft: Draft) -> list[Finding]:
    """Times are said, and windows kept, in somebody's time zone."""
    name, title = draft.configuration.time_zone, _("Time zone")
    if name not in available_timezones():
        return [
            Finding(
                key="zone",
                title=title,
                state=State.BLOCKING,
                found=_("%(name)s is no time zone.") % {"name": name},
                remedy=_("Use a name such as Asia/Shanghai or Europe/Berlin."),
                url=draft.url,
                overridable=False,
            )
        ]
    if name == "UTC":
        return [
            Finding(
                key="zone",
                title=title,
                state=State.WARNING,
                found=_("UTC, where hardly anybody lives: prompts name its day of the week."),
                remedy=_("Set your participants' zone."),
                url=draft.url,
            )
        ]
    return [Finding(key="zone", title=title, state=State.OK, found=name)]


def target(draft: Draft) -> list[Finding]:
    """How many people the study is planned for."""
    size, title = draft.study.target_size, _("Target size")
    if not size:
        return [
            Finding(
                key="target",
                title=title,
                state=State.WARNING,
                found=_("None is set: nobody sees when enrolment is complete."),
                remedy=_("Set it in the study, as preregistered."),
                url=draft.url,
            )
        ]
    found = _("%(size)s participants.") % {"size": size}
    return [Finding(key="target", title=title, state=State.OK, found=found)]
