"""Asking and answering: which questionnaire is next, its pages, its end.

Synchronous functions, called inside a ``lab_scope``, which is one transaction each: a page with
what follows from it is stored as a whole or not at all. Whoever saves a page locks the row of the
participant first and the response's second: no withdrawal and no second tab comes in between.

If the process dies after the commit and before its answer, the page sends the same once more and
gets the same answer; before the commit nothing was stored, and the second attempt is the first.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from experiments.enums import Moment, ParticipantState
from experiments.models import Participant
from experiments.rules import PlacementConfiguration
from experiments.schedule import Standing
from questionnaires import ordering
from questionnaires.content import InstrumentContent, ItemContent
from questionnaires.course import schedule_of
from questionnaires.enums import Missing, ResponseState
from questionnaires.models import InstrumentVersion, Response
from questionnaires.models.response import Given, response_id
from questionnaires.validation import checked, refuse_unknown, shown

#: A page that stays open over night says little about how long its items took.
LONGEST_SECONDS = 24 * 3600.0
#: The debriefing's questions come when everything else is over, and reach dropouts too.
ANSWERING = {ParticipantState.ACTIVE}
ANSWERING_DEBRIEFING = ANSWERING | {ParticipantState.COMPLETE, ParticipantState.DROPPED_OUT}


class NotNow(Exception):
    """Nothing can be answered here now; the message is for the participant."""


class Overtaken(Exception):
    """The questionnaire was continued elsewhere, and this would overwrite what was said there."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A page is stored. ``page`` is the one to show next, None if the questionnaire is complete."""

    page: int | None
    revision: int


def is_asked(participant: Participant, placement: PlacementConfiguration) -> bool:
    """Whether this participant is asked at this place: always, or if they are in the random half.

    The half follows from a hash keyed with the study's secret seed, so it is the same whenever it
    is asked for, at every place another one, and nobody can foresee it.
    """
    if not placement.half:
        return True
    place = f"half:{participant.public_id}:{placement.key}"
    return (
        hmac.digest(participant.study.allocation_seed.encode(), place.encode(), "sha256")[0] < 128
    )


def next_open(
    participant: Participant, moment: Moment, stage_key: str = "", *, wall: datetime
) -> Response | None:
    """The next unfinished questionnaire of a moment, opened if it isn't yet; None if there is none.

    Safe to repeat: its id follows from participant and place.
    """
    for placement in _asked(participant, moment, stage_key):
        response = _opened(participant, placement, wall=wall)
        if response.state == ResponseState.OPEN:
            return response
    return None


def is_complete(participant: Participant, moment: Moment, stage_key: str = "") -> bool:
    """Whether everything that this participant is asked at a moment was answered to its end."""
    places = {placement.position for placement in _asked(participant, moment, stage_key)}
    done = Response.objects.filter(
        participant=participant,
        moment=moment,
        stage_key=stage_key,
        state=ResponseState.COMPLETE,
    )
    return places <= set(done.values_list("position", flat=True))


def placement_of(participant: Participant, response: Response) -> PlacementConfiguration:
    """The place of the study's version at which this response was opened."""
    placed = _asked(participant, Moment(response.moment), response.stage_key)
    return next(each for each in placed if each.position == response.position)


def place_among(participant: Participant, response: Response) -> tuple[int, int]:
    """The how-manieth of how many questionnaires of its moment this is, for this participant."""
    placed = _asked(participant, Moment(response.moment), response.stage_key)
    return 1 + [each.position for each in placed].index(response.position), len(placed)


def expire(participant: Participant, stage_key: str, *, now: datetime) -> None:
    """Close the stage's unfinished questionnaires at study time ``now``. Safe to repeat.

    What was answered stays; what wasn't is marked as timed out, but for what its condition hid.
    """
    Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    unfinished = Response.objects.select_for_update(of=("self",)).filter(
        participant=participant, stage_key=stage_key, state=ResponseState.OPEN
    )
    for response in unfinished.select_related("version"):
        lacking = {} if response.version is None else _lacking(response, Missing.TIMED_OUT)
        response.settle(ResponseState.EXPIRED, lacking, now=now)


def reopen(participant: Participant, stage_keys: Collection[str]) -> None:
    """Ask again what was closed with stages that staff have opened again. Nobody had begun them, so
    nothing of it was answered. The caller holds the participant's row lock."""
    closed = Response.objects.select_for_update(of=("self",)).filter(
        participant=participant, stage_key__in=stage_keys, state=ResponseState.EXPIRED
    )
    for response in closed:
        response.reopen()


def save_page(
    participant: Participant,
    response: UUID,
    *,
    page: int,
    revision: int,
    seconds: float,
    answers: Mapping[str, Any],
    wall: datetime,
) -> Saved:
    """Store the answers of page ``page``, written on ``revision``; the last page completes.

    The same page once more changes nothing. Raises InvalidAnswers, NotNow or Overtaken, and then
    nothing was stored.
    """
    participant, row = locked(participant, response)
    if row.version is None:
        raise Overtaken  # an external survey has no pages here
    asked = _Asked.of(row)
    items = asked.page(page)
    codes = [item.code for item in items]
    refuse_unknown(answers, codes=codes)
    elsewhere = {code: raw for code, raw in row.given().items() if code not in codes}
    everything = {**elsewhere, **answers}
    good = checked(asked.content, everything, codes=codes)
    if row.state != ResponseState.OPEN or revision != row.revision:
        return _repeated(row, asked, page, good)
    _require_answering(participant, row, wall=wall)
    following = asked.after(page, everything)
    through = asked.codes if following is None else asked.codes_before(page)
    checked(asked.content, everything, codes=through)
    now = participant.study_time(wall)
    row.keep(
        asked.rows(items, good, everything),
        page=page,
        seconds=min(max(seconds, 0.0), LONGEST_SECONDS),
        next_page=following or page,
        now=now,
    )
    if following is None:
        row.settle(ResponseState.COMPLETE, _lacking(row, Missing.SKIPPED), now=now)
    return Saved(following, row.revision)


def complete_external(participant: Participant, response: UUID, *, wall: datetime) -> None:
    """An external survey has led back. Safe to repeat. Raises NotNow or Overtaken."""
    participant, row = locked(participant, response)
    if row.version is not None:
        raise Overtaken
    if row.state == ResponseState.OPEN:
        _require_answering(participant, row, wall=wall)
        row.settle(ResponseState.COMPLETE, {}, now=participant.study_time(wall))
    elif row.state == ResponseState.EXPIRED:
        raise NotNow(_expired())


def require_answering(participant: Participant, response: Response, *, wall: datetime) -> None:
    """Raise NotNow, with a text for the participant, if nothing can be answered here now."""
    if response.state == ResponseState.EXPIRED:
        raise NotNow(_expired())
    _require_answering(participant, response, wall=wall)


def locked(participant: Participant, response: UUID) -> tuple[Participant, Response]:
    """Both rows as they are now, locked in the order that everybody keeps. Raises DoesNotExist."""
    fresh = (
        Participant.objects.select_for_update(no_key=True, of=("self",))
        .select_related("study", "version")
        .get(pk=participant.pk)
    )
    row = (
        Response.objects.select_for_update(of=("self",))
        .select_related("version")
        .get(pk=response, participant=fresh)
    )
    return fresh, row


def _require_answering(participant: Participant, response: Response, *, wall: datetime) -> None:
    states = ANSWERING_DEBRIEFING if response.moment == Moment.DEBRIEFING else ANSWERING
    if participant.paused_at is not None:
        raise NotNow(_("The study is paused for you. Whoever runs it will get in touch with you."))
    if participant.state not in states:
        raise NotNow(_("Your participation is over, so this can't be answered any more."))
    if _is_past(participant, response, wall=wall):
        raise NotNow(_expired())


def _is_past(participant: Participant, response: Response, *, wall: datetime) -> bool:
    """Whether the stage's time is over, though nobody may have closed the response yet: its end is
    a moment of study time, not that at which the tick came by."""
    if not response.stage_key:
        return False
    slots = schedule_of(participant, now=participant.study_time(wall))
    lost = (Standing.MISSED, Standing.LAPSED, Standing.FORGONE)
    return any(slot.stage.key == response.stage_key and slot.standing in lost for slot in slots)


def _expired() -> str:
    return _("The time for these questions is over.")


def _asked(
    participant: Participant, moment: Moment, stage_key: str
) -> list[PlacementConfiguration]:
    assert participant.version is not None, "Questionnaires come after consent."
    placed = participant.version.configuration.placed(moment, stage_key)
    return [placement for placement in placed if is_asked(participant, placement)]


def _opened(
    participant: Participant, placement: PlacementConfiguration, *, wall: datetime
) -> Response:
    identity = response_id(participant.public_id, placement.key)
    version = None
    if placement.instrument:
        version = InstrumentVersion.objects.get(
            instrument__key=placement.instrument, sha256=placement.sha256
        )
    response, _created = Response.objects.get_or_create(
        pk=identity,
        defaults={
            "lab_id": participant.lab_id,
            "participant": participant,
            "version": version,
            "moment": placement.moment,
            "stage_key": placement.stage,
            "position": placement.position,
            "seed": secrets.token_hex(16),
            "started_at": participant.study_time(wall),
        },
    )
    opened: Response = response
    return opened


def _repeated(row: Response, asked: _Asked, page: int, good: Mapping[str, Any]) -> Saved:
    """The answer that this page got before, if these are its stored answers."""
    codes = {item.code for item in asked.page(page)}
    stored = {code: raw for code, raw in row.given().items() if code in codes}
    was_saved = row.answers.filter(item__in=codes, page_seconds__isnull=False).exists()
    if row.state == ResponseState.EXPIRED:
        raise NotNow(_expired())
    if not was_saved or stored != good:
        raise Overtaken
    if row.state == ResponseState.COMPLETE:
        return Saved(None, row.revision)
    return Saved(asked.after(page, row.given()), row.revision)


def _lacking(row: Response, reason: Missing) -> dict[str, Given]:
    """What to write of each item without an answer, and of those that were hidden later."""
    asked, given = _Asked.of(row), row.given()
    kept = dict(row.answers.exclude(missing="").values_list("item", "missing"))
    visible = {item.code for item in shown(asked.content, given)}
    lacking = {}
    for item in asked.content.items:
        if item.code not in visible:
            lacking[item.code] = Given(item=item, missing=Missing.NOT_SHOWN)
        elif item.code not in given and kept.get(item.code) != Missing.SKIPPED:
            position = asked.positions[item.code] if reason == Missing.SKIPPED else None
            lacking[item.code] = Given(item=item, missing=reason, shown_position=position)
    return lacking


@dataclass(frozen=True, slots=True)
class _Asked:
    """A response's items in the order in which they are shown to this participant."""

    content: InstrumentContent
    pages: tuple[tuple[ItemContent, ...], ...]
    positions: Mapping[str, int]

    @classmethod
    def of(cls, row: Response) -> _Asked:
        pages = ordering.pages(row.content, seed=row.seed)
        order = [item.code for items in pages for item in items]
        return cls(row.content, pages, {code: place for place, code in enumerate(order, start=1)})

    @property
    def codes(self) -> list[str]:
        return list(self.positions)

    def page(self, number: int) -> tuple[ItemContent, ...]:
        """The items of a page. Raises Overtaken for one that isn't there."""
        if not 1 <= number <= len(self.pages):
            raise Overtaken
        return self.pages[number - 1]

    def codes_before(self, number: int) -> list[str]:
        return [item.code for items in self.pages[: number - 1] for item in items]

    def after(self, number: int, answers: Mapping[str, Any]) -> int | None:
        """The next page on which these answers show anything."""
        visible = {item.code for item in shown(self.content, answers)}
        for following in range(number + 1, len(self.pages) + 1):
            if any(item.code in visible for item in self.pages[following - 1]):
                return following
        return None

    def rows(
        self, items: tuple[ItemContent, ...], good: Mapping[str, Any], answers: Mapping[str, Any]
    ) -> list[Given]:
        visible = {item.code for item in shown(self.content, answers)}
        return [self._row(item, good, item.code in visible) for item in items]

    def _row(self, item: ItemContent, good: Mapping[str, Any], visible: bool) -> Given:
        if not visible:
            return Given(item=item, missing=Missing.NOT_SHOWN)
        position = self.positions[item.code]
        if item.code not in good:
            return Given(item=item, missing=Missing.SKIPPED, shown_position=position)
        return Given(item=item, raw=good[item.code], shown_position=position)
