"""The button on a study's page that downloads its transcripts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldBooleanSwitchWidget

from chat.exports import TranscriptExport, columns, stream
from experiments.admin.study import StudyAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.models import Study
from experiments.rights import Area, viewer_of
from memlab.core.csv_files import CsvForm


class ExportForm(forms.Form):
    form = forms.ChoiceField(
        label=_("For"),
        choices=[
            (CsvForm.RAW, _("R, Python, SPSS: UTF-8, every value byte for byte")),
            (CsvForm.EXCEL, _("Excel: no text is taken for a formula")),
        ],
        initial=CsvForm.RAW,
        widget=UnfoldAdminRadioSelectWidget,
    )
    test_runs = forms.BooleanField(
        label=_("With test runs"), required=False, widget=UnfoldBooleanSwitchWidget
    )
    refused = forms.BooleanField(
        label=_("With those who refused the use of their data"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_(
            "They said so after the debriefing. Their rows are marked in the column refused_use, "
            "and belong into no analysis; it is logged."
        ),
    )
    with_labels = forms.BooleanField(
        label=_("With the arms' blinded labels"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("Only while you are unblinded to this study; it is logged."),
    )

    def __init__(self, *args: Any, may_label: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_label:
            del self.fields["with_labels"]


def _download(request: HttpRequest, studies: TenantModelAdmin, study: Study) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    may_label = viewer.sees_arms_of(study)
    form = ExportForm(request.POST or None, may_label=may_label)
    if request.method != "POST" or not form.is_valid():
        return render(
            request,
            "back_office/export.html",
            studies.page_context(
                request,
                study,
                title=_now("Transcripts as CSV"),
                form=form,
                columns=columns(with_labels=may_label),
                button=_now("Download"),
            ),
        )
    export = TranscriptExport(
        lab_id=study.lab_id,
        study_id=study.pk,
        form=CsvForm(form.cleaned_data["form"]),
        test_runs=form.cleaned_data["test_runs"],
        refused=form.cleaned_data["refused"],
        with_labels=form.cleaned_data.get("with_labels", False),
    )
    studies.record(
        request,
        AuditAction.EXPORT_TRANSCRIPTS,
        study,
        form=export.form,
        test_runs=export.test_runs,
        refused=export.refused,
        with_labels=export.with_labels,
    )
    response = StreamingHttpResponse(stream(export), content_type="text/csv; charset=utf-8")
    name = slugify(study.title) or f"study-{study.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}-transcripts-{export.form}.csv"'
    return response


StudyAdmin.pages.append(
    ObjectPage(
        slug="transcripts",
        title=_("Transcripts (CSV)"),
        icon="download",
        view=_download,
        shown=lambda viewer, study: viewer.may(Area.EXPORT),
    )
)
