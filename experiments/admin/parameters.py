"""A form field for each parameter that an architecture declares."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext as _now
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from experiments import architectures
from experiments.models import Arm
from experiments.parameters import Parameter, Value

PREFIX = "parameter_"
CUSTOM = ""


#: Units in words; one that an architecture of the lab's own declares is told as it is.
UNITS = {
    "calls": pgettext_lazy("unit", "calls"),
    "characters": pgettext_lazy("unit", "characters"),
    "days": pgettext_lazy("unit", "days"),
    "episodes": pgettext_lazy("unit", "episodes"),
    "examples": pgettext_lazy("unit", "examples"),
    "hours": pgettext_lazy("unit", "hours"),
    "items": pgettext_lazy("unit", "items"),
    "memories": pgettext_lazy("unit", "memories"),
    "minutes": pgettext_lazy("unit", "minutes"),
    "o'clock": pgettext_lazy("unit", "o'clock"),
    "per day": pgettext_lazy("unit", "per day"),
    "per time unit": pgettext_lazy("unit", "per time unit"),
    "ranks": pgettext_lazy("unit", "ranks"),
    "rounds": pgettext_lazy("unit", "rounds"),
    "sleeps": pgettext_lazy("unit", "sleeps"),
    "time units": pgettext_lazy("unit", "time units"),
    "tokens": pgettext_lazy("unit", "tokens"),
    "turns": pgettext_lazy("unit", "turns"),
}


def field_name(parameter: Parameter) -> str:
    return PREFIX + parameter.name


def help_of(parameter: Parameter) -> SafeString:
    """Explanation, unit, bounds, default and source, in the language of the page."""
    facts = []
    if parameter.unit:
        facts.append(_now("unit: %(unit)s") % {"unit": UNITS.get(parameter.unit, parameter.unit)})
    if parameter.minimum is not None or parameter.maximum is not None:
        low = "−∞" if parameter.minimum is None else f"{parameter.minimum:g}"
        high = "∞" if parameter.maximum is None else f"{parameter.maximum:g}"
        facts.append(f"{low} … {high}")
    facts.append(_now("default: %(value)s") % {"value": parameter.default})
    if parameter.source:
        facts.append(parameter.source)
    return format_html(
        "{}<span class='ml-facts'>{}</span>",
        parameter.help(get_language() or "en"),
        " · ".join(facts),
    )


def field_of(parameter: Parameter, value: Value) -> forms.Field:
    common: dict[str, Any] = {
        "label": parameter.name,
        "help_text": help_of(parameter),
        "initial": value,
    }
    match parameter.default:
        case bool():
            return forms.BooleanField(required=False, widget=UnfoldBooleanSwitchWidget, **common)
        case int():
            return forms.IntegerField(widget=UnfoldAdminIntegerFieldWidget, **common)
        case float():
            return forms.FloatField(
                widget=UnfoldAdminDecimalFieldWidget(attrs={"step": "any"}), **common
            )
        case _ if parameter.choices:
            return forms.ChoiceField(
                choices=[(each, each) for each in parameter.choices],
                widget=UnfoldAdminSelectWidget,
                **common,
            )
    return forms.CharField(required=False, widget=UnfoldAdminTextInputWidget, **common)


class ArmForm(forms.ModelForm):
    """An arm with its parameters. A newly chosen preset gives its values to every parameter that
    wasn't changed by hand in the same form."""

    class Meta:
        model = Arm
        fields = ["architecture", "preset"]  # the page names the rest, inside a lab

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "architecture" in self.fields:
            self.fields["architecture"] = forms.ChoiceField(
                label=_now("Architecture"),
                choices=architectures.choices(),
                widget=UnfoldAdminSelectWidget,
                help_text=_now("It can't be changed later; its parameters appear after saving."),
            )
        if "preset" in self.fields:
            self.fields["preset"] = forms.ChoiceField(
                label=_now("Preset"),
                choices=self._presets(),
                required=False,
                widget=UnfoldAdminSelectWidget(attrs={"data-presets": "ml-presets"}),
                help_text=_now("Applies its values to the parameters below."),
            )

    def _presets(self) -> list[tuple[str, str]]:
        key = self.instance.architecture
        names = (
            architectures.architecture(key).presets
            if key
            else {
                name: None
                for each in architectures.keys()  # noqa: SIM118 - a function of the module
                for name in architectures.architecture(each).presets
            }
        )
        return [(CUSTOM, _now("custom")), *((name, name) for name in names)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        key = self.instance.architecture
        if not key or self.instance.pk is None:
            return cleaned
        chosen = architectures.architecture(key)
        preset = dict(chosen.presets.get(cleaned.get("preset", ""), {}))
        switched = "preset" in self.changed_data
        values: dict[str, Any] = {}
        for parameter in chosen.parameters:
            name = field_name(parameter)
            if name not in cleaned:
                continue
            by_hand = name in self.changed_data
            if switched and not by_hand:
                values[parameter.name] = preset.get(parameter.name, cleaned[name])
            else:
                values[parameter.name] = cleaned[name]
            try:
                parameter.checked(values[parameter.name])
            except ValidationError as error:
                self.add_error(name, error)
        if any(values.get(name) != value for name, value in preset.items()):
            cleaned["preset"] = CUSTOM  # no longer what its name says
        if not self.errors:
            self.instance.parameters = values
        return cleaned


def arm_form(arm: Arm | None) -> type[ArmForm]:
    """The form class for one arm, with its architecture's parameters."""
    if arm is None:
        return ArmForm
    values = arm.complete_parameters()
    declared = architectures.architecture(arm.architecture).parameters
    fields = {field_name(each): field_of(each, values[each.name]) for each in declared}
    return type("ParametersForm", (ArmForm,), fields)
