"""The first sheet of an XLSX workbook as rows of texts.

A workbook is a zip of XML: its unpacked size is limited before anything is unpacked, and openpyxl
reads it with defusedxml, which refuses entities. Formulas are refused instead of evaluated.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from typing import Any
from xml.etree.ElementTree import ParseError

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from questionnaires.item_sheet.table import (
    MAXIMUM_COLUMNS,
    MAXIMUM_ROWS,
    RawRows,
    SheetProblem,
    plain,
    refused,
    too_many_rows,
)

MAXIMUM_UNPACKED = 20 * 1024 * 1024
MAXIMUM_PARTS = 500
#: What openpyxl and zipfile raise for a file that only looks like a workbook. Refused entities and
#: external references (defusedxml) are ValueErrors too.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    InvalidFileException,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


def workbook_rows(content: bytes) -> RawRows:
    """The first sheet's rows, numbered as Excel numbers them."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
        if len(parts) > MAXIMUM_PARTS or sum(part.file_size for part in parts) > MAXIMUM_UNPACKED:
            return refused(
                _("Unpacked, the workbook is too large."),
                _("Copy the items into a new workbook and save that."),
            )
        return _rows(content)
    except _BROKEN:
        return refused(
            _("The workbook can't be read: it is damaged, or no .xlsx."),
            _("Open it in Excel, WPS or LibreOffice and save it as .xlsx anew, or as CSV."),
        )


def _rows(content: bytes) -> RawRows:
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=False, keep_links=False)
    try:
        sheet: Any = book.worksheets[0]
        sheet.reset_dimensions()  # a file may claim any; rows are counted as they come
        raw = RawRows(read_as=f"XLSX, “{sheet.title}”")
        for line, cells in enumerate(sheet.iter_rows(max_col=MAXIMUM_COLUMNS), start=1):
            texts = [_text(cell, line, raw.problems) for cell in cells]
            if any(plain(text) for text in texts):
                raw.rows.append((line, texts))
            if len(raw.rows) > MAXIMUM_ROWS or line > 10 * MAXIMUM_ROWS:
                return too_many_rows()
        return raw
    finally:
        book.close()


def _text(cell: Any, line: int, problems: list[SheetProblem]) -> str:
    value = cell.value
    wrong = ""
    if cell.data_type == "f":
        wrong = _("This is a formula.")
    elif cell.data_type == "e":
        wrong = _("This is the error value %(value)s.") % {"value": value}
    elif isinstance(value, date | datetime | time | timedelta):
        wrong = _("Excel has made a date or a time of this.")
    if wrong:
        problems.append(
            SheetProblem(
                line=line,
                column=str(cell.column),
                wrong=wrong,
                remedy=_("Format the cell as text and type what it should read."),
            )
        )
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
