"""Sheets in and out: the import with its preview, and scoring keys.

Nothing is written before the preview is confirmed. What is confirmed is what was shown: the content
travels in the page, signed, with the hash of the draft that it was compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminFileFieldWidget

from experiments.back_office import TenantModelAdmin
from experiments.enums import AuditAction
from experiments.rights import Right, viewer_of
from questionnaires.admin.shown import shown_content
from questionnaires.content import InstrumentContent
from questionnaires.item_sheet import (
    Change,
    Sheet,
    SheetProblem,
    as_xlsx,
    differences,
    empty_sheet,
    read,
)
from questionnaires.item_sheet.columns import COLUMNS, SETTINGS
from questionnaires.item_sheet.example import EXAMPLE
from questionnaires.item_sheet.table import MAXIMUM_BYTES
from questionnaires.keys import scoring_keys
from questionnaires.models import Instrument

SALT = "questionnaires.import"
PREVIEW_SECONDS = 3600
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
KINDS = {
    "added": _("added"),
    "changed": _("changed"),
    "removed": _("removed"),
    "moved": _("another order"),
}


class SheetForm(forms.Form):
    file = forms.FileField(
        label=_("Sheet"),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.txt,.xlsx"}),
        help_text=_("CSV or XLSX, up to 1 MiB. Nothing is written before you have seen it."),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an import would do: to ``draft``, or to nobody's if it is None."""

    content: InstrumentContent
    draft: Instrument | None
    changes: tuple[Change, ...]
    before: str

    @classmethod
    def of(cls, content: InstrumentContent) -> Preview:
        draft: Instrument | None = Instrument.objects.filter(key=content.key).first()
        old = None if draft is None else draft.readable()
        return cls(
            content=content,
            draft=draft,
            changes=differences(old, content),
            before="" if draft is None else draft.fingerprint(),
        )


def import_sheet(request: HttpRequest, pages: TenantModelAdmin) -> HttpResponseBase:
    """A form for the file; then the preview or every mistake; then, confirmed, the draft."""
    if not pages.allowed(request, Right.CHANGE):
        raise Http404
    if request.method == "POST" and "confirmed" in request.POST:
        return _confirmed(request, pages)
    form = SheetForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, pages, form=form)
    sheet = _read(form.cleaned_data["file"])
    if sheet.content is None:
        return _page(request, pages, form=SheetForm(), problems=sheet.problems)
    return _previewed(request, pages, sheet.content, sheet.read_as)


def _read(file: Any) -> Sheet:
    """At most one byte more than is allowed is taken into memory."""
    return read(file.read(MAXIMUM_BYTES + 1))


def _previewed(
    request: HttpRequest, pages: TenantModelAdmin, content: InstrumentContent, read_as: str
) -> HttpResponse:
    preview = Preview.of(content)
    marks = {
        change.item: change.kind
        for change in preview.changes
        if change.kind in ("added", "changed") and preview.draft is not None
    }
    signed = signing.dumps(
        [*_whose(request), preview.before, content.as_json()], salt=SALT, compress=True
    )
    return _page(
        request,
        pages,
        preview=preview,
        changes=[(KINDS[change.kind], change) for change in preview.changes],
        read_as=read_as,
        shown=shown_content(content, marks),
        signed=signed,
    )


def _confirmed(request: HttpRequest, pages: TenantModelAdmin) -> HttpResponseBase:
    try:
        lab_id, user_id, before, frozen = signing.loads(
            request.POST["confirmed"], salt=SALT, max_age=PREVIEW_SECONDS
        )
    except signing.BadSignature:
        messages.error(request, _now("The preview has expired: choose the file again."))
        return redirect(request.path)
    if [lab_id, user_id] != _whose(request):
        raise Http404
    content = InstrumentContent.from_json(frozen)
    preview = Preview.of(content)
    if preview.before != before:
        messages.error(
            request,
            _now("The instrument was changed since the preview: choose the file again."),
        )
        return redirect(request.path)
    draft = Instrument.objects.store(content)
    pages.record(
        request,
        AuditAction.IMPORT_INSTRUMENT,
        draft,
        key=content.key,
        items=len(content.items),
        sha256=content.sha256(),
        made=preview.draft is None,
    )
    messages.success(
        request,
        _now("%(count)s items are imported as the draft of %(key)s.")
        % {"count": len(content.items), "key": content.key},
    )
    return redirect(pages.change_url(draft))


def _whose(request: HttpRequest) -> list[int]:
    viewer = viewer_of(request)
    assert viewer is not None
    return [viewer.member.lab_id, viewer.member.user_id]


def _page(
    request: HttpRequest,
    pages: TenantModelAdmin,
    *,
    problems: tuple[SheetProblem, ...] = (),
    **context: Any,
) -> HttpResponse:
    return render(
        request,
        "back_office/instrument_import.html",
        pages.page_context(
            request,
            None,
            title=_now("Import a sheet"),
            back_url=pages.list_url(),
            problems=problems,
            columns=COLUMNS.items(),
            settings=SETTINGS.items(),
            **context,
        ),
    )


def download(content: bytes, name: str, kind: str) -> HttpResponse:
    """A file to keep."""
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def empty(request: HttpRequest, pages: TenantModelAdmin) -> HttpResponseBase:
    return download(empty_sheet(), "items.xlsx", XLSX)


def example(request: HttpRequest, pages: TenantModelAdmin) -> HttpResponseBase:
    return download(as_xlsx(EXAMPLE), "items-example.xlsx", XLSX)


def load_key(request: HttpRequest, pages: TenantModelAdmin) -> HttpResponseBase:
    """The scoring keys that are shipped; one is made a draft without words."""
    if not pages.allowed(request, Right.CHANGE):
        raise Http404
    there = set(Instrument.objects.values_list("key", flat=True))
    if request.method == "POST":
        key = scoring_keys().get(request.POST.get("key", ""))
        languages = request.POST.getlist("language")
        if key is None or not languages or not set(languages) <= {"en", "zh"}:
            raise Http404
        if key.content.key in there:
            messages.error(request, _now("There is an instrument with this key already."))
            return redirect(request.path)
        draft = Instrument.objects.store(key.in_languages(*languages))
        draft.note_licence(key.licence)
        pages.record(request, AuditAction.ADD, draft, scoring_key=key.content.key)
        messages.success(
            request, _now("Now paste the wording of each item that you have the licence for.")
        )
        return redirect(pages.change_url(draft))
    return render(
        request,
        "back_office/scoring_keys.html",
        pages.page_context(
            request,
            None,
            title=_now("Scoring keys"),
            back_url=pages.list_url(),
            keys=[
                (key, key.content.key in there, len(key.content.items))
                for key in scoring_keys().values()
            ],
        ),
    )
