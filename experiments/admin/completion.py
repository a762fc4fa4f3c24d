"""Completion codes on their study, what was shown to whom, and the code that staff give by hand."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.widgets import UnfoldAdminSelectWidget

from experiments.admin.participant import ParticipantAdmin
from experiments.admin.payment import signed_in
from experiments.admin.study import StudyAdmin
from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.enums import AuditAction, Outcome
from experiments.models import CompletionCode, DebriefingView, IssuedCode, Participant, Stage
from experiments.rights import Area, Right, Viewer, viewer_of


class CompletionCodeInline(TabularInline):
    """On the study's page; codes may be added while it runs, for a recruiter often gives them
    only once its own study is set up."""

    model = CompletionCode
    extra = 0
    tab = True
    fields = ["stage", "outcome", "code", "return_url"]

    def _allowed(self, request: HttpRequest, right: Right) -> bool:
        viewer = viewer_of(request)
        return viewer is not None and viewer.may(Area.STUDIES, right)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.VIEW)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.CHANGE)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.CHANGE)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request, Right.CHANGE)

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        request.completion_codes_of = obj  # type: ignore[attr-defined]
        return super().get_formset(request, obj, **kwargs)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "stage":
            study = getattr(request, "completion_codes_of", None)
            kwargs["queryset"] = Stage.objects.filter(study=study)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[CompletionCode]:
        viewer = viewer_of(request)
        assert viewer is not None
        return super().get_queryset(request).filter(lab_id=viewer.member.lab_id)


StudyAdmin.inlines = [*StudyAdmin.inlines, CompletionCodeInline]


@admin.register(CompletionCode)
class CompletionCodeAdmin(TenantModelAdmin):
    area = Area.STUDIES
    menu, menu_position, icon = Menu.STUDIES, 60, "verified"
    list_display = ["study", "stage", "outcome", "code", "return_url"]
    list_filter = ["study", "outcome"]
    list_select_related = ["study", "stage"]
    search_fields = ["code", "study__title"]
    fields = ["study", "stage", "outcome", "code", "return_url"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allowed(request, Right.CHANGE)


@admin.register(IssuedCode)
class IssuedCodeAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 50, "task_alt"
    list_display = ["participant", "study", "stage_key", "outcome", "code", "shown_at", "given_by"]
    list_filter = ["participant__study", "outcome", "stage_key"]
    list_select_related = ["participant__study", "given_by"]
    search_fields = ["participant__code", "code"]
    fields = ["participant", "stage_key", "outcome", "code", "issued_at", "shown_at", "given_by"]

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, row: IssuedCode) -> str:
        return row.participant.study.title


@admin.register(DebriefingView)
class DebriefingViewAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 70, "menu_book"
    menu_title = _("Debriefings")
    list_display = ["participant", "study", "version", "shown_at", "sha256"]
    list_filter = ["participant__study"]
    list_select_related = ["participant__study", "version"]
    search_fields = ["participant__code", "sha256"]
    fields = ["participant", "version_number", "sha256", "shown_at", "recorded_at"]

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, row: DebriefingView) -> str:
        return row.participant.study.title

    @admin.display(description=_("version"))
    def version_number(self, row: DebriefingView) -> int:
        return int(row.version.number)


class TechnicalCodeForm(forms.Form):
    """For which part: the whole study, or a stage that has a code of its own."""

    # Empty is a choice: the whole study.
    place = forms.ChoiceField(label=_("For"), required=False, widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, codes: list[CompletionCode], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["place"].choices = [  # type: ignore[attr-defined]
            (_place(code), _now("The whole study") if code.stage is None else str(code.stage))
            for code in codes
        ]


def _place(code: CompletionCode) -> str:
    return "" if code.stage is None else str(code.stage.key)


def _technical(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    """Give the code for technical problems; the participant finds it on their overview."""
    codes = list(
        CompletionCode.objects.filter(
            study=participant.study_id, outcome=Outcome.TECHNICAL
        ).select_related("stage")
    )
    places = {_place(code) for code in codes}
    form = TechnicalCodeForm(request.POST or None, codes=codes)
    if not codes:
        return people.confirm(
            request,
            participant,
            title=_now("Code for a technical problem"),
            lead=_now("The study has no code for technical problems. Add one on its page first."),
            button=None,
        )
    if request.method == "POST" and form.is_valid() and form.cleaned_data["place"] in places:
        stage_key = form.cleaned_data["place"]
        IssuedCode.objects.give(
            participant, Outcome.TECHNICAL, stage_key=stage_key, user_id=signed_in(request)
        )
        people.record(
            request, AuditAction.GIVE_CODE, participant, outcome="technical", stage=stage_key
        )
        messages.success(request, _now("The participant sees the code on their overview."))
        return redirect(people.change_url(participant))
    return people.form_page(
        request,
        participant,
        title=_now("Code for a technical problem"),
        form=form,
        button=_now("Give the code"),
        lead=_now(
            "For somebody who could not finish through no fault of theirs. They see the code "
            "on their overview; it can't be taken back."
        ),
    )


def _may_give(viewer: Viewer, participant: Participant) -> bool:
    return viewer.may(Area.PEOPLE, Right.CHANGE)


ParticipantAdmin.pages.append(
    ObjectPage(
        slug="technical-code",
        title=_("Code for a technical problem"),
        icon="build",
        view=_technical,
        shown=_may_give,
        rare=True,
    )
)
