"""The base of every page of the back office: one lab, one role, one kind of row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar

from django.contrib.admin.utils import unquote
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _now
from unfold.admin import ModelAdmin, TabularInline
from unfold.enums import ActionVariant

from experiments.back_office.changes import details_table, form_changes, summary
from experiments.enums import AuditAction
from experiments.models import AuditEntry
from experiments.rights import Area, Right, Viewer, viewer_of


class Menu(StrEnum):
    """Groups of the side menu, in this order."""

    STUDIES = "studies"
    PEOPLE = "people"
    EVIDENCE = "evidence"
    LAB = "lab"
    WORK = "work"


def _always(viewer: Viewer, row: Any) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class ObjectPage:
    """A further page of a row, at ``…/<id>/<slug>/``, with a button on the row's own page.

    Apps above add theirs with ``StudyAdmin.pages.append(…)``, so that nothing here imports them.
    ``shown`` decides for button and page alike; where it says no, the page isn't there (404).
    """

    slug: str
    title: Any
    icon: str
    view: Callable[[HttpRequest, TenantModelAdmin, Any], HttpResponseBase]
    shown: Callable[[Viewer, Any], bool] = _always
    variant: ActionVariant = ActionVariant.DEFAULT
    rare: bool = False  # under “More” instead of a button of its own


def column_of(model: type[Model], lookup: str) -> str:
    """The column that a lookup such as ``study__id__exact`` asks by, ``study``; empty if its first
    word is none of the model's, but a filter's own."""
    path: list[str] = []
    at: type[Model] | None = model
    for word in lookup.split(LOOKUP_SEP):
        if at is None:
            break
        try:
            field: Any = at._meta.get_field(word)
        except FieldDoesNotExist:
            break
        if not (path and field.concrete and field.primary_key):
            path.append(word)
        at = field.related_model
    return LOOKUP_SEP.join(path)


class TenantModelAdmin(ModelAdmin):
    """Rows of the active lab only, rights from the member's role, changes in the audit log.

    ``area`` says what a role must have; ``tenant_column`` is the lookup that the lab's id must
    match, said here although manager and policies say it too. ``secret_fields`` never reach the
    audit log. ``linked_by`` are columns that links of ours ask a list by, beside its filters.
    """

    area: ClassVar[Area]
    linked_by: ClassVar[frozenset[str]] = frozenset()
    tenant_column: ClassVar[str] = "lab_id"
    menu: ClassVar[Menu]
    menu_position: ClassVar[int] = 100
    menu_title: ClassVar[Any] = None  # where the model's own plural isn't staff's word for it
    icon: ClassVar[str] = "table_rows"
    secret_fields: ClassVar[frozenset[str]] = frozenset()
    pages: ClassVar[list[ObjectPage]] = []
    list_per_page = 50
    warn_unsaved_form = True
    object_history_template = "back_office/history.html"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.pages = list(cls.pages)

    # Rows

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer = viewer_of(request)
        if viewer is None:
            raise Http404
        return super().get_queryset(request).filter(**{self.tenant_column: viewer.member.lab_id})

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> Any:
        raise Http404

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only what a filter of the list, or a link of ours, asks by.

        Django lets an address ask by every column of the row. Whoever may ask whether a column
        begins with a letter has soon read it: a seed, a degraded mark, a password's hash.
        """
        filters = self.list_filter if request is None else self.get_list_filter(request)
        asked = {
            each[0] if isinstance(each, tuple) else getattr(each, "parameter_name", each)
            for each in filters
        }
        column = column_of(self.model, lookup)
        return not column or column in asked | self.linked_by

    # Rights

    def allowed(self, request: HttpRequest, right: Right) -> bool:
        viewer = viewer_of(request)
        return viewer is not None and viewer.may(self.area, right)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.allowed(request, Right.VIEW)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.allowed(request, Right.VIEW)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.allowed(request, Right.CHANGE)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.allowed(request, Right.CHANGE)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """None by default: what changes many rows at once is a page of its own."""
        return {}

    # Further pages

    def get_urls(self) -> list[URLPattern]:
        names = f"{self.model._meta.app_label}_{self.model._meta.model_name}"
        own = [
            path(
                f"<path:object_id>/{page.slug}/",
                self.admin_site.admin_view(partial(self._page, page)),
                name=f"{names}_{page.slug}",
            )
            for page in self.pages
        ]
        return own + super().get_urls()

    def _page(self, page: ObjectPage, request: HttpRequest, object_id: str) -> HttpResponseBase:
        row = self.get_object(request, unquote(object_id))
        viewer = viewer_of(request)
        if row is None or viewer is None or not self.has_view_permission(request, row):
            raise Http404
        if not page.shown(viewer, row):
            raise Http404
        return page.view(request, self, row)

    def page_url(self, slug: str, row: Model) -> str:
        names = f"{self.model._meta.app_label}_{self.model._meta.model_name}"
        return reverse(f"admin:{names}_{slug}", args=[row.pk])

    def list_url(self) -> str:
        names = f"{self.model._meta.app_label}_{self.model._meta.model_name}"
        return reverse(f"admin:{names}_changelist")

    def change_url(self, row: Model) -> str:
        return self.page_url("change", row)

    def page_context(
        self, request: HttpRequest, row: Model | None, **context: Any
    ) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.model._meta,
            "original": row,
            "back_url": None if row is None else self.change_url(row),
            **context,
        }

    def confirm(self, request: HttpRequest, row: Model, **context: Any) -> HttpResponseBase:
        """A page with ``title``, ``lead``, ``points`` and one button that posts back."""
        return render(
            request, "back_office/confirm.html", self.page_context(request, row, **context)
        )

    def form_page(
        self, request: HttpRequest, row: Model | None, *, form: BaseForm, **context: Any
    ) -> HttpResponse:
        """A page of one form, with ``title``, ``lead`` and ``button``, that posts back."""
        return render(
            request,
            "back_office/form.html",
            self.page_context(request, row, form=form, **context),
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> TemplateResponse:
        row, viewer = context.get("original"), viewer_of(request)
        if row is not None and viewer is not None:
            pages = [page for page in self.pages if page.shown(viewer, row)]
            rare = [self._button(page, row) for page in pages if page.rare]
            context["actions_detail"] = [
                *(self._button(page, row) for page in pages if not page.rare),
                *(
                    [{"title": _now("More"), "items": rare, "variant": ActionVariant.DEFAULT}]
                    if rare
                    else []
                ),
            ]
        return super().render_change_form(request, context, *args, **kwargs)

    def _button(self, page: ObjectPage, row: Model) -> dict[str, Any]:
        return {
            "title": page.title,
            "icon": page.icon,
            "variant": page.variant,
            "path": self.page_url(page.slug, row),
            "attrs": {},
        }

    # The audit log instead of Django's own

    def construct_change_message(
        self, request: HttpRequest, form: BaseForm, formsets: Iterable[Any], add: bool = False
    ) -> Any:
        return form_changes(form, formsets or [], secret=self.secret_fields)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> AuditEntry:
        return self.record(request, AuditAction.ADD, obj, **message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> AuditEntry | None:
        return self.record(request, AuditAction.CHANGE, obj, **message) if message else None

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[AuditEntry]:
        return [self.record(request, AuditAction.DELETE, row, name=str(row)) for row in queryset]

    def record(
        self, request: HttpRequest, action: AuditAction, row: Model, **details: Any
    ) -> AuditEntry:
        return AuditEntry.objects.record(action, user_id=request.user.pk, target=row, **details)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        row = self.get_object(request, unquote(object_id))
        viewer = viewer_of(request)
        if row is None or viewer is None or not self.has_view_permission(request, row):
            raise Http404
        if not viewer.may(Area.AUDIT):
            raise Http404
        about = AuditEntry.objects.filter(
            lab_id=viewer.member.lab_id,
            target_kind=self.model._meta.label,
            target_id=str(row.pk),
        )
        entries = about.seen_by(viewer).select_related("user")[:200]
        lines = [
            {"entry": entry, "summary": summary(entry), "details": details_table(entry)}
            for entry in entries
        ]
        return render(
            request,
            self.object_history_template,
            self.page_context(request, row, title=_now("History"), lines=lines),
        )

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        viewer = viewer_of(request)
        shown = viewer is not None and viewer.may(Area.AUDIT)
        return super().changeform_view(
            request, object_id, form_url, {**(extra_context or {}), "show_history": shown}
        )


class ReadOnlyAdmin(TenantModelAdmin):
    """Rows that the platform writes and nobody edits."""

    warn_unsaved_form = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.get_fields(request, obj)


class EvidenceAdmin(ReadOnlyAdmin):
    """Rows that depend on the arm: of participants the viewer is unblinded to, nobody else's.

    ``participant_path`` is the lookup from a row to its participant.
    """

    area = Area.EVIDENCE
    menu = Menu.EVIDENCE
    participant_path: ClassVar[str] = "participant"
    list_before_template = "back_office/evidence_note.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer = viewer_of(request)
        if viewer is None:
            raise Http404
        return super().get_queryset(request).filter(viewer.evidence(self.participant_path))


class ReadOnlyInline(TabularInline):
    """Rows of another kind listed on a page, each with a link to its own."""

    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = True
    tab = True
    area: ClassVar[Area]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        viewer = viewer_of(request)
        return viewer is not None and viewer.may(self.area)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer = viewer_of(request)
        if viewer is None:
            raise Http404
        return super().get_queryset(request).filter(lab_id=viewer.member.lab_id)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields
