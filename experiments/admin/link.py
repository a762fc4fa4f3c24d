"""Entry links that were made, and revoking them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import display_for_value
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.models import IssuedLink
from experiments.rights import Area, Right
from memlab.core.clock import wall_now


def _revoke(request: HttpRequest, links: TenantModelAdmin, issued: IssuedLink) -> HttpResponseBase:
    if request.method != "POST":
        return links.confirm(
            request,
            issued,
            title=_now("Revoke the link"),
            lead=_now("Nobody enters by it any more. Whoever is in the study already stays in it."),
            button=_now("Revoke"),
            danger=True,
        )
    if issued.revoke():
        links.record(request, AuditAction.REVOKE_LINK, issued, label=issued.label)
        messages.success(request, _now("Revoked."))
    return redirect(links.change_url(issued))


@admin.register(IssuedLink)
class IssuedLinkAdmin(ReadOnlyAdmin):
    """Of a link only the hash is kept, so its label is what tells it from others."""

    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 50, "link"
    list_display = ["name", "study", "kind", "standing", "participant", "created_at", "expires_at"]
    list_filter = ["study", "link__test_mode"]
    list_select_related = ["study", "link", "participant"]
    search_fields = ["label", "participant__code", "study__title"]
    fields = ["name", "study", "kind", "state", "participant", "created_at", "expires_at"]
    ordering = ["-pk"]
    pages = [
        ObjectPage(
            slug="revoke",
            title=_("Revoke"),
            icon="link_off",
            view=_revoke,
            shown=lambda viewer, issued: (
                viewer.may(Area.STUDIES, Right.CHANGE) and issued.link.revoked_at is None
            ),
        )
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[IssuedLink]:
        return super().get_queryset(request).select_related("link")

    @admin.display(description=_("label"), ordering="label")
    def name(self, issued: IssuedLink) -> str:
        return str(issued)

    @admin.display(description=_("kind"))
    def kind(self, issued: IssuedLink) -> str:
        if issued.link.test_mode:
            return _now("test runs")
        return _now("open") if issued.participant_id is None else _now("personal")

    @display(
        description=_("state"),
        label={"valid": "success", "expired": "warning", "revoked": "danger"},
    )
    def standing(self, issued: IssuedLink) -> Any:
        if issued.link.revoked_at is not None:
            return "revoked", _now("revoked")
        if issued.link.expired(wall_now()):
            return "expired", _now("expired")
        return "valid", _now("valid")

    @admin.display(description=_("state"))
    def state(self, issued: IssuedLink) -> str:
        return str(self.standing(issued)[1])

    @admin.display(description=_("made at"), ordering="link__created_at")
    def created_at(self, issued: IssuedLink) -> Any:
        return display_for_value(issued.link.created_at, "–")

    @admin.display(description=_("expires"), ordering="link__expires_at")
    def expires_at(self, issued: IssuedLink) -> Any:
        return display_for_value(issued.link.expires_at, "–")
