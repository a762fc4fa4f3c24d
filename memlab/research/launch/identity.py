"""What the treatment of each arm consists of, side by side, and which differences nobody declared.

Arms are to differ in what a study varies and in nothing else. What may differ is declared: the
architecture, with the parameters that only it has; an arm's exception to a shared factor; the
instruction factor, where it gives each memory a wording of its own; and parameters that the study
names in ``varied``. A parameter is shared by arms whose architectures declare it alike, such as the
profile's budget in L3 and L4: there a difference that nobody declared is a confound. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from chat.memories import kind_of
from chat.prompts import reply_prompt
from experiments import architectures
from experiments.configuration import ArmConfiguration, StageConfiguration, StudyConfiguration
from experiments.enums import Instruction
from experiments.parameters import Parameter, Value
from memlab.core.values import Prompt, Recall, Role, SessionTranscript, Turn, Utterance


class Part(StrEnum):
    """What a row of the comparison is about."""

    ARCHITECTURE = "architecture"
    FACTOR = "factor"
    PARAMETER = "parameter"
    PROMPT = "prompt"
    WEIGHT = "weight"  # of the draw: no part of the treatment


class Standing(StrEnum):
    SAME = "same"
    DECLARED = "declared"
    UNDECLARED = "undeclared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing in every arm; the value is None in an arm that has no such thing."""

    part: Part
    name: str
    values: tuple[Value | None, ...]
    standing: Standing

    @property
    def differs(self) -> bool:
        return self.standing is not Standing.SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The comparison of all arms, in the order of ``arms``."""

    arms: tuple[ArmConfiguration, ...]
    rows: tuple[Row, ...]

    @property
    def undeclared(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.standing is Standing.UNDECLARED)

    def twins(self) -> tuple[tuple[str, str], ...]:
        """Labels of arms whose treatment is the same in every row."""
        treatment = [row for row in self.rows if row.part is not Part.WEIGHT]
        columns = [tuple(row.values[place] for row in treatment) for place in range(len(self.arms))]
        return tuple(
            (first.label, second.label)
            for place, first in enumerate(self.arms)
            for other, second in enumerate(self.arms[place + 1 :], place + 1)
            if columns[place] == columns[other]
        )


def identity(configuration: StudyConfiguration, prompts: Mapping[str, Prompt]) -> Identity:
    """Compare the arms of a configuration; ``prompts`` has one for each arm's key, made from one
    and the same history (``sample_prompts``), or is empty for a study without such a stage."""
    arms = configuration.arms
    rows = [
        _row(Part.ARCHITECTURE, "architecture", [arm.architecture for arm in arms], declared=True),
        _row(
            Part.FACTOR,
            "within_session",
            [str(configuration.factors_of(arm).within_session) for arm in arms],
            declared=True,  # it can only differ by an arm's own exception
        ),
        *_parameters(arms, varied=configuration.varied),
        *_prompts(configuration, prompts),
        _row(Part.WEIGHT, "weight", [arm.weight for arm in arms], declared=True),
    ]
    return Identity(arms=arms, rows=tuple(rows))


def _row(part: Part, name: str, values: Sequence[Value | None], *, declared: bool) -> Row:
    present = {(type(value), value) for value in values if value is not None}
    standing = Standing.SAME
    if len(present) > 1:
        standing = Standing.DECLARED if declared else Standing.UNDECLARED
    return Row(part=part, name=name, values=tuple(values), standing=standing)


def _parameters(arms: Iterable[ArmConfiguration], *, varied: Sequence[str]) -> list[Row]:
    """A row for each parameter as it is declared; two that only share a name are two rows."""
    arms = list(arms)
    declared = {
        arm.key: {
            each.name: each for each in architectures.architecture(arm.architecture).parameters
        }
        for arm in arms
    }
    every: list[Parameter] = []
    for arm in arms:
        every += [each for each in declared[arm.key].values() if each not in every]
    return [
        _row(
            Part.PARAMETER,
            parameter.name,
            [
                arm.parameters.get(parameter.name)
                if declared[arm.key].get(parameter.name) == parameter
                else None
                for arm in arms
            ],
            declared=parameter.name in varied,
        )
        for parameter in every
    ]


def _prompts(configuration: StudyConfiguration, prompts: Mapping[str, Prompt]) -> list[Row]:
    """The instructions, and what is carried of the session; what memory brings stands between."""
    if not prompts:
        return []
    exceptions = any(arm.within_session is not None for arm in configuration.arms)
    return [
        _row(
            Part.PROMPT,
            "instructions",
            [prompts[arm.key].system for arm in configuration.arms],
            declared=configuration.factors.instruction is Instruction.SEED,
        ),
        _row(
            Part.PROMPT,
            "session",
            [_spoken(prompts[arm.key]) for arm in configuration.arms],
            declared=exceptions,
        ),
    ]


def _spoken(prompt: Prompt) -> str:
    return "\n".join(f"{message.speaker}: {message.content}" for message in prompt.messages)


#: A session as it might begin, in both languages: what was said and answered, and a question.
HISTORY = {
    "en": (
        ("I had my first day at the new job.", "How was it?"),
        ("Long, but my colleagues are kind.", "That helps a lot."),
        "What should I wear tomorrow?",
    ),
    "zh-hans": (
        ("我今天第一天去新公司上班。", "感觉怎么样？"),
        ("挺累的，不过同事都很友善。", "那就好多了。"),
        "明天我该穿什么？",
    ),
}
_AT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def sample_prompts(configuration: StudyConfiguration) -> dict[str, Prompt]:
    """For each arm's key the prompt of the same turn, in the first stage with manipulation, before
    memory adds its sections; empty where no stage has one."""
    stage = next((each for each in configuration.stages if each.manipulation), None)
    if stage is None:
        return {}
    same_day = replace(configuration, time_zone="UTC")
    return {arm.key: _sample(same_day, stage, arm) for arm in configuration.arms}


def _sample(
    configuration: StudyConfiguration, stage: StageConfiguration, arm: ArmConfiguration
) -> Prompt:
    *spoken, asked = HISTORY[configuration.language]
    turns, seq = [], 0
    for said, answered in spoken:
        seq += 2
        turns.append(
            Turn(
                said=_utterance(seq - 1, Role.PARTICIPANT, said),
                answered=_utterance(seq, Role.ASSISTANT, answered),
            )
        )
    session = SessionTranscript(
        id=UUID(int=0),
        number=stage.number,
        stage=stage.key,
        started_at=_AT,
        utterances=tuple(each for turn in turns for each in (turn.said, turn.answered)),
        turns=tuple(turns),
    )
    return reply_prompt(
        configuration=configuration,
        stage=stage,
        arm=arm,
        session=session,
        question=_utterance(seq + 1, Role.PARTICIPANT, str(asked)),
        recall=Recall(at=_AT),
        seed_instruction=kind_of(arm).seed_instructions.get(configuration.language, ""),
        now=_AT,
    )


def _utterance(seq: int, role: Role, text: str) -> Utterance:
    return Utterance(id=UUID(int=seq), role=role, text=text, at=_AT + timedelta(minutes=seq))
