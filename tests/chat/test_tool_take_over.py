"""A process may die in the middle of a turn's tool calls: nothing is applied, all begins anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from chat import claims, generation, steps
from chat.generation import make_reply
from chat.models import Receipt, Reply
from experiments.models import Lab
from memlab.core.llm.base import ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memlab.core.work import unit
from memory.models import MemoryEvent, Trait
from tests.chat.test_take_over import PowerCut, dying, later, said
from tests.conversations import ScriptedDoors, silence
from tests.doors import CallingModel, ScriptedModel
from tests.notebook import NOTEBOOK, Notebook
from tests.studies import enrol, enter, make_study

pytestmark = pytest.mark.usefixtures("kept_rows")

ROUNDS = (
    [ToolCall("a", "write", '{"text": "likes tea"}'), ToolCall("b", "write", "{broken")],
    [ToolCall("c", "write", '{"text": "keeps a parrot"}')],
)
APPLIED = (1, ["keeps a parrot", "likes tea"], ["encoded", "encoded", "refused"])


@dataclass
class Turn:
    lab: Lab
    reply: UUID
    doors: ScriptedDoors
    model: CallingModel

    async def make(self) -> bool:
        return await make_reply(self.lab.pk, self.reply, self.doors, silence)

    async def row(self) -> Reply:
        def read() -> Reply:
            with lab_scope(self.lab.pk):
                return Reply.objects.select_related("message").get(pk=self.reply)

        return await unit(read)

    async def applied(self) -> tuple[int, list[str], list[str]]:
        """Receipts, lines written, and events."""

        def read() -> tuple[int, list[str], list[str]]:
            with lab_scope(self.lab.pk):
                return (
                    Receipt.objects.count(),
                    sorted(Trait.objects.values_list("text", flat=True)),
                    sorted(MemoryEvent.objects.values_list("event", flat=True)),
                )

        return await unit(read)


@pytest.fixture
async def turn(own_lab: Lab, settings) -> Turn:
    """A participant has just said something to a model that calls tools twice, then answers."""
    settings.MEMORY_ARCHITECTURES = {**settings.MEMORY_ARCHITECTURES, **NOTEBOOK}
    stages = {"manipulation": True, "opening_line": ""}
    study = await unit(make_study, own_lab, arms={"notebook": "notebook"}, stages=stages)
    person = await unit(enrol, study, arm="notebook")
    session = await unit(enter, person)
    model = CallingModel(*ROUNDS, answers={PromptTask.REPLY: "I see."})
    doors = ScriptedDoors(model, ScriptedModel())
    return Turn(own_lab, await unit(said, person, session, "I like tea."), doors, model)


def dying_call(number: int) -> Any:
    """``call_tool``, but the power goes after the call of that number."""
    call_tool, made = Notebook.call_tool, 0

    async def dies(*args: Any, **kwargs: Any) -> Any:
        nonlocal made
        answer = await call_tool(*args, **kwargs)
        made += 1
        if made == number:
            raise PowerCut
        return answer

    return dies


@pytest.mark.parametrize(
    ("where", "line", "death", "done"),
    [
        (Notebook, "call_tool", dying_call(1), False),
        (Notebook, "call_tool", dying_call(2), False),
        (Notebook, "call_tool", dying_call(3), False),
        (claims, "store", dying(claims.store, after=False), False),
        (Notebook, "commit_recall", dying(Notebook.commit_recall, after=True), False),
        (claims, "store", dying(claims.store, after=True), True),
    ],
    ids=["in the first call", "before the second round", "before the last round",
         "before storing", "within storing", "after storing"],
)  # fmt: skip
async def test_a_maker_may_die_between_any_two_calls(
    turn: Turn, monkeypatch: pytest.MonkeyPatch, where: Any, line: str, death: Any, done: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(where, line, death)
        with pytest.raises(PowerCut):
            await turn.make()
    assert await turn.applied() == (APPLIED if done else (0, [], []))
    asked = len(turn.model.prompts)

    monkeypatch.setattr(generation, "wall_now", later(60))
    monkeypatch.setattr(steps, "wall_now", later(60))
    assert await turn.make() is not done
    row = await turn.row()
    assert (row.state, row.attempt, row.message.text) == ("done", 1 if done else 2, "I see.")
    assert await turn.applied() == APPLIED
    if not done:
        assert [len(p.messages) for p in turn.model.prompts[asked:]] == [1, 4, 6]
    assert not await turn.make()
    assert await turn.applied() == APPLIED


async def test_a_fault_of_a_memory_s_own_in_a_call_is_no_failure_of_the_provider(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def faulty(*_: Any) -> Any:
        raise KeyError("a fault of ours")

    with monkeypatch.context() as patch:
        patch.setattr(Notebook, "call_tool", faulty)
        with pytest.raises(KeyError):
            await turn.make()
    row = await turn.row()
    assert (row.state, row.failure, row.deaths) == ("pending", "", 1)
    assert await turn.make()
    assert await turn.applied() == APPLIED
