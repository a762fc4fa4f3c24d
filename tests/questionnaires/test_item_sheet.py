"""Sheets: what is read, in which encodings, and each mistake with its line and remedy."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from questionnaires.content import Condition, InstrumentContent, ItemContent, Option, Text
from questionnaires.enums import ItemType, MissingRule, ScoreKind
from questionnaires.item_sheet import (
    Change,
    SheetProblem,
    as_csv,
    as_xlsx,
    differences,
    empty_sheet,
    read,
)
from questionnaires.item_sheet.columns import COLUMNS

Rows = list[dict[str, Any]]
#: Lines 2 to 4 are settings, 5 to 12 items.
SHEET: Rows = [
    {"code": "key", "type": "setting", "text_en": "moods"},
    {"code": "title", "type": "setting", "text_en": "Moods", "text_zh": "情绪"},
    {"code": "missing", "type": "setting", "text_en": "share"},
    {
        "code": "mood_1",
        "type": "likert",
        "text_en": "I feel well.",
        "text_zh": "我感觉很好。",
        "minimum": "1",
        "maximum": "7",
        "low_en": "not at all",
        "low_zh": "完全不",
        "high_en": "very",
        "high_zh": "非常",
        "subscale": "mood",
    },
    {
        "code": "mood_2",
        "type": "likert",
        "text_en": "I feel bad.",
        "text_zh": "我感觉不好。",
        "minimum": "1",
        "maximum": "7",
        "reverse": "yes",
        "subscale": "mood",
    },
    {
        "code": "pet",
        "type": "single",
        "page": "2",
        "text_en": "Have you a pet?",
        "text_zh": "您有宠物吗？",
        "options_en": "1=yes | 2=no",
        "options_zh": "1=有 | 2=没有",
    },
    {
        "code": "pet_name",
        "type": "text",
        "text_en": "Its name?",
        "text_zh": "它叫什么？",
        "required": "no",
        "condition": "pet == 1",
    },
    {
        "code": "warmth",
        "type": "slider",
        "text_en": "How warm?",
        "text_zh": "有多温暖？",
        "minimum": "0",
        "maximum": "100",
        "step": "5",
    },
    {"code": "ios", "type": "picture", "text_en": "How close?", "text_zh": "有多亲近？"},
    {
        "code": "check",
        "type": "likert",
        "page": "3",
        "text_en": "Choose 2 here.",
        "text_zh": "请选2。",
        "minimum": "1",
        "maximum": "7",
        "expected": "2",
    },
    {
        "code": "tone",
        "type": "differential",
        "text_en": "It was",
        "text_zh": "它是",
        "minimum": "-3",
        "maximum": "3",
        "low_en": "cold",
        "low_zh": "冷的",
        "high_en": "warm",
        "high_zh": "热的",
    },
]


def table(rows: Rows, columns: list[str] | None = None, delimiter: str = ",") -> str:
    target = io.StringIO(newline="")
    writer = csv.DictWriter(
        target, columns or list(COLUMNS), delimiter=delimiter, extrasaction="ignore"
    )
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def as_file(rows: Rows) -> bytes:
    return table(rows).encode()


def workbook(rows: Rows) -> bytes:
    book = Workbook()
    sheet: Any = book.active
    sheet.append(list(COLUMNS))
    for row in rows:
        sheet.append([row.get(column) for column in COLUMNS])
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def content_of(file: bytes) -> InstrumentContent:
    sheet = read(file)
    assert sheet.problems == ()
    assert sheet.content is not None
    return sheet.content


MOODS = content_of(as_file(SHEET))


def test_a_sheet_is_read() -> None:
    assert (MOODS.key, MOODS.title) == ("moods", Text(en="Moods", zh="情绪"))
    assert (MOODS.missing, MOODS.missing_share, MOODS.score) == (
        MissingRule.SHARE,
        0.75,
        ScoreKind.MEAN,
    )
    assert [(item.code, item.page) for item in MOODS.items] == [
        ("mood_1", 1),
        ("mood_2", 1),
        ("pet", 2),
        ("pet_name", 2),
        ("warmth", 2),
        ("ios", 2),
        ("check", 3),
        ("tone", 3),
    ]
    assert MOODS.item("pet").options == (
        Option(value=1, label=Text(en="yes", zh="有")),
        Option(value=2, label=Text(en="no", zh="没有")),
    )
    assert MOODS.item("pet_name").condition == Condition(item="pet", operator="==", value=1)
    assert MOODS.item("ios").bounds == (1.0, 7.0)
    assert MOODS.item("mood_2") == ItemContent(
        code="mood_2",
        type=ItemType.LIKERT,
        text=Text(en="I feel bad.", zh="我感觉不好。"),
        minimum=1.0,
        maximum=7.0,
        reverse=True,
        subscale="mood",
    )


@pytest.mark.parametrize(
    ("file", "read_as"),
    [
        (table(SHEET).encode(), "CSV, UTF-8"),
        (table(SHEET).encode("utf-8-sig"), "CSV, UTF-8"),
        (table(SHEET).encode("utf-16"), "CSV, UTF-16"),
        (table(SHEET, delimiter="\t").encode("utf-16"), "CSV, UTF-16"),  # Excel's "Unicode text"
        (table(SHEET).encode("gbk"), "CSV, GBK"),  # Chinese Excel's "CSV"
        (table(SHEET, delimiter=";").encode(), "CSV, UTF-8"),  # German Excel's
        (table(SHEET).replace("\r\n", "\n").encode(), "CSV, UTF-8"),
        (("\r\n" + table(SHEET)).encode(), "CSV, UTF-8"),
        (table(SHEET, columns=list(reversed(COLUMNS))).encode(), "CSV, UTF-8"),
        (table(SHEET).replace("text_en", " Text EN ").encode(), "CSV, UTF-8"),
        (workbook(SHEET), "XLSX, “Sheet”"),
    ],
)
def test_what_programs_write_is_read_alike(file: bytes, read_as: str) -> None:
    sheet = read(file)
    assert sheet.problems == ()
    assert sheet.content == MOODS
    assert sheet.read_as == read_as


def test_numbers_and_switches_of_a_workbook_are_read() -> None:
    rows = [dict(row) for row in SHEET]
    rows[3] |= {"minimum": 1, "maximum": 7.0}
    rows[4] |= {"reverse": True}
    assert content_of(workbook(rows)) == MOODS


def changed(index: int, **cells: Any) -> Rows:
    """The sheet with cells of one row changed; the row stands on line ``index + 2``."""
    rows = [dict(row) for row in SHEET]
    rows[index] |= cells
    return rows


LONG = "x" * 2001
#: What is changed: the row, its cells; and what is said: line, column, part of each sentence.
MISTAKES: list[tuple[int, dict[str, Any], int, str, str, str]] = [
    (0, {"text_en": ""}, 2, "text_en", "is no key", "Use a letter"),
    (0, {"text_en": "1 mood"}, 2, "text_en", "is no key", "such as trust"),
    (0, {"code": "colour"}, 2, "code", "“colour” is no setting", "There are: key"),
    (0, {"page": "1"}, 2, "page", "A setting has no such cell", "stands in text_en"),
    (1, {"text_en": ""}, 3, "text_en", "no text in English", "Write it"),
    (1, {"text_zh": ""}, 3, "text_zh", "no text in Chinese", "Write it"),
    (1, {"code": "key"}, 3, "code", "is there twice", "Delete one of the rows"),
    (2, {"text_en": "half"}, 4, "text_en", "isn't possible here", "none, share"),
    (2, {"code": "score"}, 4, "text_en", "isn't possible here", "mean, sum"),
    (2, {"code": "missing_share", "text_en": "2"}, 4, "text_en", "2 is no share", "0.75"),
    (2, {"code": "missing_share", "text_en": "80%"}, 4, "text_en", "is no number", "in digits"),
    (2, {"code": "validated", "text_en": "perhaps"}, 4, "text_en", "neither yes nor no", "Write"),
    (3, {"code": ""}, 5, "code", "“” is no code", "such as trust_1"),
    (3, {"code": "mood 1"}, 5, "code", "“mood 1” is no code", "such as trust_1"),
    (3, {"code": "情绪"}, 5, "code", "“情绪” is no code", "such as trust_1"),
    (3, {"type": "lickert"}, 5, "type", "“lickert” is no type", "likert, single"),
    (3, {"type": ""}, 5, "type", "The type is missing", "likert, single"),
    (3, {"page": "one"}, 5, "page", "“one” is no page", "whole number from 1"),
    (3, {"page": 5000 * "1"}, 5, "page", "is no page", "whole number from 1"),
    (3, {"page": "2"}, 5, "page", "Page 2 can't follow page 0", "without gaps"),
    (3, {"text_en": "", "text_zh": ""}, 5, "text_en", "no text in English", "Write it"),
    (3, {"text_zh": ""}, 5, "text_zh", "no text in Chinese", "leave this language empty"),
    (3, {"text_en": LONG}, 5, "text_en", "2001 characters are too many", "At most 2000"),
    (3, {"text_en": "a\x07b"}, 5, "text_en", "invisible control character", "plain text"),
    (3, {"minimum": "one"}, 5, "minimum", "“one” is no number", "in digits"),
    (3, {"minimum": "1,5"}, 5, "minimum", "“1,5” is no number", "with a point"),
    (3, {"minimum": "nan"}, 5, "minimum", "“nan” is no number", "in digits"),
    (3, {"minimum": ""}, 5, "minimum", "The scale has no ends", "such as 1 and 7"),
    (3, {"maximum": "1"}, 5, "maximum", "isn't above the minimum", "Swap"),
    (3, {"minimum": "0.5"}, 5, "minimum", "aren't whole numbers", "such as 1 and 7"),
    (3, {"maximum": "101"}, 5, "maximum", "101 points are too many", "or a slider"),
    (3, {"step": "1"}, 5, "step", "doesn't take this", "Only sliders"),
    (3, {"options_en": "1=low | 9=high"}, 5, "minimum", "differ from the least", "Leave both"),
    (3, {"low_zh": ""}, 5, "low_zh", "no text in Chinese", "Write it"),
    (3, {"reverse": "maybe"}, 5, "reverse", "neither yes nor no", "Write yes or no"),
    (3, {"subscale": "my mood"}, 5, "subscale", "no name of a subscale", "cognitive"),
    (4, {"code": "MOOD_1"}, 6, "code", "the code of another item", "unique"),
    (4, {"maximum": "5"}, 6, "subscale", "another range than mood_1", "Give them one range"),
    (4, {"page": "3"}, 6, "page", "Page 3 can't follow page 1", "without gaps"),
    (4, {"required": "often"}, 6, "required", "neither yes nor no", "Write yes or no"),
    (5, {"options_en": "", "options_zh": ""}, 7, "options_en", "nothing to choose", "1=yes"),
    (5, {"options_en": "yes | no"}, 7, "options_en", "“yes” is no option", "number=label"),
    (5, {"options_en": "1=yes | 1=no"}, 7, "options_en", "stands for two options", "differently"),
    (5, {"options_zh": "1=有 | 3=没有"}, 7, "options_zh", "different options: 2, 3", "the same"),
    (5, {"options_zh": "1=有 | 2="}, 7, "options_zh", "no text in Chinese", "Write it"),
    (5, {"minimum": "1"}, 7, "minimum", "doesn't take this", "Leave the cell empty"),
    (5, {"reverse": "yes"}, 7, "reverse", "doesn't take this", "can be reversed"),
    (5, {"low_en": "cold", "low_zh": "冷"}, 7, "low_en", "doesn't take this", "Leave the cell"),
    (6, {"condition": "pet = 1"}, 8, "condition", "has a single =", "leave the cell empty"),
    (6, {"condition": "dog == 1"}, 8, "condition", "There is no item dog", "by its code"),
    (6, {"condition": "warmth > 50"}, 8, "condition", "doesn't come before", "an earlier item"),
    (6, {"condition": "pet_name == 1"}, 8, "condition", "doesn't come before", "earlier item"),
    (6, {"condition": "pet == 3"}, 8, "condition", "Nobody can answer 3 to pet", "points"),
    (6, {"condition": "pet == yes"}, 8, "condition", "Nobody can answer yes", "points"),
    (6, {"condition": "mood_1 > 7.5"}, 8, "condition", "Nobody can answer 7.5", "points"),
    (6, {"subscale": "mood"}, 8, "subscale", "doesn't take this", "holds numbers only"),
    (6, {"options_en": "1=a | 2=b"}, 8, "options_en", "doesn't take this", "Leave the cell"),
    (6, {"expected": "1"}, 8, "expected", "doesn't take this", "answered by a number"),
    (7, {"step": "7"}, 9, "step", "Steps of 7 don't lead from 0 to 100", "divides the range"),
    (7, {"step": "0"}, 9, "step", "Steps of 0 don't lead", "above 0"),
    (7, {"step": "0.01"}, 9, "step", "10000 steps are too many", "a larger step"),
    (7, {"maximum": ""}, 9, "maximum", "The slider has no ends", "0 and 100"),
    (8, {"minimum": "1", "maximum": "5"}, 10, "maximum", "seven pictures", "1 and its maximum 7"),
    (9, {"expected": "8"}, 11, "expected", "Nobody can answer 8", "one of the points"),
    (9, {"expected": "2.5"}, 11, "expected", "Nobody can answer 2.5", "one of the points"),
    (9, {"subscale": "mood"}, 11, "subscale", "is in no score", "Leave subscale"),
    (10, {"low_en": "", "low_zh": ""}, 12, "low_en", "between two words", "cold and warm"),
]


#: No program can write a control character into a workbook.
CASES = [(as_file, *mistake) for mistake in MISTAKES] + [
    (workbook, *mistake) for mistake in MISTAKES if "control character" not in mistake[4]
]


@pytest.mark.parametrize(("file_of", "row", "cells", "line", "column", "wrong", "remedy"), CASES)
def test_a_mistake_is_refused_with_its_line_and_remedy(
    file_of: Callable[[Rows], bytes],
    row: int,
    cells: dict[str, Any],
    line: int,
    column: str,
    wrong: str,
    remedy: str,
) -> None:
    sheet = read(file_of(changed(row, **cells)))
    assert sheet.content is None
    said = [each for each in sheet.problems if wrong in each.wrong]
    assert [(each.line, each.column) for each in said] == [(line, column)], sheet.problems
    assert remedy in said[0].remedy


def test_one_mistake_is_said_once_and_not_what_follows_from_it() -> None:
    for row, cells in (
        (5, {"options_en": "yes | no"}),  # on which pet_name's condition depends
        (3, {"minimum": "one"}),  # with whose range mood_2's is compared
        (3, {"type": "lickert"}),
    ):
        assert len(read(as_file(changed(row, **cells))).problems) == 1


def test_all_mistakes_are_said_at_once_in_the_order_of_lines() -> None:
    rows = changed(3, minimum="one")
    rows[5]["options_en"] = "yes | no"
    rows[9]["expected"] = "8"
    rows[10]["low_en"] = rows[10]["low_zh"] = ""
    assert [(each.line, each.column) for each in read(as_file(rows)).problems] == [
        (5, "minimum"),
        (7, "options_en"),
        (11, "expected"),
        (12, "low_en"),
    ]


def only_problem(file: bytes) -> SheetProblem:
    sheet = read(file)
    assert sheet.content is None
    (problem,) = sheet.problems
    return problem


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        (b"", 0, "The file is empty"),
        (b"\n\n \n", 0, "The file is empty"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", 0, "old Excel"),
        (b"PK\x03\x04 and nothing else", 0, "damaged"),
        (b"x" * (1024 * 1024 + 1), 0, "The file has 1024 KiB"),
        (b"code,type\n\x00,\x00", 0, "NUL"),
        ("code,type,text_en\na,text,Voilà résumé".encode("latin-1"), 0, "neither UTF-8"),
        (b'code,type,text_en\na,text,ok\nb,text,"open\n', 2, "quotation mark"),
        (b"code,text_en\na,b", 1, "There is no column “type”"),
        (b"code,type", 1, "There is no item"),
        (b"code,type\n" + b"a,text\n" * 700, 0, "more than 600 rows"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(file: bytes, line: int, wrong: str) -> None:
    problem = only_problem(file)
    assert (problem.line, wrong in problem.wrong) == (line, True), problem
    assert problem.remedy


def test_columns_are_known_and_unique_and_cells_have_one() -> None:
    text = table(SHEET)
    problem = only_problem(text.replace("step", "stride", 1).replace(",100,5,", ",100,,").encode())
    assert (problem.column, problem.wrong) == ("stride", "There is no such column.")
    problem = only_problem(text.replace("step", "page", 1).encode())
    assert (problem.column, problem.wrong) == ("page", "This column is there twice.")
    assert problem.line == 1
    problem = only_problem(text.replace("pet == 1", "pet == 1,surplus", 1).encode())
    assert (problem.line, problem.wrong) == (
        8,
        "There are more cells than columns, from “surplus” on.",
    )


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    rows = changed(3, text_en="I feel\nwell\ntoday.")
    rows[5]["options_en"] = "yes"
    assert only_problem(as_file(rows)).line == 9  # two lines further down
    assert only_problem(workbook(rows)).line == 7  # Excel counts rows


def test_formulas_dates_and_error_values_are_refused_in_their_cell() -> None:
    book = load_workbook(io.BytesIO(workbook(SHEET)))
    sheet: Any = book.active
    columns = list(COLUMNS)
    sheet.cell(5, columns.index("maximum") + 1).value = "=3+4"
    target = io.BytesIO()
    book.save(target)
    problem = only_problem(target.getvalue())
    assert (problem.line, problem.column, problem.wrong) == (5, "maximum", "This is a formula.")


def bomb() -> bytes:
    """A workbook whose sheet unpacks to 30 MiB."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(SHEET))) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in source.namelist():
            packed.writestr(name, source.read(name))
        packed.writestr("xl/media/huge.xml", b"0" * (30 * 1024 * 1024))
    return target.getvalue()


def with_entities() -> bytes:
    """A workbook whose sheet multiplies an entity."""
    target = io.BytesIO()
    declared = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaa">]>'
    with (
        zipfile.ZipFile(io.BytesIO(workbook(SHEET))) as source,
        zipfile.ZipFile(target, "w") as packed,
    ):
        for name in source.namelist():
            body = source.read(name)
            if name == "xl/worksheets/sheet1.xml":
                body = declared + body.replace(b"<sheetData>", b"<sheetData>&a;")
            packed.writestr(name, body)
    return target.getvalue()


def test_a_workbook_that_attacks_is_refused() -> None:
    assert "too large" in only_problem(bomb()).wrong
    assert "damaged" in only_problem(with_entities()).wrong


@pytest.mark.parametrize("written", [as_csv, as_xlsx])
def test_what_is_written_is_read_again(
    written: Callable[[InstrumentContent | None], bytes],
) -> None:
    awkward = replace(
        MOODS,
        citation='Somebody (2001). "A scale", 3; 4.',
        introduction=Text(en="=1+1\nsecond line", zh="，；“引号”"),
        items=(
            *MOODS.items,
            ItemContent(
                code="piped",
                type=ItemType.SINGLE,
                page=3,
                text=Text(en="-2 or @home?", zh="？"),
                options=(
                    Option(value=-1, label=Text(en="a | b", zh="甲=乙")),
                    Option(value=10, label=Text(en="c; d", zh="丙")),
                ),
            ),
            ItemContent(
                code="grams",
                type=ItemType.NUMBER,
                page=4,
                text=Text(en="How many?", zh="多少？"),
                minimum=0.0,
                step=0.125,
                required=False,
            ),
        ),
    )
    assert content_of(written(awkward)) == awkward


def test_the_empty_sheet_has_every_column_and_nothing_wrong_but_being_empty() -> None:
    book = load_workbook(io.BytesIO(empty_sheet()))
    sheet: Any = book.worksheets[0]
    assert [cell.value for cell in sheet[1]] == list(COLUMNS)
    assert {each.wrong for each in read(empty_sheet()).problems} == {
        "“” is no key.",
        "There is no item.",
        "There is no text in English.",
    }


def test_differences_say_what_an_import_would_change() -> None:
    after = replace(
        MOODS,
        validated=True,
        items=(
            MOODS.items[1],
            replace(MOODS.items[0], text=Text(en="I am well.", zh="我很好。"), maximum=5.0),
            *MOODS.items[3:],
            ItemContent(code="new", type=ItemType.TEXT, text=Text(en="?", zh="？")),
        ),
    )
    assert differences(MOODS, after) == (
        Change(kind="changed", field="validated", before="no", after="yes"),
        Change(kind="removed", item="pet"),
        Change(
            kind="changed",
            item="mood_1",
            field="text",
            before="I feel well. / 我感觉很好。",
            after="I am well. / 我很好。",
        ),
        Change(kind="changed", item="mood_1", field="maximum", before="7", after="5"),
        Change(kind="added", item="new"),
        Change(
            kind="moved",
            before="mood_1, mood_2, pet_name, warmth, ios, check, tone",
            after="mood_2, mood_1, pet_name, warmth, ios, check, tone",
        ),
    )
    assert differences(MOODS, MOODS) == ()
    assert [each.kind for each in differences(None, MOODS)] == ["added"] * 8


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"PK\x03\x04", b"\xff\xfe", b"code,type\n"]))
def test_no_bytes_make_it_fail(body: bytes, start: bytes) -> None:
    assert read(start + body).problems


letters = st.text("ab é猫“|=;,'\"", max_size=12).map(str.strip)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(letters, letters), min_size=1, max_size=4), st.booleans())
def test_any_texts_survive_the_round(texts: list[tuple[str, str]], reverse: bool) -> None:
    content = InstrumentContent(
        key="any",
        title=Text(en="Any", zh="任意"),
        missing_share=0.5,
        items=tuple(
            ItemContent(
                code=f"i{number}",
                type=ItemType.LIKERT,
                text=Text(en=f"x{english}", zh=f"字{chinese}"),
                options=(
                    Option(value=1, label=Text(en=f"x{english}", zh=f"字{chinese}")),
                    Option(value=2, label=Text(en=f"y{chinese}", zh=f"句{english}")),
                ),
                reverse=reverse,
            )
            for number, (english, chinese) in enumerate(texts)
        ),
    )
    assert content_of(as_csv(content)) == content
