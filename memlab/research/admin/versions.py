"""A frozen version: what changed, why, over which failing checks, and who runs under it."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.admin.version import StudyVersionAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import ParticipantState
from experiments.models import Participant, Session, StudyVersion
from memlab.research.launch.differences import differences
from memlab.research.launch.instruments import content_of


def before(version: StudyVersion) -> StudyVersion | None:
    """What a version is compared with: the one it amends, else the one frozen before it."""
    if version.amended_from is not None:
        return version.amended_from
    earlier = StudyVersion.objects.filter(study=version.study_id, number__lt=version.number)
    found: StudyVersion | None = earlier.order_by("-number").first()
    return found


def _people(
    request: HttpRequest, versions: TenantModelAdmin, version: StudyVersion
) -> HttpResponseBase:
    under = Participant.objects.filter(version=version)
    counted = dict(
        under.filter(test_mode=False)
        .order_by()
        .values_list("state")
        .annotate(Count("pk"))
        .values_list("state", "pk__count")
    )
    sessions = Session.objects.filter(version=version).aggregate(
        real=Count("pk", filter=Q(participant__test_mode=False)),
        tests=Count("pk", filter=Q(participant__test_mode=True)),
    )
    other = before(version)
    context = versions.page_context(
        request,
        version,
        title=_now("Version %(number)s of “%(study)s”")
        % {"number": version.number, "study": version.study.title},
        version=version,
        states=[(ParticipantState(state).label, n) for state, n in sorted(counted.items())],
        people=sum(counted.values()),
        test_runs=under.filter(test_mode=True).count(),
        sessions=sessions,
        before=other,
        differences=()
        if other is None
        else differences(other.configuration, version.configuration, content_of),
        participants_url=f"{reverse('admin:experiments_participant_changelist')}"
        f"?version__id__exact={version.pk}",
    )
    return render(request, "back_office/version.html", context)


StudyVersionAdmin.pages.append(
    ObjectPage(slug="people", title=_("Changes and people"), icon="group", view=_people)
)
