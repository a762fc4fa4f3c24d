"""All arms of a study side by side: what each treatment consists of, and what differs."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, StudyStatus
from experiments.models import Study
from experiments.rights import Area, Right, Viewer, viewer_of
from memlab.research.launch.identity import Identity, Part, Standing, identity, sample_prompts
from memlab.research.launch.wording import row_name, told

SLUG = "arms"
_TAGS = {Standing.SAME: "", Standing.DECLARED: "good", Standing.UNDECLARED: "danger"}
_STANDINGS = {
    Standing.SAME: _("same"),
    Standing.DECLARED: _("declared"),
    Standing.UNDECLARED: _("undeclared"),
}


def _arms(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    if request.method == "POST":
        return _declare(request, studies, study)
    viewer = viewer_of(request)
    assert viewer is not None
    try:
        configuration = study.configuration()
    except ValidationError as error:
        return studies.confirm(
            request,
            study,
            title=_now("Arms side by side"),
            lead=_now("Put this right first:"),
            points=error.messages,
            button=None,
        )
    compared = identity(configuration, sample_prompts(configuration))
    context = studies.page_context(
        request,
        study,
        title=_now("Arms side by side"),
        arms=compared.arms,
        rows=[_line(row_number, compared) for row_number in range(len(compared.rows))],
        undeclared=len(compared.undeclared),
        declarable=any(row.part is Part.PARAMETER and row.differs for row in compared.rows),
        twins=compared.twins(),
        may_declare=viewer.may(Area.DESIGN, Right.CHANGE) and study.status != StudyStatus.ARCHIVED,
        varied=sorted(study.varied),
    )
    return render(request, "back_office/arms.html", context)


def _line(number: int, compared: Identity) -> dict[str, object]:
    row = compared.rows[number]
    return {
        "name": row_name(row),
        "code": row.part is Part.PARAMETER,
        "long": row.part is Part.PROMPT,
        "cells": [told(row, value) for value in row.values],
        "differs": row.differs,
        "standing": _STANDINGS[row.standing],
        "tag": _TAGS[row.standing],
        "declarable": row.name
        if row.part is Part.PARAMETER and row.standing is not Standing.SAME
        else "",
        "declared": row.standing is Standing.DECLARED,
    }


def _declare(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    """Which shared parameters arms differ in on purpose: what was ticked, and nothing else."""
    configuration = study.configuration()
    compared = identity(configuration, sample_prompts(configuration))
    differing = {row.name for row in compared.rows if row.part is Part.PARAMETER and row.differs}
    before, after = sorted(study.varied), sorted(differing & set(request.POST.getlist("varied")))
    if before != after:
        study.varied = after
        study.save(update_fields=["varied"])
        studies.record(
            request,
            AuditAction.DECLARE_VARIED,
            study,
            fields={"varied": {"before": before, "after": after}},
        )
    messages.success(request, _now("Declared."))
    return redirect(studies.page_url(SLUG, study))


def _shown(viewer: Viewer, study: Study) -> bool:
    if not viewer.may(Area.DESIGN):
        return False
    return bool(study.arms.exists())


StudyAdmin.pages.insert(
    1,
    ObjectPage(
        slug=SLUG, title=_("Arms side by side"), icon="compare_arrows", view=_arms, shown=_shown
    ),
)
