"""Recruiters of a study, with the addresses to copy into their pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline

from experiments.back_office import Menu, ObjectPage, TenantModelAdmin
from experiments.models import Recruiter, Stage
from experiments.rights import Area, Right, viewer_of

_FIELDS: list[Any] = [
    ("kind", "name"),
    ("stage", "expected_study"),
    ("person_parameter", "study_parameter", "session_parameter"),
    "forbids_email",
]


def _whole(request: HttpRequest, recruiter: Recruiter, token: str) -> str:
    """An address with the recruiter's placeholders, as it is to be copied."""
    address = request.build_absolute_uri(reverse("journey:join", args=[token]))
    return f"{address}?{recruiter.query_string()}"


def _addresses(
    request: HttpRequest, recruiters: TenantModelAdmin, recruiter: Recruiter
) -> HttpResponseBase:
    return render(
        request,
        "back_office/shown_once.html",
        recruiters.page_context(
            request,
            recruiter,
            title=str(recruiter),
            lead=_now("Copy the address into the recruiter's pages, which fill in its parameters."),
            values=[
                (_now("For participants"), _whole(request, recruiter, recruiter.token)),
                (_now("For test runs"), _whole(request, recruiter, recruiter.test_token)),
            ],
        ),
    )


@admin.register(Recruiter)
class RecruiterAdmin(TenantModelAdmin):
    area = Area.STUDIES
    menu, menu_position, icon = Menu.STUDIES, 40, "group_add"
    list_display = ["__str__", "study", "stage", "expected_study", "forbids_email"]
    list_filter = ["study", "kind"]
    list_select_related = ["study", "stage"]
    search_fields = ["name", "expected_study", "study__title"]
    fieldsets = [(None, {"fields": ["study", *_FIELDS]})]
    pages = [ObjectPage(slug="addresses", title=_("Addresses"), icon="link", view=_addresses)]

    def get_readonly_fields(self, request: HttpRequest, obj: Recruiter | None = None) -> list[str]:
        return [*self.readonly_fields, *(["study"] if obj is not None else [])]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever brought somebody stays, for their participants name them."""
        return self.allowed(request, Right.CHANGE) and (
            obj is None or not obj.participants.exists()
        )


class RecruiterInline(StackedInline):
    model = Recruiter
    extra = 0
    tab = True
    show_change_link = True
    fields = [*_FIELDS, "address"]
    readonly_fields = ["address"]

    @admin.display(description=_("address for participants"))
    def address(self, recruiter: Recruiter) -> str:
        if recruiter._state.adding:
            return "–"
        whole = _whole(self.request, recruiter, recruiter.token)
        return format_html('<code class="ml-address">{}</code>', whole)

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
        """On its own page, where it is known whether it has brought anybody."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Recruiter]:
        self.request = request
        viewer = viewer_of(request)
        assert viewer is not None
        return super().get_queryset(request).filter(lab_id=viewer.member.lab_id)

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        self.study = obj
        return super().get_formset(request, obj, **kwargs)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "stage":
            kwargs["queryset"] = Stage.objects.filter(study=self.study)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
