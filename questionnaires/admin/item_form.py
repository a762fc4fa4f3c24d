"""An item among the fields of its instrument, with options written as on a sheet."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from experiments.rights import Area, Right, viewer_of
from questionnaires.content import Option
from questionnaires.item_sheet import cells
from questionnaires.models import Item


class ItemForm(forms.ModelForm):
    options_en = forms.CharField(
        label=_("options (English)"),
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text=_("1=never | 2=sometimes | 3=often; the number is what is stored."),
    )
    options_zh = forms.CharField(
        label=_("options (Chinese)"),
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text=_("With the same numbers."),
    )

    class Meta:
        model = Item
        fields = ["options_en", "options_zh"]  # the inline names the rest, inside a lab
        widgets = {
            **{
                name: UnfoldAdminTextareaWidget(attrs={"rows": 2})
                for name in ("text_en", "text_zh")
            },
            "condition": UnfoldAdminTextInputWidget,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = _options_of(self.instance)
        for language in ("en", "zh"):
            self.initial[f"options_{language}"] = cells.told_options(options, language)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        found: dict[str, dict[int, str]] = {}
        for language in ("en", "zh"):
            try:
                found[language] = cells.labels(cleaned.get(f"options_{language}", ""))
            except cells.Unreadable as error:
                self.add_error(f"options_{language}", f"{error.wrong} {error.remedy}")
        if len(found) < 2:
            return cleaned
        try:
            options = cells.options(found["en"], found["zh"])
        except cells.Unreadable as error:
            self.add_error("options_zh", f"{error.wrong} {error.remedy}")
        else:
            self.instance.options = [
                {"value": each.value, "en": each.label.en, "zh": each.label.zh} for each in options
            ]
        return cleaned


def _options_of(item: Item) -> tuple[Option, ...]:
    """None for options that code outside the back office has spoilt: the form overwrites them."""
    try:
        return item.told_options()
    except ValidationError:
        return ()


class ItemInline(StackedInline):
    model = Item
    form = ItemForm
    extra = 0
    tab = True
    collapsible = True
    ordering = ["position"]
    ordering_field = "position"
    fields = [
        ("code", "type", "position", "page"),
        ("text_en", "text_zh"),
        ("minimum", "maximum", "step"),
        ("low_en", "high_en"),
        ("low_zh", "high_zh"),
        ("options_en", "options_zh"),
        ("subscale", "reverse", "required"),
        ("condition", "expected"),
    ]

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
        return self._allowed(request, Right.CHANGE)

    def get_queryset(self, request: HttpRequest) -> Any:
        viewer = viewer_of(request)
        assert viewer is not None
        return super().get_queryset(request).filter(lab_id=viewer.member.lab_id)
