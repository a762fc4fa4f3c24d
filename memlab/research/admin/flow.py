"""The flow of participants, live, on a page of the study."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.configuration import StageConfiguration
from experiments.models import Study
from experiments.rights import Area, viewer_of
from memlab.research.flow import Line, Person, flow, people_of


def _flow(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    stages, people = _stages(study), people_of(study)
    real = [person for person in people if not person.test_mode]
    columns = [(_now("All"), flow(real, stages))]
    if viewer.sees_arms_of(study):
        columns += _by_arm(study, real, stages)
    tests = flow([person for person in people if person.test_mode], stages)
    context = studies.page_context(
        request,
        study,
        title=_now("Flow of participants"),
        columns=[title for title, _lines in columns],
        rows=[
            {
                "line": lines[0],
                "counts": [line.count for line in lines],
                "tests": tested.count,
                "percent": None if lines[0].share is None else round(100 * lines[0].share),
            }
            for *lines, tested in zip(*(lines for _title, lines in columns), tests, strict=True)
            if lines[0].count or tested.count or not lines[0].reason
        ],
        target=study.target_size,
        enrolled=sum(person.consented for person in real),
    )
    return render(request, "back_office/flow.html", context)


def _stages(study: Study) -> Sequence[StageConfiguration]:
    """Of the version that runs, else of the draft."""
    running = study.running()
    if running is not None:
        return running.configuration.stages
    return [stage.configuration() for stage in study.stages.order_by("number")]


def _by_arm(
    study: Study, people: Sequence[Person], stages: Sequence[StageConfiguration]
) -> list[tuple[str, list[Line]]]:
    labels = dict(study.arms.values_list("key", "label"))
    arms = sorted({person.arm for person in people if person.arm is not None})
    return [
        (labels.get(arm, arm), flow([person for person in people if person.arm == arm], stages))
        for arm in arms
    ]


StudyAdmin.pages.insert(
    3,
    ObjectPage(
        slug="flow",
        title=_("Flow"),
        icon="account_tree",
        view=_flow,
        shown=lambda viewer, study: viewer.may(Area.PEOPLE),
    ),
)
