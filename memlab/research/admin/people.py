"""On a participant's page: withdraw them at their wish, and hand over everything about them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminTextareaWidget

from experiments.admin.participant import ParticipantAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, DeviationKind, WithdrawalKind, WithdrawnBy
from experiments.models import Deviation, Participant
from experiments.models.withdrawal import REASON_CHARACTERS, REMOVING, kinds_left
from experiments.rights import Area, Right, Viewer, viewer_of
from memlab.core.clock import wall_now
from memlab.journey.withdrawing import withdraw
from memlab.research import access
from memlab.research.my_data import download


def _kinds(viewer: Viewer, participant: Participant) -> list[WithdrawalKind]:
    """What this member may do that the participant hasn't asked for yet: to remove data takes who
    answers for the study."""
    if participant.erased_on is not None or not viewer.may(Area.PEOPLE, Right.CHANGE):
        return []
    removes = viewer.may(Area.STUDIES, Right.CHANGE)
    return [kind for kind in kinds_left(participant) if removes or kind not in REMOVING]


class WithdrawForm(forms.Form):
    kind = forms.ChoiceField(label=_("How far"), widget=UnfoldAdminRadioSelectWidget)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=REASON_CHARACTERS,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=_("As the participant gave it, if they did; it goes with an erasure."),
    )
    code = forms.CharField(
        label=_("The participant's code"),
        max_length=12,
        help_text=_("Type it, so that nobody is withdrawn by mistake."),
    )

    def __init__(self, *args: Any, kinds: list[WithdrawalKind], expected: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.expected = expected
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(kind.value, kind.label) for kind in kinds]

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"].strip().upper()
        if code != self.expected:
            raise forms.ValidationError(_("This is not the code of this participant."))
        return code


def _withdraw(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    form = WithdrawForm(
        request.POST or None, kinds=_kinds(viewer, participant), expected=participant.code
    )
    if request.method != "POST" or not form.is_valid():
        return people.form_page(
            request,
            participant,
            title=_now("Withdraw"),
            form=form,
            button=_now("Withdraw"),
            lead=_now(
                "At the participant's wish. An open conversation ends at once and nothing more "
                "is stored; data that are removed can't be brought back."
            ),
        )
    kind = WithdrawalKind(form.cleaned_data["kind"])
    people.record(request, AuditAction.WITHDRAW, participant, kind=kind)
    Deviation.objects.record(
        DeviationKind.WITHDRAWN_BY_STAFF,
        study=participant.study,
        participant=participant,
        user_id=request.user.pk,
        kind_of_withdrawal=str(kind),
    )
    done = withdraw(
        participant,
        kind,
        by=WithdrawnBy.STAFF,
        wall=wall_now(),
        user_id=request.user.pk,
        reason=form.cleaned_data["reason"],
    )
    if not done.code:
        messages.success(request, _now("Withdrawn."))
        return redirect(people.change_url(participant))
    response = render(
        request,
        "back_office/shown_once.html",
        people.page_context(
            request,
            None,
            title=_now("Withdrawn"),
            lead=_now(
                "Give this code to the participant: it is their receipt, shown only now. The data "
                "are removed within minutes."
            ),
            values=[(_now("Receipt"), done.code)],
        ),
    )
    response["Cache-Control"] = "no-store"
    return response


def _everything(
    request: HttpRequest, people: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    with_arm = viewer.sees_arm_of(participant)
    if request.method != "POST":
        return people.confirm(
            request,
            participant,
            title=_now("Everything about this participant"),
            lead=_now(
                "One file with all that is stored, identifiers in clear included, to be handed to "
                "the participant. Who took it and when stays in the audit log."
            ),
            points=[]
            if with_arm
            else [
                _now(
                    "You are blinded to this participant: what tells the arm is held apart. For "
                    "the whole file unblind yourself first, or wait until the study is closed."
                )
            ],
            button=_now("Download"),
        )
    archive = access.archive(participant, with_arm=with_arm, wall=wall_now())
    people.record(request, AuditAction.SUBJECT_ACCESS, participant, with_arm=with_arm)
    return download(archive, participant.code)


ParticipantAdmin.pages += [
    ObjectPage(
        slug="withdraw",
        title=_("Withdraw"),
        icon="person_off",
        view=_withdraw,
        variant=ActionVariant.DANGER,
        rare=True,
        shown=lambda viewer, participant: bool(_kinds(viewer, participant)),
    ),
    ObjectPage(
        slug="everything",
        title=_("Everything about them"),
        icon="folder_zip",
        view=_everything,
        rare=True,
        shown=lambda viewer, participant: (
            participant.erased_on is None
            and viewer.may(Area.EXPORT)
            and viewer.may(Area.PEOPLE, Right.CHANGE)
        ),
    ),
]
