"""Plans and rows of replays."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from memlab.core.embeddings.base import Embedder
from memlab.core.llm import open_model
from memlab.core.tenancy import lab_scope
from memlab.research.replay import laboratory
from memlab.research.replay.dialogue import Dialogue
from memlab.research.replay.dialogue_file import read_dialogue
from memlab.research.replay.progress import Progress
from memlab.research.replay.run import Plan
from memlab.research.replay.study import Choices
from tests.doors import ScriptedEmbedder

FIXTURES = Path(__file__).parents[3] / "fixtures" / "dialogues"


@pytest.fixture
def allotment() -> Dialogue:
    """English: 21 turns in 5 sessions, one of them empty; 3 messages without a reply."""
    return read_dialogue(FIXTURES / "allotment-en.json")


@pytest.fixture
def guitar() -> Dialogue:
    """Chinese: 20 turns in 4 sessions; 2 messages without a reply."""
    return read_dialogue(FIXTURES / "guitar-zh.json")


def plan(
    *dialogues: Dialogue,
    architectures: tuple[str, ...],
    embedder: Embedder | None = None,
    keep: bool = False,
    **choices: Any,
) -> Plan:
    return Plan(
        dialogues=dialogues,
        architectures=architectures,
        choices=Choices(**choices),
        extraction=open_model("offline", "offline-1"),
        embedder=embedder or ScriptedEmbedder(),
        keep=keep,
    )


def silent(**counts: int) -> Progress:
    return Progress(io.StringIO(), **{"dialogues": 1, "architectures": 1, **counts})


def rows_of_lab(lab_id: int) -> dict[str, list[str]]:
    """Every row of a lab in every table, as text; tables without any are left out."""
    found = {}
    with lab_scope(lab_id), connection.cursor() as cursor:
        for model in laboratory.models_with_a_lab():
            table = model._meta.db_table
            cursor.execute(
                f'SELECT t::text FROM "{table}" t WHERE lab_id = %s ORDER BY 1', [lab_id]
            )
            texts = [row[0] for row in cursor.fetchall()]
            if texts:
                found[table] = texts
    return found


def tables_with_a_lab() -> Iterator[str]:
    """From the database's own catalogue, so that a table without a model counts too."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE column_name = 'lab_id' AND table_schema = 'public'"
        )
        yield from (row[0] for row in cursor.fetchall())
