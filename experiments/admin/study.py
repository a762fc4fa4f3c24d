"""Studies: their texts, models and shared factors, with their stages and arms."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from experiments.admin.recruiter import RecruiterInline
from experiments.admin.study_fields import DESIGN, GENERAL
from experiments.admin.study_pages import STUDY_PAGES
from experiments.back_office import Menu, ReadOnlyInline, TenantModelAdmin
from experiments.enums import AuditAction, Language, StudyStatus
from experiments.models import Arm, Lab, Stage, Study
from experiments.rights import Area, Right, viewer_of
from experiments.study_templates import TEMPLATES, create_study


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        lines = value if isinstance(value, list) else (value or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial or []) != self.to_python(data)


class StageForm(forms.ModelForm):
    topics = LinesField(label=_("Topics to cover"), required=False, help_text=_("One a line."))

    class Meta:
        model = Stage
        fields = ["topics"]  # the inline names the rest, inside a lab
        widgets = {
            name: UnfoldAdminTextareaWidget(attrs={"rows": 3})
            for name in ("briefing", "instructions", "opening_line")
        }


class StageInline(StackedInline):
    model = Stage
    form = StageForm
    extra = 0
    tab = True
    collapsible = True
    fields = [
        ("number", "key", "title"),
        "briefing",
        "instructions",
        "opening_line",
        "topics",
        ("minimum_gap_hours", "window_hours"),
        ("opens_at", "closes_at"),
        ("finish_hours", "reminder_hours"),
        ("minimum_minutes", "maximum_minutes"),
        ("minimum_turns", "maximum_turns"),
        ("idle_minutes", "manipulation"),
        "payment",
    ]

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
        return self._allowed(request, Right.CHANGE) and (
            obj is None or obj.status == StudyStatus.DRAFT
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Stage]:
        viewer = viewer_of(request)
        assert viewer is not None
        return super().get_queryset(request).filter(lab_id=viewer.member.lab_id)


class ArmInline(ReadOnlyInline):
    model = Arm
    area = Area.DESIGN
    verbose_name_plural = _("arms")
    fields = ["key", "name", "label", "architecture", "preset", "weight"]


class NewStudyForm(forms.Form):
    title = forms.CharField(label=_("Title"), max_length=200, widget=UnfoldAdminTextInputWidget)
    language = forms.ChoiceField(
        label=_("Language"),
        choices=Language.choices,
        widget=UnfoldAdminSelectWidget,
        help_text=_("Of everything that participants and models read."),
    )
    template = forms.ChoiceField(
        label=_("Start from"), widget=UnfoldAdminRadioSelectWidget, initial="controlled"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["template"].choices = [  # type: ignore[attr-defined]
            (template.key, f"{template.title} – {template.description}")
            for template in TEMPLATES.values()
        ]


@admin.register(Study)
class StudyAdmin(TenantModelAdmin):
    area = Area.STUDIES
    menu, menu_position, icon = Menu.STUDIES, 10, "biotech"
    list_display = ["title", "status_label", "language", "enrolled", "test_runs", "created_at"]
    list_filter = ["status", "language"]
    search_fields = ["title"]
    ordering = ["-pk"]  # an annotated queryset forgets the model's own
    inlines = [StageInline, ArmInline, RecruiterInline]
    pages = STUDY_PAGES
    readonly_fields = ["status", "public_id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                people=Count("participants", filter=Q(participants__test_mode=False)),
                tests=Count("participants", filter=Q(participants__test_mode=True)),
            )
        )

    @display(
        description=_("status"),
        ordering="status",
        label={
            "draft": "info",
            "piloting": "warning",
            "open": "success",
            "closed": "danger",
        },
    )
    def status_label(self, study: Study) -> tuple[str, str]:
        return study.status, study.get_status_display()

    @admin.display(description=_("participants"), ordering="people")
    def enrolled(self, study: Any) -> int:
        return int(study.people)

    @admin.display(description=_("test runs"), ordering="tests")
    def test_runs(self, study: Any) -> int:
        return int(study.tests)

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        viewer = viewer_of(request)
        tabs = GENERAL + DESIGN if viewer is not None and viewer.may(Area.DESIGN) else GENERAL
        return [
            (title, {"fields": fields, "description": description})
            for title, fields, description in tabs
        ]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "preregistration_url":
            kwargs["assume_scheme"] = "https"
        if db_field.name in ("sampling", "block_multiples", "screen_out", "strata"):
            kwargs["widget"] = UnfoldAdminTextareaWidget(attrs={"rows": 2})
        if db_field.name in ("sensitive_consent", "abroad_consent", "telemetry_consent"):
            kwargs["widget"] = UnfoldAdminTextareaWidget(attrs={"rows": 3})
        if db_field.name in ("persona", "information", "consent", "debriefing"):
            kwargs["widget"] = UnfoldAdminTextareaWidget(attrs={"rows": 7})
        if db_field.name == "webhook_url":
            kwargs["assume_scheme"] = "https"
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Drafts without anybody in them; everything else is closed and archived instead."""
        return self.allowed(request, Right.CHANGE) and (
            obj is None
            or (
                obj.status == StudyStatus.DRAFT
                and not obj.participants.exists()
                and not obj.versions.exists()
            )
        )

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponseBase:
        """A study starts from a template; everything is edited on its page then."""
        if not self.has_add_permission(request):
            return self._get_obj_does_not_exist_redirect(request, self.opts, "")
        lab = Lab.objects.get()
        form = NewStudyForm(request.POST or None, initial={"language": lab.language})
        if request.method == "POST" and form.is_valid():
            try:
                study = self._create(lab, form.cleaned_data)
            except ValidationError as error:
                form.add_error(None, error)
            else:
                self.record(request, AuditAction.ADD, study, template=form.cleaned_data["template"])
                return redirect(self.change_url(study))
        return self.form_page(
            request,
            None,
            title=_now("New study"),
            form=form,
            button=_now("Create"),
            back_url=self.list_url(),
        )

    @staticmethod
    def _create(lab: Lab, given: dict[str, Any]) -> Study:
        def in_the_labs_zone(study: Study) -> None:
            study.time_zone = lab.time_zone

        return create_study(
            given["template"],
            title=given["title"],
            language=Language(given["language"]),
            adjust=in_the_labs_zone,
        )
