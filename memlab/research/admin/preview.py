"""Preview as a participant in any arm: who designs a study, may look at it in each."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.access import ParticipantRef, remember
from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import StudyStatus
from experiments.models import Study
from experiments.rights import Area, Right, Viewer
from memlab.core.clock import wall_now
from memlab.research.launch.preview import NoSuchArm, previews_of, start_preview

SLUG = "preview"


def _preview(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    if request.method == "POST" and request.POST.get("do") == "enter":
        return _enter(request, study)
    if request.method == "POST":
        try:
            start_preview(
                study,
                arm_key=request.POST.get("arm", ""),
                wall=wall_now(),
                user_id=request.user.pk,
            )
        except NoSuchArm:
            raise Http404 from None
        return redirect(studies.page_url(SLUG, study))
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
            (
                participant,
                labels.get(
                    participant.allocations.all()[0].arm_key,
                    participant.allocations.all()[0].arm_key,
                ),
            )
            for participant in previews_of(study)
        ],
    )
    return render(request, "back_office/preview.html", context)


def _enter(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Let this browser be the preview's participant. Only a preview of this study: nobody becomes
    a real participant by a form."""
    wanted = request.POST.get("participant", "")
    for participant in previews_of(study):
        if str(participant.public_id) == wanted:
            response = redirect("journey:home")
            remember(response, ParticipantRef(participant.lab_id, participant.public_id))
            return response
    raise Http404


def _shown(viewer: Viewer, study: Study) -> bool:
    running = study.status not in (StudyStatus.CLOSED, StudyStatus.ARCHIVED)
    return viewer.may(Area.DESIGN, Right.CHANGE) and running and bool(study.arms.exists())


StudyAdmin.pages.insert(
    2,
    ObjectPage(slug=SLUG, title=_("Preview"), icon="preview", view=_preview, shown=_shown),
)
