"""Instruments as sheets (CSV or XLSX): read with every mistake at once, written to be read again.

``read`` never touches the database; what it returns has a content or problems, never both.
"""

from questionnaires.item_sheet.difference import Change, differences
from questionnaires.item_sheet.reading import Sheet, read
from questionnaires.item_sheet.table import SheetProblem
from questionnaires.item_sheet.writing import as_csv, as_xlsx, empty_sheet

__all__ = [
    "Change",
    "Sheet",
    "SheetProblem",
    "as_csv",
    "as_xlsx",
    "differences",
    "empty_sheet",
    "read",
]
