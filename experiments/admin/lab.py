"""The lab itself and its members, through whom alone staff accounts are edited."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from experiments.back_office import Menu, ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, MemberRole
from experiments.models import Lab, Member, User
from experiments.models.study import known_zone
from experiments.passwords import one_time_password
from experiments.rights import Area, Right, Viewer, viewer_of


class LabForm(forms.ModelForm):
    class Meta:
        model = Lab
        fields = ["name", "language", "time_zone"]
        help_texts = {
            "language": _("Of new studies; what staff read is chosen in the menu at the bottom."),
            "time_zone": _("In which the back office shows times, e.g. Asia/Shanghai."),
        }

    def clean_time_zone(self) -> str:
        known_zone(self.cleaned_data["time_zone"])
        return self.cleaned_data["time_zone"]


@admin.register(Lab)
class LabAdmin(TenantModelAdmin):
    area = Area.LAB
    tenant_column = "pk"
    menu, menu_position, icon = Menu.LAB, 10, "science"
    menu_title = _("Lab settings")
    form = LabForm
    list_display = ["name", "language", "time_zone", "created_at"]
    search_fields = ["name"]
    fieldsets = [(None, {"fields": ["name", "language", "time_zone"]})]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


class NewMemberForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail"),
        widget=UnfoldAdminEmailInputWidget,
        help_text=_("Somebody who has an account already keeps their password."),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("For a new account."),
    )
    role = forms.ChoiceField(
        label=_("Role"), choices=MemberRole.choices, widget=UnfoldAdminSelectWidget
    )
    may_unblind = forms.BooleanField(
        label=_("May unblind"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("May see arms, receipts and memories. Each unblinding is logged."),
    )

    def __init__(self, *args: Any, lab_id: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab_id = lab_id

    def clean_email(self) -> str:
        email = User.objects.normalize_email(self.cleaned_data["email"]).lower()
        if Member.objects.filter(lab_id=self.lab_id, user__email__iexact=email).exists():
            raise forms.ValidationError(_now("They are a member of this lab already."))
        return email


def has_account_elsewhere(user: User, lab_id: int) -> bool:
    """Whether an account is not this lab's alone to rename or give a new password."""
    return user.is_operator or user.memberships.exclude(lab_id=lab_id).exists()


def _may_reset(viewer: Viewer, member: Member) -> bool:
    return (
        viewer.may(Area.LAB, Right.CHANGE)
        and member.user_id != viewer.member.user_id
        and not has_account_elsewhere(member.user, member.lab_id)
    )


def _new_password(
    request: HttpRequest, members: TenantModelAdmin, member: Member
) -> HttpResponseBase:
    if request.method != "POST":
        return members.confirm(
            request,
            member,
            title=_now("New one-time password"),
            lead=_now("The old password of %(name)s stops working at once.")
            % {"name": member.user},
            button=_now("Make a new password"),
        )
    password = one_time_password()
    member.user.set_password(password)
    member.user.save(update_fields=["password"])
    members.record(request, AuditAction.NEW_PASSWORD, member)
    return _shown_once(request, members, member, password)


def _shown_once(
    request: HttpRequest, members: TenantModelAdmin, member: Member, password: str | None
) -> HttpResponseBase:
    lead = (
        _now("%(name)s has an account already and signs in with their own password.")
        if password is None
        else _now(
            "Give %(name)s this password. It is shown only now; they can change it once signed in."
        )
    )
    response = render(
        request,
        "back_office/shown_once.html",
        members.page_context(
            request,
            member,
            title=_now("Access of %(name)s") % {"name": member.user},
            lead=lead % {"name": member.user.email},
            values=[]
            if password is None
            else [
                (_now("E-mail"), member.user.email),
                (_now("Password"), password),
            ],
        ),
    )
    response["Cache-Control"] = "no-store"
    return response


class MemberForm(forms.ModelForm):
    name = forms.CharField(
        label=_("Name"), max_length=120, required=False, widget=UnfoldAdminTextInputWidget
    )

    class Meta:
        model = Member
        fields = ["role", "may_unblind"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None and "name" in self.fields:
            self.initial["name"] = self.instance.user.name
            if has_account_elsewhere(self.instance.user, self.instance.lab_id):
                self.fields["name"].disabled = True
                self.fields["name"].help_text = _(
                    "This account belongs to other labs too; only its owner can change the name."
                )


@admin.register(Member)
class MemberAdmin(TenantModelAdmin):
    area = Area.LAB
    menu, menu_position, icon = Menu.LAB, 20, "group"
    form = MemberForm
    list_display = ["person", "email", "role", "may_unblind", "created_at"]
    list_filter = ["role", "may_unblind"]
    list_select_related = ["user"]
    search_fields = ["user__name", "user__email"]
    readonly_fields = ["email"]
    fieldsets = [(None, {"fields": ["email", "name", "role", "may_unblind"]})]
    pages = [
        ObjectPage(
            slug="password",
            title=_("New one-time password"),
            icon="lock_reset",
            view=_new_password,
            shown=_may_reset,
        )
    ]

    @admin.display(description=_("name"), ordering="user__name")
    def person(self, member: Member) -> str:
        return member.user.get_full_name()

    @admin.display(description=_("e-mail"), ordering="user__email")
    def email(self, member: Member) -> str:
        return member.user.email

    def save_model(self, request: HttpRequest, obj: Member, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "name" in form.changed_data:
            obj.user.name = form.cleaned_data["name"]
            obj.user.save(update_fields=["name"])

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Owners may remove anybody but themselves, so that a lab is never left without one."""
        return self.allowed(request, Right.CHANGE) and (
            obj is None or obj.user_id != request.user.pk
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        mine = obj is not None and obj.user_id == request.user.pk
        return [*self.readonly_fields, *(["role", "may_unblind"] if mine and obj.pk else [])]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponseBase:
        viewer = viewer_of(request)
        if viewer is None or not self.has_add_permission(request):
            return self._get_obj_does_not_exist_redirect(request, self.opts, "")
        lab_id = viewer.member.lab_id
        form = NewMemberForm(request.POST or None, lab_id=lab_id, initial={"role": "assistant"})
        if request.method == "POST" and form.is_valid():
            member, password = self._admit(lab_id, form.cleaned_data)
            self.record(
                request,
                AuditAction.ADD,
                member,
                role=member.role,
                may_unblind=member.may_unblind,
                new_account=password is not None,
            )
            return _shown_once(request, self, member, password)
        return self.form_page(
            request,
            None,
            title=_now("Add a member"),
            form=form,
            button=_now("Add"),
            back_url=self.list_url(),
        )

    @transaction.atomic
    def _admit(self, lab_id: int, given: dict[str, Any]) -> tuple[Member, str | None]:
        user = User.objects.filter(email__iexact=given["email"]).first()
        password = None
        if user is None:
            password = one_time_password()
            user = User.objects.create_user(
                email=given["email"], password=password, name=given["name"]
            )
        member = Member.objects.create(
            user=user, lab_id=lab_id, role=given["role"], may_unblind=given["may_unblind"]
        )
        return member, password
