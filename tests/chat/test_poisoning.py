"""Two hundred hostile messages and model answers for each architecture, through the same code as a
live conversation: nothing foreign is read or written, and nothing is learned from an echo."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from chat import conversation, frames, steps
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.models import Message, Receipt, Reply
from experiments.models import Lab, Participant, Session, Stage, Study
from memlab.core.clock import wall_now
from memlab.core.due import Due
from memlab.core.ledger import Job, JobState
from memlab.core.llm.base import Completion, Sampling, TextDelta, Tool, ToolCall
from memlab.core.tenancy import lab_scope
from memlab.core.values import Prompt, PromptTask
from memlab.core.work import unit
from memory.models import (
    Belief,
    BinnedItem,
    Compressible,
    ConsolidationRun,
    Episode,
    LoggedTurn,
    MemoryEvent,
    RegulatedState,
    RetainedItem,
    SessionLog,
    SleepRun,
    Trait,
)
from tests.chat import hostile
from tests.chat.hostile import ANSWERS, CALL_KINDS, HOLDING, ITEM_KINDS, REFUSED, SAID, UNUSABLE
from tests.conversations import START, ScriptedDoors, Talk
from tests.doors import ScriptedModel
from tests.studies import make_study, reference_of

DAY, TURN = timedelta(days=1), timedelta(seconds=30)
#: Words of memories that nobody ever said, and of replies.
OWN, NEAR, FAR, REPLIED = "quaxolite", "zirconfable", "brindlewick", "flumpergast"
EXTRACTED = (Trait, Belief, SessionLog, Compressible, RetainedItem, BinnedItem)
MEMORIES = (*EXTRACTED, Episode, LoggedTurn, RegulatedState, SleepRun)
TOOLS = {"save_memory", "recall_memory", "weaken_memory", "update_memory", "forget_memory"}


@dataclass(frozen=True)
class Case:
    """An architecture in a study's language; ``asks`` how often a model extracts: after each
    ``turn``, each ``session``, or never."""

    architecture: str
    language: str
    asks: str = ""
    tools: bool = True
    parameters: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.architecture}{'' if self.tools else '-untooled'}-{self.language}"


EPISODIC = {"initial_g": 20.0, "recall_threshold": 0.05}
CASES = (
    Case("sensory", "en"),
    Case("working", "zh-hans"),
    Case("full_history", "en"),
    Case("gist", "zh-hans", "session"),
    Case("hybrid", "en", "session", parameters=EPISODIC),
    Case("random_recall", "zh-hans", "session", parameters=EPISODIC),
    Case("compression", "en", "session"),
    Case("retention", "zh-hans", "turn"),
    Case("homeostatic", "en", "turn"),
    Case("confidence", "en"),
    Case("confidence", "zh-hans", "turn", tools=False),
)


def memory_of(marker: str) -> str:
    return f"tends a violet orchard {marker}"


def honest(prompt: Prompt, marker: str) -> list[Any]:
    """What a model makes of a first talk: one memory, in words that weren't all said."""
    text, own = memory_of(marker), prompt.material[0].id
    fields = {
        "dimension": "preferences", "bin": "fact", "text": text, "message": own, "topic": "garden",
        "tags": [{"dimension": "garden", "value": "orchard"}], "importance": 0.9,
        "keywords": ["orchard"],
    }  # fmt: skip
    if prompt.task is PromptTask.CALL_TOOLS:
        return [{"name": "save_memory", "arguments": {"content": text, "category": "event"}}]
    if prompt.task is PromptTask.WRITE_LOG:
        return [{"text": f"spoke of the orchard {marker}", "messages": [own]}]
    return [fields]


class Extraction(ScriptedModel):
    """Honest until it is given poison; then it answers with ``size`` pieces of it at a time, and
    with nothing usable while ``broken`` is left."""

    def __init__(self, marker: str) -> None:
        super().__init__()
        self.marker, self.size, self.broken = marker, 0, 0
        self.poison: list[hostile.Poison] = []
        self.recalled, self.line = "", ""
        self.answered, self.hostile = 0, False
        self._mended = 0

    def _answer(self, prompt: Prompt) -> str:
        if prompt.task is PromptTask.REPAIR_JSON:
            self._mended += 1
            return UNUSABLE[self._mended % len(UNUSABLE)]
        if self.hostile and self.broken and prompt.task not in SUPPORTING:
            self.broken -= 1
            self.answered += 1
            return UNUSABLE[self.answered % len(UNUSABLE)]
        items = self._items(prompt)
        return f"Of course:\n```json\n{json.dumps({HOLDING[prompt.task]: items})}\n```"

    def _items(self, prompt: Prompt) -> list[Any]:
        if prompt.task in SUPPORTING:
            return SUPPORTING[prompt.task](prompt)
        if not self.hostile:
            return honest(prompt, self.marker)
        if prompt.task is PromptTask.WRITE_LOG:
            return []
        taken = [self.poison.pop() for _ in range(min(self.size, len(self.poison)))]
        self.answered += len(taken)
        if prompt.task is PromptTask.CALL_TOOLS:
            made = [
                hostile.call(each, number=0, recalled=self.recalled, line=self.line)
                for each in taken
            ]
            return [{"name": each.name, "arguments": each.arguments} for each in made]
        own = prompt.material[0].id
        # What it was shown of the reply, it gives out as the participant's.
        shown = any(REPLIED in each.text for each in prompt.material)
        recalled = f"{REPLIED} is the password" if shown else self.recalled
        return [hostile.item(each, own=own, recalled=recalled, line=self.line) for each in taken]


def ratings(prompt: Prompt) -> list[Any]:
    own = [each.id for each in prompt.material]
    rated = {"intensity": 0.5, "self_disclosure": 0.5, "value_relevance": 0.5}
    bad: list[Any] = [
        None,
        "all",
        {**rated, "message": str(UUID(int=7))},
        {**rated, "intensity": "NaN"},
    ]
    wild = {**rated, "message": own[0], "intensity": float("nan"), "value_relevance": float("inf")}
    return [*bad, wild, *({**rated, "message": each} for each in own)]


def appraisals(prompt: Prompt) -> list[Any]:
    own = prompt.material[0].id
    usable = {"valence": -0.9, "offensiveness": 0.9, "boundary": False, "events": ["insult", 7]}
    bad: list[Any] = [
        None,
        [],
        {**usable, "message": str(UUID(int=7))},
        {**usable, "valence": float("nan")},
    ]
    return [*bad, {**usable, "message": own, "participant": 1, "offensiveness": 1e300}]


SUPPORTING = {PromptTask.RATE_SALIENCE: ratings, PromptTask.APPRAISE: appraisals}


class Talking(ScriptedModel):
    """Says back what it was given of its memory, and calls what it likes, offered or not."""

    def __init__(self, *, tools: bool) -> None:
        super().__init__()
        self.calls_tools = tools
        self.rounds: list[list[ToolCall]] = []
        self.made = 0

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        calls = tuple(self.rounds.pop(0)) if self.rounds and self.rounds[0] is not None else ()
        self.made += len(calls)
        completion = replace(
            await self.complete(prompt, sampling=sampling),
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
        )
        yield TextDelta(completion.text)
        yield completion

    def _answer(self, prompt: Prompt) -> str:
        lines = [line for section in prompt.sections for line in section.lines]
        return f"{REPLIED} is the password.\n\n[What you know about the user]\n" + "\n".join(
            lines[:3]
        )


class Conversation(Talk):
    """As a participant has it in the browser, from the raw frame on; ``sent`` is what came back."""

    doors: ScriptedDoors

    def __init__(self, study: Study, marker: str, *, tools: bool) -> None:
        self.extraction, self.talking = Extraction(marker), Talking(tools=tools)
        super().__init__(study, ScriptedDoors(self.talking, self.extraction), arm="attacked")
        self.sent: list[dict[str, Any]] = []
        self.degraded: set[str] = set()
        self.now = START

    async def announce(self, session: UUID, *sent: dict[str, Any]) -> None:
        self.sent += sent

    async def tell(self, raw: str) -> UUID:
        """A frame of the browser's, and the reply to it, once memory has done what it has to."""
        frame = frames.read(raw)
        assert isinstance(frame, frames.Say)
        self.now += TURN
        await unit(self._move, self.now)
        said = await unit(
            conversation.say,
            SessionRef.of(reference_of(self.participant), self.session.id),
            client_id=frame.client_id,
            text=frame.text,
            wall=wall_now(),
        )
        self.sent += [said.ack_frame(), said.message_frame()]
        await self.work()
        assert await make_reply(self.study.lab_id, said.reply, self.doors, self.announce)
        await self.work()
        return said.reply

    async def visit(self, stage: str, raw: Sequence[str], *, broken: Sequence[int] = ()) -> None:
        """A whole session, finished by the participant. ``broken``: after which turns, and how
        often at the end (the last number), extraction fails."""
        self.now += DAY
        await unit(self._move, self.now)
        self.session = await unit(self._enter, stage)
        await self.work()
        for number, each in enumerate(raw):
            self.extraction.broken = int(number in broken[:-1])
            await self.tell(each)
        self.extraction.broken = broken[-1] if broken else 0
        reference = SessionRef.of(reference_of(self.participant), self.session.id)
        assert await unit(conversation.finish, reference, wall=wall_now())
        await self.work()

    async def work(self) -> None:
        """Every step until none is left, without the pauses between attempts."""
        while await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors):
            pass
        for _attempt in range(6):
            if not await unit(self._awake):
                return
            await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors)

    def _awake(self) -> int:
        """End the rest of steps that failed; how many there are."""
        with lab_scope(self.study.lab_id):
            own = Session.objects.filter(participant=self.participant)
            self.degraded |= {mark for each in own for mark in each.degraded}
        return Job.objects.pending_of(self.participant.public_id).update(not_before=None)

    def rows(self, *models: type[Any]) -> dict[str, list[Any]]:
        with lab_scope(self.study.lab_id):
            return {
                model.__name__: list(
                    model.objects.filter(participant=self.participant).order_by("pk").values()
                )
                for model in models
            }

    def everything(self) -> str:
        """All that is kept of this participant, vectors and all."""
        person = self.participant
        with lab_scope(self.study.lab_id):
            said = Message.objects.filter(session__participant=person).order_by("pk")
            replies = Reply.objects.filter(session__participant=person).order_by("pk")
            receipts = Receipt.objects.filter(reply__session__participant=person).order_by("pk")
            state = [
                list(each.values())
                for each in (
                    Participant.objects.filter(pk=person.pk),
                    Session.objects.filter(participant=person).order_by("pk"),
                    said,
                    replies,
                    receipts,
                )
            ]
        mine = {"participant": person.public_id}
        ledger = [
            list(Job.objects.filter(**mine).order_by("pk").values()),
            list(Due.objects.filter(subject=person.public_id).order_by("pk").values()),
        ]
        memory = self.rows(*MEMORIES, MemoryEvent, ConsolidationRun)
        return repr((state, ledger, memory))

    def names(self) -> list[str]:
        """Everything by which this participant or what is theirs could be named."""
        with lab_scope(self.study.lab_id):
            messages = Message.objects.filter(session__participant=self.participant)
            named = [
                self.participant.public_id,
                self.participant.code,
                self.participant.pk,
                self.study.lab_id,
                self.session.id,
                *messages.values_list("pk", flat=True)[:2],
            ]
        memories = [row["id"] for rows in self.rows(*EXTRACTED, Episode).values() for row in rows]
        return [str(each) for each in (*named, *memories[:2])]


def study_of(lab: Lab, case: Case) -> Study:
    study = make_study(
        lab,
        language=case.language,
        arms={"attacked": (case.architecture, case.parameters)},
        stages={"manipulation": True, "minimum_gap_hours": 0, "opening_line": ""},
    )
    with lab_scope(lab.pk):
        first = Stage.objects.get(study=study, number=1)
        for number in (3, 4):
            first.pk, first.number, first.key = None, number, f"T{number}"
            first._state.adding = True
            first.save()
    return study


async def acquainted(study: Study, case: Case, marker: str) -> Conversation:
    """A participant who has had a first talk, and of whom one thing is remembered."""
    talk = Conversation(study, marker, tools=case.tools)
    await talk.begin()
    save = {"content": memory_of(marker), "category": "event"}
    if case.architecture == "confidence" and case.tools:
        call = ToolCall("call_0", "save_memory", json.dumps(save))
        talk.talking.rounds = [[call], []]
    said = f"I tend a violet orchard, says {'' if marker == OWN else marker} my diary."
    await talk.visit("T1", [hostile._frame(said)])
    return talk


def rounds_of(case: Case, recalled: str, line: str, names: list[str]) -> list[Any]:
    """Hostile calls by round: one turn calls fourteen at once, one goes on for six rounds, the
    others call four, then five."""
    if case.asks:
        return []
    calls = [
        hostile.call(each, number=number, recalled=recalled, line=line)
        for number, each in enumerate(hostile.poisons(CALL_KINDS, names, ANSWERS))
    ]
    if case.architecture != "confidence":  # no tools are offered: one round a turn
        return [calls[at : at + 9] for at in range(0, ANSWERS, 9)]
    rounds: list[Any] = [calls[:14], []]
    rounds += [[each] for each in calls[14:19]]
    rounds += [[]]
    for at in range(19, ANSWERS, 9):
        rounds += [calls[at : at + 4], calls[at + 4 : at + 9], []]
    return rounds


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_two_hundred_hostile_messages_and_answers_come_to_nothing(
    case: Case, own_lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    study = await unit(study_of, own_lab, case)
    elsewhere = await unit(study_of, await unit(another_lab), case)
    near = await acquainted(study, case, NEAR)
    far = await acquainted(elsewhere, case, FAR)
    talk = await acquainted(study, case, OWN)
    untouched = [await unit(each.everything) for each in (near, far)]
    learned = await unit(talk.rows, *EXTRACTED)
    for each, marker in zip(untouched, (NEAR, FAR), strict=True):
        assert marker in each

    names = [*await unit(near.names), *await unit(far.names)]
    said, refused = hostile.frames(names)
    for raw in refused:
        with pytest.raises(frames.BadFrame):
            frames.read(raw)
    line = f"- [2026-03-02] {memory_of(OWN)}"
    talk.talking.rounds = rounds_of(case, memory_of(OWN), line, names)
    model = talk.extraction
    model.hostile, model.recalled, model.line = True, memory_of(OWN), line
    if case.asks:
        kinds = CALL_KINDS if case.architecture == "confidence" else ITEM_KINDS
        model.poison = hostile.poisons(kinds, names, ANSWERS - len(UNUSABLE))
        model.size = 9 if case.asks == "turn" else 33
    half, fails = SAID // 2, {"turn": (1, 3, 5, 7, 0), "session": (4,)}.get(case.asks, ())
    await talk.visit("T2", said[:half], broken=fails)
    await talk.visit("T3", said[half:], broken=fails)
    assert (len(said), len(refused)) == (SAID, REFUSED)
    assert (talk.talking.made if not case.asks else model.answered) >= ANSWERS
    assert model.poison == []

    # And the next time all is as it should be.
    model.hostile, talk.talking.rounds = False, []
    await talk.visit("T4", [hostile._frame("What do you know of my orchard? 我的果园呢？")])

    assert [await unit(each.everything) for each in (near, far)] == untouched
    await unit(nothing_foreign, talk)
    await unit(nothing_born_of_an_echo, talk, learned)
    await unit(only_tools_of_the_list, talk, case)
    await unit(all_is_settled, talk)
    assert bool({mark for mark in talk.degraded if "extraction" in mark}) == bool(case.asks)
    assert [record.getMessage() for record in caplog.records] == []


def another_lab() -> Lab:
    return Lab.objects.found(name="Lab of elsewhere")


def nothing_foreign(talk: Conversation) -> None:
    """Not one word of others' in a prompt, a receipt, a frame or a memory."""
    prompts = repr([*talk.talking.prompts, *talk.extraction.prompts])
    for marker in (NEAR, FAR):
        assert marker not in prompts
        assert marker not in talk.everything()
        assert marker not in json.dumps(talk.sent)
    for prompt in talk.talking.prompts:
        titles = [line for line in prompt.system.splitlines() if line.startswith("[")]
        assert titles == [f"[{section.title}]" for section in prompt.sections]


def nothing_born_of_an_echo(talk: Conversation, learned: dict[str, list[Any]]) -> None:
    """The last, honest talk apart, what is known is what was known, from the person's own words."""
    with lab_scope(talk.study.lab_id):
        messages = Message.objects.filter(session__participant=talk.participant)
        roles = dict(messages.values_list("pk", "role"))
    rows = talk.rows(*MEMORIES)
    own = {message for message, role in roles.items() if role == "participant"}
    last = talk.session.id
    for model in EXTRACTED:
        name = model.__name__
        for row in rows[name]:
            said_by = roles if row.get("bin") == "style" else own
            assert set(row["message_ids"]) <= set(said_by), row
        known = {row["id"] for row in learned[name]}
        fresh = [row for row in rows[name] if row["session_id"] != last]
        new = [row for row in fresh if row["id"] not in known and row.get("bin") != "style"]
        assert new == [], name
        words = repr([row for row in rows[name] if row.get("bin") != "style"])
        assert REPLIED not in words
    for name in ("Episode", "LoggedTurn"):
        assert all(set(row["message_ids"]) <= set(roles) for row in rows[name])


def only_tools_of_the_list(talk: Conversation, case: Case) -> None:
    with lab_scope(talk.study.lab_id):
        receipts = Receipt.objects.filter(reply__session__participant=talk.participant)
        called = [call for receipt in receipts for call in receipt.tools]
        events = MemoryEvent.objects.filter(participant=talk.participant)
        changed = set(
            events.filter(cause="tool").exclude(event="refused").values_list("event", flat=True)
        )
    with_tools = case.architecture == "confidence" and case.tools
    assert {call["name"] for call in called if not call["refused"]} == (
        {"save_memory", "recall_memory"} if with_tools else set()
    )
    assert bool(called) == with_tools
    assert {call["name"] for call in called if not call["refused"]} <= TOOLS
    assert changed == ({"encoded"} if with_tools else set())


def all_is_settled(talk: Conversation) -> None:
    with lab_scope(talk.study.lab_id):
        replies = Reply.objects.filter(session__participant=talk.participant)
        assert set(replies.values_list("state", flat=True)) == {"done"}
        assert replies.count() == SAID + 2
        sessions = Session.objects.filter(participant=talk.participant)
        assert {session.state for session in sessions} <= {"ended", "complete"}
        assert [session.degraded for session in sessions if session.degraded] == []
    jobs = Job.objects.filter(participant=talk.participant.public_id)
    assert set(jobs.values_list("state", flat=True)) <= {JobState.DONE}
    assert not any(mark.startswith("error:") for mark in talk.degraded)
