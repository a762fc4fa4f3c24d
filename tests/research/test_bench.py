"""The benchmark's report, and each part of it on a few rows and a second's talk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memlab.research.bench import (
    chats,
    maintenance,
    prompts,
    ranking,
    recall,
    sockets,
    statements,
    tools,
    turns,
)
from memlab.research.bench.recall import Size
from memlab.research.bench.report import Figure, as_json, percentile, ratio, table, write
from memlab.research.bench.turns import Load
from memlab.research.bench.vectors import UNRELATED, cues, unrelated


def silent(what: str) -> None:
    """Nobody watches."""


def test_a_goal_holds_up_to_and_including_itself() -> None:
    assert Figure(name="ack", value=250.0, unit="ms", goal=250.0).holds is True
    assert Figure(name="ack", value=250.1, unit="ms", goal=250.0).holds is False
    assert Figure(name="ack", value=250.1, unit="ms").holds is None


def test_a_ratio_has_no_unit_of_its_own() -> None:
    assert ratio("recall", 3.0, 4.0, goal=0.7) == Figure(
        name="recall", value=0.75, unit="×", goal=0.7
    )


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([30.0, 10.0, 20.0, 40.0], 50) == 20.0
    assert percentile([30.0, 10.0, 20.0, 40.0], 95) == 40.0
    assert percentile([5.0], 50) == 5.0


def test_the_verdict_is_about_the_value_before_rounding() -> None:
    figure = Figure(name="beside ÷ alone", value=1.1004, unit="×", goal=1.1)
    assert as_json(figure) == {
        "name": "beside ÷ alone",
        "value": 1.1,
        "unit": "×",
        "goal": 1.1,
        "holds": False,
    }


def test_the_report_is_a_list_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "bench" / "report.json"
    write([Figure(name="a", value=1234.56, unit="ms"), ratio("b", 1.0, 2.0, goal=1.0)], path)
    assert json.loads(path.read_text()) == [
        {"name": "a", "value": 1235.0, "unit": "ms", "goal": None, "holds": None},
        {"name": "b", "value": 0.5, "unit": "×", "goal": 1.0, "holds": True},
    ]
    assert list(path.parent.iterdir()) == [path]


def test_the_table_says_which_goals_were_missed() -> None:
    lines = table([ratio("a", 1.0, 2.0, goal=1.0), ratio("longer", 3.0, 1.0, goal=2.0)])
    assert [line.split() for line in lines.splitlines()] == [
        ["a", "0.5", "×", "goal", "≤", "1:", "holds"],
        ["longer", "3", "×", "goal", "≤", "2:", "MISSED"],
    ]


def test_vectors_lie_as_the_embedder_s_do() -> None:
    random = np.random.default_rng(1)
    rows = unrelated(random, 40)
    cosines = rows @ rows.T
    assert np.allclose(np.diag(cosines), 1.0, atol=1e-5)
    apart = cosines[~np.eye(len(rows), dtype=bool)]
    assert abs(float(apart.mean()) - UNRELATED) < 0.01
    near = (cues(random, rows, 10) @ rows.T).max(axis=1)
    assert (near > float(apart.max())).all()


@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_recall_is_measured_on_rows_that_both_queries_see() -> None:
    figures = recall.measure(Size(episodes=(60, 120), others=120, runs=(3, 3)), silent)
    by_name = {figure.name: figure for figure in figures}
    assert [name for name, figure in by_name.items() if figure.goal is not None] == [
        "recall, 60 episodes, L4 ÷ bare",
        "recall, 120 episodes, L4 ÷ bare",
        "recall, 60 episodes beside 120 of others ÷ alone",
        "recall, 120 episodes beside 120 of others ÷ alone",
    ]
    assert all(figure.value > 0 for figure in figures)


@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_ranking_is_measured_against_a_bare_query() -> None:
    figures = ranking.measure(ranking.Size(episodes=60, sessions=3, runs=3), silent)
    assert [(figure.name, figure.goal) for figure in figures] == [
        ("ranking, 60 episodes, hybrid", 50.0),
        ("ranking, 60 episodes, dense on the same rows", None),
        ("ranking, 60 episodes, bare pgvector", None),
        ("ranking, 60 episodes, hybrid ÷ bare", None),
    ]
    assert all(figure.value > 0 for figure in figures)


@pytest.mark.parametrize("kind", prompts.KINDS)
@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_prompts_of_items_are_measured_against_a_bare_query(kind: str) -> None:
    figures = prompts.measure(kind, prompts.Size(items=40, runs=3), silent)
    assert [figure.name for figure in figures] == [
        f"prompt, {kind}, 40 items",
        f"prompt, {kind}, 40 items, bare pgvector",
        f"prompt, {kind}, 40 items ÷ bare",
    ]
    assert all(figure.value > 0 for figure in figures)


@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_the_time_of_tool_calls_is_that_of_the_receipts() -> None:
    figures = {
        figure.name: figure.value
        for figure in tools.measure(tools.Size(beliefs=8, turns=2), silent)
    }
    first, more, calls = "first token", "first token later by", "of it in the calls"
    without = figures["tools, none offered, first token"]
    assert figures["tools, rounds of calls: 0, of it in the calls"] == 0.0
    for rounds in (0, 1, 4):
        name = f"tools, rounds of calls: {rounds}"
        assert figures[f"{name}, {more}"] == figures[f"{name}, {first}"] - without
    assert figures[f"tools, rounds of calls: 4, {calls}"] > 0.0
    assert len(figures) == 10


@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_turns_and_sockets_are_measured_on_real_servers() -> None:
    seats = chats.seats(2)
    load = Load(levels=(2,), every=1.5, seconds=1.5, at_once=1, judged=2)
    counted = statements.measure(seats[0], silent)
    assert {figure.name: figure.value for figure in counted} == {
        "statements of a turn until its ack": 12,
        "lab scopes of a turn until its ack": 1,
        "statements of a turn from ack to stored reply": 21,
        "lab scopes of a turn from ack to stored reply": 3,
    }
    figures = turns.measure(load, seats, silent)
    assert {figure.name for figure in figures if figure.goal is not None} == {
        "turn, 2 chats, ack p95",
        "turn, 2 chats, first token p50 ÷ bare",
        "turn, 2 chats, first token p95 ÷ bare",
    }
    assert all(figure.value > 0 for figure in figures)
    assert [figure.unit for figure in sockets.measure(seats, silent)] == ["KiB", "KiB"]


@pytest.mark.usefixtures("unpooled")
@pytest.mark.django_db(transaction=True)
def test_maintenance_is_measured_on_rows_of_which_only_the_due_are_written() -> None:
    size = maintenance.Size(participants=3, memories=40, share=0.05)
    figures = {figure.name: figure for figure in maintenance.measure(size, silent)}
    assert [
        name for name, figure in figures.items() if figure.goal is None and "again" not in name
    ] == [
        "maintenance, 5% of 120 memories compressed to a trace",
        "maintenance, 5% of 120 memories summarised offline",
        "maintenance, 5% of 120 memories archived",
    ]
    assert [figure.value for figure in figures.values() if figure.goal is not None] == [0, 0, 0]
    assert all(figure.value > 0 for figure in figures.values() if figure.goal is None)
