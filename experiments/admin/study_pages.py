"""What can be done with a study beside editing it: open, close, links, a copy, unblinding."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextInputWidget

from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, StudyStatus
from experiments.models import EntryLink, Participant, Study
from experiments.rights import Area, Right, Viewer, unblind
from experiments.study_templates import duplicate


def _may_change(viewer: Viewer, study: Study) -> bool:
    return viewer.may(Area.STUDIES, Right.CHANGE)


def _open_study(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    try:
        configuration = study.configuration()
    except ValidationError as error:
        return studies.confirm(
            request,
            study,
            title=_now("This study can't be opened yet"),
            lead=_now("Put this right first:"),
            points=error.messages,
            button=None,
        )
    troubles = launch_troubles(study)
    if request.method != "POST" or troubles:
        return studies.confirm(
            request,
            study,
            title=_now("Open the study"),
            lead=_now(
                "The configuration is frozen under its SHA-256. Whoever consents from now on runs "
                "under this version; earlier participants keep theirs."
            ),
            facts=[
                (_now("Stages"), ", ".join(stage.key for stage in configuration.stages)),
                (
                    _now("Arms"),
                    ", ".join(
                        f"{arm.label} = {arm.name} ({arm.weight})" for arm in configuration.arms
                    ),
                ),
                (
                    _now("Talking model"),
                    f"{configuration.talking.provider} · {configuration.talking.model}",
                ),
                (
                    _now("Extraction model"),
                    f"{configuration.extraction.provider} · {configuration.extraction.model}",
                ),
                (
                    _now("Embedder"),
                    f"{configuration.embedding.provider} · {configuration.embedding.model}",
                ),
                (_now("Within the session"), study.get_within_session_display()),
                (_now("Instruction"), study.get_instruction_display()),
                (_now("Allocation"), study.get_allocation_time_display()),
                ("SHA-256", configuration.sha256()),
            ],
            points=troubles,
            button=None if troubles else _now("Freeze and open"),
        )
    version = study.open()
    studies.record(
        request, AuditAction.OPEN_STUDY, study, version=version.number, sha256=version.sha256
    )
    messages.success(request, _now("Open, under version %(number)s.") % {"number": version.number})
    return redirect(studies.change_url(study))


def launch_troubles(study: Study) -> list[str]:
    """What keeps a study from opening, in words; empty when nothing does."""
    troubles = []
    stages = list(study.stages.all())
    if not stages:
        troubles.append(_now("There is no stage."))
    if any(stage.manipulation for stage in stages) and not study.arms.exists():
        troubles.append(_now("A stage has the manipulation active, but there is no arm."))
    for name, text in (
        (_now("information sheet"), study.information),
        (_now("consent statement"), study.consent),
    ):
        if not text.strip():
            troubles.append(_now("The %(name)s is empty.") % {"name": name})
    return troubles


def _close_study(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    if request.method != "POST":
        return studies.confirm(
            request,
            study,
            title=_now("Close the study"),
            lead=_now("Nobody can enter any more. Participants who are in it go on."),
            button=_now("Close"),
            danger=True,
        )
    study.status = StudyStatus.CLOSED
    study.save(update_fields=["status"])
    studies.record(request, AuditAction.CLOSE_STUDY, study)
    messages.success(request, _now("Closed."))
    return redirect(studies.change_url(study))


def _link(
    request: HttpRequest, studies: TenantModelAdmin, study: Study, *, test: bool
) -> HttpResponseBase:
    title = _now("Link for test runs") if test else _now("Link for participants")
    if request.method != "POST":
        return studies.confirm(
            request,
            study,
            title=title,
            lead=_now(
                "Whoever opens it enters as a test run, which can skip days and never counts."
            )
            if test
            else _now("Whoever opens it enters the study. The address is shown only once."),
            button=_now("Make a link"),
        )
    token = EntryLink.objects.issue(lab_id=study.lab_id, study_id=study.pk, test_mode=test)
    studies.record(request, AuditAction.ISSUE_LINK, study, test_mode=test)
    response = render(
        request,
        "back_office/shown_once.html",
        studies.page_context(
            request,
            study,
            title=title,
            lead=_now("Copy the address now: only its hash is kept, so it can't be shown again."),
            values=[(title, request.build_absolute_uri(reverse("journey:join", args=[token])))],
        ),
    )
    response["Cache-Control"] = "no-store"
    return response


def _entry_link(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return _link(request, studies, study, test=False)


def _test_link(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return _link(request, studies, study, test=True)


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
    return render(
        request,
        "back_office/form.html",
        studies.page_context(
            request,
            study,
            title=_now("Duplicate"),
            form=form,
            button=_now("Duplicate"),
            lead=_now("A new draft with the same texts, stages and arms, and nobody in it."),
        ),
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
    return render(
        request,
        "back_office/form.html",
        pages.page_context(
            request,
            target,
            title=_now("Unblind"),
            form=form,
            button=_now("Unblind"),
            lead=_now(
                "You will see arms, receipts and memories until you log out or blind yourself "
                "again. Who unblinded themselves, when and why stays in the audit log."
            ),
        ),
    )


def _add_arm(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return redirect(f"{reverse('admin:experiments_arm_add')}?study={study.pk}")


STUDY_PAGES = [
    ObjectPage(
        slug="open",
        title=_("Open"),
        icon="lock_open",
        view=_open_study,
        variant=ActionVariant.PRIMARY,
        shown=lambda viewer, study: (
            viewer.may(Area.DESIGN, Right.CHANGE) and study.status != StudyStatus.ARCHIVED
        ),
    ),
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
        slug="close",
        rare=True,
        title=_("Close"),
        icon="lock",
        view=_close_study,
        shown=lambda viewer, study: (
            _may_change(viewer, study) and study.status in (StudyStatus.PILOTING, StudyStatus.OPEN)
        ),
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
