"""What a study's questionnaires measured, and how reliably: for staff, who see nothing by arm.

Of real participants only (no test runs, no scripted clocks) who didn't refuse the use of their data
after the debriefing, complete responses only, and each version at each of its places apart: another
wording or another time is another measurement.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from experiments.enums import Clock, Moment
from experiments.models import Consent, Study
from questionnaires.content import InstrumentContent
from questionnaires.enums import ResponseState
from questionnaires.models import Answer, InstrumentVersion, Response, Score
from questionnaires.reliability import (
    Matrix,
    NotComputable,
    Obstacle,
    alpha,
    covariance,
    item_total,
    omega,
)
from questionnaires.scoring import subscales


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """A number, or why there is none."""

    value: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    code: str
    mean: float | None
    item_total: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscaleReport:
    """``people`` have a score; mean and standard deviation (n − 1) are theirs. ``complete`` have
    answered every item: the coefficients are theirs."""

    subscale: str
    people: int
    complete: int
    mean: float | None
    deviation: float | None
    alpha: Coefficient
    omega: Coefficient
    items: tuple[ItemReport, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceReport:
    """One version at one place. ``failed`` people answered an attention check wrongly."""

    moment: Moment
    stage_key: str
    position: int
    version: InstrumentVersion
    content: InstrumentContent
    responses: int
    checks: int
    failed: int
    subscales: tuple[SubscaleReport, ...]


Place = tuple[str, str, int, int]
Answers = dict[UUID, dict[str, float | None]]


def report_of(study: Study) -> tuple[PlaceReport, ...]:
    """The study's places in order, each with its subscales. Four queries, whatever the size."""
    responses = Response.objects.filter(
        participant__study=study,
        participant__test_mode=False,
        participant__clock=Clock.LIVE,
        state=ResponseState.COMPLETE,
        version__isnull=False,
    ).exclude(participant__in=Consent.objects.refusing_use().values("participant"))
    versions = {
        version.pk: version
        for version in InstrumentVersion.objects.filter(
            pk__in=responses.values("version")
        ).select_related("instrument")
    }
    answers: Answers = defaultdict(dict)
    for response, item, value in Answer.objects.filter(response__in=responses).values_list(
        "response_id", "item", "scored"
    ):
        answers[response][item] = value
    scores: dict[UUID, dict[str, float]] = defaultdict(dict)
    for response, subscale, value in Score.objects.filter(
        response__in=responses, value__isnull=False
    ).values_list("response_id", "subscale", "value"):
        scores[response][subscale] = value
    places: dict[Place, list[Response]] = defaultdict(list)
    for response in responses:
        places[
            (response.moment, response.stage_key, response.position, response.version_id)
        ].append(response)
    order = {moment: index for index, moment in enumerate(Moment.values)}
    return tuple(
        _place(place, versions[place[3]], places[place], answers, scores)
        for place in sorted(places, key=lambda each: (each[1], order[each[0]], *each[2:]))
    )


def _place(
    place: Place,
    version: InstrumentVersion,
    responses: list[Response],
    answers: Answers,
    scores: dict[UUID, dict[str, float]],
) -> PlaceReport:
    content = version.content
    return PlaceReport(
        moment=Moment(place[0]),
        stage_key=place[1],
        position=place[2],
        version=version,
        content=content,
        responses=len(responses),
        checks=sum(item.is_check for item in content.items),
        failed=sum(bool(response.attention_failures) for response in responses),
        subscales=tuple(
            _subscale(
                name,
                [item.code for item in items],
                [answers[response.pk] for response in responses],
                [
                    scores[response.pk][name]
                    for response in responses
                    if name in scores[response.pk]
                ],
            )
            for name, items in subscales(content).items()
        ),
    )


def _subscale(
    name: str, codes: list[str], answers: list[dict[str, float | None]], values: list[float]
) -> SubscaleReport:
    rows = [[each.get(code) for code in codes] for each in answers]
    try:
        matrix: Matrix | None = covariance(rows)
        obstacle = Coefficient()
    except NotComputable as error:
        matrix, obstacle = None, Coefficient(why=why(error, codes))
    totals: Iterable[float | None] = (
        item_total(matrix) if matrix is not None and len(codes) > 1 else [None] * len(codes)
    )
    return SubscaleReport(
        subscale=name,
        people=len(values),
        complete=sum(None not in row for row in rows),
        mean=statistics.fmean(values) if values else None,
        deviation=statistics.stdev(values) if len(values) > 1 else None,
        alpha=obstacle if matrix is None else _coefficient(alpha, matrix, codes),
        omega=obstacle if matrix is None else _coefficient(omega, matrix, codes),
        items=tuple(
            ItemReport(code=code, mean=_mean(row[index] for row in rows), item_total=total)
            for index, (code, total) in enumerate(zip(codes, totals, strict=True))
        ),
    )


def _coefficient(
    formula: Callable[[Matrix], float], matrix: Matrix, codes: list[str]
) -> Coefficient:
    try:
        return Coefficient(value=formula(matrix))
    except NotComputable as error:
        return Coefficient(why=why(error, codes))


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return statistics.fmean(there) if there else None


def why(error: NotComputable, codes: list[str]) -> str:
    """What stands in the way of a coefficient, in words."""
    told = {
        Obstacle.FEW_ITEMS: _("too few items: alpha needs two, omega three"),
        Obstacle.FEW_PEOPLE: _("fewer than three people answered every item"),
        Obstacle.CONSTANT_ITEM: _("everybody answered %(items)s alike")
        % {"items": ", ".join(codes[index] for index in error.items)},
        Obstacle.CONSTANT_SUM: _("everybody has the same sum"),
        Obstacle.NO_FACTOR: _("fewer than three items have anything in common"),
    }
    return told[error.obstacle]
