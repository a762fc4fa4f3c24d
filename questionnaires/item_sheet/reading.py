"""An item sheet to an instrument, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from questionnaires.checks import problems
from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import PICTURES, ItemType, MissingRule, ScoreKind
from questionnaires.item_sheet import cells
from questionnaires.item_sheet.cells import Unreadable
from questionnaires.item_sheet.columns import BILINGUAL, SETTING, SETTINGS
from questionnaires.item_sheet.table import Row, SheetProblem, Table, read_table
from questionnaires.problems import Problem

Value = TypeVar("Value")
DEFAULT_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What a file came to: a content that can be asked, or problems in the order of lines."""

    content: InstrumentContent | None
    problems: tuple[SheetProblem, ...]
    read_as: str = ""


def read(content: bytes) -> Sheet:
    """Read a CSV or XLSX file. Never raises for what is in it."""
    table = read_table(content)
    if not table.rows:
        found = table.problems or (
            SheetProblem(
                line=table.header,
                column="code",
                wrong=_("There is no item."),
                remedy=_("An instrument needs one at least."),
            ),
        )
        return Sheet(content=None, problems=found)
    return _Reader(table).sheet()


@dataclass(slots=True)
class _Reader:
    table: Table
    problems: list[SheetProblem] = field(default_factory=list)
    settings: dict[str, Row] = field(default_factory=dict)
    #: Lines of the items, in their order; and the lines with a cell that couldn't be read.
    lines: list[int] = field(default_factory=list)
    unreadable: set[int] = field(default_factory=set)

    def sheet(self) -> Sheet:
        self.problems += self.table.problems
        self.unreadable |= {each.line for each in self.table.problems}
        items: list[ItemContent] = []
        for row in self.table.rows:
            if row.cells.get("type", "").lower() == SETTING:
                self._keep_setting(row)
            else:
                items.append(self._item(row, items[-1].page if items else 1))
                self.lines.append(row.line)
        content = self._instrument(tuple(items))
        self.problems += [
            self._placed(problem)
            for problem in problems(content)
            if not self._follows(problem, content)
        ]
        return Sheet(
            content=None if self.problems else content,
            problems=tuple(sorted(self.problems, key=lambda each: each.line)),
            read_as=self.table.read_as,
        )

    # The instrument's own settings

    def _keep_setting(self, row: Row) -> None:
        name = row.cells.get("code", "").lower()
        if name not in SETTINGS:
            self._say(
                row.line,
                "code",
                _("“%(name)s” is no setting.") % {"name": name[:40]},
                _("There are: %(names)s.") % {"names": ", ".join(SETTINGS)},
            )
        elif name in self.settings:
            self._say(
                row.line,
                "code",
                _("The setting %(name)s is there twice.") % {"name": name},
                _("Delete one of the rows."),
            )
        else:
            self.settings[name] = row
        allowed = {"code", "type", "text_en", *(["text_zh"] if name in BILINGUAL else [])}
        for column, cell in row.cells.items():
            if cell.strip() and column not in allowed:
                self._say(
                    row.line,
                    column,
                    _("A setting has no such cell."),
                    _("Its value stands in text_en; only title and introduction have a text_zh."),
                )

    def _instrument(self, items: tuple[ItemContent, ...]) -> InstrumentContent:
        if "key" not in self.settings:
            self._say(
                self.table.header,
                "code",
                _("There is no setting “key”."),
                _("Add a row with code key, type setting and the instrument's key in text_en."),
            )
        return InstrumentContent(
            key=self._plain("key"),
            title=self._text("title"),
            introduction=self._text("introduction"),
            citation=self._plain("citation"),
            validated=self._setting("validated", cells.yes, False),
            randomised=self._setting("randomised", cells.yes, False),
            score=self._setting("score", _score, ScoreKind.MEAN),
            missing=self._setting("missing", _missing, MissingRule.NONE),
            missing_share=self._share(),
            items=items,
        )

    def _share(self) -> float:
        share = self._setting("missing_share", cells.number, None)
        return DEFAULT_SHARE if share is None else share

    def _plain(self, name: str) -> str:
        row = self.settings.get(name)
        return "" if row is None else row.cells.get("text_en", "")

    def _text(self, name: str) -> Text:
        row = self.settings.get(name)
        return Text() if row is None else _bilingual(row, "text")

    def _setting(self, name: str, reader: Callable[[str], Value], default: Value) -> Value:
        row = self.settings.get(name)
        if row is None or not row.cells.get("text_en"):
            return default
        return self._cell(row, "text_en", reader, default)

    # Items

    def _item(self, row: Row, page: int) -> ItemContent:
        def cell(column: str, reader: Callable[[str], Value], default: Value) -> Value:
            return self._cell(row, column, reader, default)

        kind = cell("type", cells.item_type, ItemType.TEXT)
        low, high = cell("minimum", cells.number, None), cell("maximum", cells.number, None)
        if kind is ItemType.PICTURE and low is None and high is None:
            low, high = PICTURES
        none: dict[int, str] = {}
        english = cell("options_en", cells.labels, none)
        chinese = cell("options_zh", cells.labels, none)
        readable = row.line not in self.unreadable
        return ItemContent(
            code=row.cells.get("code", ""),
            type=kind,
            text=_bilingual(row, "text"),
            page=cell("page", lambda text: cells.page(text, page), page),
            minimum=low,
            maximum=high,
            step=cell("step", cells.number, None),
            low=_bilingual(row, "low"),
            high=_bilingual(row, "high"),
            options=cell("options_zh", lambda _text: cells.options(english, chinese), ())
            if readable
            else (),
            reverse=cell("reverse", cells.yes, False),
            subscale=row.cells.get("subscale", ""),
            required=cell("required", lambda text: cells.yes(text, empty=True), True),
            expected=cell("expected", cells.number, None),
            condition=cell("condition", cells.condition, None),
        )

    def _cell(self, row: Row, column: str, reader: Callable[[str], Value], default: Value) -> Value:
        try:
            return reader(row.cells.get(column, ""))
        except Unreadable as error:
            self._say(row.line, column, error.wrong, error.remedy)
            return default

    # Problems

    def _say(self, line: int, column: str, wrong: str, remedy: str) -> None:
        self.unreadable.add(line)
        self.problems.append(SheetProblem(line=line, column=column, wrong=wrong, remedy=remedy))

    def _placed(self, problem: Problem) -> SheetProblem:
        """A problem of the content at the line and column that it comes from."""
        line, column = self.table.header, problem.field
        if problem.item is not None:
            line = self.lines[problem.item]
        else:
            name, _underscore, language = problem.field.rpartition("_")
            if name not in BILINGUAL:
                name, language = problem.field, "en"
            row = self.settings.get(name)
            if row is not None:
                line, column = row.line, f"text_{language}"
        return SheetProblem(line=line, column=column, wrong=problem.wrong, remedy=problem.remedy)

    def _follows(self, problem: Problem, content: InstrumentContent) -> bool:
        """Whether it only follows from a cell that couldn't be read, here or where it refers to."""
        if problem.item is None:
            return self._placed(problem).line in self.unreadable
        suspects = {
            item.code
            for line, item in zip(self.lines, content.items, strict=True)
            if line in self.unreadable
        }
        item = content.items[problem.item]
        if self.lines[problem.item] in self.unreadable:
            return True
        if problem.field == "page":
            return bool(suspects)
        if problem.field == "condition" and item.condition is not None:
            return item.condition.item in suspects
        if problem.field == "subscale":
            return any(
                each.subscale == item.subscale for each in content.items if each.code in suspects
            )
        return False


def _bilingual(row: Row, name: str) -> Text:
    return Text(en=row.cells.get(f"{name}_en", ""), zh=row.cells.get(f"{name}_zh", ""))


def _score(text: str) -> ScoreKind:
    return ScoreKind(_one_of(text, ScoreKind.values))


def _missing(text: str) -> MissingRule:
    return MissingRule(_one_of(text, MissingRule.values))


def _one_of(text: str, values: list[Any]) -> str:
    if text.lower() not in values:
        raise Unreadable(
            _("“%(text)s” isn't possible here.") % {"text": text[:40]},
            _("Use one of %(values)s.") % {"values": ", ".join(values)},
        )
    return text.lower()
