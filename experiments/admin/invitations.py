"""Making links into a study: an open one, and personal ones from a pasted list."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from experiments.back_office import TenantModelAdmin
from experiments.enums import AuditAction, IdentifierKind
from experiments.models import EntryLink, Identifier, Identity, Participant, Study, Tombstone
from memlab.core.clock import wall_now
from memlab.core.csv_files import CsvForm, written

MOST_AT_ONCE = 500
LONGEST_CODE = 60


class OpenLinkForm(forms.Form):
    label = forms.CharField(
        label=_("Label"),
        max_length=80,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("By which you find it again, e.g. poster in the canteen."),
    )


def open_link_page(
    request: HttpRequest, studies: TenantModelAdmin, study: Study, *, test: bool
) -> HttpResponseBase:
    """Make an open link, for participants or for test runs, and show it once."""
    title = _now("Link for test runs") if test else _now("Link for participants")
    form = OpenLinkForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        lead = _now("Whoever opens it enters the study. The address is shown only once.")
        if test:
            lead = _now(
                "Whoever opens it enters as a test run, which can skip days and never counts."
            )
        return _form(
            request, studies, study, form, title=title, lead=lead, button=_now("Make a link")
        )
    label = form.cleaned_data["label"]
    token = EntryLink.objects.issue(
        lab_id=study.lab_id, study_id=study.pk, test_mode=test, label=label
    )
    studies.record(request, AuditAction.ISSUE_LINK, study, test_mode=test, label=label)
    return _shown_once(
        request,
        studies,
        study,
        title=title,
        lead=_now("Copy the address now: only its hash is kept, so it can't be shown again."),
        values=[(title, _address(request, token))],
    )


@dataclass(frozen=True, slots=True)
class Invited:
    """One line of the list: whom it names, and the link made for them."""

    line: str
    code: str
    address: str


class InvitationForm(forms.Form):
    """Whom to invite, one a line: e-mail addresses, or codes of the lab's own."""

    people = forms.CharField(
        label=_("Whom"),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8}),
        help_text=_("One a line: an e-mail address, or a code of your own."),
    )
    days = forms.IntegerField(
        label=_("Valid for, days"),
        min_value=1,
        max_value=730,
        initial=90,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Longer than the study takes, for the link is also the way back."),
    )
    test_mode = forms.BooleanField(
        label=_("Test runs"), required=False, widget=UnfoldBooleanSwitchWidget
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study

    def clean_people(self) -> list[Identity]:
        """Every line as an identity. All lines at fault are named, and then nobody is invited."""
        lines = [line.strip() for line in self.cleaned_data["people"].splitlines()]
        numbered = [(number, line) for number, line in enumerate(lines, start=1) if line]
        if len(numbered) > MOST_AT_ONCE:
            raise ValidationError(_now("At most %(number)s at once.") % {"number": MOST_AT_ONCE})
        troubles: list[str] = []
        found: dict[str, Identity] = {}
        for number, line in numbered:
            identity = _identity(line)
            trouble = self._trouble(identity, line, found)
            if trouble:
                troubles.append(
                    _now("Line %(number)s: %(trouble)s") % {"number": number, "trouble": trouble}
                )
            found[identity.normalised] = identity
        if troubles:
            raise ValidationError(troubles)
        return list(found.values())

    def _trouble(self, identity: Identity, line: str, found: dict[str, Identity]) -> str:
        if identity.normalised in found:
            return _now("%(line)s is there twice.") % {"line": line}
        if identity.kind is IdentifierKind.EMAIL:
            try:
                validate_email(line)
            except ValidationError:
                return _now("%(line)s is no e-mail address.") % {"line": line}
        elif len(line) > LONGEST_CODE or not line.isprintable():
            return _now("a code has at most %(number)s characters.") % {"number": LONGEST_CODE}
        if Tombstone.objects.bars(self.study, [identity]):
            return _now("these data were erased, and nobody is enrolled again after that.")
        return ""


def _identity(line: str) -> Identity:
    return Identity(IdentifierKind.EMAIL if "@" in line else IdentifierKind.CODE, line)


def invitations_page(
    request: HttpRequest, studies: TenantModelAdmin, study: Study
) -> HttpResponseBase:
    """Personal links, shown once as a table and as a file.

    Whoever was invited before gets a further link to the same participant. All or none are made.
    """
    form = InvitationForm(request.POST if request.method == "POST" else None, study=study)
    title = _now("Personal links")
    if not form.is_valid():
        lead = _now(
            "Each brings one person, from any device, and enters by a click only. What you paste "
            "is kept sealed, apart from everything else."
        )
        return _form(
            request, studies, study, form, title=title, lead=lead, button=_now("Make the links")
        )
    days, test_mode = form.cleaned_data["days"], form.cleaned_data["test_mode"]
    made = [
        _invite(request, study, identity, days=days, test_mode=test_mode)
        for identity in form.cleaned_data["people"]
    ]
    studies.record(request, AuditAction.INVITE, study, links=len(made), days=days)
    return _shown_once(
        request,
        studies,
        study,
        title=title,
        lead=_now("Copy or download them now: they can't be shown again."),
        values=[(f"{each.line} · {each.code}", each.address) for each in made],
        download=_as_file(made),
    )


def _invite(
    request: HttpRequest, study: Study, identity: Identity, *, days: int, test_mode: bool
) -> Invited:
    participant = _holder(study, identity, test_mode=test_mode)
    if participant is None:
        participant = Participant.objects.create(study=study, test_mode=test_mode)
        Identifier.objects.keep(participant, identity)
    token = EntryLink.objects.issue(
        lab_id=study.lab_id,
        study_id=study.pk,
        test_mode=test_mode,
        participant=participant,
        label=participant.code,
        expires_at=wall_now() + timedelta(days=days),
    )
    return Invited(identity.value, participant.code, _address(request, token))


def _holder(study: Study, identity: Identity, *, test_mode: bool) -> Participant | None:
    return Identifier.objects.holder(study, identity, test_mode=test_mode)


def _as_file(made: list[Invited]) -> str:
    """The links as a CSV in a ``data:`` address, for the tokens are stored nowhere."""
    rows = [("person", "code", "link"), *((row.line, row.code, row.address) for row in made)]
    encoded = b64encode(written(rows, CsvForm.EXCEL, first=True)).decode()
    return f"data:text/csv;charset=utf-8;base64,{encoded}"


def _address(request: HttpRequest, token: str) -> str:
    return request.build_absolute_uri(reverse("journey:join", args=[token]))


def _form(
    request: HttpRequest,
    studies: TenantModelAdmin,
    study: Study,
    form: forms.Form,
    **context: Any,
) -> HttpResponseBase:
    return studies.form_page(request, study, form=form, **context)


def _shown_once(
    request: HttpRequest, studies: TenantModelAdmin, study: Study, **context: Any
) -> HttpResponseBase:
    page = studies.page_context(request, study, **context)
    response = render(request, "back_office/shown_once.html", page)
    response["Cache-Control"] = "no-store"
    return response
