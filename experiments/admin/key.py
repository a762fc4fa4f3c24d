"""Keys to providers: a secret goes in and never comes out."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget

from experiments.back_office import Menu, TenantModelAdmin
from experiments.models import ProviderKey
from experiments.rights import Area, Right

PROVIDERS = [
    ("dashscope", _("DashScope (Qwen)")),
    ("openai_compatible", _("OpenAI-compatible")),
]


class ProviderKeyForm(forms.ModelForm):
    provider = forms.ChoiceField(
        label=_("Provider"), choices=PROVIDERS, widget=UnfoldAdminSelectWidget
    )
    secret = forms.CharField(
        label=_("Key"),
        required=False,
        strip=True,
        # Without render_value a refused form doesn't show it again either.
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text=_(
            "Encrypted at once and never shown again. Leave empty to keep the present one."
        ),
    )

    class Meta:
        model = ProviderKey
        fields = ["label", "provider"]  # the page names the URL, with its scheme

    def clean_base_url(self) -> str:
        url = self.cleaned_data["base_url"].rstrip("/")
        allowed = [each.rstrip("/") for each in settings.ALLOWED_MODEL_URLS]
        if url and url not in allowed:
            raise ValidationError(
                _now("%(url)s is not on this installation's list. Allowed: %(allowed)s.")
                % {"url": url, "allowed": ", ".join(allowed)}
            )
        return url

    def clean_secret(self) -> str:
        secret: str = self.cleaned_data["secret"]
        if not secret and self.instance.pk is None:
            raise ValidationError(_now("A new entry needs its key."))
        return secret


@admin.register(ProviderKey)
class ProviderKeyAdmin(TenantModelAdmin):
    area = Area.KEYS
    menu, menu_position, icon = Menu.LAB, 30, "key"
    form = ProviderKeyForm
    secret_fields = frozenset({"secret"})
    list_display = ["label", "provider", "base_url", "hint", "created_at"]
    list_filter = ["provider"]
    search_fields = ["label", "provider"]
    fieldsets = [(None, {"fields": ["label", "provider", "base_url", "secret"]})]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "base_url":
            kwargs["assume_scheme"] = "https"
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: ProviderKey | None = None) -> Any:
        if not self.allowed(request, Right.CHANGE):
            return [(None, {"fields": ["label", "provider", "base_url", "hint"]})]
        return self.fieldsets

    def save_model(self, request: HttpRequest, obj: ProviderKey, form: Any, change: bool) -> None:
        if form.cleaned_data["secret"]:
            obj.seal(form.cleaned_data["secret"])
        super().save_model(request, obj, form, change)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.allowed(request, Right.CHANGE)
