"""The socket against docs/protocol.md."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from chat.models import Message, Receipt, Reply
from experiments.models import Lab, Session
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from tests.chat.sockets import Tab
from tests.studies import enrol, enter, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def talk(lab: Lab):
    """A participant in an open first conversation."""
    participant = enrol(make_study(lab))
    return participant, enter(participant).id


def rows(lab: Lab) -> list[tuple[int, str, str]]:
    with lab_scope(lab.pk):
        return list(Message.objects.order_by("seq").values_list("seq", "role", "text"))


async def test_a_turn_goes_from_the_socket_to_the_rows_and_back(talk, lab: Lab) -> None:
    participant, session = talk
    async with Tab(participant, session) as tab:
        history = await tab.until("history")
        assert [item["text"] for item in history["items"]] == ["Hello, how was your day?"]
        client_id = await tab.say("I like hiking.")
        ack = await tab.until("ack")
        assert ack == {"type": "ack", "client_id": str(client_id), "seq": 2, "reply_seq": 3}
        reply = await tab.until("reply")
        timer = await tab.until("timer")
    tokens = [frame for frame in tab.frames if frame["type"] == "token"]
    assert [frame["n"] for frame in tokens] == list(range(len(tokens)))
    assert "".join(frame["text"] for frame in tokens).strip() == reply["text"]
    assert timer["turns"] == 1
    assert await unit(rows, lab) == [
        (1, "assistant", "Hello, how was your day?"),
        (2, "participant", "I like hiking."),
        (3, "assistant", reply["text"]),
    ]


async def test_the_same_message_twice_is_stored_once(talk, lab: Lab) -> None:
    participant, session = talk
    async with Tab(participant, session) as tab:
        client_id = await tab.say("Once.")
        first = await tab.until("ack")
        await tab.until("reply")
        await tab.say("Once.", client_id)
        assert await tab.until("ack") == first
        await tab.say("Something else.", client_id)
        assert (await tab.until("error"))["code"] == "conflict"
    assert [text for _, role, text in await unit(rows, lab) if role == "participant"] == ["Once."]


async def test_every_tab_gets_every_message_and_reply(talk) -> None:
    participant, session = talk
    async with Tab(participant, session) as one, Tab(participant, session) as two:
        await two.until("timer")
        await one.say("Hello from the first tab.")
        assert (await two.until("message"))["text"] == "Hello from the first tab."
        assert await one.until("reply") == await two.until("reply")


async def test_messages_that_come_while_a_reply_is_pending_are_answered_in_order(talk) -> None:
    participant, session = talk
    async with Tab(participant, session) as tab:
        for text in ("one", "two", "three"):
            await tab.say(text)
        replies = [(await tab.until("reply"))["seq"] for _ in range(3)]
    assert replies == [3, 5, 7]


async def test_a_stranger_learns_nothing(talk, lab: Lab) -> None:
    _participant, session = talk
    stranger = await unit(lambda: enrol(make_study(lab, title="Another")))
    for session_id in (session, uuid4()):
        async with Tab(stranger, session_id) as tab:
            assert await tab.closed() == 4404
    async with Tab(None, session) as tab:
        assert await tab.closed() == 4401


async def test_a_foreign_origin_is_refused(talk) -> None:
    participant, session = talk
    async with Tab(participant, session, origin="https://elsewhere.example") as tab:
        assert await tab.closed() == 4403


async def test_finishing_ends_the_stage(talk) -> None:
    participant, session = talk
    async with Tab(participant, session) as tab:
        await tab.say("That is all.")
        await tab.until("reply")
        await tab.send({"type": "end"})
        over = await tab.until("stage_over")
        assert over["next_url"] == f"/journey/after/{session}/"
        assert await tab.closed() == 1000


async def test_a_reply_leaves_one_receipt_with_its_exact_prompt(talk, lab: Lab) -> None:
    participant, session = talk
    async with Tab(participant, session) as tab:
        await tab.say("I like hiking.")
        await tab.until("reply")

    def receipt() -> Receipt:
        with lab_scope(lab.pk):
            assert Reply.objects.get().attempt == 1
            return Receipt.objects.get()

    prompt = (await unit(receipt)).prompt
    assert prompt["messages"] == [
        {"role": "assistant", "content": "Hello, how was your day?"},
        {"role": "user", "content": "I like hiking."},
    ]
    assert "You are a warm companion." in prompt["system"]


async def test_typing_puts_idleness_off_once_in_a_while(talk, lab: Lab) -> None:
    """A client that types like mad doesn't make the database work like mad."""
    participant, session = talk

    def last_active() -> datetime:
        with lab_scope(lab.pk):
            return Session.objects.get(pk=session).last_activity_at

    def sit_idle() -> None:
        with lab_scope(lab.pk):
            Session.objects.filter(pk=session).update(
                last_activity_at=wall_now() - timedelta(minutes=1)
            )

    await unit(sit_idle)
    async with Tab(participant, session) as tab:
        await tab.send({"type": "typing"})
        await tab.send({"type": "hello", "settled_seq": 0})
        await tab.until("timer")
        await tab.until("timer")
        assert wall_now() - await unit(last_active) < timedelta(seconds=30)
        await unit(sit_idle)
        await tab.send({"type": "typing"})
        await tab.send({"type": "hello", "settled_seq": 0})
        await tab.until("timer")
        assert wall_now() - await unit(last_active) > timedelta(seconds=30)
