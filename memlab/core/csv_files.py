"""CSV files as the platform hands them out: raw for programs, or safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from django.utils.functional import Promise

BOM = "\ufeff"
#: A spreadsheet takes a cell that begins with one of these for a formula, full-width forms too.
FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


class CsvForm(StrEnum):
    RAW = "raw"  # UTF-8, every value byte for byte
    EXCEL = "excel"  # with a byte order mark, and an apostrophe before what looks like a formula


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    name: str
    meaning: str | Promise


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, e.g. 2026-03-01T09:30:00.000Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def excel_safe(value: str | int) -> str | int:
    """A value that no spreadsheet takes for a formula; nothing of it is lost."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def written(rows: Iterable[Sequence[str | int]], form: CsvForm, *, first: bool = False) -> bytes:
    """Rows as they stand in the file; ``first`` for those that begin it."""
    text = io.StringIO(newline="")
    if form is CsvForm.EXCEL and first:
        text.write(BOM)
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow([excel_safe(v) for v in row] if form is CsvForm.EXCEL else row)
    return text.getvalue().encode()
