"""One participant's questionnaire at one place: its answers, page by page, and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import Moment
from experiments.models import Participant
from memlab.core.tenancy.models import TenantModel
from questionnaires.content import InstrumentContent, ItemContent
from questionnaires.enums import ItemType, Missing, ResponseState
from questionnaires.models.instrument import InstrumentVersion
from questionnaires.scoring import reversed_value, scored

#: Items whose answer is no single number.
_WITHOUT_NUMBER = (ItemType.MULTIPLE, ItemType.TEXT, ItemType.DATE)


def response_id(participant: UUID, place: str) -> UUID:
    """The id of a participant's response at a place (``PlacementConfiguration.key``): opening it
    twice is opening it once."""
    return uuid5(NAMESPACE_OID, f"memlab:response:{participant}:{place}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An item as it was answered, or why it wasn't. One that wasn't shown has no position."""

    item: ItemContent
    raw: Any = None
    missing: Missing | None = None
    shown_position: int | None = None


class Response(TenantModel):
    id = models.UUIDField(primary_key=True, editable=False)
    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="responses", verbose_name=_("participant")
    )
    version = models.ForeignKey(
        InstrumentVersion,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("version of the instrument"),
        help_text=_("Empty for an external survey."),
    )
    moment = models.CharField(_("when"), max_length=12, choices=Moment.choices)
    stage_key = models.CharField(_("stage"), max_length=20, blank=True)
    position = models.PositiveSmallIntegerField(_("position"))
    state = models.CharField(
        _("state"), max_length=8, choices=ResponseState.choices, default=ResponseState.OPEN
    )
    seed = models.CharField(
        max_length=32, editable=False, help_text=_("Orders the items where order is random.")
    )
    page = models.PositiveSmallIntegerField(_("page"), default=1)
    revision = models.PositiveIntegerField(
        default=0, editable=False, help_text=_("Counts the pages that were saved.")
    )
    started_at = models.DateTimeField(_("started (study time)"))
    completed_at = models.DateTimeField(_("completed (study time)"), null=True)
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)
    attention_failures = models.PositiveSmallIntegerField(
        _("attention checks failed"), null=True, editable=False
    )

    class Meta(TenantModel.Meta):
        verbose_name = _("response")
        verbose_name_plural = _("responses")
        ordering = ["started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "moment", "stage_key", "position"],
                name="one_response_a_place",
            )
        ]

    def __str__(self) -> str:
        return f"{self.moment} {self.stage_key} {self.position}".strip()

    @property
    def content(self) -> InstrumentContent:
        """What is asked. Raises ValueError for an external survey."""
        if self.version is None:
            raise ValueError(f"{self} is an external survey: it has no items here.")
        content: InstrumentContent = self.version.content
        return content

    def given(self) -> dict[str, Any]:
        """The answers so far, by the items' codes; those without one are left out."""
        return {answer.item: answer.raw for answer in self.answers.filter(missing="")}

    def keep(
        self, rows: Iterable[Given], *, page: int, seconds: float, next_page: int, now: datetime
    ) -> None:
        """Store a page's items instead of what they were before. Times on the page add up.

        The caller holds the row lock and has checked the answers.
        """
        before = dict(self.answers.values_list("item", "page_seconds"))
        self._put(
            [
                self._answer(
                    row, page=page, now=now, seconds=(before.get(row.item.code) or 0) + seconds
                )
                for row in rows
            ]
        )
        self.page, self.revision = next_page, self.revision + 1
        self.save(update_fields=["page", "revision"])

    def settle(self, state: ResponseState, missing: Mapping[str, Given], *, now: datetime) -> None:
        """Close it: ``missing`` says of every item without an answer why, whatever it held before.

        A complete one is scored. The caller holds the row lock.
        """
        if self.version is not None:
            known = {answer.item: answer for answer in self.answers.all()}
            self._put(
                [
                    self._answer(row, page=row.item.page, now=now, seconds=_seconds(known, code))
                    for code, row in missing.items()
                ]
            )
            if state == ResponseState.COMPLETE:
                self._score()
        self.state, self.completed_at = state, now
        self.save(update_fields=["state", "completed_at", "attention_failures"])

    def reopen(self) -> None:
        """Nothing of it was answered when its time was over, and it may be answered after all. The
        caller holds the row lock."""
        self.answers.all().delete()  # which only say that nothing was given
        self.state, self.completed_at = ResponseState.OPEN, None
        self.save(update_fields=["state", "completed_at"])

    def _score(self) -> None:
        numbers = dict(self.answers.values_list("item", "value"))
        scoring = scored(self.content, numbers)
        self.attention_failures = scoring.attention_failures
        Score.objects.bulk_create(
            Score(
                lab_id=self.lab_id,
                response=self,
                subscale=score.subscale,
                value=score.value,
                answered=score.answered,
                items=score.items,
            )
            for score in scoring.scores
        )

    def _answer(self, row: Given, *, page: int, now: datetime, seconds: float | None) -> Answer:
        value = None if row.missing or row.item.type in _WITHOUT_NUMBER else float(row.raw)
        return Answer(
            lab_id=self.lab_id,
            response=self,
            item=row.item.code,
            raw=row.raw,
            value=value,
            scored=reversed_value(row.item, value),
            missing=row.missing or "",
            shown_position=row.shown_position,
            page=page,
            page_seconds=seconds,
            answered_at=now,
        )

    @staticmethod
    def _put(answers: list[Answer]) -> None:
        Answer.objects.bulk_create(
            answers,
            update_conflicts=True,
            unique_fields=["lab", "response", "item"],
            update_fields=[
                "raw",
                "value",
                "scored",
                "missing",
                "shown_position",
                "page",
                "page_seconds",
                "answered_at",
            ],
        )


def _seconds(known: Mapping[str, Answer], code: str) -> float | None:
    return known[code].page_seconds if code in known else None


class Answer(TenantModel):
    """One item's answer. ``raw`` is as it was given, ``value`` its number and ``scored`` the number
    after reversing; where there is none, all are null and ``missing`` says why."""

    response = models.ForeignKey(
        Response, models.PROTECT, related_name="answers", verbose_name=_("response")
    )
    item = models.CharField(_("item"), max_length=40)
    raw = models.JSONField(_("answer"), null=True)
    value = models.FloatField(_("value"), null=True)
    scored = models.FloatField(_("value after reversing"), null=True)
    missing = models.CharField(_("missing"), max_length=9, choices=Missing.choices, blank=True)
    shown_position = models.PositiveSmallIntegerField(
        _("shown as number"), null=True, help_text=_("Within the questionnaire, from 1.")
    )
    page = models.PositiveSmallIntegerField(_("page"))
    page_seconds = models.FloatField(_("seconds on the page"), null=True)
    answered_at = models.DateTimeField(_("answered (study time)"))

    class Meta(TenantModel.Meta):
        verbose_name = _("answer")
        verbose_name_plural = _("answers")
        ordering = ["response", "shown_position"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "response", "item"], name="one_answer_an_item")
        ]

    def __str__(self) -> str:
        return self.item


class Score(TenantModel):
    """A subscale's score of a complete response; ``value`` is null where too much is missing."""

    response = models.ForeignKey(
        Response, models.PROTECT, related_name="scores", verbose_name=_("response")
    )
    subscale = models.CharField(_("subscale"), max_length=40, blank=True)
    value = models.FloatField(_("value"), null=True)
    answered = models.PositiveSmallIntegerField(_("items answered"))
    items = models.PositiveSmallIntegerField(_("items"))

    class Meta(TenantModel.Meta):
        verbose_name = _("score")
        verbose_name_plural = _("scores")
        ordering = ["response", "subscale"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "response", "subscale"], name="one_score_a_subscale"
            )
        ]

    def __str__(self) -> str:
        return f"{self.subscale}: {self.value}"
