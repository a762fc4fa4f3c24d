"""The prompt of a turn, from values alone: header, persona, stage, memory, current session.

Pure. Whatever differs between two arms' prompts comes from ``recall`` and, under the instruction
factor ``seed``, from ``seed_instruction``.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from experiments.configuration import (
    ArmConfiguration,
    SharedFactors,
    StageConfiguration,
    StudyConfiguration,
)
from experiments.enums import Instruction, WithinSession
from memlab.core.llm.base import ChatMessage, Speaker
from memlab.core.values import (
    Prompt,
    PromptTask,
    Recall,
    Role,
    Section,
    SessionTranscript,
    Utterance,
)

WEEKDAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh-hans": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
CALLED = {"en": "Your name is {name}.", "zh-hans": "你的名字是{name}。"}
PURPOSE = {"en": "What this conversation is for:", "zh-hans": "这次对话的目的："}
NEUTRAL = {
    "en": (
        "Anything you know from earlier conversations stands in the sections below. Use what they "
        "give you where it helps, and don't claim to remember what they don't contain."
    ),
    "zh-hans": (
        "你对以往对话所知道的一切都写在下面的各个部分里。有帮助时请使用其中的内容；"
        "其中没有的内容，不要声称自己记得。"
    ),
}


def reply_prompt(
    *,
    configuration: StudyConfiguration,
    stage: StageConfiguration,
    arm: ArmConfiguration | None,
    session: SessionTranscript,
    question: Utterance,
    recall: Recall | None,
    seed_instruction: str,
    now: datetime,
) -> Prompt:
    """The prompt for one reply. Of ``arm`` only a declared exception to the factors counts.

    ``arm`` and ``recall`` are None in a stage without manipulation: then the shared factors don't
    apply either, and everybody gets header, persona, stage and the whole current session.
    """
    language = configuration.language
    blocks = [
        dated_header(language, now.astimezone(ZoneInfo(configuration.time_zone))),
        CALLED[language].format(name=configuration.assistant_name),
        configuration.persona,
    ]
    if stage.instructions:
        blocks.append(f"{PURPOSE[language]}\n{stage.instructions}")
    sections: tuple[Section, ...] = ()
    factors = None if recall is None else configuration.factors_of(arm)
    if recall is not None and factors is not None:
        neutral = factors.instruction is Instruction.NEUTRAL
        blocks.append(NEUTRAL[language] if neutral else seed_instruction)
        sections = recall.sections
        blocks.extend(section.rendered() for section in sections)
    return Prompt(
        task=PromptTask.REPLY,
        language=language,
        system="\n\n".join(block.strip() for block in blocks if block.strip()),
        messages=(*_session_messages(session, factors), _message(question)),
        sections=sections,
    )


def dated_header(language: str, local: datetime) -> str:
    """Which day it is for the participant; the same line in every prompt of that day."""
    weekday = WEEKDAYS[language][local.weekday()]
    if language == "zh-hans":
        return f"今天是{local.year}年{local.month}月{local.day}日，{weekday}。"
    return f"Today is {weekday}, {local.day} {MONTHS[local.month - 1]} {local.year}."


def _session_messages(
    session: SessionTranscript, factors: SharedFactors | None
) -> tuple[ChatMessage, ...]:
    """What of the current session the prompt carries; all of it where no factor applies."""
    if factors is None or factors.within_session is WithinSession.FULL:
        return tuple(_message(utterance) for utterance in session.utterances)
    if factors.within_session is WithinSession.NONE or not factors.within_session_turns:
        return ()
    turns = session.turns[-factors.within_session_turns :]
    return tuple(_message(each) for turn in turns for each in (turn.said, turn.answered))


def _message(utterance: Utterance) -> ChatMessage:
    speaker = Speaker.USER if utterance.role is Role.PARTICIPANT else Speaker.ASSISTANT
    return ChatMessage(speaker, utterance.text)
