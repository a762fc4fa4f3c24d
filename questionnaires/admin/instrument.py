"""Instruments with their items, what can be done with them, and their versions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Max, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextareaWidget

from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.rights import Area, Right, Viewer
from questionnaires.admin import import_pages
from questionnaires.admin.item_form import ItemInline
from questionnaires.admin.shown import shown_content
from questionnaires.item_sheet import as_csv, as_xlsx
from questionnaires.models import Instrument, InstrumentVersion

#: How many an instrument's own page lists; all of them stand beside the draft as it is read.
SHOWN_PROBLEMS = 4


def _may_change(viewer: Viewer, instrument: Instrument) -> bool:
    return viewer.may(Area.STUDIES, Right.CHANGE)


def _as_read(
    request: HttpRequest, pages: TenantModelAdmin, instrument: Instrument
) -> HttpResponseBase:
    """The draft as participants would read it, with what is still wrong with it."""
    content = instrument.readable()
    return render(
        request,
        "back_office/instrument_shown.html",
        pages.page_context(
            request,
            instrument,
            title=instrument,
            problems=instrument.problems(),
            shown_problems=":",
            shown="" if content is None else shown_content(content),
        ),
    )


def _publish(
    request: HttpRequest, pages: TenantModelAdmin, instrument: Instrument
) -> HttpResponseBase:
    problems = instrument.problems()
    current = instrument.current_version()
    if request.method == "POST" and not problems:
        version = instrument.publish()
        pages.record(
            request,
            AuditAction.PUBLISH_INSTRUMENT,
            instrument,
            version=version.number,
            sha256=version.sha256,
        )
        messages.success(
            request, _now("Published as version %(number)s.") % {"number": version.number}
        )
        return redirect(pages.change_url(instrument))
    return pages.confirm(
        request,
        instrument,
        title=_now("This instrument can't be published yet") if problems else _now("Publish"),
        lead=_lead(problems, current),
        points=problems,
        button=None if problems or current else _now("Publish"),
    )


def _lead(problems: list[str], current: InstrumentVersion | None) -> str:
    if problems:
        return _now("Put this right first:")
    if current is not None:
        return _now("The draft reads as version %(number)s: nothing is new.") % {
            "number": current.number
        }
    return _now(
        "The draft becomes a version that never changes. Studies freeze it by themselves when "
        "they open; running ones keep the version that they have."
    )


def _sheet(
    form: str, request: HttpRequest, pages: TenantModelAdmin, instrument: Instrument
) -> HttpResponseBase:
    try:
        content = instrument.content()
    except ValidationError as error:
        return pages.confirm(
            request,
            instrument,
            title=_now("This draft can't be written as a sheet"),
            lead=_now("Put this right first:"),
            points=error.messages,
            button=None,
        )
    if form == "csv":
        return import_pages.download(as_csv(content), f"{instrument.key}.csv", "text/csv")
    return import_pages.download(as_xlsx(content), f"{instrument.key}.xlsx", import_pages.XLSX)


@admin.register(Instrument)
class InstrumentAdmin(TenantModelAdmin):
    area = Area.STUDIES
    menu, menu_position, icon = Menu.STUDIES, 40, "quiz"
    list_display = ["title", "key", "item_count", "last_version", "validated_label", "score"]
    list_filter = ["validated", "score", "missing"]
    search_fields = ["key", "title_en", "title_zh", "citation", "items__text_en", "items__text_zh"]
    ordering = ["key"]
    inlines = [ItemInline]
    list_before_template = "back_office/instrument_list.html"
    change_form_before_template = "back_office/instrument_state.html"
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("key", "validated"),
                    ("title_en", "title_zh"),
                    ("introduction_en", "introduction_zh"),
                    "citation",
                    "licence",
                ]
            },
        ),
        (_("Scoring"), {"fields": [("score", "randomised"), ("missing", "missing_share")]}),
    ]
    pages = [
        ObjectPage(slug="as-read", title=_("As it is read"), icon="visibility", view=_as_read),
        ObjectPage(
            slug="publish",
            title=_("Publish"),
            icon="verified",
            view=_publish,
            variant=ActionVariant.PRIMARY,
            shown=_may_change,
        ),
        ObjectPage(
            slug="xlsx",
            rare=True,
            title=_("As XLSX"),
            icon="download",
            view=partial(_sheet, "xlsx"),
        ),
        ObjectPage(
            slug="csv", rare=True, title=_("As CSV"), icon="download", view=partial(_sheet, "csv")
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Instrument]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                number_of_items=Count("items", distinct=True),
                newest_version=Max("versions__number"),
            )
        )

    @admin.display(description=_("title"), ordering="title_en")
    def title(self, instrument: Instrument) -> str:
        return str(instrument)

    @admin.display(description=_("items"), ordering="number_of_items")
    def item_count(self, instrument: Any) -> int:
        return int(instrument.number_of_items)

    @admin.display(description=_("last version"), ordering="newest_version")
    def last_version(self, instrument: Any) -> str:
        return str(instrument.newest_version or "–")

    @display(
        description=_("wording"),
        ordering="validated",
        label={"yes": "success", "no": "warning"},
    )
    def validated_label(self, instrument: Instrument) -> tuple[str, str]:
        if instrument.validated:
            return "yes", _now("validated")
        return "no", _now("not validated")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """A key is how sheets and frozen studies name it: it is chosen once."""
        return [] if obj is None else ["key"]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        rows = {"introduction_en": 2, "introduction_zh": 2, "citation": 2, "licence": 3}
        if db_field.name in rows:
            kwargs["widget"] = UnfoldAdminTextareaWidget(attrs={"rows": rows[db_field.name]})
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only what no version and no study knows."""
        return self.allowed(request, Right.CHANGE) and (
            obj is None or not (obj.versions.exists() or obj.placements.exists())
        )

    def get_urls(self) -> list[URLPattern]:
        return [
            self._address("import", import_pages.import_sheet),
            self._address("empty-sheet", import_pages.empty),
            self._address("example", import_pages.example),
            self._address("scoring-keys", import_pages.load_key),
            *super().get_urls(),
        ]

    def _address(
        self, name: str, view: Callable[[HttpRequest, TenantModelAdmin], HttpResponseBase]
    ) -> URLPattern:
        def page(request: HttpRequest) -> HttpResponseBase:
            self.get_queryset(request)  # raises 404 for whoever is in no lab
            if not self.has_view_permission(request):
                return self._get_obj_does_not_exist_redirect(request, self.opts, "")
            return view(request, self)

        return path(
            f"{name}/",
            self.admin_site.admin_view(page),
            name=f"questionnaires_instrument_{name.replace('-', '_')}",
        )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return super().changelist_view(
            request,
            {**(extra_context or {}), "may_import": self.allowed(request, Right.CHANGE)},
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        instrument = context.get("original")
        if instrument is not None:
            problems = instrument.problems()
            context |= {
                "problems": problems,
                "shown_problems": f":{SHOWN_PROBLEMS}",
                "all_problems": len(problems) > SHOWN_PROBLEMS
                and self.page_url("as-read", instrument),
                "current_version": instrument.current_version(),
            }
        return super().render_change_form(request, context, *args, **kwargs)


@admin.register(InstrumentVersion)
class InstrumentVersionAdmin(ReadOnlyAdmin):
    area = Area.STUDIES
    menu, menu_position, icon = Menu.STUDIES, 60, "verified"
    list_display = ["instrument", "number", "short_hash", "created_at"]
    list_filter = ["instrument"]
    list_select_related = ["instrument"]
    search_fields = ["instrument__key", "instrument__title_en", "instrument__title_zh", "sha256"]
    ordering = ["instrument__key", "-number"]
    fields = ["instrument", "number", "sha256", "created_at", "as_read"]

    @admin.display(description="SHA-256")
    def short_hash(self, version: InstrumentVersion) -> str:
        return version.sha256[:12]

    @admin.display(description=_("as it is read"))
    def as_read(self, version: InstrumentVersion) -> SafeString:
        return shown_content(version.content)
