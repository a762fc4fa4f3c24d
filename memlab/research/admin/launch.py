"""The launch checklist of a study, opening and amending it."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django_q.tasks import async_task
from unfold.enums import ActionVariant

from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, MemberRole, StudyStatus
from experiments.models import Study
from experiments.rights import Area, Right, Viewer, viewer_of
from memlab.core.clock import wall_now
from memlab.research.launch.checklist import Checklist, checklist
from memlab.research.launch.differences import differences
from memlab.research.launch.finding import State
from memlab.research.launch.instruments import content_of
from memlab.research.launch.opening import LaunchRefused, launch
from memlab.research.launch.probes import asked_since

SLUG = "launch"
#: For how long the page looks by itself for answers of models, and how often, in seconds.
PATIENCE, EVERY = timedelta(minutes=3), 3
#: The prefix of the fields that take the reasons of overrides.
OVERRIDE = "override-"


def _checklist(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    if request.method == "POST" and request.POST.get("do") == "ask":
        return _ask(request, studies, study)
    troubles: tuple[str, ...] = ()
    if request.method == "POST":
        try:
            return _launched(request, studies, study)
        except LaunchRefused as refusal:
            troubles = refusal.troubles
    found = checklist(study, wall=wall_now())
    response = render(
        request,
        "back_office/launch.html",
        studies.page_context(request, study, **_context(request, study, found, troubles)),
        status=400 if troubles else 200,
    )
    if _waits(request, study):
        response["Refresh"] = str(EVERY)
    return response


def _context(
    request: HttpRequest, study: Study, found: Checklist, troubles: tuple[str, ...]
) -> dict[str, Any]:
    viewer = viewer_of(request)
    assert viewer is not None
    owner = viewer.member.role == MemberRole.OWNER
    running = study.running() if study.status == StudyStatus.OPEN else None
    sha256 = None if found.configuration is None else found.configuration.sha256()
    return {
        "title": _now("Launch checklist"),
        "lines": [
            {
                "finding": finding,
                "tag": _TAGS[finding.state],
                "field": f"{OVERRIDE}{finding.key}",
                "given": request.POST.get(f"{OVERRIDE}{finding.key}", ""),
            }
            for finding in found.findings
        ],
        "counts": [(state, _TAGS[state], found.count(state)) for state in State],
        "owner": owner,
        "final": bool(found.final),
        "openable": not found.final and (owner or not found.holding_up),
        "needs_owner": bool(found.holding_up) and not found.final and not owner,
        "running": running,
        "unchanged": running is not None and running.sha256 == sha256,
        "differences": ()
        if running is None or found.configuration is None
        else differences(running.configuration, found.configuration, content_of),
        "sha256": sha256,
        "troubles": troubles,
        "waiting": _waits(request, study),
        "may_open": study.may_become(StudyStatus.OPEN),
        "reason": request.POST.get("reason", ""),
    }


_TAGS = {
    State.OK: "good",
    State.WARNING: "warning",
    State.BLOCKING: "danger",
    State.UNKNOWN: "warning",
}


def _ask(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    """The models are asked by a task, once this transaction is over."""
    studies.record(request, AuditAction.ASK_MODELS, study)
    transaction.on_commit(
        partial(
            async_task,
            "memlab.research.launch.tasks.probe_models",
            study.lab_id,
            study.pk,
            request.user.pk,
        )
    )
    asked = wall_now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return redirect(f"{studies.page_url(SLUG, study)}?asked={asked}")


def _waits(request: HttpRequest, study: Study) -> bool:
    """Whether models were asked just now and nothing has come back."""
    moment = _moment(request.GET.get("asked", ""))
    if moment is None or not timedelta() <= wall_now() - moment < PATIENCE:
        return False
    return not asked_since(study, moment)


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _launched(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    overrides = {
        name.removeprefix(OVERRIDE): str(text)[:500]
        for name, text in request.POST.items()
        if name.startswith(OVERRIDE)
    }
    owner = viewer.member.role == MemberRole.OWNER
    version = launch(
        study,
        wall=wall_now(),
        user_id=request.user.pk,
        overrides=overrides if owner else {},
        reason=request.POST.get("reason", "")[:2000],
    )
    messages.success(request, _now("Open, under version %(number)s.") % {"number": version.number})
    return redirect(studies.change_url(study))


def _may_launch(viewer: Viewer, study: Study) -> bool:
    return viewer.may(Area.DESIGN, Right.CHANGE) and study.may_become(StudyStatus.OPEN)


StudyAdmin.pages.insert(
    0,
    ObjectPage(
        slug=SLUG,
        title=_("Launch checklist"),
        icon="checklist",
        view=_checklist,
        variant=ActionVariant.PRIMARY,
        shown=_may_launch,
    ),
)
