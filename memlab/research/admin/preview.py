"""Preview as a participant in any arm: who designs a study, may look at it in each."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.access import ParticipantRef, remember
from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import StudyStatus
from experiments.models import Study, StudyVersion
from experiments.rights import Area, Right, Viewer
from memlab.core.clock import wall_now
from memlab.research.launch.preview import (
    NoSuchArm,
    arm_of,
    is_outdated,
    previews_of,
    start_preview,
)

SLUG = "preview"


def _preview(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    try:
        version = study.version()
    except ValidationError as error:
        return studies.confirm(
            request,
            study,
            title=_now("Preview as a participant"),
            lead=_now("Put this right first:"),
            points=error.messages,
            button=None,
        )
    if request.method == "POST" and request.POST.get("do") == "enter":
        return _enter(request, studies, study, version)
    if request.method == "POST":
        return _start(request, studies, study)
    configuration = version.configuration
    labels = {arm.key: f"{arm.label} · {arm.name}" for arm in configuration.arms}
    context = studies.page_context(
        request,
        study,
        title=_now("Preview as a participant"),
        version=version,
        frozen=version.opened_at is not None and study.status == StudyStatus.OPEN,
        arms=[(arm.key, labels[arm.key]) for arm in configuration.arms],
        previews=[
            (preview, labels.get(arm_of(preview), arm_of(preview)), is_outdated(preview, version))
            for preview in previews_of(study)
        ],
    )
    return render(request, "back_office/preview.html", context)


def _start(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    arm_key = request.POST.get("arm", "")
    try:
        start_preview(study, arm_key=arm_key, wall=wall_now(), user_id=request.user.pk)
    except NoSuchArm:
        messages.error(
            request,
            _now(
                "The arm “%(arm)s” is not in the version that a preview runs under; perhaps the "
                "study was amended meanwhile. Choose one of those below."
            )
            % {"arm": arm_key},
        )
    return redirect(studies.page_url(SLUG, study))


def _enter(
    request: HttpRequest, studies: TenantModelAdmin, study: Study, version: StudyVersion
) -> HttpResponseBase:
    """Let this browser be the preview's participant. Only a preview of this study: nobody becomes
    a real participant by a form."""
    wanted = request.POST.get("participant", "")
    preview = next((row for row in previews_of(study) if str(row.public_id) == wanted), None)
    if preview is None:
        raise Http404
    if is_outdated(preview, version):
        messages.error(
            request,
            _now("The arm of this test run is no longer in the study. Make a new test run."),
        )
        return redirect(studies.page_url(SLUG, study))
    response = redirect("journey:home")
    remember(response, ParticipantRef(preview.lab_id, preview.public_id))
    return response


def _shown(viewer: Viewer, study: Study) -> bool:
    running = study.status not in (StudyStatus.CLOSED, StudyStatus.ARCHIVED)
    return viewer.may(Area.DESIGN, Right.CHANGE) and running and bool(study.arms.exists())


StudyAdmin.pages.insert(
    2,
    ObjectPage(slug=SLUG, title=_("Preview"), icon="preview", view=_preview, shown=_shown),
)
