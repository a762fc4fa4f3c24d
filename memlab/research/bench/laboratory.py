"""A lab with one study, participants of the hybrid arm, and what they remember."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import uuid4

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from experiments.configuration import CalibrationPoint
from experiments.enums import Language
from experiments.models import Allocation, Arm, Lab, Participant, ProviderKey, Study
from experiments.study_templates import create_study
from memlab.core.embeddings.local import ID as EMBEDDER
from memlab.core.tenancy import lab_scope
from memlab.research.bench.vectors import Vectors
from memory.architectures.parameters import PRESETS
from memory.formulas import forgetting
from memory.formulas.salience import emotional_salience
from memory.models import Episode
from memory.models.episode import Curve

ARM = "l4"  # of the template "controlled": hybrid, preset weekly
WEEKLY = Curve(**PRESETS["weekly"])  # type: ignore[arg-type]
TALE = (
    "yesterday my sister called about the garden and we talked for an hour about the old house "
    "by the river where our grandmother kept bees until the winter when everything froze and I "
    "felt both calm and a little sad because work has been loud lately and I miss slow evenings"
)
WORDS = TALE.split()


def make_study(name: str, *, further: Sequence[str] = ()) -> Study:
    """A lab of its own with an open study, pacing off, whose talking model needs the lab's key.

    ``further`` architectures get an arm each beside the template's, called as they are.
    """
    lab = Lab.objects.found(name=name)
    with lab_scope(lab.pk):
        key = ProviderKey(label="bench", provider="openai_compatible")
        key.seal("never sent anywhere")
        key.save()

        def without_pacing(fresh: Study) -> None:
            fresh.pacing, fresh.talking_key = False, key
            fresh.talking_provider, fresh.talking_model = "openai_compatible", "bench"

        study = create_study(
            "controlled", title=name, language=Language.ENGLISH, adjust=without_pacing
        )
        for number, architecture in enumerate(further):
            Arm.objects.create(
                study=study,
                key=architecture,
                name=architecture,
                label=chr(ord("P") + number),
                architecture=architecture,
            )
        study.open()
    return study


def enrol(study: Study, count: int, *, wall: datetime, arm: str = ARM) -> list[Participant]:
    """Consenting participants, all in one arm: the hybrid one unless another is named."""
    with lab_scope(study.lab_id):
        return [_enrolled(study, arm, wall=wall) for _ in range(count)]


def _enrolled(study: Study, arm: str, *, wall: datetime) -> Participant:
    participant = Participant.objects.create(study=study)
    participant.give_consent(wall=wall)
    Allocation.objects.create(
        participant=participant,
        version=participant.version,
        arm_key=arm,
        stratum=participant.stratum,
        position=participant.pk,
        block=0,
        block_size=1,
        study_at=wall,
    )
    return participant


def relevance(study: Study) -> CalibrationPoint:
    """How the study maps cosines of questions and memories to r."""
    return study.version().configuration.calibrations["query_passage"]


def sentence(random: Generator, least: int = 8, most: int = 60) -> str:
    """Some 40 to 330 characters of English words."""
    return " ".join(random.choice(WORDS, size=int(random.integers(least, most))))


def remembered(
    participant: Participant,
    vectors: Vectors,
    ages: NDArray[np.float64],
    *,
    now: datetime,
    random: Generator,
) -> list[Episode]:
    """Unsaved episodes of one earlier session: one a vector, ``ages`` days old, any salience."""
    session = uuid4()
    return [
        _episode(participant, vector, now - timedelta(days=float(age)), random, session_id=session)
        for vector, age in zip(vectors, ages, strict=True)
    ]


def _episode(
    participant: Participant, vector: Vectors, at: datetime, random: Generator, **fields: object
) -> Episode:
    """As the hybrid memory encodes a message together with the one before it."""
    intensity, disclosure, value = (float(each) for each in random.uniform(size=3))
    salience = emotional_salience(
        intensity=intensity, self_disclosure=disclosure, value_relevance=value
    )
    g = forgetting.initial_consolidation(
        salience=salience, initial=WEEKLY.initial_g, gain=WEEKLY.salience_gain
    )
    ends_with = uuid4()
    return Episode(
        id=uuid4(),
        lab_id=participant.lab_id,
        participant=participant,
        session_number=1,
        stage_key="t1",
        text=f"Assistant: {sentence(random)}\nUser: {sentence(random)}",
        message_ids=[uuid4(), ends_with],
        ends_with=ends_with,
        form="user/in_context",
        embedder=EMBEDDER,
        vector=vector,
        encoded_at=at,
        anchor=at,
        g=g,
        recallable_until=WEEKLY.recallable_until(g=g, anchor=at, salience=salience),
        intensity=intensity,
        self_disclosure=disclosure,
        value_relevance=value,
        salience=salience,
        importance=salience,
        **fields,
    )
