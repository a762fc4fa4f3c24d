"""Files that a memory gives away: every event as JSON Lines; the working set as ``context.md`` and
the archive as JSON Lines; of a homeostatic memory its log and its bins."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import BinnedItem, LoggedTurn, MemoryEvent, RetainedItem
from memory.models.retention_rule import Point, Retention
from memory.working_set import Cued, carried, context_markdown

ITEMS_A_CHUNK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedExport:
    """One participant's items as they are at ``now``, by the rule and budget of their arm.

    What is due counts as archived, whether or not maintenance has been there.
    """

    lab_id: int
    participant_id: int
    now: Point
    retention: Retention
    budget: int
    language: str


def at_hand(export: RetainedExport) -> list[RetainedItem]:
    """What a prompt without any cue would carry, best score first. Call inside a scope."""
    items = RetainedItem.objects.of_participant(export.participant_id).at_hand(export.now)
    chosen = carried(
        at_hand=(
            Cued(
                item=item,
                score=item.score(retention=export.retention, now=export.now),
                archived=False,
            )
            for item in items.defer("vector", "words")
        ),
        woken=(),
        wake_relevance=1.0,
        retention=export.retention,
        budget=export.budget,
    )
    return [each.item for each in chosen.shown]


def archive_json_lines(items: Iterable[RetainedItem]) -> Iterator[str]:
    """Archived items, a JSON object a line; times are study time, ISO 8601."""
    for item in items:
        yield _json_line(archived_record(item))


def archived_record(item: RetainedItem) -> dict[str, Any]:
    """One archived item. What is due but not yet archived left at its own moment."""
    left = item.archived_at or item.archive_at
    return {
        "id": str(item.pk),
        "text": item.text,
        "keywords": list(item.keywords),
        "importance": item.importance,
        "hits": item.hits,
        "said_at": item.encoded_at.isoformat(),
        "last_access_at": item.anchor.isoformat(),
        "last_access_turn": item.anchor_turn,
        "archived_at": None if left is None else left.isoformat(),
        "stage": item.stage_key,
        "session": item.session_number,
        "message_ids": [str(message) for message in item.message_ids],
    }


async def stream_context(export: RetainedExport) -> AsyncIterator[bytes]:
    """``context.md``, piece by piece."""
    texts = await unit(_texts, export)
    for piece in context_markdown(texts, language=export.language):
        yield piece.encode()


async def stream_archive(export: RetainedExport) -> AsyncIterator[bytes]:
    """The archive in the order in which it was said, chunk by chunk: each is one unit of work in
    its own scope, so nothing is held while the browser reads."""
    ids = await unit(_archived_ids, export)
    for start in range(0, len(ids), ITEMS_A_CHUNK):
        yield (await unit(_lines, export, ids[start : start + ITEMS_A_CHUNK])).encode()


def _texts(export: RetainedExport) -> list[str]:
    with lab_scope(export.lab_id):
        return [item.text for item in at_hand(export)]


def _archived_ids(export: RetainedExport) -> list[UUID]:
    with lab_scope(export.lab_id):
        items = RetainedItem.objects.of_participant(export.participant_id)
        archived = items.archived_by(export.now).order_by("encoded_at", "pk")
        return list(archived.values_list("pk", flat=True))


def _lines(export: RetainedExport, ids: list[UUID]) -> str:
    with lab_scope(export.lab_id):
        items = RetainedItem.objects.of_participant(export.participant_id).filter(pk__in=ids)
        ordered = items.order_by("encoded_at", "pk").defer("vector", "words")
        return "".join(archive_json_lines(ordered))


async def stream_events(*, lab_id: int, participant_id: int) -> AsyncIterator[bytes]:
    """Everything that ever happened to a participant's memories, in the order of recording."""
    async for piece in _stream(lab_id, participant_id, _event_ids, _event_lines):
        yield piece


async def stream_turn_log(*, lab_id: int, participant_id: int) -> AsyncIterator[bytes]:
    """A homeostatic memory's log in order, one turn a line, in the protocol's terms."""
    async for piece in _stream(lab_id, participant_id, _logged_ids, _logged_lines):
        yield piece


async def stream_binned_items(*, lab_id: int, participant_id: int) -> AsyncIterator[bytes]:
    """What its bins hold in the order in which it was said, one item a line, in the protocol's
    terms, embeddings included."""
    async for piece in _stream(lab_id, participant_id, _binned_ids, _binned_lines):
        yield piece


async def _stream(
    lab_id: int,
    participant_id: int,
    ids_of: Callable[[int], list[UUID]],
    lines_of: Callable[[int, Sequence[UUID]], str],
) -> AsyncIterator[bytes]:
    """Chunk by chunk, as ``stream_archive`` does."""

    def ids() -> list[UUID]:
        with lab_scope(lab_id):
            return ids_of(participant_id)

    def lines(chunk: Sequence[UUID]) -> str:
        with lab_scope(lab_id):
            return lines_of(participant_id, chunk)

    found = await unit(ids)
    for start in range(0, len(found), ITEMS_A_CHUNK):
        yield (await unit(lines, found[start : start + ITEMS_A_CHUNK])).encode()


def _event_ids(participant_id: int) -> list[UUID]:
    events = MemoryEvent.objects.filter(participant_id=participant_id).order_by("pk")
    return list(events.values_list("public_id", flat=True))


def _event_lines(participant_id: int, chunk: Sequence[UUID]) -> str:
    events = MemoryEvent.objects.filter(participant_id=participant_id, public_id__in=chunk)
    return "".join(_json_line(event.as_json()) for event in events.order_by("pk"))


def _logged_ids(participant_id: int) -> list[UUID]:
    return list(LoggedTurn.objects.of_participant(participant_id).values_list("pk", flat=True))


def _logged_lines(participant_id: int, chunk: Sequence[UUID]) -> str:
    turns = LoggedTurn.objects.of_participant(participant_id).filter(pk__in=chunk)
    return "".join(_json_line(turn.as_json()) for turn in turns)


def _binned_ids(participant_id: int) -> list[UUID]:
    return list(BinnedItem.objects.of_participant(participant_id).values_list("pk", flat=True))


def _binned_lines(participant_id: int, chunk: Sequence[UUID]) -> str:
    items = BinnedItem.objects.of_participant(participant_id).filter(pk__in=chunk)
    return "".join(_json_line(item.as_json()) for item in items)


def _json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
