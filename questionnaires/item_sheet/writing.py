"""An instrument as a sheet that ``read`` reads back to the same content."""

from __future__ import annotations

import csv
import io
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

from questionnaires import conditions
from questionnaires.checks import CONTROL
from questionnaires.content import InstrumentContent, ItemContent
from questionnaires.item_sheet import cells
from questionnaires.item_sheet.columns import COLUMNS, SETTING, SETTINGS

WIDTHS = {"text_en": 48, "text_zh": 40, "options_en": 28, "options_zh": 28, "condition": 20}


def as_csv(content: InstrumentContent | None) -> bytes:
    """CSV in UTF-8 with a byte order mark, without which Excel takes Chinese for Latin."""
    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerow(COLUMNS)
    for row in _rows(content):
        writer.writerow([row.get(column, "") for column in COLUMNS])
    return target.getvalue().encode("utf-8-sig")


def as_xlsx(content: InstrumentContent | None) -> bytes:
    """A workbook whose second sheet explains the columns and settings."""
    book = Workbook()
    sheet: Any = book.active
    sheet.title = "items"
    rows = [[row.get(column, "") for column in COLUMNS] for row in _rows(content)]
    _put(sheet, [list(COLUMNS), *rows])
    for index, column in enumerate(COLUMNS, start=1):
        sheet.column_dimensions[get_column_letter(index)].width = WIDTHS.get(column, 11)
    sheet.freeze_panes = "C2"
    explained: Any = book.create_sheet("columns")
    _put(
        explained,
        [
            ["column", ""],
            *([name, str(help_)] for name, help_ in COLUMNS.items()),
            ["setting", ""],
            *([name, str(help_)] for name, help_ in SETTINGS.items()),
        ],
    )
    explained.column_dimensions["A"].width = 16
    explained.column_dimensions["B"].width = 100
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def empty_sheet() -> bytes:
    """A workbook with the columns and the names of the settings, to be filled in."""
    return as_xlsx(None)


def _put(sheet: Any, rows: list[list[Any]]) -> None:
    """Write texts as texts: one that begins with = would become a formula."""
    for line, row in enumerate(rows, start=1):
        for index, value in enumerate(row, start=1):
            if value == "":
                continue
            cell = sheet.cell(line, index)
            cell.value = CONTROL.sub("\ufffd", value) if isinstance(value, str) else value
            if isinstance(value, str):
                cell.data_type = "s"
                cell.alignment = Alignment(wrap_text=True, vertical="top")
            if line == 1 or row[0] in ("column", "setting"):
                cell.font = Font(bold=True)
                cell.fill = PatternFill("solid", fgColor="E4EEF3")


def _rows(content: InstrumentContent | None) -> list[dict[str, Any]]:
    values = {} if content is None else _settings(content)
    rows: list[dict[str, Any]] = [
        {"code": name, "type": SETTING, **values.get(name, {})} for name in SETTINGS
    ]
    return rows + ([] if content is None else [_item(item) for item in content.items])


def _settings(content: InstrumentContent) -> dict[str, dict[str, str]]:
    return {
        "key": {"text_en": content.key},
        "title": {"text_en": content.title.en, "text_zh": content.title.zh},
        "introduction": {"text_en": content.introduction.en, "text_zh": content.introduction.zh},
        "citation": {"text_en": content.citation},
        "validated": {"text_en": _yes(content.validated)},
        "randomised": {"text_en": _yes(content.randomised)},
        "score": {"text_en": str(content.score.value)},
        "missing": {"text_en": str(content.missing.value)},
        "missing_share": {"text_en": str(_number(content.missing_share))},
    }


def _item(item: ItemContent) -> dict[str, Any]:
    return {
        "code": item.code,
        "type": str(item.type.value),
        "page": item.page,
        "text_en": item.text.en,
        "text_zh": item.text.zh,
        "minimum": _number(item.minimum),
        "maximum": _number(item.maximum),
        "step": _number(item.step),
        "low_en": item.low.en,
        "low_zh": item.low.zh,
        "high_en": item.high.en,
        "high_zh": item.high.zh,
        "options_en": cells.told_options(item.options, "en"),
        "options_zh": cells.told_options(item.options, "zh"),
        "reverse": "yes" if item.reverse else "",
        "subscale": item.subscale,
        "required": "" if item.required else "no",
        "expected": _number(item.expected),
        "condition": "" if item.condition is None else conditions.told(item.condition),
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _number(value: float | None) -> int | float | str:
    if value is None:
        return ""
    return int(value) if float(value).is_integer() else value
