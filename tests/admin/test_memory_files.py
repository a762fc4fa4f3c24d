"""The files of a memory: what they hold, who may take them, and that the log says so."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from experiments.models import AuditEntry, Lab
from experiments.rights import UNBLINDED
from memlab.core.tenancy import lab_scope
from tests.admin.filled import FilledLab, fill
from tests.people import signed_in


@pytest.fixture
def ours(transactional_db: None, lab: Lab) -> FilledLab:
    return fill(lab, "CANARY")


@pytest.fixture(autouse=True)
async def no_connection_stays(transactional_db: None) -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


@sync_to_async
def browser(name: str, ours: FilledLab) -> AsyncClient:
    """Unblinded to the participant, whoever they are."""
    known = signed_in(name, ours.lab)
    session = known.session
    session[UNBLINDED] = {
        "lab": ours.lab.pk,
        "studies": [],
        "participants": [ours.participant.pk],
    }
    session.save()
    client = AsyncClient()
    client.cookies = known.cookies
    return client


@sync_to_async
def logged(ours: FilledLab) -> list[str]:
    with lab_scope(ours.lab.pk):
        entries = AuditEntry.objects.filter(action="export_memory").order_by("pk")
        return [entry.details["file"] for entry in entries]


async def taken(client: AsyncClient, ours: FilledLab, file: str) -> Any:
    address = f"/admin/experiments/participant/{ours.participant.pk}/memory/"
    return await client.post(address, {"file": file})


async def test_a_file_holds_every_event_and_its_download_is_logged(ours: FilledLab) -> None:
    client = await browser("Alice", ours)
    response = await taken(client, ours, "events")
    text = b"".join([piece async for piece in response.streaming_content]).decode()
    (line,) = map(json.loads, text.splitlines())
    assert (line["event"], line["kind"], line["after"]["text"]) == (
        "encoded",
        "episode",
        ours.evidence,
    )
    assert response["Content-Disposition"].endswith(f'{ours.participant.code}-events.jsonl"')
    assert await logged(ours) == ["events"]


async def test_nobody_takes_a_file_that_is_none_or_without_the_right(ours: FilledLab) -> None:
    assert (await taken(await browser("Alice", ours), ours, "passwords")).status_code == 404
    for name in ("Bob", "Dora", "Erin"):
        assert (await taken(await browser(name, ours), ours, "events")).status_code == 404, name
    assert await logged(ours) == []
