"""The payment ledger: who has earned what, approved and paid in bulk, and as a file."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin
from unfold.decorators import display

from experiments.admin.study_pages import ReasonForm
from experiments.back_office import Menu, ObjectPage, ReadOnlyAdmin, TenantModelAdmin
from experiments.enums import AuditAction, PaymentState
from experiments.models import Payment
from experiments.payments import as_csv
from experiments.rights import Area, Right, viewer_of
from memlab.core.clock import wall_now
from memlab.core.csv_files import CsvForm


def _withhold(request: HttpRequest, pages: TenantModelAdmin, payment: Payment) -> HttpResponseBase:
    """Ask for a reason, then withhold this payment."""
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        changed = Payment.objects.filter(pk=payment.pk).withhold(
            reason=reason, user_id=signed_in(request), wall=wall_now()
        )
        for row in changed:
            pages.record(request, AuditAction.PAY, row, state="withheld", reason=reason)
        if not changed:
            messages.error(request, _now("It is paid or withheld already."))
        return redirect(pages.change_url(payment))
    return pages.form_page(
        request,
        payment,
        title=_now("Withhold the payment"),
        form=form,
        button=_now("Withhold"),
        lead=_now("It can still be approved later."),
    )


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    area = Area.PAYMENTS
    menu, menu_position, icon = Menu.PEOPLE, 60, "payments"
    list_display = [
        "code",
        "study",
        "stage_key",
        "amount",
        "currency",
        "state_label",
        "earned_at",
        "paid_at",
        "test_mode",
    ]
    list_filter = ["state", "study", "stage_key", "currency", "test_mode"]
    list_select_related = ["study"]
    search_fields = ["code", "stage_key", "study__title"]
    actions = ["approve", "mark_paid", "download_raw", "download_excel"]
    fields = [
        "code",
        "participant",
        "study",
        "stage_key",
        "amount",
        "currency",
        "state",
        "reason",
        "earned_at",
        "recorded_at",
        "decided_at",
        "decided_by",
        "paid_at",
        "paid_by",
        "test_mode",
    ]
    pages = [
        ObjectPage(
            slug="withhold",
            title=_("Withhold"),
            icon="money_off",
            view=_withhold,
            shown=lambda viewer, payment: (
                viewer.may(Area.PAYMENTS, Right.CHANGE)
                and not payment.test_mode
                and payment.state in (PaymentState.EARNED, PaymentState.APPROVED)
            ),
        )
    ]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """A ledger is worked through many rows at a time, by what its filters show."""
        actions: dict[str, Any] = ModelAdmin.get_actions(self, request)
        return actions

    def has_pay_permission(self, request: HttpRequest) -> bool:
        return self.allowed(request, Right.CHANGE)

    def has_download_permission(self, request: HttpRequest) -> bool:
        viewer = viewer_of(request)
        return viewer is not None and viewer.may(Area.EXPORT) and viewer.may(self.area)

    @display(
        description=_("state"),
        ordering="state",
        label={"earned": "info", "approved": "warning", "paid": "success", "withheld": "danger"},
    )
    def state_label(self, payment: Payment) -> tuple[str, str]:
        return payment.state, payment.get_state_display()

    @admin.action(description=_("Approve"), permissions=["pay"])
    def approve(self, request: HttpRequest, rows: Any) -> None:
        changed = rows.approve(user_id=signed_in(request), wall=wall_now())
        self._moved(request, changed, PaymentState.APPROVED)

    @admin.action(description=_("Mark as paid"), permissions=["pay"])
    def mark_paid(self, request: HttpRequest, rows: Any) -> None:
        changed = rows.mark_paid(user_id=signed_in(request), wall=wall_now())
        self._moved(request, changed, PaymentState.PAID)

    def _moved(self, request: HttpRequest, changed: list[Payment], state: PaymentState) -> None:
        for row in changed:
            self.record(request, AuditAction.PAY, row, state=str(state))
        told = ngettext(
            "%(count)s payment changed. Others were in another state or belong to test runs.",
            "%(count)s payments changed. Others were in another state or belong to test runs.",
            len(changed),
        )
        messages.success(request, told % {"count": len(changed)})

    @admin.action(description=_("Download as CSV"), permissions=["download"])
    def download_raw(self, request: HttpRequest, rows: QuerySet[Payment]) -> HttpResponse:
        return self._download(request, rows, CsvForm.RAW)

    @admin.action(description=_("Download as CSV for Excel"), permissions=["download"])
    def download_excel(self, request: HttpRequest, rows: QuerySet[Payment]) -> HttpResponse:
        return self._download(request, rows, CsvForm.EXCEL)

    def _download(
        self, request: HttpRequest, rows: QuerySet[Payment], form: CsvForm
    ) -> HttpResponse:
        payments = list(rows.select_related("study").order_by("pk"))
        details = {"form": str(form), "rows": len(payments)}
        self.record(request, AuditAction.EXPORT_PAYMENTS, payments[0].study, **details)
        response = HttpResponse(as_csv(payments, form), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="payments-{form}.csv"'
        response["Cache-Control"] = "no-store"
        return response


def signed_in(request: HttpRequest) -> int:
    """The id of whoever is signed in; the site lets nobody else in."""
    assert request.user.pk is not None
    return int(request.user.pk)
