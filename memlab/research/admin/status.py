"""The other steps of a study's way: piloting, back to the draft, closing, archiving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, StudyStatus
from experiments.models import Study
from experiments.rights import Area, Right, Viewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change of status, as a page that asks and a button that does it."""

    slug: str
    status: StudyStatus
    action: AuditAction
    icon: str
    title: Any
    lead: Any
    button: Any
    done: Any
    danger: bool = False
    area: Area = Area.STUDIES


STEPS = (
    Step(
        slug="pilot",
        status=StudyStatus.PILOTING,
        action=AuditAction.START_PILOT,
        icon="science",
        title=_("Start piloting"),
        lead=_(
            "Test links and previews work, and can skip days. Whoever enters runs under the draft "
            "as it stands at their consent, is flagged as a test run and counted apart."
        ),
        button=_("Start piloting"),
        done=_("The study is being piloted."),
        area=Area.DESIGN,
    ),
    Step(
        slug="back-to-draft",
        status=StudyStatus.DRAFT,
        action=AuditAction.BACK_TO_DRAFT,
        icon="edit_note",
        title=_("Back to the draft"),
        lead=_("Piloting ends. Test runs stay, and go on."),
        button=_("Back to the draft"),
        done=_("The study is a draft again."),
        area=Area.DESIGN,
    ),
    Step(
        slug="close",
        status=StudyStatus.CLOSED,
        action=AuditAction.CLOSE_STUDY,
        icon="lock",
        title=_("Close the study"),
        lead=_(
            "Nobody can enter any more. Participants who are in it go on. A closed study doesn't "
            "open again, for its allocations are no longer sealed."
        ),
        button=_("Close"),
        done=_("Closed."),
        danger=True,
    ),
    Step(
        slug="archive",
        status=StudyStatus.ARCHIVED,
        action=AuditAction.ARCHIVE_STUDY,
        icon="inventory_2",
        title=_("Archive the study"),
        lead=_(
            "It leaves the overview of running studies. Its data stay as they are, and can still "
            "be looked at and exported."
        ),
        button=_("Archive"),
        done=_("Archived."),
        danger=True,
        area=Area.DESIGN,
    ),
)


def _view(step: Step) -> Callable[[HttpRequest, TenantModelAdmin, Study], HttpResponseBase]:
    def view(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
        if request.method != "POST":
            return studies.confirm(
                request,
                study,
                title=step.title,
                lead=step.lead,
                button=step.button,
                danger=step.danger,
            )
        try:
            study.move_to(step.status)
        except ValidationError as error:
            return studies.confirm(
                request,
                study,
                title=step.title,
                lead=_now("This isn't possible:"),
                points=error.messages,
                button=None,
            )
        studies.record(request, step.action, study)
        messages.success(request, step.done)
        return redirect(studies.change_url(study))

    return view


def _shown(step: Step) -> Callable[[Viewer, Study], bool]:
    def shown(viewer: Viewer, study: Study) -> bool:
        return viewer.may(step.area, Right.CHANGE) and study.may_become(step.status)

    return shown


StudyAdmin.pages += [
    ObjectPage(
        slug=step.slug,
        rare=True,
        title=step.title,
        icon=step.icon,
        view=_view(step),
        shown=_shown(step),
    )
    for step in STEPS
]
