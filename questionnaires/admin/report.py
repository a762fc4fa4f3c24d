"""The page on a study that says what its questionnaires measured, and how reliably."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.models import Study
from experiments.rights import Area
from questionnaires.report import report_of


def _report(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    return render(
        request,
        "back_office/questionnaire_report.html",
        studies.page_context(
            request, study, title=_now("Questionnaires and scores"), places=report_of(study)
        ),
    )


StudyAdmin.pages.append(
    ObjectPage(
        slug="scores",
        title=_("Questionnaires and scores"),
        icon="leaderboard",
        view=_report,
        rare=True,
        shown=lambda viewer, study: viewer.may(Area.TRANSCRIPTS),
    )
)
