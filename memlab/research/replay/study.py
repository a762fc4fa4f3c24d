"""The study in which one dialogue is lived through under one architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from experiments import architectures
from experiments.architectures import ArchitectureClass
from experiments.enums import Clock, RelevanceScale
from experiments.models import Arm, Participant, Stage, Study
from experiments.parameters import Value
from memlab.core.embeddings.local import ID as LOCAL
from memlab.core.tenancy import lab_scope
from memlab.core.values import Role
from memlab.research.replay.dialogue import Dialogue, RecordedSession
from memlab.research.replay.recorded import PROVIDER

PERSONA = {
    "en": "You are a friendly companion who talks with the user over a long time.",
    "zh-hans": "你是一位友善的伙伴，会在很长一段时间里陪用户聊天。",
}
NAME = {"en": "Robin", "zh-hans": "小林"}
#: No session of a recording closes by itself.
NEVER_IDLE = 60 * 24 * 365.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How the architectures are set; None leaves what each declares."""

    preset: str | None = None
    encode: str | None = None
    encoding: str | None = None
    ranking: str | None = None

    def parameters(
        self, kind: ArchitectureClass, names: Mapping[Role, str] = MappingProxyType({})
    ) -> dict[str, Value]:
        """Those of the choices that an architecture knows, over its preset.

        ``names`` are the speakers' of a dialogue, which tell its two people apart where both are
        encoded.
        """
        declared = {parameter.name for parameter in kind.parameters}
        chosen = {"encode": self.encode, "encoding": self.encoding, "ranking": self.ranking}
        if self.encode == "all":
            chosen["participant_name"] = names.get(Role.PARTICIPANT)
            chosen["assistant_name"] = names.get(Role.ASSISTANT)
        given: dict[str, Value] = dict(kind.presets.get(self.preset or "", {}))
        given |= {
            name: value for name, value in chosen.items() if value is not None and name in declared
        }
        return given


def enrol(
    lab_id: int,
    dialogue: Dialogue,
    architecture: str,
    choices: Choices,
    *,
    embedder: str,
    wall: datetime,
) -> Participant:
    """A study of one arm with a stage for each session, and its consenting participant.

    The arm's manipulation is active from the first session on, so entering it draws the one arm
    that there is. The participant's clock is scripted and stands where the dialogue begins.
    """
    with lab_scope(lab_id):
        study = _study(dialogue, embedder)
        Arm.objects.create(
            study=study,
            key="replayed",
            name=str(architectures.architecture(architecture).title),
            label="A",
            architecture=architecture,
            parameters=choices.parameters(architectures.architecture(architecture), dialogue.names),
        )
        for number, session in enumerate(dialogue.sessions, start=1):
            _stage(study, number, session)
        participant = Participant.objects.create(
            study=study,
            clock=Clock.SCRIPTED,
            scripted_now=dialogue.sessions[0].started_at,
        )
        participant.give_consent(wall=wall)
        return participant


def stage_key(number: int) -> str:
    """The stage of the dialogue's session ``number``, counted from 1."""
    return f"s{number}"


def _study(dialogue: Dialogue, embedder: str) -> Study:
    """Its talking model is the recording, which no other process can open: nobody takes over."""
    return Study.objects.create(
        title=f"Replay of {dialogue.id}",
        language=dialogue.language,
        assistant_name=dialogue.names.get(Role.ASSISTANT) or NAME[dialogue.language],
        persona=PERSONA[dialogue.language],
        talking_provider=PROVIDER,
        talking_model=PROVIDER,
        relevance=_relevance(embedder),
        pacing=False,
    )


def _relevance(embedder: str) -> RelevanceScale:
    """Calibrated where measurements ship with Memlab; a new lab has none of its own."""
    return RelevanceScale.CALIBRATED if embedder == LOCAL else RelevanceScale.RAW


def _stage(study: Study, number: int, session: RecordedSession) -> None:
    first = session.messages[0] if session.messages else None
    Stage.objects.create(
        study=study,
        number=number,
        key=stage_key(number),
        title=stage_key(number),
        opening_line=first.text if first and first.role is Role.ASSISTANT else "",
        maximum_minutes=None,
        idle_minutes=NEVER_IDLE,
        manipulation=True,
    )
