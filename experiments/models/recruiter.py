"""Recruiters that send people to a study, or to one of its stages."""

from __future__ import annotations

import re
import secrets
from typing import Any
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import IdentifierKind, RecruiterKind
from experiments.models.identifier import Identity
from experiments.models.link import EntryLink
from experiments.models.stage import Stage
from experiments.models.study import Study
from experiments.recruitment import (
    PLACEHOLDERS,
    USUAL_NAMES,
    Arrival,
    ParameterNames,
    arrival,
)
from memlab.core.tenancy.models import TenantModel

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


def _token() -> str:
    return secrets.token_urlsafe(12)


class Recruiter(TenantModel):
    """A recruiter's study that leads here. With a ``stage`` it is for that stage alone.

    Its addresses are no secret from staff, for they are to be copied into the recruiter's pages;
    who may come by them is decided by the parameters.
    """

    study = models.ForeignKey(
        Study, models.CASCADE, related_name="recruiters", verbose_name=_("study")
    )
    stage = models.ForeignKey(
        Stage,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="recruiters",
        verbose_name=_("stage"),
        help_text=_("For a recruiter's study of one stage alone; it leads the same people on."),
    )
    kind = models.CharField(
        _("recruiter"),
        max_length=8,
        choices=RecruiterKind.choices,
        default=RecruiterKind.PROLIFIC,
    )
    name = models.CharField(
        _("name"), max_length=40, blank=True, help_text=_("Of another recruiter, e.g. Credamo.")
    )
    person_parameter = models.CharField(
        _("parameter of the person"),
        max_length=40,
        blank=True,
        help_text=_("Empty: as the recruiter usually calls it."),
    )
    study_parameter = models.CharField(
        _("parameter of the recruiter's study"), max_length=40, blank=True
    )
    session_parameter = models.CharField(
        _("parameter of the submission"), max_length=40, blank=True
    )
    expected_study = models.CharField(
        _("the recruiter's id of this study"),
        max_length=100,
        blank=True,
        help_text=_("Whoever comes with another one is turned away. Empty: not checked."),
    )
    forbids_email = models.BooleanField(
        _("forbids addresses"),
        default=True,
        help_text=_("Nobody who comes from here is asked for an e-mail address."),
    )
    token = models.CharField(max_length=32, default=_token, editable=False)
    test_token = models.CharField(max_length=32, default=_token, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("recruiter")
        verbose_name_plural = _("recruiters")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "token"], name="recruiter_token"),
            models.UniqueConstraint(fields=["lab", "test_token"], name="recruiter_test_token"),
        ]

    def __str__(self) -> str:
        place = "" if self.stage is None else f" · {self.stage.key}"
        return f"{self.name or self.get_kind_display()}{place}"

    def clean(self) -> None:
        if self.kind == RecruiterKind.OTHER and not self.name.strip():
            raise ValidationError({"name": _now("Name the recruiter: its ids are its own.")})
        if self.stage is not None and self.stage.study_id != self.study_id:
            raise ValidationError({"stage": _now("This stage is of another study.")})
        for field in ("person_parameter", "study_parameter", "session_parameter"):
            name = getattr(self, field)
            if name and not _NAME.fullmatch(name):
                raise ValidationError(
                    {field: _now("Letters, digits, and _ . - only, at most 40 of them.")}
                )
        if self.expected_study and not self.names.study:
            raise ValidationError(
                {"study_parameter": _now("Name the parameter that holds the recruiter's id.")}
            )

    def save(self, *args: Any, **kwargs: Any) -> None:
        """The first time, with both its ways in: for participants and for test runs."""
        fresh = self._state.adding
        super().save(*args, **kwargs)
        if fresh:
            for token, test_mode in ((self.token, False), (self.test_token, True)):
                EntryLink.objects.register(
                    token,
                    lab_id=self.lab_id,
                    study_id=self.study_id,
                    recruiter_id=self.pk,
                    test_mode=test_mode,
                )

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        recruiter, lab_id = self.pk, self.lab_id
        deleted = super().delete(*args, **kwargs)
        EntryLink.objects.revoke(recruiter_id=recruiter, lab_id=lab_id)
        return deleted

    @property
    def names(self) -> ParameterNames:
        usual = USUAL_NAMES[RecruiterKind(self.kind)]
        return ParameterNames(
            self.person_parameter or usual.person,
            self.study_parameter or usual.study,
            self.session_parameter or usual.session,
        )

    def arrival(self, query: Any) -> Arrival:
        """Who comes with these parameters (a ``QueryDict``). Raises BadArrival."""
        return arrival(dict(query.lists()), self.names, expected_study=self.expected_study)

    def identity(self, came: Arrival) -> Identity:
        source = self.name.strip().casefold() if self.kind == RecruiterKind.OTHER else ""
        return Identity(IdentifierKind(self.kind), came.person, source)

    def query_string(self) -> str:
        """What is to follow the address, with the recruiter's placeholders."""
        names = (self.names.person, self.names.study, self.names.session)
        pairs = zip(names, PLACEHOLDERS[RecruiterKind(self.kind)], strict=True)
        return "&".join(f"{quote(name)}={holder}" for name, holder in pairs if name)
