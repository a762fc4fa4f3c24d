"""What a form changed, in the shape that an audit entry keeps: before and after, no secrets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.forms import BaseForm
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from experiments.enums import AuditAction
from experiments.models import AuditEntry

_CHANGES = {
    "added": AuditAction.ADD,
    "changed": AuditAction.CHANGE,
    "deleted": AuditAction.DELETE,
}


def form_changes(
    form: BaseForm, formsets: Iterable[Any], *, secret: frozenset[str]
) -> dict[str, Any]:
    """``{"fields": {name: {"before", "after"}}, "added": […], "changed": […], "deleted": […]}``.

    A field in ``secret`` is only said to have been replaced.
    """
    details: dict[str, Any] = {"fields": _fields(form, secret)}
    for formset in formsets:
        kind = formset.model._meta.label
        details.setdefault("added", []).extend(
            {"kind": kind, "id": str(row.pk)} for row in getattr(formset, "new_objects", [])
        )
        details.setdefault("deleted", []).extend(
            {"kind": kind, "id": str(row.pk)} for row in getattr(formset, "deleted_objects", [])
        )
        by_row = {each.instance.pk: each for each in formset.initial_forms}
        details.setdefault("changed", []).extend(
            {"kind": kind, "id": str(row.pk), "fields": _fields(by_row[row.pk], secret)}
            for row, _names in getattr(formset, "changed_objects", [])
        )
    return {name: value for name, value in details.items() if value}


def _fields(form: BaseForm, secret: frozenset[str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name in form.changed_data:
        before, after = _plain(form.initial.get(name)), _plain(form.cleaned_data.get(name))
        if name in secret:
            changes[name] = "replaced"
        elif before != after:
            changes[name] = {"before": before, "after": after}
    return changes


def _plain(value: Any) -> Any:
    """A value as JSON has it; a row by its id."""
    if isinstance(value, Model):
        return value.pk
    return json.loads(json.dumps(value, cls=DjangoJSONEncoder, default=str))


def summary(entry: AuditEntry) -> str:
    """One line for a list: which fields, or the reason that was given."""
    details = entry.details
    words = [", ".join(details.get("fields", {}))]
    words += [
        f"{action.label} {len(details[change])}"
        for change, action in _CHANGES.items()
        if details.get(change)
    ]
    if details.get("reason"):
        words.append(f"“{details['reason']}”")
    return "; ".join(word for word in words if word)[:160]


def details_table(entry: AuditEntry) -> SafeString:
    """Every changed field with its values before and after."""
    rows = [
        (
            name,
            *(
                ("–", _("replaced"))
                if change == "replaced"
                else (_shown(change["before"]), _shown(change["after"]))
            ),
        )
        for name, change in _all_fields(entry.details)
    ]
    if not rows:
        return format_html(
            "<pre class='ml-json'>{}</pre>", json.dumps(entry.details, ensure_ascii=False, indent=2)
        )
    body = format_html_join(
        "", "<tr><th>{}</th><td><pre>{}</pre></td><td><pre>{}</pre></td></tr>", rows
    )
    return format_html(
        "<table class='ml-table ml-diff'><thead><tr><th>{}</th><th>{}</th><th>{}</th></tr></thead>"
        "<tbody>{}</tbody></table>",
        _("Field"),
        _("Before"),
        _("After"),
        body,
    )


def _all_fields(details: dict[str, Any]) -> list[tuple[str, Any]]:
    own = list(details.get("fields", {}).items())
    for row in details.get("changed", []):
        own += [
            (f"{row['kind']} {row['id']} · {name}", change)
            for name, change in row["fields"].items()
        ]
    return own


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
