"""What staff do with reminders: send one again, hand over today's list, make a webhook's secret."""

from __future__ import annotations

import secrets

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.enums import ActionVariant

from experiments.admin.study import StudyAdmin
from experiments.admin.windows import ReminderAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, ReminderChannel, ReminderState
from experiments.models import Reminder, Study
from experiments.rights import Area, Right, Viewer, viewer_of
from memlab.core.clock import wall_now
from memlab.journey import reminders, todays_list

RESENDABLE = (ReminderState.UNKNOWN, ReminderState.FAILED)


def _resend(request: HttpRequest, rows: TenantModelAdmin, reminder: Reminder) -> HttpResponseBase:
    if request.method != "POST":
        return rows.confirm(
            request,
            reminder,
            title=_now("Send again"),
            lead=_now(
                "It goes out within a minute, if the stage is still open for the participant. One "
                "whose outcome is unknown may then reach them twice."
            ),
            button=_now("Send again"),
        )
    before = reminder.state
    if reminders.resend(reminder.pk, wall=wall_now()):
        rows.record(request, AuditAction.RESEND_REMINDER, reminder, state=before)
        messages.success(request, _now("Planned. It is sent within a minute."))
    else:
        messages.warning(request, _now("Somebody else has had it sent again."))
    return redirect(rows.change_url(reminder))


ReminderAdmin.pages.append(
    ObjectPage(
        slug="resend",
        title=_("Send again"),
        icon="forward_to_inbox",
        view=_resend,
        shown=lambda viewer, reminder: (
            viewer.may(Area.PEOPLE, Right.CHANGE) and reminder.state in RESENDABLE
        ),
        variant=ActionVariant.PRIMARY,
    )
)


def _todays(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    wall, viewer = wall_now(), viewer_of(request)
    assert viewer is not None
    if request.method == "POST":
        if not _may_hand_over(viewer):
            raise Http404
        content, new = todays_list.hand_over(study, wall=wall)
        studies.record(request, AuditAction.EXPORT_REMINDERS, study, new=new)
        response = HttpResponse(content, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="reminders-{wall:%Y-%m-%d}.csv"'
        response["Cache-Control"] = "no-store"
        return response
    return render(
        request,
        "back_office/todays_list.html",
        studies.page_context(
            request,
            study,
            title=_now("Today's reminders"),
            lines=todays_list.lines(study, wall=wall),
            may_hand_over=_may_hand_over(viewer),
        ),
    )


def _may_see(viewer: Viewer, study: Study) -> bool:
    """Whoever looks after participants: the page names them by their codes alone."""
    return study.reminder_channel == ReminderChannel.LIST and viewer.may(Area.PEOPLE, Right.CHANGE)


def _may_hand_over(viewer: Viewer) -> bool:
    """The file leaves the installation, and holds what people are known by outside the study."""
    return viewer.may(Area.EXPORT) and viewer.may(Area.IDENTIFIERS)


def _new_secret(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    if request.method != "POST":
        return studies.confirm(
            request,
            study,
            title=_now("The webhook's secret"),
            lead=_now(
                "A new secret is made and shown once. What is sent from now on is signed with it; "
                "the one before is worth nothing any more."
            ),
            button=_now("Make a secret"),
        )
    secret = secrets.token_urlsafe(32)
    study.seal_webhook(secret)
    study.save(update_fields=["webhook_sealed"])
    studies.record(request, AuditAction.NEW_WEBHOOK_SECRET, study)
    response = render(
        request,
        "back_office/shown_once.html",
        studies.page_context(
            request,
            study,
            title=_now("The webhook's secret"),
            lead=_now(
                "Copy it now, for it can't be shown again. The header Memlab-Signature holds "
                "t=<unix time>,v1=<HMAC-SHA256 of “<unix time>.<body>” in hexadecimal>."
            ),
            values=[(_now("Secret"), secret)],
        ),
    )
    response["Cache-Control"] = "no-store"
    return response


StudyAdmin.pages += [
    ObjectPage(
        slug="reminders",
        title=_("Today's reminders"),
        icon="notifications",
        view=_todays,
        shown=_may_see,
    ),
    ObjectPage(
        slug="webhook-secret",
        title=_("The webhook's secret"),
        icon="key",
        view=_new_secret,
        rare=True,
        shown=lambda viewer, study: (
            viewer.may(Area.STUDIES, Right.CHANGE)
            and study.reminder_channel == ReminderChannel.WEBHOOK
        ),
    ),
]
