"""Adaptive confidence in a whole conversation, with the offline model, in both languages."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chat import conversation, steps
from chat.conversation import SessionRef
from chat.generation import make_reply
from chat.models import Message
from experiments.configuration import StudyConfiguration
from experiments.doors import StudyDoors
from experiments.models import Lab
from memlab.core.clock import wall_now
from memlab.core.llm.offline import OfflineModel
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import Belief, SessionLog
from tests.conversations import START, Talk, silence
from tests.doors import ScriptedEmbedder
from tests.studies import make_study, reference_of

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class OfflineDoors:
    """The offline model at both doors to language models."""

    talking: OfflineModel
    extraction: OfflineModel = field(default_factory=OfflineModel)
    embedder: ScriptedEmbedder = field(default_factory=ScriptedEmbedder)

    async def doors(self, lab_id: int, configuration: StudyConfiguration) -> StudyDoors:
        return StudyDoors(talking=self.talking, extraction=self.extraction, embedder=self.embedder)


WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "before": "I like basketball. I moved to Leeds.",
        "against": "Basketball is boring.",
        "question": "Do you remember where I live?",
        "liking": "likes basketball",
        "home": "lives in Leeds",
    },
    "zh-hans": {
        "before": "我喜欢篮球。我搬到成都了。",
        "against": "篮球好无聊。",
        "question": "你还记得我住在哪里吗？",
        "liking": "喜欢篮球",
        "home": "住在成都",
    },
}


class Conversation(Talk):
    """A talk whose models need no script."""

    async def speak(self, text: str) -> tuple[UUID, str]:
        """Say something; the reply's id and text."""
        said = await unit(
            conversation.say,
            SessionRef.of(reference_of(self.participant), self.session.id),
            client_id=uuid4(),
            text=text,
            wall=wall_now(),
        )
        await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors)
        assert await make_reply(self.study.lab_id, said.reply, self.doors, silence)
        await steps.run_steps(self.study.lab_id, self.participant.public_id, self.doors)
        return said.reply, await unit(self._text, said.reply)

    def _text(self, reply: UUID) -> str:
        with lab_scope(self.study.lab_id):
            return Message.objects.get(pk=reply).text

    def believed(self) -> dict[str, tuple[float, int]]:
        with lab_scope(self.study.lab_id):
            rows = Belief.objects.of_participant(self.participant.pk)
            return {row.content: (row.confidence, row.accesses) for row in rows}

    def logs(self) -> list[str]:
        with lab_scope(self.study.lab_id):
            return [log.text for log in SessionLog.objects.of_participant(self.participant.pk)]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("calls_tools", [True, False])
async def test_a_memory_is_kept_by_tools_or_by_observation(
    language: str, calls_tools: bool, lab: Lab
) -> None:
    words = WORDS[language]
    doors = OfflineDoors(talking=OfflineModel(calls_tools=calls_tools))
    study = await unit(make_study, lab, arms={"confidence": "confidence"}, language=language)
    talk = Conversation(study, doors, arm="confidence")  # type: ignore[arg-type]
    await talk.begin()
    # Before the manipulation nobody has tools: what was said then is gone over afterwards.
    await talk.stage("T1", START)
    await talk.speak(words["before"])
    await talk.end(START + timedelta(minutes=10))
    assert await unit(talk.believed) == {words["liking"]: (1.0, 0), words["home"]: (1.0, 0)}
    assert len(await unit(talk.logs)) == 1
    await talk.stage("T2", START + timedelta(days=2))
    reply, _text = await talk.speak(words["against"])
    assert await unit(talk.believed) == {words["liking"]: (0.75, 0), words["home"]: (1.0, 0)}
    receipt = await talk.receipt(reply)
    keys = [section["key"] for section in receipt.sections]
    assert keys == ["profile", "logs", "confirmed"] + ["tools"] * calls_tools
    assert [call["name"] for call in receipt.tools] == ["weaken_memory"] * calls_tools
    assert receipt.degraded == []
    _reply, text = await talk.speak(words["question"])
    assert words["home"] in text
