"""A participant's working set and archive in the back office, and the files they give."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from experiments.models import AuditEntry, Lab, Participant, Study
from experiments.rights import UNBLINDED
from memlab.core.tenancy import lab_scope
from memory import exports
from memory.exports import RetainedExport, stream_archive, stream_context
from memory.models import RetainedItem
from memory.models.retention_rule import Point, Retention
from tests.memory.dialogue import identified
from tests.memory.items import item
from tests.people import signed_in
from tests.studies import make_study, scripted

NOW = datetime(2027, 3, 11, 10, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def participant(transactional_db: None, lab: Lab) -> Participant:
    """Ten days after three things were said, one of which has left but wasn't maintained yet."""
    study = make_study(lab, arms={"keeps": "retention", "none": "sensory"})
    person = scripted(study, start=NOW, arm="keeps")
    said_at = NOW - 10 * DAY
    rows = [
        item(
            person,
            text,
            importance=importance,
            keywords=["tea", "茶"],
            anchor=said_at,
            encoded_at=said_at,
        )
        for text, importance in (("is a nurse", 0.9), ("喜欢茶", 0.7), ("had bread", 0.2))
    ]
    with lab_scope(lab.pk):
        RetainedItem.objects.encode(rows, now=said_at, reply=identified("reply"))
    return person


@pytest.fixture(autouse=True)
async def no_connection_stays(transactional_db: None) -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


def of(person: Participant, **changes: Any) -> RetainedExport:
    return RetainedExport(
        **{
            "lab_id": person.lab_id,
            "participant_id": person.pk,
            "now": Point(at=NOW, turn=1),
            "retention": Retention(),
            "budget": 1000,
            "language": "en",
            **changes,
        }
    )


async def read(pieces: AsyncIterator[bytes]) -> str:
    return b"".join([piece async for piece in pieces]).decode()


async def test_context_md_is_what_a_prompt_would_carry(participant: Participant) -> None:
    assert await read(stream_context(of(participant))) == (
        "# What the user told you\n\n- is a nurse\n- 喜欢茶\n"
    )
    assert await read(stream_context(of(participant, budget=5))) == (
        "# What the user told you\n\n- is a nurse\n"
    )


async def test_the_archive_is_a_json_object_a_line(participant: Participant) -> None:
    (line,) = (await read(stream_archive(of(participant)))).splitlines()
    record = json.loads(line)
    left = NOW - 9 * DAY
    assert record == {
        "id": record["id"],
        "text": "had bread",
        "keywords": ["tea", "茶"],
        "importance": 0.2,
        "hits": 0,
        "said_at": (NOW - 10 * DAY).isoformat(),
        "last_access_at": (NOW - 10 * DAY).isoformat(),
        "last_access_turn": 1,
        "archived_at": left.isoformat(),
        "stage": "T1",
        "session": 1,
        "message_ids": record["message_ids"],
    }


async def test_maintenance_changes_neither_file(participant: Participant) -> None:
    export = of(participant)
    before = await read(stream_context(export)), await read(stream_archive(export))

    def maintain() -> int:
        with lab_scope(participant.lab_id):
            return RetainedItem.objects.archive_due(export.now)

    assert await sync_to_async(maintain)() == 1
    assert (await read(stream_context(export)), await read(stream_archive(export))) == before


async def test_a_long_archive_streams_in_pieces(
    participant: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ITEMS_A_CHUNK", 2)
    pieces = [
        piece
        async for piece in stream_archive(of(participant, now=Point(at=NOW + 99 * DAY, turn=1)))
    ]
    assert [piece.count(b"\n") for piece in pieces] == [2, 1]


async def test_another_lab_gets_empty_files(participant: Participant, other_lab: Lab) -> None:
    foreign = of(participant, lab_id=other_lab.pk)
    assert await read(stream_archive(foreign)) == ""
    assert await read(stream_context(foreign)) == "# What the user told you\n\n"


async def test_only_who_sees_the_arm_sees_the_page(
    participant: Participant, other_lab: Lab
) -> None:
    address = f"/admin/experiments/participant/{participant.pk}/working-set/"
    shown = await client_of("Alice", participant, unblinded=True)
    page = await shown.get(address)
    assert page.status_code == 200
    text = page.content.decode()
    assert "is a nurse" in text
    assert "had bread" not in text
    for name, unblinded in (("Alice", False), ("Bob", True), ("Dora", True), ("Erin", True)):
        browser = await client_of(name, participant, unblinded=unblinded)
        assert (await browser.get(address)).status_code == 404, name
        assert (await browser.post(address, {"file": "working"})).status_code == 404, name
    stranger = await client_of("Charlie", participant, lab=other_lab, unblinded=True)
    assert (await stranger.get(address)).status_code == 404


async def test_the_downloads_are_the_files_and_are_logged(participant: Participant) -> None:
    address = f"/admin/experiments/participant/{participant.pk}/working-set/"
    browser = await client_of("Alice", participant, unblinded=True)
    context: Any = await browser.post(address, {"file": "working"})
    assert context["Content-Disposition"].endswith(f'{participant.code}-context.md"')
    assert await read(context.streaming_content) == await read(stream_context(of(participant)))
    archive: Any = await browser.post(address, {"file": "archived"})
    assert await read(archive.streaming_content) == await read(stream_archive(of(participant)))
    assert (await browser.post(address, {"file": "other"})).status_code == 404
    assert await logged(participant) == ["working", "archived"]


async def test_an_arm_without_items_has_no_such_page(participant: Participant, lab: Lab) -> None:
    other = await sync_to_async(in_another_arm)(participant)
    browser = await client_of("Alice", other, unblinded=True)
    address = f"/admin/experiments/participant/{other.pk}/working-set/"
    assert (await browser.get(address)).status_code == 404


def in_another_arm(participant: Participant) -> Participant:
    with lab_scope(participant.lab_id):
        study = Study.objects.get(pk=participant.study_id)
    return scripted(study, start=NOW, arm="none")


@sync_to_async
def client_of(
    name: str, participant: Participant, *, lab: Lab | None = None, unblinded: bool
) -> AsyncClient:
    if lab is None:
        with lab_scope(participant.lab_id):
            lab = Lab.objects.get(pk=participant.lab_id)
    known = signed_in(name, lab)
    if unblinded:
        session = known.session
        session[UNBLINDED] = {
            "lab": lab.pk,
            "studies": [],
            "participants": [participant.pk],
        }
        session.save()
    client = AsyncClient()
    client.cookies = known.cookies
    return client


@sync_to_async
def logged(participant: Participant) -> list[str]:
    with lab_scope(participant.lab_id):
        entries = AuditEntry.objects.filter(action="export_memory").order_by("pk")
        return [entry.details["file"] for entry in entries]
