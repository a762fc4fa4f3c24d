"""A file to a table of texts: CSV in the encodings that Excel and WPS write, and XLSX."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from questionnaires.item_sheet.columns import COLUMNS

MAXIMUM_BYTES = 1024 * 1024
MAXIMUM_ROWS = 600
MAXIMUM_COLUMNS = 60
DELIMITERS = ",;\t"
#: Of a text in GBK most characters are of GB 2312; of Latin text misread as GBK they aren't.
MOSTLY = 0.9
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetProblem:
    """A mistake: its line as a text editor or Excel numbers it, 0 for the whole file, and its
    column by name, empty where it is no single one."""

    line: int
    column: str = ""
    wrong: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row's cells as texts without surrounding blanks, by the columns' names."""

    line: int
    cells: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``header`` is the line of the columns' names, ``read_as`` how the file was understood."""

    header: int = 1
    rows: tuple[Row, ...] = ()
    problems: tuple[SheetProblem, ...] = ()
    read_as: str = ""


@dataclass(slots=True)
class RawRows:
    """Numbered rows of a file before anything is known of its columns: problems number them."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    problems: list[SheetProblem] = field(default_factory=list)
    read_as: str = ""


def read_table(content: bytes) -> Table:
    """The table of a file, told apart by its first bytes, not by its name."""
    if len(content) > MAXIMUM_BYTES:
        raw = refused(
            _("The file has %(size)s KiB.") % {"size": len(content) // 1024},
            _("At most %(limit)s KiB are read: remove pictures and sheets that aren't needed.")
            % {"limit": MAXIMUM_BYTES // 1024},
        )
    elif content.startswith(_OLD_EXCEL):
        raw = refused(
            _("This is a workbook of old Excel (.xls), or one with a password."),
            _("Save it as .xlsx without a password, or as CSV in UTF-8."),
        )
    elif content.startswith(_ZIP):
        from questionnaires.item_sheet.workbook import workbook_rows  # loads openpyxl: only here

        raw = workbook_rows(content)
    else:
        raw = _csv_rows(content)
    return _table(raw)


def refused(wrong: str, remedy: str, line: int = 0) -> RawRows:
    """A file of which nothing can be read."""
    return RawRows(problems=[SheetProblem(line=line, wrong=wrong, remedy=remedy)])


def plain(text: str) -> str:
    """A cell's text with one kind of line break and without surrounding blanks."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(" \t\n\u3000\u00a0")


def _csv_rows(content: bytes) -> RawRows:
    try:
        text, read_as = _decoded(content)
    except UnicodeDecodeError:
        return refused(
            _("The file is neither UTF-8 nor UTF-16 nor GBK."),
            _("Save it as CSV UTF-8 (in Excel: “CSV UTF-8 (comma delimited)”), or as .xlsx."),
        )
    if "\0" in text:
        return refused(
            _("The file holds NUL characters: it is no CSV."),
            _("Save it as CSV in UTF-8, or as .xlsx."),
        )
    raw = RawRows(read_as=f"CSV, {read_as}")
    try:
        for line, cells in _numbered(text, _delimiter(text)):
            raw.rows.append((line, cells))
            if len(raw.rows) > MAXIMUM_ROWS:
                return too_many_rows()
    except csv.Error:
        last = raw.rows[-1][0] if raw.rows else 0
        return refused(
            _("After this line a quotation mark is opened and not closed, or stands in a text."),
            _('Write a quotation mark inside a cell twice, "", and enclose the cell in them.'),
            line=last,
        )
    return raw


def too_many_rows() -> RawRows:
    return refused(
        _("There are more than %(limit)s rows.") % {"limit": MAXIMUM_ROWS},
        _("One sheet is one instrument: delete what isn't part of it."),
    )


def _decoded(content: bytes) -> tuple[str, str]:
    """The text and the name of its encoding. Raises UnicodeDecodeError."""
    if content.startswith(codecs.BOM_UTF8):
        return content.decode("utf-8-sig"), "UTF-8"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16"), "UTF-16"
    try:
        return content.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        text = content.decode("gb18030")
        foreign = [each for each in text if each > "\x7f"]
        usual = "".join(foreign).encode("gb2312", errors="ignore").decode("gb2312")
        if len(usual) < MOSTLY * len(foreign):
            raise
        return text, "GBK"


def _delimiter(text: str) -> str:
    """The one that finds most of our columns in the first line that isn't empty."""
    first = next((line for line in text.splitlines() if line.strip()), "")

    def known(delimiter: str) -> int:
        return sum(_name(cell.strip('"')) in COLUMNS for cell in first.split(delimiter))

    return max(DELIMITERS, key=known)


def _numbered(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    for cells in reader:
        yield begins, cells
        begins = reader.line_num + 1


def _name(cell: str) -> str:
    return plain(cell).lower().replace(" ", "_")


def _table(raw: RawRows) -> Table:
    if raw.problems and not raw.rows:
        return Table(problems=tuple(raw.problems))
    filled = [(line, cells) for line, cells in raw.rows if any(plain(cell) for cell in cells)]
    if not filled:
        return Table(
            problems=(
                SheetProblem(
                    line=0,
                    wrong=_("The file is empty."),
                    remedy=_("Start from the empty sheet or from the example."),
                ),
            )
        )
    (header, names), *body = filled
    columns = [_name(cell) for cell in names]
    wrong_names = list(_header_problems(header, columns))
    twice = len([name for name in columns if name]) > len(set(columns) - {""})
    if twice or not {"code", "type"} <= set(columns):
        return Table(header=header, problems=tuple(wrong_names))  # the cells would mean nothing
    problems = [*(_named(each, columns) for each in raw.problems), *wrong_names]
    rows = []
    for line, cells in body:
        extra = [cell for cell in cells[len(columns) :] if plain(cell)]
        if extra:
            problems.append(
                SheetProblem(
                    line=line,
                    wrong=_("There are more cells than columns, from “%(cell)s” on.")
                    % {"cell": extra[0][:40]},
                    remedy=_("Enclose a text that has the delimiter in it in quotation marks."),
                )
            )
        rows.append(Row(line=line, cells=_cells(columns, cells)))
    return Table(header=header, rows=tuple(rows), problems=tuple(problems), read_as=raw.read_as)


def _cells(columns: list[str], cells: Iterable[str]) -> dict[str, str]:
    """By name; a trailing line break of options is kept, for it says how they are divided."""
    return {
        name: cell if name.startswith("options") else plain(cell)
        for name, cell in zip(columns, cells, strict=False)
        if name in COLUMNS
    }


def _named(problem: SheetProblem, columns: list[str]) -> SheetProblem:
    """With the column's name instead of its number, by which a workbook knows it."""
    index = int(problem.column) - 1
    return replace(problem, column=columns[index] if index < len(columns) else problem.column)


def _header_problems(line: int, columns: list[str]) -> Iterator[SheetProblem]:
    known = [name for name in columns if name in COLUMNS]
    for name in ("code", "type"):
        if name not in known:
            yield SheetProblem(
                line=line,
                column=name,
                wrong=_("There is no column “%(name)s”.") % {"name": name},
                remedy=_("The first line names the columns: start from the empty sheet."),
            )
    for name in dict.fromkeys(columns):
        if name and name not in COLUMNS:
            yield SheetProblem(
                line=line,
                column=name[:40],
                wrong=_("There is no such column."),
                remedy=_("Rename or delete it. There are: %(names)s.")
                % {"names": ", ".join(COLUMNS)},
            )
        if name and columns.count(name) > 1:
            yield SheetProblem(
                line=line,
                column=name[:40],
                wrong=_("This column is there twice."),
                remedy=_("Delete one of them."),
            )
