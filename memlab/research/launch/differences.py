"""What differs between two frozen configurations, field by field, as a person reads it. Pure.

Arms, stages and questionnaires are matched by their keys, parameters and items by name, so that a
diff says what was changed and not where in the file it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.translation import gettext as _

from experiments.configuration import StudyConfiguration
from experiments.enums import Moment
from experiments.models import Arm, Stage, Study
from questionnaires.content import InstrumentContent

#: Looks up what a version of an instrument holds; None for one that is not there.
ContentOf = Callable[[str, int], InstrumentContent | None]
#: Texts that are longer are compared word by word.
LONG = 40
_TOKEN = re.compile(r"[一-鿿]|\w+|\s+|.", re.DOTALL)
_LISTS = {"arms", "stages", "placements"}
#: What another field says: the fallback calls tools if the talking model does.
_IMPLIED = {("fallback", "calls_tools")}


class Mark(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that both sides have, or only one."""

    mark: Mark
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field with both values in words; None where a side has no such thing at all."""

    section: str
    name: str
    before: str | None
    after: str | None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Word by word where both are long texts, else empty: then the two stand side by side."""
        if (
            self.before is None
            or self.after is None
            or max(len(self.before), len(self.after)) < LONG
        ):
            return ()
        return compared_words(self.before, self.after)


def compared_words(before: str, after: str) -> tuple[Piece, ...]:
    """Both texts in one, with what went and what came; a Chinese character is a word."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces: list[Piece] = []
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            pieces.append(Piece(Mark.SAME, "".join(old[i:j])))
            continue
        if i < j:
            pieces.append(Piece(Mark.REMOVED, "".join(old[i:j])))
        if k < m:
            pieces.append(Piece(Mark.ADDED, "".join(new[k:m])))
    return tuple(pieces)


def differences(
    before: StudyConfiguration, after: StudyConfiguration, content_of: ContentOf
) -> tuple[Difference, ...]:
    """Everything that differs: the study's own fields, arms, stages, questionnaires."""
    old, new = before.as_json(), after.as_json()
    study = _("Study")
    own = [
        _difference(study, _study_label(path), path, left, right)
        for path, left, right in _changed(_without_lists(old), _without_lists(new))
        if path not in _IMPLIED
    ]
    return (
        *own,
        *_rows(old["arms"], new["arms"], _key, _arm_section, _arm_label),
        *_rows(old["stages"], new["stages"], _key, _stage_section, _stage_label),
        *_rows(old["placements"], new["placements"], _place, _place_section, _place_label),
        *_items(before, after, content_of),
    )


def _without_lists(frozen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in frozen.items() if name not in _LISTS}


def _changed(
    old: Mapping[str, Any], new: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Leaves that differ, with the path to each; a leaf that one side lacks is None there."""
    for name in [*old, *(name for name in new if name not in old)]:
        left, right = old.get(name), new.get(name)
        if left == right:
            continue
        if isinstance(left, dict) or isinstance(right, dict):
            yield from _changed(left or {}, right or {}, (*path, name))
        else:
            yield (*path, name), left, right


def _rows(
    old: list[dict[str, Any]],
    new: list[dict[str, Any]],
    key: Callable[[Mapping[str, Any]], str],
    section: Callable[[Mapping[str, Any]], str],
    label: Callable[[tuple[str, ...]], str],
) -> list[Difference]:
    """Rows that came, went or changed, matched by their keys."""
    before, after = {key(row): row for row in old}, {key(row): row for row in new}
    found = []
    for name in [*before, *(name for name in after if name not in before)]:
        left, right = before.get(name), after.get(name)
        if left is None or right is None:
            there = left or right or {}
            found.append(
                Difference(
                    section=section(there),
                    name=_("(as a whole)"),
                    before=None if left is None else _("there"),
                    after=None if right is None else _("there"),
                )
            )
            continue
        found += [
            _difference(section(right), label(path), path, one, other)
            for path, one, other in _changed(left, right)
        ]
    return found


def _difference(
    section: str, name: str, path: tuple[str, ...], before: Any, after: Any
) -> Difference:
    return Difference(
        section=section, name=name, before=_told(path, before), after=_told(path, after)
    )


def _key(row: Mapping[str, Any]) -> str:
    return str(row["key"])


def _place(row: Mapping[str, Any]) -> str:
    return f"{row['moment']}:{row['stage']}:{row['position']}"


def _arm_section(row: Mapping[str, Any]) -> str:
    return _("Arm %(label)s · %(name)s") % {"label": row["label"], "name": row["name"]}


def _stage_section(row: Mapping[str, Any]) -> str:
    return _("Stage %(key)s · %(title)s") % {"key": row["key"], "title": row["title"]}


def _place_section(row: Mapping[str, Any]) -> str:
    words = [str(Moment(row["moment"]).label), row["stage"], str(row["position"])]
    return _("Questionnaire %(place)s") % {"place": " · ".join(word for word in words if word)}


#: Names in a frozen configuration that the study's own fields say otherwise.
_OTHERWISE = {
    "safety.asks_model": "risk_asks_model",
    "safety.pauses": "risk_pauses",
    "debriefing.text": "debriefing",
    "pacing.enabled": "pacing",
    "talking.calls_tools": "talking_calls_tools",
}


def _study_label(path: tuple[str, ...]) -> str:
    names = [_OTHERWISE.get(".".join(path), ""), "_".join(path), path[-1]]
    return _named(Study, names) or " · ".join(path)


def _arm_label(path: tuple[str, ...]) -> str:
    if path[0] == "parameters" and len(path) > 1:
        return path[1]
    return _named(Arm, [path[0]]) or path[0]


def _stage_label(path: tuple[str, ...]) -> str:
    return _named(Stage, [path[0]]) or path[0]


def _place_label(path: tuple[str, ...]) -> str:
    labels = {
        "instrument": _("Instrument"),
        "version": _("Version"),
        "sha256": "SHA-256",
        "external_url": _("External survey"),
        "half": _("A random half only"),
    }
    return labels.get(path[0], path[0])


def _named(model: type[Model], names: list[str]) -> str:
    """A field's name in words; empty if the model has none of these."""
    for name in names:
        try:
            field = model._meta.get_field(name)
        except FieldDoesNotExist:
            continue
        words = str(getattr(field, "verbose_name", name))
        return words[:1].upper() + words[1:]
    return ""


def _told(path: tuple[str, ...], value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if isinstance(value, str):
        return _choice(path, value) or value or _("(empty)")
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False)


def _choice(path: tuple[str, ...], value: str) -> str:
    for name in ("_".join(path), path[-1]):
        try:
            field = Study._meta.get_field(name)
        except FieldDoesNotExist:
            continue
        return str(dict(getattr(field, "flatchoices", ())).get(value, ""))
    return ""


def _items(
    before: StudyConfiguration, after: StudyConfiguration, content_of: ContentOf
) -> Iterator[Difference]:
    """Items that differ between the versions of an instrument that both sides ask."""
    old = {placed.instrument: placed.version for placed in before.placements if placed.instrument}
    new = {placed.instrument: placed.version for placed in after.placements if placed.instrument}
    for key in old:
        if old[key] == new.get(key, old[key]):
            continue
        first, second = content_of(key, old[key]), content_of(key, new[key])
        if first is not None and second is not None:
            yield from _of_instrument(key, first, second)


def _of_instrument(
    key: str, first: InstrumentContent, second: InstrumentContent
) -> Iterator[Difference]:
    section = _("Instrument %(key)s") % {"key": key}
    whole = [
        {name: value for name, value in content.as_json().items() if name != "items"}
        for content in (first, second)
    ]
    for path, one, other in _changed(whole[0], whole[1]):
        yield _difference(section, " · ".join(path), path, one, other)
    items = [{item.code: asdict(item) for item in content.items} for content in (first, second)]
    for code in [*items[0], *(code for code in items[1] if code not in items[0])]:
        left, right = items[0].get(code), items[1].get(code)
        if left is None or right is None:
            text = (left or right or {})["text"]
            said = text["en"] or text["zh"]
            yield Difference(
                section=section,
                name=code,
                before=None if left is None else said,
                after=None if right is None else said,
            )
            continue
        for path, one, other in _changed(left, right):
            yield _difference(section, " · ".join((code, *path)), path, one, other)
