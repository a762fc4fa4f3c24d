"""What each arm's prompt says, word for word: arms differ in their memory sections only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from experiments.models import Lab
from memlab.core.work import unit
from memory.architectures.hybrid import Hybrid
from tests.conversations import START, Talk, scripted_doors
from tests.studies import make_study

pytestmark = pytest.mark.django_db(transaction=True)

ALL = ("sensory", "working", "gist", "hybrid", "full_history", "random_recall")
HELLO = "Hello, how was your day?"
SAID = ("I study biology.", "I like hiking in the hills.", "My cat is called Momo.", "Bye for now.")
ANSWER = "I see."
QUESTION = "Where could I go on Saturday?"
T2 = START + timedelta(days=7)

HEADER = "Today is Monday, 9 March 2026.\n\nYour name is Lin.\n\nYou are a warm companion."
PURPOSE = "What this conversation is for:\nGet to know each other."
NEUTRAL = (
    "Anything you know from earlier conversations stands in the sections below. Use what they give "
    "you where it helps, and don't claim to remember what they don't contain."
)
PROFILE = "[What you know about the user]\nLikes and dislikes: likes hiking"
LAST_THREE = (
    "[The last turns of earlier conversations]\n"
    "User: I like hiking in the hills.\nAssistant: I see.\n"
    "User: My cat is called Momo.\nAssistant: I see.\n"
    "User: Bye for now.\nAssistant: I see."
)
ALL_FOUR = LAST_THREE.replace(
    "conversations]\n", "conversations]\nUser: I study biology.\nAssistant: I see.\n"
)
EPISODE = (
    "[Moments from earlier conversations that come to mind]\n- User: I like hiking in the hills."
)


def near(cosine: float) -> list[float]:
    """A unit vector at a given cosine from the question's, (1, 0)."""
    return [cosine, (1 - cosine**2) ** 0.5]


VECTORS: dict[str, list[float]] = {QUESTION: [1.0, 0.0], SAID[1]: near(0.95)} | {
    text: near(0.0) for text in (*SAID[:1], *SAID[2:])
}


async def prompt_of(
    lab: Lab, arm: str, *, late_arm: bool = True, **fields: Any
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The prompts of a T1 message and of the T2 question, of a participant in ``arm``.

    ``late_arm``: the arm is drawn when T2 starts, and backfilled; otherwise it is known from the
    start and lived through.
    """
    parameters = (
        {"initial_g": 20.0, "recall_threshold": 0.45, "encoding": "message"}
        if arm in ("hybrid", "random_recall")
        else {}
    )
    if arm == "random_recall":
        parameters["retrieval_top_k"] = 5
    study = await unit(make_study, lab, arms={arm: (arm, parameters)}, relevance="raw", **fields)
    doors = scripted_doors(
        traits={"hiking": {"dimension": "preferences", "text": "likes hiking"}}, vectors=VECTORS
    )
    talk = Talk(study, doors, arm=None if late_arm else arm)
    await talk.begin()
    await talk.stage("T1", START)
    replies = [
        await talk.say(text, START + timedelta(minutes=minute), answer=ANSWER)
        for minute, text in enumerate(SAID, start=1)
    ]
    await talk.end(START + timedelta(minutes=10))
    await talk.stage("T2", T2)
    last = await talk.say(QUESTION, T2 + timedelta(minutes=1))
    return (await talk.receipt(replies[-1])).prompt, (await talk.receipt(last)).prompt


@pytest.mark.parametrize(
    ("arm", "sections"),
    [
        ("sensory", []),
        ("working", [ALL_FOUR]),
        ("gist", [PROFILE, LAST_THREE]),
        ("hybrid", [PROFILE, LAST_THREE, EPISODE]),
        ("full_history", [ALL_FOUR.replace("The last turns of earlier", "Earlier")]),
    ],
)
async def test_controlled_arms_differ_in_their_memory_sections_only(
    lab: Lab, arm: str, sections: list[str]
) -> None:
    first, second = await prompt_of(lab, arm)
    assert first["system"] == f"{HEADER.replace('9 March', '2 March')}\n\n{PURPOSE}"
    assert second["system"] == "\n\n".join([HEADER, PURPOSE, NEUTRAL, *sections])
    assert second["messages"] == [{"role": "user", "content": QUESTION}]


async def test_random_recall_brings_one_episode_as_hybrid_does(lab: Lab) -> None:
    _first, second = await prompt_of(lab, "random_recall")
    before, _, lines = second["system"].partition("come to mind]\n")
    assert before == "\n\n".join(
        [HEADER, PURPOSE, NEUTRAL, PROFILE, LAST_THREE, EPISODE.partition("come to mind]\n")[0]]
    )
    assert lines.removeprefix("- User: ") in SAID


async def test_the_prompt_without_manipulation_is_the_same_for_everybody(lab: Lab) -> None:
    prompts = [(await prompt_of(lab, arm, late_arm=False))[0] for arm in ALL]
    assert all(prompt == prompts[0] for prompt in prompts)
    assert [message["content"] for message in prompts[0]["messages"]] == [
        HELLO,
        SAID[0],
        ANSWER,
        SAID[1],
        ANSWER,
        SAID[2],
        ANSWER,
        SAID[3],
    ]


@pytest.mark.parametrize("arm", [arm for arm in ALL if arm != "random_recall"])
async def test_an_arm_drawn_late_and_backfilled_equals_one_that_lived_through(
    lab: Lab, arm: str
) -> None:
    """``random_recall`` is left out: its draw is seeded by the participant."""
    late, lived = [await prompt_of(lab, arm, late_arm=late) for late in (True, False)]
    assert late == lived


async def test_the_seeds_template_gives_each_level_its_own_words_and_provenance(lab: Lab) -> None:
    _first, second = await prompt_of(
        lab, "hybrid", instruction="seed", provenance_in_prompt=True, within_session="none"
    )
    assert second["system"] == "\n\n".join(
        [
            HEADER,
            PURPOSE,
            Hybrid.seed_instructions["en"],
            PROFILE.replace("likes hiking", "likes hiking [T1]"),
            LAST_THREE.replace("User:", "[T1] User:").replace("Assistant:", "[T1] Assistant:"),
            EPISODE.replace("- User:", "- [T1] [relevance 0.95] User:"),
        ]
    )


async def test_within_session_decides_what_of_the_current_session_is_seen(lab: Lab) -> None:
    """Full, the last n turns, or nothing but the question."""
    seen = {}
    for factor in ("full", "last", "none"):
        study = await unit(
            make_study, lab, arms={"a": "sensory"}, within_session=factor, within_session_turns=1
        )
        talk = Talk(study, scripted_doors())
        await talk.begin()
        await talk.stage("T1", START)
        await talk.end(START + timedelta(minutes=1))
        await talk.stage("T2", T2)
        await talk.say("one")
        await talk.say("two")
        reply = await talk.say("three")
        messages = (await talk.receipt(reply)).prompt["messages"]
        seen[factor] = [message["content"] for message in messages]
    assert seen == {
        "full": ["one", ANSWER, "two", ANSWER, "three"],
        "last": ["two", ANSWER, "three"],
        "none": ["three"],
    }
