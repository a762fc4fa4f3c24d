"""Real processes killed in the middle: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID

from chat.models.message import message_id
from tests.processes.conftest import QUICK, SLOW
from tests.processes.house import Guest, House
from tests.standin import Answer, Fault, StandIn


async def test_web_and_tasks_are_killed_in_the_middle(
    house: House, people: dict[str, dict[str, str]], provider: StandIn
) -> None:
    remembering, beginning = people["remembering"], people["beginning"]
    port = house.start_web()
    house.start_tasks()
    async with Guest(remembering, port) as one, Guest(beginning, port) as other:
        # The second participant ends a conversation; its extraction hangs in the task cluster.
        await other.say("My sister is called Mei.")
        await other.until_settled()
        provider.reset()
        provider.default = SLOW
        provider.script([Answer(fault=Fault.HANG_BEFORE_HEADERS, match='"extract"')])
        await other.send({"type": "end"})
        await other.until(lambda frame: frame["type"] == "stage_over")
        async with asyncio.timeout(30):
            while not provider.requests:  # noqa: ASYNC110 - filled by another thread
                await asyncio.sleep(0.1)
        # The first is in the middle of a reply, with a second message waiting its turn.
        await one.say("What is my parrot called?")
        await one.say("And what colour is it?")
        await one.until(lambda frame: frame["type"] == "token" and frame["n"] >= 2)
        acked = [text for client_id, text in one.said if client_id in one.acked]
        assert acked == [text for _, text in one.said]

        house.kill("web")
        house.kill("tasks")
        provider.default = QUICK
        provider.script([Answer(text=ratings(beginning), match='"extract"')] * 4)
        one.port = house.start_web()
        house.start_tasks()
        history = await one.until_settled()

    assert [item["text"] for item in history if item["role"] == "participant"] == acked
    answers = [item for item in history if item["role"] == "assistant"]
    assert [item["text"] for item in answers] == ["A short answer."] * 2
    assert answers[0]["attempt"] == 2
    once_and_in_order(house, remembering, one)
    strengthened_once(house, remembering)
    await house.until(
        "SELECT state = 'done' FROM core_job WHERE subject = %s", beginning["session"], within=90
    )
    consolidated_once(house, beginning)


async def test_postgres_stops_at_once_while_people_chat(
    house: House, people: dict[str, dict[str, str]], provider: StandIn
) -> None:
    provider.reset()
    provider.default = Answer(text=SLOW.text[:300], delay=0.05)
    port = house.start_web()
    house.start_tasks()
    async with Guest(people["remembering"], port) as guest:
        await guest.until_settled()
        before = house.ask("SELECT count(*) FROM chat_message")[0][0]
        await guest.say("Is anybody there?")
        await guest.until(lambda frame: frame["type"] == "token")
        house.database.kill()
        await asyncio.sleep(0.5)
        provider.default = QUICK
        assert house.database.start() == house.url
        await guest.say("Can you hear me again?")
        await guest.until_settled()
        await guest.say("Good.")
        history = await guest.until_settled()
        await guest.send({"type": "end"})
        await guest.until(lambda frame: frame["type"] == "stage_over")
    said = [item["text"] for item in history if item["role"] == "participant"][-3:]
    assert said == ["Is anybody there?", "Can you hear me again?", "Good."]
    assert house.ask("SELECT count(*) FROM chat_message")[0][0] == before + 6
    once_and_in_order(house, people["remembering"], guest)
    strengthened_once(house, people["remembering"])
    session = people["remembering"]["session"]
    # The task cluster finds its own way back to the database. What was handed to it just before
    # is handed out again after two minutes (``memlab.core.due.HANDED_OUT_FOR``).
    await house.until("SELECT state = 'done' FROM core_job WHERE subject = %s", session, within=240)


async def test_a_worker_is_killed_in_mid_maintenance(
    house: House, people: dict[str, dict[str, str]], provider: StandIn
) -> None:
    fading = people["fading"]
    rows = house.ask(
        "SELECT c.id::text, c.text FROM memory_compressible c"
        " JOIN experiments_participant p ON p.id = c.participant_id WHERE p.public_id = %s",
        fading["participant"],
    )
    provider.script([Answer(fault=Fault.HANG_BEFORE_HEADERS, match='"extract"')])
    house.start("maintenance", "manage.py", "consolidate", fading["study"])
    async with asyncio.timeout(30):
        while not provider.requests:  # noqa: ASYNC110 - filled by another thread
            await asyncio.sleep(0.1)
    house.kill("maintenance")
    levels = "SELECT level FROM memory_compressible WHERE id::text = ANY(%s)"
    assert house.ask(levels, [pk for pk, _ in rows]) == [("full",), ("full",)]

    summaries = [{"id": pk, "text": text[:12]} for pk, text in rows]
    provider.script([Answer(text=json.dumps({"summaries": summaries}), match='"extract"')])
    for _ in ("once the lease has run out", "again, for nothing"):
        house.run("manage.py", "consolidate", fading["study"])
    assert house.ask(levels, [pk for pk, _ in rows]) == [("summary",), ("summary",)]
    events = house.ask(
        "SELECT memory_id::text, event FROM memory_memoryevent WHERE memory_id::text = ANY(%s)"
        " AND event <> 'encoded' ORDER BY 1",
        [pk for pk, _ in rows],
    )
    assert events == sorted((pk, "compressed") for pk, _ in rows)


def once_and_in_order(house: House, person: dict[str, str], guest: Guest) -> None:
    """Every message of a session is there once, in order, each with one finished reply."""
    session = person["session"]
    rows = house.ask(
        "SELECT seq, role, client_id::text FROM chat_message WHERE session_id = %s ORDER BY seq",
        session,
    )
    assert [seq for seq, _, _ in rows] == list(range(1, len(rows) + 1))
    said = [client_id for _, role, client_id in rows if role == "participant"]
    assert said[-len(guest.said) :] == [client_id for client_id, _ in guest.said]
    assert len(said) == len(set(said))
    replies = house.ask(
        "SELECT r.state, count(t.id) FROM chat_reply r LEFT JOIN chat_receipt t"
        " ON t.reply_id = r.id WHERE r.session_id = %s GROUP BY r.id, r.state",
        session,
    )
    assert replies == [("done", 1)] * len(said)
    newest: dict[int, int] = {}
    for frame in guest.frames:
        if frame["type"] in ("token", "reply"):
            assert frame["attempt"] >= newest.get(frame["seq"], 0), "an older attempt came later"
            newest[frame["seq"]] = frame["attempt"]


def strengthened_once(house: House, person: dict[str, str]) -> None:
    """Each reply strengthened what it recalled, once: the count on the memory is the log's."""
    rows = house.ask(
        "SELECT e.recall_count, (SELECT count(*) FROM memory_memoryevent v"
        " WHERE v.memory_id = e.id AND v.event = 'recalled'), (SELECT count(DISTINCT v.reply_id)"
        " FROM memory_memoryevent v WHERE v.memory_id = e.id AND v.event = 'recalled')"
        " FROM memory_episode e JOIN experiments_participant p ON p.id = e.participant_id"
        " WHERE p.public_id = %s",
        person["participant"],
    )
    assert rows
    for recalled, events, replies in rows:
        assert recalled == events == replies > 0


def consolidated_once(house: House, person: dict[str, str]) -> None:
    """The session's job took a second attempt, and everything was written by one of the two."""
    session = UUID(person["session"])
    jobs = house.ask("SELECT state, attempts FROM core_job WHERE subject = %s", session)
    assert jobs == [("done", 2)]
    parts = house.ask(
        "SELECT part, (written -> 'episode')::int FROM memory_consolidationrun"
        " WHERE subject = %s ORDER BY part",
        session,
    )
    assert parts == [("episodes", 1), ("profile", None)]
    rows = "SELECT count(*) FROM memory_{} WHERE session_id = %s"
    assert house.ask(rows.format("episode"), session) == [(1,)]
    assert house.ask(rows.format("memoryevent"), session) == [(1,)]
    assert house.ask("SELECT degraded FROM experiments_session WHERE id = %s", session) == [([],)]


def ratings(person: dict[str, str]) -> str:
    """What the extracting model says of the one message of this participant."""
    message = str(message_id(UUID(person["session"]), 2))
    rating: dict[str, Any] = {"intensity": 0.5, "self_disclosure": 0.5, "value_relevance": 0.5}
    return json.dumps({"traits": [], "ratings": [{"message": message, **rating}]})
