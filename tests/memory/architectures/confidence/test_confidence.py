"""Adaptive confidence: life cycle, boot order, logs and upkeep."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from experiments.models import Participant
from memlab.core.llm.base import FailureKind, ModelFailure
from memlab.core.llm.offline import OfflineModel
from memlab.core.tenancy import lab_scope
from memlab.core.values import PromptTask
from memory.architectures.base import Doors
from memory.architectures.confidence import Confidence
from memory.enums import Cause
from memory.models import Belief, ConsolidationRun, SessionLog
from memory.models.belief import Change, belief_id
from tests.doors import ScriptedModel
from tests.memory.architectures.confidence.talking import (
    Talk,
    called,
    events_of,
    forget,
    happened,
    look_for,
    replayed,
    save,
    stored,
    update,
    weaken,
)
from tests.memory.conftest import Maker, run, setting
from tests.memory.dialogue import START, after, end_of, identified, session

LIKES = {"en": "likes basketball", "zh-hans": "喜欢篮球"}
FIRST = {"en": "I like basketball!", "zh-hans": "我喜欢篮球！"}
AGAINST = {"en": "Basketball is boring.", "zh-hans": "篮球好无聊。"}
AGAIN = {"en": "Actually basketball is fine.", "zh-hans": "其实篮球还行。"}


@pytest.fixture
def talk(participant: Participant, make: Maker) -> Talk:
    return Talk(make(Confidence, participant), participant)


def sections(talk: Talk) -> dict[str, list[str]]:
    assert talk.recall is not None
    return {section.key: list(section.lines) for section in talk.recall.sections}


def talking_in(language: str, participant: Participant, make: Maker) -> Talk:
    return Talk(make(Confidence, participant, study=setting(language=language)), participant)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_likings_life_and_recovery(language: str, participant: Participant, make: Maker) -> None:
    talk = talking_in(language, participant, make)
    talk.say(FIRST[language], save(LIKES[language]))
    life = [talk.beliefs()]
    for _ in range(2):
        talk.say(AGAINST[language], weaken("m1", AGAINST[language]))
        life.append(talk.beliefs())
    zones = []
    for _ in range(3):
        talk.say(AGAIN[language], save(LIKES[language]))
        zones.append(sections(talk))
        life.append(talk.beliefs())
    assert life == [{LIKES[language]: c} for c in (1.0, 0.75, 0.5, 0.7, 0.9, 1.0)]
    line = f"- [m1] [preference] {LIKES[language]}"
    assert [zone.get("uncertain") for zone in zones] == [[line], None, None]
    assert [zone.get("confirmed") for zone in zones] == [None, [line], [line]]
    assert happened(participant) == ["encoded"] + ["weakened"] * 2 + ["reinforced"] * 3
    (belief,) = stored(participant)
    assert (belief.mentions, belief.version, len(belief.message_ids)) == (4, 6, 4)
    assert replayed(participant) == {belief.pk: belief.state()}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_four_contradictions_in_four_turns_make_it_vanish(
    language: str, participant: Participant, make: Maker
) -> None:
    talk = talking_in(language, participant, make)
    talk.say(FIRST[language], save(LIKES[language]))
    life: list[float] = []
    for _ in range(3):
        talk.say(AGAINST[language], weaken("m1"))
        life.extend(talk.beliefs().values())
    assert life == [0.75, 0.5, 0.25]
    # Hidden now: it has no code any more, until it is looked for.
    (refused,) = talk.say(AGAINST[language], weaken("m1"))
    assert refused["error"] == "unknown_memory"
    assert sections(talk).keys() == {"tools"}
    found, weakened = talk.say(AGAINST[language], look_for(AGAINST[language]), weaken("m1"))
    assert found["memories"] == [
        {
            "memory": "m1",
            "content": LIKES[language],
            "category": "preference",
            "confidence": "hidden",
        }
    ]
    assert weakened == {"ok": True, "weakened": LIKES[language]}
    assert talk.beliefs() == {}
    assert happened(participant)[-3:] == ["recalled", "weakened", "forgotten"]
    last = events_of(participant)[-1]
    assert last.before is not None
    assert (last.before["confidence"], last.after, last.note) == (
        0.0,
        None,
        {"reason": "says otherwise"},
    )


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_hidden_memory_recovers_when_it_is_said_again(
    language: str, participant: Participant, make: Maker
) -> None:
    talk = talking_in(language, participant, make)
    talk.say(FIRST[language], save(LIKES[language]))
    for _ in range(3):
        talk.say(AGAINST[language], weaken("m1"))
    talk.say(FIRST[language], save(LIKES[language]))
    assert talk.beliefs() == {LIKES[language]: 0.45}
    missed = run(talk.memory.near_misses(after(), talk.recall, None, talk.now))  # type: ignore[arg-type]
    assert missed == ()


def test_hidden_memories_are_near_misses(talk: Talk) -> None:
    talk.say("I like tea and I like chess.", save("likes tea"), save("likes chess"))
    # Less sure after two steps, it stands behind the other one.
    for code in ("m1", "m1", "m2"):
        talk.say("Tea is boring.", weaken(code))
    talk.say("Hello.")
    assert talk.recall is not None
    (missed,) = run(talk.memory.near_misses(after(), talk.recall, None, talk.now))
    assert (missed.text, missed.reason, missed.recalled) == ("likes tea", "hidden", False)
    assert (missed.score, missed.threshold) == (0.25, 0.3)
    assert [(each.text, each.reason) for each in talk.recall.memories] == [
        ("likes chess", "booted")
    ]


@pytest.mark.parametrize("order", ["weaken first", "save first"])
def test_saving_the_contradiction_does_not_undo_it(order: str, talk: Talk) -> None:
    talk.say("I like basketball.", save("likes basketball"))
    talk.say("Basketball is boring.", weaken("m1"))
    calls = [weaken("m1"), save("likes basketball")]
    if order == "save first":
        calls.reverse()
    talk.say("I said I like basketball, but basketball is boring.", *calls)
    assert talk.beliefs() == {"likes basketball": 0.5}
    assert sorted(happened(talk.participant)[2:]) == ["refused:once_a_turn", "weakened"]


def test_a_denial_is_no_mention(talk: Talk) -> None:
    talk.say("I like basketball.", save("likes basketball"))
    (told,) = talk.say("I don't like basketball.", save("doesn't like basketball"))
    assert (told["error"], told["memory"]) == ("contradicts", "m1")
    told_both = talk.say("I don't like basketball.", weaken("m1"), save("doesn't like basketball"))
    assert told_both[1]["error"] == "once_a_turn"
    assert talk.beliefs() == {"likes basketball": 0.75}


def test_a_new_liking_is_saved_beside_the_weakened_one(talk: Talk) -> None:
    talk.say("I like basketball.", save("likes basketball"))
    talk.say("Basketball is boring, I love swimming.", weaken("m1"), save("loves swimming"))
    assert talk.beliefs() == {"likes basketball": 0.75, "loves swimming": 1.0}


def test_a_memory_is_weakened_once_a_turn(talk: Talk) -> None:
    talk.say("I like basketball.", save("likes basketball"))
    told = talk.say("Boring, boring!", weaken("m1"), weaken("m1"), forget("m1"))
    assert [each.get("error") for each in told] == [None, "once_a_turn", "once_a_turn"]
    assert talk.beliefs() == {"likes basketball": 0.75}


def test_a_fact_is_corrected_and_a_liking_is_not(talk: Talk) -> None:
    talk.say("I live in Leeds and like tea.", save("lives in Leeds", "event"), save("likes tea"))
    assert [(each.category, each.factual) for each in stored(talk.participant)] == [
        ("event", True),
        ("preference", False),
    ]
    told = talk.say(
        "I moved to Berlin. I like coffee now.",
        update("m1", "moved to Berlin"),
        update("m2", "likes coffee"),
    )
    assert [each.get("error") for each in told] == [None, "not_factual"]
    assert talk.beliefs() == {"moved to Berlin": 1.0, "likes tea": 1.0}


def test_a_weakened_fact_is_certain_again_at_once(talk: Talk) -> None:
    talk.say("I live in Leeds.", save("lives in Leeds", "event"))
    talk.say("Leeds, me?", weaken("m1"))
    talk.say("Leeds no more.", weaken("m1"))
    assert talk.beliefs() == {"lives in Leeds": 0.5}
    talk.say("I do live in Leeds.", save("lives in Leeds", "event"))
    assert talk.beliefs() == {"lives in Leeds": 1.0}


def test_whether_it_is_a_fact_can_be_said(talk: Talk) -> None:
    talk.say("I like tea.", save("likes tea", is_factual=True))
    assert [belief.factual for belief in stored(talk.participant)] == [True]


def test_what_is_wrong_is_forgotten_with_its_event(talk: Talk) -> None:
    talk.say("I have a cat.", save("has a cat", "event"))
    talk.say("I was joking, there is no cat.", forget("m1", "joking"))
    assert talk.beliefs() == {}
    last = events_of(talk.participant)[-1]
    assert (last.event, last.after, last.note) == ("forgotten", None, {"reason": "joking"})
    assert last.before is not None
    assert last.before["content"] == "has a cat"


def test_looking_for_a_memory_counts_an_access(talk: Talk) -> None:
    talk.say(
        "I like green tea, I like chess, I have a cat.",
        save("likes green tea"),
        save("likes chess"),
        save("has a cat", "event"),
    )
    found, nothing = talk.say("Well?", look_for("tea or coffee"), look_for("piano"))
    assert [each["content"] for each in found["memories"]] == ["likes green tea"]
    assert nothing["memories"] == []
    talk.say("Well?", look_for("green tea"), look_for("tea"))
    assert {belief.content: belief.accesses for belief in stored(talk.participant)} == {
        "likes green tea": 2,
        "likes chess": 0,
        "has a cat": 0,
    }


def test_a_chinese_memory_is_found_by_part_of_a_word(participant: Participant, make: Maker) -> None:
    talk = talking_in("zh-hans", participant, make)
    talk.say("我喜欢打篮球。", save("喜欢打篮球"))
    (found,) = talk.say("嗯？", look_for("篮球"))
    assert [each["content"] for each in found["memories"]] == ["喜欢打篮球"]


def test_two_wordings_of_one_memory_are_one(talk: Talk) -> None:
    talk.say("I like green tea.", save("likes green tea"))
    talk.say("I like tea.", save("likes tea"))
    talk.say("Green tea is what I like.", save("green tea is liked", "personality"))
    assert [(each.content, each.mentions) for each in stored(talk.participant)] == [
        ("likes green tea", 2),
        ("green tea is liked", 1),
    ]


def test_what_is_known_is_confirmed_by_words_of_this_message_only(talk: Talk) -> None:
    talk.say("I like basketball.", save("likes basketball"))
    talk.say("Basketball is boring.", weaken("m1"))
    (told,) = talk.say("What a day.", save("likes basketball"))
    assert told["error"] == "known_already"
    (asked,) = talk.say("What did I say about basketball?", save("likes basketball"))
    assert asked["error"] == "known_already"
    assert talk.beliefs() == {"likes basketball": 0.75}


def test_what_was_said_earlier_in_the_session_can_still_be_saved(talk: Talk) -> None:
    talk.say("I adopted a kitten.")
    talk.say("And you?", save("adopted a kitten", "event"))
    (belief,) = stored(talk.participant)
    assert belief.message_ids == [talk.turns[0].said.id]


def test_the_prompt_boots_in_order(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers[PromptTask.WRITE_LOG] = logged("Talked about Leeds.")
    memory = make(Confidence, participant)
    talked = session(("I live in Leeds.", "Nice."))
    run(memory.consolidate(talked, end_of(talked)))
    talk = Talk(memory, participant, now=START + timedelta(days=7))
    talk.say(
        "I live in Leeds, I like tea, I like chess.",
        save("lives in Leeds", "event"),
        save("likes tea"),
        save("likes chess"),
    )
    # What is less sure moves behind what is surer, so its code changes with the prompt.
    talk.say("Tea is boring.", weaken("m2"))
    talk.say("Tea is boring.", weaken("m2"))
    talk.say("Hello.")
    assert talk.recall is not None
    keys = [section.key for section in talk.recall.sections]
    assert keys == ["profile", "logs", "confirmed", "uncertain", "tools"]
    shown = {section.key: section.rendered() for section in talk.recall.sections}
    assert shown["profile"] == "[Facts about the user, in brief]\nLife: lives in Leeds"
    assert shown["logs"] == (
        "[Earlier conversations, a line each]\n- 2027-03-01: Talked about Leeds."
    )
    assert shown["uncertain"] == (
        "[What you are not sure of (the user has since said otherwise; it may have changed)]\n"
        "- [m3] [preference] likes tea"
    )
    assert sections(talk)["confirmed"] == [
        "- [m1] [event] lives in Leeds",
        "- [m2] [preference] likes chess",
    ]


def test_provenance_and_language_are_the_studys(participant: Participant, make: Maker) -> None:
    study = setting(language="zh-hans", provenance=True)
    talk = Talk(make(Confidence, participant, study=study), participant)
    talk.say("我住在成都。", save("住在成都", "event"))
    talk.say("你好。")
    assert talk.recall is not None
    assert [section.rendered() for section in talk.recall.sections[:2]] == [
        "[关于用户的事实（简要）]\n生活：住在成都",
        "[你记得的关于用户的事]\n- [T1] [m1] [event] 住在成都",
    ]
    assert {tool.name: tool.description for tool in talk.memory.tools()}["recall_memory"] == (
        "用关键词查找记忆，包括未列出的。"
    )


def test_the_profile_is_brief(talk: Talk) -> None:
    long = "lives in " + " ".join(f"street{n}" for n in range(12))
    talk.say(f"I {long}", save(long, "event"))
    talk.say("Hello.")
    assert sections(talk)["profile"] == ["Life: lives in street0 street1 street2 street3…"]


def logged(text: str) -> Any:
    """Answers with a line that rests on the first message."""
    return lambda prompt: json.dumps(
        {"entries": [{"text": text, "messages": [prompt.material[0].id, "foreign"]}]}
    )


def test_a_session_leaves_one_line(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers[PromptTask.WRITE_LOG] = logged("Talked about tea.")
    memory = make(Confidence, participant)
    talked = session(("I like tea.", "Me too."), ("secret", None))
    assert run(memory.consolidate(talked, end_of(talked))).written == {"log": 1}
    assert run(memory.consolidate(talked, end_of(talked))).written is None
    (prompt,) = model.asked(PromptTask.WRITE_LOG)
    assert [each.text for each in prompt.material] == ["I like tea."]
    with lab_scope(participant.lab_id):
        (log,) = SessionLog.objects.of_participant(participant.pk)
    assert (log.text, log.message_ids, log.at) == (
        "Talked about tea.",
        [talked.turns[0].said.id],
        end_of(talked),
    )
    assert happened(participant) == ["encoded"]


def test_a_silent_session_leaves_none_and_asks_nobody(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    empty = session(("lost", None))
    assert run(make(Confidence, participant).consolidate(empty, START)).written == {"log": 0}
    assert model.prompts == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ModelFailure(FailureKind.TIMEOUT, "scripted"), "extraction:timeout"),
        (json.dumps({"entries": [{"text": "fine", "messages": ["x"]}]}), "extraction:unusable_log"),
        (json.dumps({"entries": [{"text": 5, "messages": []}]}), "extraction:unusable_log"),
        (json.dumps({"entries": ["…"]}), "extraction:unusable_log"),
    ],
)
def test_a_log_that_fails_is_tried_again(
    answer: Any, code: str, participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers[PromptTask.WRITE_LOG] = answer
    memory = make(Confidence, participant)
    talked = session(("I like tea.", "Me too."))
    assert run(memory.consolidate(talked, end_of(talked))).degraded == (code,)
    model.answers[PromptTask.WRITE_LOG] = logged("Tea.")
    assert run(memory.consolidate(talked, end_of(talked))).written == {"log": 1}


def test_logs_are_shown_for_a_fortnight_and_kept_for_thirty_days(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers[PromptTask.WRITE_LOG] = logged("Talked.")
    memory = make(Confidence, participant)
    talked = session(("I like tea.", "Me too."))
    run(memory.consolidate(talked, end_of(talked)))
    ended = end_of(talked)
    shown = {}
    for days in (14, 14.1):
        now = ended + timedelta(days=days)
        recall = run(memory.recall(after(talked), "hello", None, now))
        shown[days] = [section.key for section in recall.sections]
    assert shown == {14: ["logs", "tools"], 14.1: ["tools"]}
    kept = {}
    for name, days in (("early", 30), ("late", 30.1)):
        begun = run(memory.begin_session(identified(name), ended + timedelta(days=days)))
        kept[days] = begun.written
    assert kept == {30: {"log": 0, "belief": 0}, 30.1: {"log": 1, "belief": 0}}
    assert happened(participant) == ["encoded", "expired"]


def belief(participant: Participant, number: int, **more: Any) -> Belief:
    given = {
        "content": f"number {number}",
        "category": "preference",
        "factual": False,
        "message_ids": [],
        "formed_at": START,
        "position": number,
        "changed_at": START + timedelta(minutes=number),
    }
    return Belief(
        id=belief_id(
            participant=participant.public_id, source=identified("source"), position=number
        ),
        participant_id=participant.pk,
        **(given | more),
    )


def test_each_category_keeps_the_surest_then_the_most_looked_for(
    participant: Participant, make: Maker
) -> None:
    change = Change(cause=Cause.TOOL, now=START)
    with lab_scope(participant.lab_id):
        Belief.objects.form(
            [
                belief(participant, 1, confidence=0.25, accesses=9),
                belief(participant, 2, confidence=0.5),
                belief(participant, 3, confidence=0.5, accesses=1),
                belief(participant, 4),
                belief(participant, 5, category="event"),
            ],
            change,
        )
    memory = make(Confidence, participant, category_capacity=2)
    assert run(memory.begin_session(identified("s"), START)).written == {"log": 0, "belief": 2}
    assert run(memory.begin_session(identified("s"), START)).written is None
    assert {each.content for each in stored(participant)} == {"number 3", "number 4", "number 5"}
    assert happened(participant) == ["encoded"] * 5 + ["evicted"] * 2


def test_a_reply_is_committed_once(talk: Talk) -> None:
    talk.say("I like tea.", save("likes tea"))
    reply, recall, _results, effects = talk.prepare("Tea is boring.", weaken("m1"))
    for _ in range(2):
        talk.commit(recall, reply, effects)
    assert talk.beliefs() == {"likes tea": 0.75}


def test_what_changed_meanwhile_is_left_alone(talk: Talk) -> None:
    talk.say("I like tea and chess.", save("likes tea"), save("likes chess"))
    reply, recall, _results, effects = talk.prepare("Boring!", weaken("m1"), weaken("m2"))
    with lab_scope(talk.participant.lab_id):
        first, second = Belief.objects.of_participant(talk.participant.pk)
        change = Change(cause=Cause.STAFF, now=talk.now)
        first.reinforce(change)
        second.forget(change)
    talk.commit(recall, reply, effects)
    assert list(talk.beliefs().values()) == [1.0]
    assert happened(talk.participant)[-2:] == ["refused:changed_meanwhile"] * 2


def test_a_memory_that_changed_since_the_prompt_is_not_touched(talk: Talk) -> None:
    talk.say("I live in Leeds.", save("lives in Leeds", "event"))
    talk.say("Hello.")
    with lab_scope(talk.participant.lab_id):
        (row,) = Belief.objects.of_participant(talk.participant.pk)
        row.update(Change(cause=Cause.STAFF, now=talk.now), content="lives in York")
    assert talk.recall is not None
    (told,), _effects = called(talk.memory, talk.recall, [weaken("m1")], talk.now)
    assert told["error"] == "changed_meanwhile"


def test_nothing_is_stored_before_the_reply_is(talk: Talk) -> None:
    talk.prepare("I like tea.", save("likes tea"), look_for("tea"))
    assert (stored(talk.participant), events_of(talk.participant)) == ([], [])


TURN = session(("I like tea. I live in Leeds.", "Nice."), ("Tea is boring.", "Oh."))


def answering(*calls: Any) -> str:
    return json.dumps({"calls": list(calls)}, ensure_ascii=False)


def test_a_turn_that_no_tool_has_seen_is_observed_once(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers[PromptTask.CALL_TOOLS] = [
        answering(
            {
                "name": "save_memory",
                "arguments": {"content": "likes tea", "category": "preference"},
            },
            {"name": "recall_memory", "arguments": {"query": "tea"}},
            "nonsense",
        ),
        answering({"name": "weaken_memory", "arguments": {"memory": "m1", "reason": "boring"}}),
    ]
    memory = make(Confidence, participant)
    first, second = TURN.turns
    assert run(memory.observe(first, first.answered.at)).written == {"belief": 1}
    assert run(memory.observe(first, first.answered.at)).written is None
    assert run(memory.observe(second, second.answered.at)).written == {"belief": 1}
    (row,) = stored(participant)
    assert (row.content, row.confidence, row.stage_key) == ("likes tea", 0.75, "T1")
    assert (row.formed_at, row.message_ids) == (first.said.at, [first.said.id])
    assert row.session_id == TURN.id
    assert happened(participant) == ["encoded"] + ["refused:unknown_tool"] * 2 + ["weakened"]
    _first, shown = model.asked(PromptTask.CALL_TOOLS)
    assert [section.lines for section in shown.sections] == [("- [m1] [preference] likes tea",)]
    assert "recall_memory" not in shown.system


def test_going_over_a_turn_reaches_hidden_memories(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    with lab_scope(participant.lab_id):
        Belief.objects.form(
            [belief(participant, 1, content="likes tea", confidence=0.25)],
            Change(cause=Cause.TOOL, now=START),
        )
    model.answers[PromptTask.CALL_TOOLS] = answering(
        {"name": "weaken_memory", "arguments": {"memory": "m1", "reason": "boring"}}
    )
    turn = TURN.turns[1]
    run(make(Confidence, participant).observe(turn, turn.answered.at))
    (prompt,) = model.asked(PromptTask.CALL_TOOLS)
    assert [(section.key, section.lines) for section in prompt.sections] == [
        ("hidden", ("- [m1] [preference] likes tea",))
    ]
    assert stored(participant) == []


def test_an_observation_that_fails_is_tried_again(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    model.answers |= {PromptTask.CALL_TOOLS: "no", PromptTask.REPAIR_JSON: "no"}
    memory = make(Confidence, participant)
    turn = TURN.turns[0]
    assert run(memory.observe(turn, turn.answered.at)).degraded == ("extraction:invalid_json",)
    model.answers[PromptTask.CALL_TOOLS] = answering()
    assert run(memory.observe(turn, turn.answered.at)).written == {}
    with lab_scope(participant.lab_id):
        (done,) = ConsolidationRun.objects.filter(participant=participant)
        assert done.subject == turn.answered.id


@pytest.mark.parametrize(
    ("language", "said", "believed"),
    [
        (
            "en",
            ["I like basketball. I moved to Leeds.", "Basketball is boring.", "I moved to York."],
            {"likes basketball": 0.75, "lives in York": 1.0},
        ),
        (
            "zh-hans",
            ["我喜欢篮球。我搬到成都了。", "篮球好无聊。", "我搬到北京了。"],
            {"喜欢篮球": 0.75, "住在北京": 1.0},
        ),
    ],
)
def test_the_offline_model_observes_in_both_languages(
    language: str,
    said: list[str],
    believed: dict[str, float],
    participant: Participant,
    make: Maker,
) -> None:
    memory = make(Confidence, participant, study=setting(language=language))
    offline = OfflineModel()
    memory.doors = Doors(extraction=offline, embedder=memory.doors.embedder, calls_tools=False)
    talked = session(*((text, "Yes.") for text in said))
    for turn in talked.turns:
        assert run(memory.observe(turn, turn.answered.at)).degraded == ()
    assert {each.content: each.confidence for each in stored(participant)} == believed
    assert run(memory.consolidate(talked, end_of(talked))).written == {"log": 1}


def test_without_tools_nothing_is_offered_and_turns_are_observed_live(
    participant: Participant, make: Maker, model: ScriptedModel
) -> None:
    able = make(Confidence, participant)
    assert (able.observes, able.observes_live(), len(able.tools())) == (True, False, 5)
    assert able.tool_budget().rounds == 4
    assert able.tool_budget().calls == 8
    unable = Confidence(
        lab_id=participant.lab_id,
        participant_id=participant.pk,
        participant=participant.public_id,
        parameters={},
        setting=setting(),
        doors=Doors(extraction=model, embedder=able.doors.embedder, calls_tools=False),
    )
    assert (unable.observes_live(), unable.tools()) == (True, ())
    Talk(able, participant).say("I like tea.", save("likes tea"))
    recall = run(unable.recall(after(), "hello", None, START))
    assert [section.lines for section in recall.sections] == [("- [preference] likes tea",)]


def test_a_study_can_add_categories(participant: Participant, make: Maker) -> None:
    memory = make(Confidence, participant, extra_categories="health:factual, mood")
    save_tool = memory.tools()[0]
    assert save_tool.parameters["properties"]["category"]["enum"] == [
        "event",
        "learning",
        "preference",
        "personality",
        "health",
        "mood",
    ]
    talk = Talk(memory, participant)
    talk.say("I have asthma.", save("has asthma", "health"))
    assert [row.factual for row in stored(participant)] == [True]


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        ("two words", "'two words' in extra_categories is no category"),
        ("mood:often", "'mood:often' in extra_categories is no category"),
        ("event", "The category event in extra_categories exists already"),
        ("mood, mood", "The category mood in extra_categories exists already"),
        ("x" * 21, "is no category"),
    ],
)
def test_a_list_of_categories_is_checked(
    extra: str, complaint: str, participant: Participant, make: Maker
) -> None:
    with pytest.raises(ValidationError, match=complaint):
        make(Confidence, participant, extra_categories=extra)
