"""The strategies on rows that aren't stored: no database takes part."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import array, float32

from memlab.core.embeddings.base import Form
from memlab.core.values import SessionTranscript, Utterance
from memory.enums import Cause, EventKind
from memory.formulas.compression import Level, due_level
from memory.mentions import Mentions, Whose
from memory.models import Compressible, MemoryEvent
from memory.models.content import Content, Mention, compressible_id
from memory.models.ladder import Ladder
from memory.relevance import RAW
from memory.statements import ExtractedStatement
from tests.doors import ScriptedEmbedder, ScriptedModel
from tests.memory.dialogue import START, identified, said, session
from tests.memory.statements import ANSWERS

LADDER = Ladder()
LEVELS = list(Level)
TALK = session(name="talk")
ENGINEER = Content(text="I am an AI engineer in Beijing", topic="work", tags=("#job:engineer",))


def after(days: float) -> datetime:
    return START + timedelta(days=days)


def row(content: Content = ENGINEER, *, language: str = "en", **changes: Any) -> Compressible:
    """A new memory, then changed as a test needs it."""
    made = Compressible(
        id=compressible_id(
            participant=identified("someone"), message=identified("m"), text=content.text
        ),
        lab_id=1,
        participant_id=1,
        session_id=TALK.id,
        session_number=1,
        stage_key="T1",
        language=language,
        embedder="scripted",
        vector=array([1.0, 0.0], dtype=float32),
        message_ids=[identified("m")],
    )
    made.create(content, ladder=LADDER, at=START, note={})
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def mention(similarity: float, day: float, name: str = "again") -> Mention:
    return Mention(message=identified(name), session=TALK.id, at=after(day), similarity=similarity)


def merged(text: str = "I am the AI engineer Zhang San") -> Content:
    return Content(text=text, topic="work", tags=("#job:AI engineer",))


def merge(memory: Compressible, similarity: float, day: float) -> MemoryEvent:
    vector = array([0.0, 1.0], dtype=float32)
    return memory.merge(mention(similarity, day), merged(), vector, ladder=LADDER)


def test_a_memory_begins_full_with_weight_one() -> None:
    memory = row()
    assert (memory.level, memory.weight, memory.text) == ("full", 1.0, ENGINEER.text)
    assert memory.activated_at == memory.weighed_at == memory.encoded_at == START
    assert memory.due_at == after(7)


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                (7.0, "summary", "I am an AI engineer…"),
                (30.0, "tag", "#job:engineer"),
                (90.0, "trace", "There was once something about work"),
                (180.0, "archive", "[archived]"),
            ],
        ),
        (
            "zh-hans",
            [
                (7.0, "summary", "I am an AI engineer…"),
                (30.0, "tag", "#job:engineer"),
                (90.0, "trace", "曾有与“work”相关的记忆"),
                (180.0, "archive", "[已归档]"),
            ],
        ),
    ],
)
def test_a_late_walk_passes_each_level_at_its_own_moment(
    language: str, lines: list[tuple[float, str, str]]
) -> None:
    memory = row(language=language)
    events = memory.walk(ladder=LADDER, now=after(200), summary="I am an AI engineer…")
    walked = [
        (
            (event.study_at - START) / timedelta(days=1),
            (event.after or {})["level"],
            (event.after or {})["text"],
        )
        for event in events
    ]
    assert walked == lines
    assert {(event.event, event.cause) for event in events} == {
        (EventKind.COMPRESSED, Cause.PASSIVE)
    }
    assert {event.note["trigger"] for event in events} == {"passive_decay"}
    assert (memory.activated_at, memory.weight, memory.weighed_at) == (START, 1.0, START)
    assert (memory.due_at, memory.topic, memory.tags, memory.words) == (None, "", [], [])
    assert memory.vector.tolist() == [1.0, 0.0]


def test_tags_wake_as_a_summary() -> None:
    """The worked example: tags of weight 0.2 and a mention of similarity 0.92."""
    memory = row(level="tag", text="#job:engineer", weight=0.2, weighed_at=after(300))
    event = merge(memory, 0.92, 300)
    assert (memory.level, memory.text) == ("summary", "I am the AI engineer Zhang San")
    assert memory.weight == pytest.approx(0.68, abs=1e-12)
    assert memory.activated_at == memory.weighed_at == after(300)
    assert memory.due_at == after(330)
    assert (memory.mentions, memory.message_ids) == (1, [identified("m"), identified("again")])
    assert memory.vector.tolist() == [0.0, 1.0]
    assert (event.event, event.cause, event.study_at) == (
        EventKind.MERGED,
        Cause.MENTION,
        after(300),
    )
    assert event.note == {
        "trigger": "user_mention",
        "strategy": "merge_update",
        "similarity": 0.92,
        "reason": "similarity 0.92 ≥ 0.85",
        "embedded": "I am the AI engineer Zhang San",
    }


@pytest.mark.parametrize(
    ("level", "similarity", "risen", "text"),
    [
        ("full", 0.99, "full", "I am the AI engineer Zhang San"),
        ("summary", 0.96, "full", "I am the AI engineer Zhang San"),
        ("summary", 0.95, "summary", "I am the AI engineer Zhang San"),
        ("tag", 0.90, "tag", "#job:AI engineer"),
        ("trace", 0.91, "tag", "#job:AI engineer"),
        ("trace", 0.86, "trace", "There was once something about work"),
        ("archive", 0.91, "trace", "There was once something about work"),
        ("archive", 0.90, "archive", "[archived]"),
    ],
)
def test_a_merged_memory_says_what_its_level_leaves(
    level: str, similarity: float, risen: str, text: str
) -> None:
    memory = row(level=level)
    merge(memory, similarity, 10)
    assert (memory.level, memory.text) == (risen, text)
    assert memory.activated_at == after(10)


def test_weight_is_restored_from_what_time_has_left() -> None:
    memory = row()
    merge(memory, 0.9, 100)
    assert memory.weight == pytest.approx(0.5 + 0.6 * 0.5, abs=1e-12)
    assert LADDER.weight(memory.weight, memory.weighed_at, after(200)) == pytest.approx(0.4)


def test_a_memory_without_room_is_refreshed_and_keeps_its_words() -> None:
    memory = row(level="summary")
    memory.merge(mention(0.99, 10), None, None, ladder=LADDER)
    assert (memory.level, memory.text) == ("summary", ENGINEER.text)
    assert (memory.activated_at, memory.vector.tolist()) == (after(10), [1.0, 0.0])


def test_a_reminder_moves_nothing_but_the_weight() -> None:
    memory = row(weight=0.3)
    event = memory.remind(mention(0.7, 0), ladder=LADDER)
    assert memory.weight == pytest.approx(0.51, abs=1e-12)
    assert (memory.level, memory.activated_at, memory.mentions) == ("full", START, 0)
    assert (event.event, event.note["strategy"]) == (EventKind.MENTIONED, "keep_both")


def test_staff_rewrites_what_is_left_and_nothing_else() -> None:
    memory = row()
    words = Content(text="I am a baker", topic="bread", tags=("#job:baker",))
    event = memory.edit(words, at=after(3), reason="asked for it")
    assert memory.content == words
    assert (memory.level, memory.weight, memory.activated_at) == ("full", 1.0, START)
    assert (memory.due_at, memory.unembedded) == (after(3), "I am a baker")
    assert (event.event, event.cause) == (EventKind.EDITED, Cause.STAFF)
    assert event.note == {"trigger": "manual_edit", "reason": "asked for it"}
    memory.reembed(array([0.0, 1.0], dtype=float32), ladder=LADDER)
    assert (memory.due_at, memory.unembedded) == (after(7), "")


def test_staff_edits_tags_where_only_tags_are_left() -> None:
    memory = row(level="tag", text="#job:engineer", due_at=after(90))
    memory.edit(replace(ENGINEER, text="", tags=("#job:baker",)), at=after(40), reason="typo")
    assert (memory.text, memory.unembedded, memory.due_at) == ("#job:baker", "", after(90))
    with pytest.raises(ValueError, match="archived"):
        row(level="archive").edit(ENGINEER, at=after(1), reason="no")


def test_a_ladder_out_of_order_never_skips_a_level() -> None:
    values = {name: getattr(LADDER, name) for name in Ladder.__slots__}
    ladder = Ladder.of(values | {"summary_after": 40.0, "medium_similarity": 0.9})
    assert [ladder.due_at(level, START) for level in LEVELS] == [
        after(40),
        after(40),
        after(90),
        after(180),
        None,
    ]
    assert ladder.decide(0.87).strategy == "merge_update"


# Lives: what may happen to a participant's memories, in any order


class Angles(dict[str, Any]):
    """A statement "word at 0.3" lies at that angle; a merger lies where its last part does."""

    def get(self, text: str, default: Any = None) -> Any:
        angle = float(text.split()[-1])
        return [math.cos(angle), math.sin(angle)]


def whose(*, boost: bool) -> Whose:
    return Whose(
        lab_id=1,
        participant_id=1,
        participant=identified("someone"),
        language="en",
        relevance=RAW,
        ladder=replace(LADDER, boost_without_merge=boost),
    )


class Life:
    """Sessions of one statement each, with maintenance every ``pace`` days or before sessions."""

    def __init__(self, *, boost: bool = False, pace: float | None = None) -> None:
        self.whose, self.pace, self.now = whose(boost=boost), pace, START
        self.model, self.embedder = ScriptedModel(ANSWERS), ScriptedEmbedder({"": [1.0, 0.0]})
        self.embedder.vectors = Angles()
        self.rows: list[Compressible] = []
        self.log: list[MemoryEvent] = []

    def wait(self, days: float) -> None:
        until = self.now + timedelta(days=days)
        while self.pace is not None and self.now + timedelta(days=self.pace) < until:
            self.maintain(self.now + timedelta(days=self.pace))
        self.maintain(until)

    def maintain(self, now: datetime) -> None:
        self.now = now
        for each in self.rows:
            short = " ".join(each.text.split()[-3:])
            self.log += each.walk(ladder=self.whose.ladder, now=now, summary=short)

    def say(self, number: int, angle: float) -> str:
        text = f"statement{number} at {angle}"
        utterance = said(text, at=self.now)
        asyncio.run(self._say(text, utterance))
        return text

    async def _say(self, text: str, utterance: Utterance) -> None:
        statement = ExtractedStatement(
            content=Content(text=text, topic=text.split()[0], tags=(f"#said:{text.split()[0]}",)),
            message=utterance.id,
        )
        mentions = Mentions(
            whose=self.whose,
            session=SessionTranscript(id=TALK.id, number=1, stage="T1", started_at=self.now),
            rows=self.rows,
        )
        (vector,) = await self.embedder.embed([text], Form.PASSAGE)
        await mentions.take(statement, vector, utterance, model=self.model, embedder=self.embedder)
        self.log += mentions.events

    def states(self) -> dict[Any, dict[str, Any]]:
        return {each.pk: each.logged() for each in self.rows}

    def replayed(self) -> dict[Any, dict[str, Any]]:
        """The log laid over itself; what an event calls the state before must be that."""
        states: dict[Any, dict[str, Any]] = {}
        for event in self.log:
            state = states.setdefault(event.memory_id, {})
            assert event.before is None or event.before == {
                name: state[name] for name in event.before
            }
            state |= event.after or {}
        return {
            key: {name: state[name] for name in Compressible.LOGGED}
            for key, state in states.items()
        }


moments = st.lists(
    st.tuples(
        st.floats(min_value=0.01, max_value=120.0),
        st.floats(min_value=0.0, max_value=1.5).map(lambda angle: round(angle, 3)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(moments, st.booleans())
def test_the_log_replays_to_every_memory_and_no_statement_is_lost(
    moments: list[tuple[float, float]], boost: bool
) -> None:
    life = Life(boost=boost)
    for number, (days, angle) in enumerate(moments):
        life.wait(days)
        text = life.say(number, angle)
        held = [each for each in life.rows if Level(each.level).holds_text and text in each.text]
        assert held, "what was just said is nowhere word for word"
    life.wait(200)
    assert life.replayed() == life.states()
    everything = {
        text
        for event in life.log
        for text in ((event.after or {})["text"], event.note.get("embedded"))
    }
    for number, (_days, angle) in enumerate(moments):
        assert any(f"statement{number} at {angle}" in (text or "") for text in everything)


@settings(max_examples=60, deadline=None)
@given(moments, st.sampled_from([0.5, 3.0, 14.0]))
def test_late_maintenance_ends_in_the_rows_and_events_of_punctual_maintenance(
    moments: list[tuple[float, float]], pace: float
) -> None:
    punctual, late = Life(pace=pace), Life()
    for life in (punctual, late):
        for number, (days, angle) in enumerate(moments):
            life.wait(days)
            life.say(number, angle)
        life.wait(90)
        life.maintain(life.now)
    assert punctual.states() == late.states()
    assert _histories(punctual) == _histories(late)


def _histories(life: Life) -> dict[Any, list[Any]]:
    histories: dict[Any, list[Any]] = {}
    for event in life.log:
        histories.setdefault(event.memory_id, []).append((event.event, event.study_at, event.after))
    return histories


@settings(max_examples=60, deadline=None)
@given(moments)
def test_time_never_refreshes_a_date_raises_a_level_or_adds_weight(
    moments: list[tuple[float, float]],
) -> None:
    life = Life()
    for number, (days, angle) in enumerate(moments):
        before = {each.pk: _standing(each, life.now) for each in life.rows}
        dates = {each.pk: each.activated_at for each in life.rows}
        life.wait(days)
        for each in life.rows:
            level, weight = before[each.pk]
            now_level, now_weight = _standing(each, life.now)
            assert each.activated_at == dates[each.pk]
            assert now_level >= level
            assert now_weight <= weight
            age = (life.now - each.activated_at) / timedelta(days=1)
            assert each.level == due_level(level=each.level, age_days=age)
        life.say(number, angle)


def _standing(memory: Compressible, now: datetime) -> tuple[int, float]:
    weight = LADDER.weight(memory.weight, memory.weighed_at, now)
    return LEVELS.index(Level(memory.level)), weight
