"""Who has withdrawn and how far, and the receipts of what was removed. How many rows of which table
went tells what memory there was: only for whoever is unblinded."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments.back_office import Menu, ReadOnlyAdmin
from experiments.models import ErasureReceipt, Withdrawal
from experiments.rights import Area, Viewer, viewer_of


def _counts(counts: dict[str, int]) -> SafeString | str:
    return format_html_join("", "{}: {}<br>", sorted(counts.items())) or "–"


class _WithCounts(ReadOnlyAdmin):
    """``shown_counts`` is there for whoever is unblinded to what the row is about."""

    def sees_counts(self, viewer: Viewer, row: Any) -> bool:
        raise NotImplementedError

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        viewer = viewer_of(request)
        shown = list(super().get_fields(request, obj))
        if viewer is None or obj is None or not self.sees_counts(viewer, obj):
            shown.remove("shown_counts")
        return shown


@admin.register(Withdrawal)
class WithdrawalAdmin(_WithCounts):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 50, "person_off"
    list_display = ["participant", "study", "kind", "requested_by", "requested_wall", "state_label"]
    list_filter = ["participant__study", "kind", "state", "requested_by"]
    list_select_related = ["participant__study"]
    search_fields = ["participant__code"]
    fields = [
        "participant",
        "study",
        "kind",
        "requested_by",
        "user",
        "reason",
        "requested_at",
        "requested_wall",
        "state",
        "carried_out_at",
        "shown_counts",
    ]

    def sees_counts(self, viewer: Viewer, row: Withdrawal) -> bool:
        return viewer.sees_arm_of(row.participant)

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, withdrawal: Withdrawal) -> str:
        return withdrawal.participant.study.title

    @display(
        description=_("state"),
        ordering="state",
        label={"requested": "warning", "carried_out": "success"},
    )
    def state_label(self, withdrawal: Withdrawal) -> tuple[str, str]:
        return withdrawal.state, withdrawal.get_state_display()

    @admin.display(description=_("rows, by table"))
    def shown_counts(self, withdrawal: Withdrawal) -> SafeString | str:
        return _counts(withdrawal.parts)


@admin.register(ErasureReceipt)
class ErasureReceiptAdmin(_WithCounts):
    area = Area.AUDIT
    menu, menu_position, icon = Menu.LAB, 45, "receipt_long"
    list_display = ["at", "kind", "sha256"]
    list_filter = ["kind"]
    search_fields = ["code_hash", "sha256"]
    fields = ["at", "kind", "code_hash", "sha256", "shown_counts"]

    def sees_counts(self, viewer: Viewer, row: ErasureReceipt) -> bool:
        """Its moment leads to the withdrawal, and to the arm of whoever was anonymised; of which
        study it is isn't kept. So it takes somebody who has unblinded themselves."""
        return viewer.unblinded_to_any

    @admin.display(description=_("rows, by table"))
    def shown_counts(self, receipt: ErasureReceipt) -> SafeString | str:
        return _counts(receipt.counts)
