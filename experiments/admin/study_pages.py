"""What can be done with a study beside editing it: links, a copy, unblinding. Its way from draft to
archive, which needs everything, is in ``memlab.research.admin``."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from experiments.admin.invitations import invitations_page, open_link_page
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, StudyStatus
from experiments.models import Participant, Study
from experiments.rights import Area, Right, Viewer, unblind
from experiments.study_templates import duplicate


def _may_change(viewer: Viewer, study: Study) -> bool:
    return viewer.may(Area.STUDIES, Right.CHANGE)


def _entry_link(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return open_link_page(request, studies, study, test=False)


def _test_link(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return open_link_page(request, studies, study, test=True)


class _TitleForm(forms.Form):
    title = forms.CharField(label=_("Title"), max_length=200, widget=UnfoldAdminTextInputWidget)


def _duplicate(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    form = _TitleForm(
        request.POST or None, initial={"title": _now("%(title)s (copy)") % {"title": study.title}}
    )
    if request.method == "POST" and form.is_valid():
        copy = duplicate(study, title=form.cleaned_data["title"])
        studies.record(request, AuditAction.ADD, copy, duplicate_of=study.pk)
        return redirect(studies.change_url(copy))
    return studies.form_page(
        request,
        study,
        title=_now("Duplicate"),
        form=form,
        button=_now("Duplicate"),
        lead=_now("A new draft with the same texts, stages and arms, and nobody in it."),
    )


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Kept in the audit log."),
    )


def unblind_page(
    request: HttpRequest, pages: TenantModelAdmin, target: Study | Participant
) -> HttpResponseBase:
    """Ask for a reason, then unblind the viewer to this study or participant."""
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        unblind(request, target, reason=form.cleaned_data["reason"])
        messages.success(request, _now("You see arms, receipts and memories until you log out."))
        return redirect(pages.change_url(target))
    return pages.form_page(
        request,
        target,
        title=_now("Unblind"),
        form=form,
        button=_now("Unblind"),
        lead=_now(
            "You will see arms, receipts and memories until you log out or blind yourself "
            "again. Who unblinded themselves, when and why stays in the audit log."
        ),
    )


def _add_arm(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return redirect(f"{reverse('admin:experiments_arm_add')}?study={study.pk}")


STUDY_PAGES = [
    ObjectPage(
        slug="link",
        title=_("Entry link"),
        icon="link",
        view=_entry_link,
        shown=lambda viewer, study: (
            _may_change(viewer, study) and study.status in (StudyStatus.PILOTING, StudyStatus.OPEN)
        ),
    ),
    ObjectPage(
        slug="invite",
        title=_("Personal links"),
        icon="mail",
        view=invitations_page,
        shown=lambda viewer, study: (
            _may_change(viewer, study)
            and viewer.may(Area.IDENTIFIERS)
            and study.status in (StudyStatus.PILOTING, StudyStatus.OPEN)
        ),
    ),
    ObjectPage(
        slug="add-arm",
        rare=True,
        title=_("Add an arm"),
        icon="account_tree",
        view=_add_arm,
        shown=lambda viewer, study: viewer.may(Area.DESIGN, Right.CHANGE),
    ),
    ObjectPage(
        slug="test-link",
        rare=True,
        title=_("Test link"),
        icon="bug_report",
        view=_test_link,
        shown=_may_change,
    ),
    ObjectPage(
        slug="duplicate",
        rare=True,
        title=_("Duplicate"),
        icon="content_copy",
        view=_duplicate,
        shown=lambda viewer, study: viewer.may(Area.DESIGN, Right.CHANGE),
    ),
    ObjectPage(
        slug="unblind",
        rare=True,
        title=_("Unblind"),
        icon="visibility",
        view=unblind_page,
        shown=lambda viewer, study: viewer.member.may_unblind and not viewer.sees_arms_of(study),
    ),
]
