"""What an import would change, item by item and field by field."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from questionnaires import conditions
from questionnaires.content import Condition, InstrumentContent, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``kind`` is added, changed, removed or moved; ``item`` is empty for the instrument itself,
    and ``field`` for a whole item."""

    kind: str
    item: str = ""
    field: str = ""
    before: str = ""
    after: str = ""


def differences(before: InstrumentContent | None, after: InstrumentContent) -> tuple[Change, ...]:
    """Everything that differs; with no draft before, every item is added."""
    if before is None:
        return tuple(Change(kind="added", item=item.code) for item in after.items)
    old = {item.code: item for item in before.items}
    new = {item.code: item for item in after.items}
    found = _fields(before, after, "")
    found += [Change(kind="removed", item=code) for code in old if code not in new]
    for code, item in new.items():
        found += (
            _fields(old[code], item, code) if code in old else [Change(kind="added", item=code)]
        )
    kept = [code for code in old if code in new]
    order = [code for code in new if code in old]
    if kept != order:
        found.append(Change(kind="moved", before=", ".join(kept), after=", ".join(order)))
    return tuple(found)


def _fields(before: Any, after: Any, item: str) -> list[Change]:
    return [
        Change(
            kind="changed",
            item=item,
            field=each.name,
            before=_told(getattr(before, each.name)),
            after=_told(getattr(after, each.name)),
        )
        for each in fields(before)
        if each.name != "items" and getattr(before, each.name) != getattr(after, each.name)
    ]


def _told(value: Any) -> str:
    match value:
        case None:
            return ""
        case Text():
            return " / ".join(each for each in (value.en, value.zh) if each)
        case Condition():
            return conditions.told(value)
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case tuple():
            return " | ".join(f"{each.value}={_told(each.label)}" for each in value)
    return str(value)
