"""The lab of a run is gone afterwards, however the run ended, and nobody else's is touched."""

from __future__ import annotations

import asyncio
import io
from datetime import timedelta

import pytest
from django.db import connection

from experiments.enums import MemberRole
from experiments.models import Lab, Member, User
from experiments.models.lab import LabDirectory
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memlab.research.replay import laboratory
from memlab.research.replay.dialogue import Dialogue
from memlab.research.replay.progress import Progress
from memlab.research.replay.run import replay
from tests.research.replay.conftest import (
    plan,
    rows_of_lab,
    silent,
    tables_with_a_lab,
)

pytestmark = pytest.mark.django_db(transaction=True)


def labs() -> list[int]:
    return list(LabDirectory.objects.order_by("lab_id").values_list("lab_id", flat=True))


def test_every_table_that_names_a_lab_is_erased() -> None:
    known = {model._meta.db_table for model in laboratory.models_with_a_lab()}
    assert set(tables_with_a_lab()) == known


async def test_erasing_leaves_no_row_and_no_other_lab_loses_one(lab: Lab, guitar: Dialogue) -> None:
    await unit(laboratory.clean, wall=wall_now(), kept=True)
    others = await unit(rows_of_lab, lab.pk)
    await replay(plan(guitar, architectures=("hybrid",), preset="weekly", keep=True), silent())
    run = next(each for each in await unit(labs) if each != lab.pk)
    filled = await unit(rows_of_lab, run)
    assert {"chat_message", "chat_receipt", "memory_episode", "memory_memoryevent"} <= set(filled)
    await unit(laboratory.erase, run)
    assert await unit(rows_of_lab, run) == {}
    assert await unit(labs) == [lab.pk]
    assert await unit(rows_of_lab, lab.pk) == others


class Interrupting(Progress):
    """Cancels the run at its third message."""

    def turn(self) -> None:
        super().turn()
        task = asyncio.current_task()
        if self.turns == 3 and task is not None:
            task.cancel()


async def test_an_interrupted_run_erases_its_lab(guitar: Dialogue) -> None:
    progress = Interrupting(io.StringIO(), dialogues=1, architectures=1)
    run = asyncio.create_task(replay(plan(guitar, architectures=("hybrid",)), progress))
    with pytest.raises(asyncio.CancelledError):
        await run
    assert progress.turns == 3
    assert await unit(labs) == []


def test_what_a_killed_run_left_is_cleaned_once_its_lease_is_over() -> None:
    now = wall_now()
    killed = laboratory.open_laboratory(wall=now - timedelta(minutes=1))
    alive = laboratory.open_laboratory(wall=now)
    assert laboratory.clean(wall=now, kept=False) == 1
    assert labs() == [alive.lab_id]
    assert killed.lab_id != alive.lab_id


def test_kept_labs_are_cleaned_only_when_asked_for() -> None:
    now = wall_now()
    laboratory.keep(laboratory.open_laboratory(wall=now - timedelta(minutes=1)))
    assert laboratory.clean(wall=now, kept=False) == 0
    assert laboratory.clean(wall=now, kept=True) == 1
    assert labs() == []


def test_real_labs_are_never_cleaned(lab: Lab) -> None:
    named_alike = Lab.objects.found(name=f"{laboratory.RUNNING}by hand")
    user = User.objects.create_user(email="alice@example.org", password="x")
    Member.objects.create(user=user, lab_id=named_alike.pk, role=MemberRole.OWNER)
    assert laboratory.clean(wall=wall_now(), kept=True) == 0
    assert labs() == sorted([lab.pk, named_alike.pk])
    with lab_scope(named_alike.pk), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM experiments_lab")
        assert cursor.fetchone() == (1,)
