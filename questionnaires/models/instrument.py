"""Instruments, which staff edit, and their versions, which never change."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet
from questionnaires import conditions
from questionnaires.checks import problems
from questionnaires.content import InstrumentContent, ItemContent, Option, Text
from questionnaires.enums import PICTURES, ItemType, MissingRule, ScoreKind


class InstrumentQuerySet(TenantQuerySet["Instrument"]):
    def store(self, content: InstrumentContent) -> Instrument:
        """Make the draft with this key, or change it, so that it reads ``content``.

        All of it or nothing: the caller's lab scope is one transaction. Versions stay as they are.
        """
        instrument = self.filter(key=content.key).first() or Instrument(key=content.key)
        instrument._take(content)
        instrument.save()
        instrument.items.all().delete()
        Item.objects.bulk_create(
            Item.of(content_of_item, instrument=instrument, position=position)
            for position, content_of_item in enumerate(content.items, start=1)
        )
        return instrument


class Instrument(TenantModel):
    """A questionnaire as staff edit it. A study asks one of its versions."""

    key = models.SlugField(_("key"), max_length=40)
    title_en = models.CharField(_("title (English)"), max_length=200, blank=True)
    title_zh = models.CharField(_("title (Chinese)"), max_length=200, blank=True)
    introduction_en = models.TextField(_("introduction (English)"), blank=True)
    introduction_zh = models.TextField(_("introduction (Chinese)"), blank=True)
    citation = models.TextField(
        _("citation"), blank=True, help_text=_("The scale that this is, or that it stands for.")
    )
    validated = models.BooleanField(
        _("validated"),
        default=False,
        help_text=_("Off for wording of your own: a study that asks it opens only by override."),
    )
    randomised = models.BooleanField(
        _("random order"), default=False, help_text=_("Of the items within their page.")
    )
    score = models.CharField(
        _("score"), max_length=4, choices=ScoreKind.choices, default=ScoreKind.MEAN
    )
    missing = models.CharField(
        _("missing answers"), max_length=5, choices=MissingRule.choices, default=MissingRule.NONE
    )
    missing_share = models.FloatField(
        _("share that must be answered"),
        default=0.75,
        validators=[MinValueValidator(0.01), MaxValueValidator(1)],
    )

    licence = models.TextField(
        _("licence"),
        blank=True,
        help_text=_("Whose wording it is, and where it is to be had. Participants don't see it."),
    )

    objects = TenantManager.from_queryset(InstrumentQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("instrument")
        verbose_name_plural = _("instruments")
        ordering = ["key"]
        constraints = [models.UniqueConstraint(fields=["lab", "key"], name="instrument_key_in_lab")]

    def __str__(self) -> str:
        return self.title_en or self.title_zh or self.key

    def content(self) -> InstrumentContent:
        """The draft as it stands. Raises ValidationError if an item can't even be read."""
        return InstrumentContent(
            key=self.key,
            title=_text(self.title_en, self.title_zh),
            introduction=_text(self.introduction_en, self.introduction_zh),
            citation=self.citation.replace("\r\n", "\n"),
            validated=self.validated,
            randomised=self.randomised,
            score=ScoreKind(self.score),
            missing=MissingRule(self.missing),
            missing_share=float(self.missing_share),
            items=tuple(item.content() for item in self.items.order_by("position", "pk")),
        )

    def problems(self) -> list[str]:
        """What keeps the draft from being asked, each with its place and remedy."""
        try:
            content = self.content()
        except ValidationError as error:
            return error.messages
        return [problem.told(content) for problem in problems(content)]

    def readable(self) -> InstrumentContent | None:
        """The draft as it stands, or None if an item can't even be read."""
        try:
            return self.content()
        except ValidationError:
            return None

    def fingerprint(self) -> str:
        """Hash of the draft, to notice that somebody changed it; the same for every draft that
        can't be read, which only replacing mends."""
        content = self.readable()
        return "unreadable" if content is None else content.sha256()

    def note_licence(self, licence: str) -> None:
        self.licence = licence
        self.save(update_fields=["licence"])

    def publish(self) -> InstrumentVersion:
        """The version that reads as the draft does now, made unless there is one already.

        Raises ValidationError with every problem if something can't be asked. Two that publish at
        once make one version: numbers are drawn under the instrument's row lock.
        """
        Instrument.objects.select_for_update().get(pk=self.pk)
        content = self.content()
        found = problems(content)
        if found:
            raise ValidationError([problem.told(content) for problem in found])
        last = self.versions.order_by("-number").values_list("number", flat=True).first() or 0
        version, _created = self.versions.get_or_create(
            sha256=content.sha256(),
            defaults={
                "number": last + 1,
                "content_json": content.as_json(),
                "lab_id": self.lab_id,
            },
        )
        found_version: InstrumentVersion = version
        return found_version

    def current_version(self) -> InstrumentVersion | None:
        """The version that reads as the draft does, if it was published."""
        found: InstrumentVersion | None = self.versions.filter(sha256=self.fingerprint()).first()
        return found

    def _take(self, content: InstrumentContent) -> None:
        self.title_en, self.title_zh = content.title.en, content.title.zh
        self.introduction_en = content.introduction.en
        self.introduction_zh = content.introduction.zh
        self.citation, self.validated = content.citation, content.validated
        self.randomised, self.score = content.randomised, content.score
        self.missing, self.missing_share = content.missing, content.missing_share


class Item(TenantModel):
    """One item as staff edit it; see ``ItemContent`` for what the fields mean."""

    instrument = models.ForeignKey(
        Instrument, models.CASCADE, related_name="items", verbose_name=_("instrument")
    )
    position = models.PositiveSmallIntegerField(_("position"))
    page = models.PositiveSmallIntegerField(_("page"), default=1, validators=[MinValueValidator(1)])
    code = models.SlugField(_("code"), max_length=40)
    type = models.CharField(_("type"), max_length=12, choices=ItemType.choices)
    text_en = models.TextField(_("text (English)"), blank=True)
    text_zh = models.TextField(_("text (Chinese)"), blank=True)
    minimum = models.FloatField(_("minimum"), null=True, blank=True)
    maximum = models.FloatField(_("maximum"), null=True, blank=True)
    step = models.FloatField(_("step"), null=True, blank=True)
    low_en = models.CharField(_("low end (English)"), max_length=120, blank=True)
    low_zh = models.CharField(_("low end (Chinese)"), max_length=120, blank=True)
    high_en = models.CharField(_("high end (English)"), max_length=120, blank=True)
    high_zh = models.CharField(_("high end (Chinese)"), max_length=120, blank=True)
    options = models.JSONField(
        _("options"),
        default=list,
        blank=True,
        help_text=_('[{"value": 1, "en": "never", "zh": "从不"}, …]'),
    )
    reverse = models.BooleanField(_("reverse"), default=False)
    subscale = models.SlugField(_("subscale"), max_length=40, blank=True)
    required = models.BooleanField(_("required"), default=True)
    expected = models.FloatField(
        _("expected answer"),
        null=True,
        blank=True,
        help_text=_("Makes it an attention check, which is in no score."),
    )
    condition = models.CharField(
        _("condition"),
        max_length=200,
        blank=True,
        help_text=_("E.g. mood_1 >= 4 or pet in 1, 3: an earlier item of this instrument."),
    )

    class Meta(TenantModel.Meta):
        verbose_name = _("item")
        verbose_name_plural = _("items")
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "instrument", "code"], name="item_code_in_instrument"
            )
        ]

    def __str__(self) -> str:
        return self.code

    def clean(self) -> None:
        try:
            self.content()
        except ValidationError as error:
            field = "options" if error.code == "options" else "condition"
            raise ValidationError({field: error.messages}) from None

    def content(self) -> ItemContent:
        """Raises ValidationError if the options or the condition can't be read."""
        low, high = self.minimum, self.maximum
        if self.type == ItemType.PICTURE and low is None and high is None:
            low, high = PICTURES
        return ItemContent(
            code=self.code,
            type=ItemType(self.type),
            text=_text(self.text_en, self.text_zh),
            page=self.page,
            minimum=_number(low),
            maximum=_number(high),
            step=_number(self.step),
            low=_text(self.low_en, self.low_zh),
            high=_text(self.high_en, self.high_zh),
            options=self.told_options(),
            reverse=self.reverse,
            subscale=self.subscale,
            required=self.required,
            expected=_number(self.expected),
            condition=conditions.parse(self.condition) if self.condition.strip() else None,
        )

    @classmethod
    def of(cls, content: ItemContent, *, instrument: Instrument, position: int) -> Item:
        """An unsaved row that reads ``content``."""
        return cls(
            instrument=instrument,
            position=position,
            page=content.page,
            code=content.code,
            type=content.type,
            text_en=content.text.en,
            text_zh=content.text.zh,
            minimum=content.minimum,
            maximum=content.maximum,
            step=content.step,
            low_en=content.low.en,
            low_zh=content.low.zh,
            high_en=content.high.en,
            high_zh=content.high.zh,
            options=[
                {"value": each.value, "en": each.label.en, "zh": each.label.zh}
                for each in content.options
            ],
            reverse=content.reverse,
            subscale=content.subscale,
            required=content.required,
            expected=content.expected,
            condition="" if content.condition is None else conditions.told(content.condition),
        )

    def told_options(self) -> tuple[Option, ...]:
        """Raises ValidationError if they aren't of the shape that the field's help says."""
        if not isinstance(self.options, list) or not all(map(_is_option, self.options)):
            raise ValidationError(
                _now(
                    "%(code)s: the options can't be read. Write a list such as "
                    '[{"value": 1, "en": "never", "zh": "从不"}].'
                )
                % {"code": self.code},
                code="options",
            )
        return tuple(
            Option(value=each["value"], label=Text(en=each.get("en", ""), zh=each.get("zh", "")))
            for each in self.options
        )


def _is_option(each: Any) -> bool:
    return (
        isinstance(each, dict)
        and type(each.get("value")) is int
        and set(each) <= {"value", "en", "zh"}
        and all(isinstance(each.get(name, ""), str) for name in ("en", "zh"))
    )


def _text(english: str, chinese: str) -> Text:
    """Browsers send \\r\\n for a line break, sheets and templates hold \\n: one text, one hash."""
    return Text(en=english.replace("\r\n", "\n"), zh=chinese.replace("\r\n", "\n"))


def _number(value: float | None) -> float | None:
    """As the database gives it, so that a row hashes alike before and after it is saved."""
    return None if value is None else float(value)


class InstrumentVersion(TenantModel):
    """An instrument as it was when a study froze it. Never edited, never deleted."""

    instrument = models.ForeignKey(
        Instrument, models.PROTECT, related_name="versions", verbose_name=_("instrument")
    )
    number = models.PositiveIntegerField(_("number"))
    sha256 = models.CharField("SHA-256", max_length=64)
    content_json = models.JSONField(_("content"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("version of an instrument")
        verbose_name_plural = _("versions of instruments")
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "instrument", "number"], name="instrument_version_number"
            ),
            models.UniqueConstraint(
                fields=["lab", "instrument", "sha256"], name="instrument_version_content"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.instrument_id} v{self.number} {self.sha256[:8]}"

    @property
    def content(self) -> InstrumentContent:
        return InstrumentContent.from_json(self.content_json)
