"""Identifiers, on pages apart: whose there are, each in clear only on purpose and into the log."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.models import Identifier, Tombstone
from experiments.rights import Area


def _look(
    request: HttpRequest, identifiers: TenantModelAdmin, identifier: Identifier
) -> HttpResponseBase:
    if request.method != "POST":
        return identifiers.confirm(
            request,
            identifier,
            title=_now("Look at the identifier"),
            lead=_now("It tells who %(code)s is. That you looked is kept in the audit log.")
            % {"code": identifier.participant},
            button=_now("Show it"),
        )
    identifiers.record(
        request, AuditAction.SEE_IDENTIFIER, identifier, participant=identifier.participant.code
    )
    response = render(
        request,
        "back_office/shown_once.html",
        identifiers.page_context(
            request,
            identifier,
            title=str(identifier.participant),
            lead=_now("Keep it apart from everything that the participant says."),
            values=[(identifier.get_kind_display(), identifier.value)],
        ),
    )
    response["Cache-Control"] = "no-store"
    return response


@admin.register(Identifier)
class IdentifierAdmin(ReadOnlyAdmin):
    area = Area.IDENTIFIERS
    menu, menu_position, icon = Menu.PEOPLE, 90, "badge"
    list_display = ["participant", "study", "kind", "source", "test_mode", "recorded_at"]
    list_filter = ["study", "kind", "test_mode"]
    list_select_related = ["participant", "study"]
    search_fields = ["participant__code"]
    fields = ["participant", "study", "kind", "source", "test_mode", "recorded_at"]
    ordering = ["-pk"]
    pages = [
        ObjectPage(slug="look", title=_("Look at it"), icon="visibility", view=_look),
    ]


@admin.register(Tombstone)
class TombstoneAdmin(ReadOnlyAdmin):
    """Of people who had their data erased: nothing is left that could be shown."""

    area = Area.IDENTIFIERS
    menu, menu_position, icon = Menu.PEOPLE, 95, "person_off"
    list_display = ["study", "kind", "laid_at"]
    list_filter = ["study", "kind"]
    list_select_related = ["study"]
    fields = ["study", "kind", "digest", "laid_at"]
    ordering = ["-pk"]
