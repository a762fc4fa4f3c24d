"""Rows of single items, as weeks of a study leave them: in bins, and at hand or archived."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

import numpy as np
from numpy.random import Generator

from experiments.models import Participant
from memlab.core.embeddings.local import ID as EMBEDDER
from memlab.core.tenancy.models import TenantModel
from memlab.research.bench.laboratory import sentence
from memlab.research.bench.vectors import Vectors
from memory.enums import Bin
from memory.formulas.regulation import State
from memory.models import BinnedItem, LoggedTurn, RegulatedState, RetainedItem
from memory.models.profile import normalised
from memory.models.retention_rule import Point, Retention
from memory.words import words

DAY = timedelta(days=1)
#: Over what time items were last needed, and how often they were before (geometric).
DAYS, NEEDED_AGAIN = 28.0, 0.6
#: Different things that a person speaks of; an item is filed under two, a message is about three.
TOPICS = 500
BINS = tuple(Bin)

Rows = list[TenantModel]


def retained(person: Participant, vectors: Vectors, now: datetime, random: Generator) -> Rows:
    """Unsaved items under the default rule, of which those whose moment has come are archived."""
    retention = Retention()
    rows: Rows = []
    for vector, age in zip(vectors, random.uniform(0.0, DAYS, size=len(vectors)), strict=True):
        keywords = about(random, 2)
        row = RetainedItem(
            **common(person, vector),
            importance=float(random.uniform(0.3, 1.0)),
            hits=int(random.geometric(NEEDED_AGAIN)) - 1,
            anchor=now - float(age) * DAY,
            anchor_turn=0,
            encoded_at=now - DAYS * DAY,
            text=sentence(random)[:190],
            keywords=keywords,
            keyword_words=sorted(keywords),
        )
        row.words = list(words(row.text))
        row.set_leaving(retention)
        if row.archived_by(Point(at=now, turn=0)):
            assert row.archive_at is not None
            row.archive(row.archive_at)
        rows.append(row)
    return rows


def binned(person: Participant, vectors: Vectors, now: datetime, random: Generator) -> Rows:
    """Unsaved items, as many in each bin, each in a state of its own; with the logged turns that
    examples of style come from, and a present state that calls for such examples."""
    alert = RegulatedState(
        id=uuid4(), lab_id=person.lab_id, participant=person, anchor=now, **State(ne=0.9)._asdict()
    )
    rows: Rows = [alert]
    for number, vector in enumerate(vectors):
        bin_ = BINS[number % len(BINS)]
        state = State(*(float(each) for each in np.round(random.uniform(size=5), 12)))
        turn = _turn(person, state, now, random)
        if bin_ is Bin.STYLE:
            rows.append(turn)
        text = sentence(random, 6, 20)[:190]
        rows.append(
            BinnedItem(
                **common(person, vector),
                at=now - float(random.uniform(0.0, DAYS)) * DAY,
                importance=float(random.uniform()),
                **state._asdict(),
                rpe=float(random.uniform(-1.0, 1.0)),
                log_id=turn.pk,
                expires_at=now + DAY if bin_ is Bin.STYLE else None,
                bin=bin_,
                text=text,
                normalised=normalised(text),
                words=list(words(text)),
            )
        )
    return rows


def _turn(person: Participant, state: State, now: datetime, random: Generator) -> LoggedTurn:
    return LoggedTurn(
        id=uuid4(),
        lab_id=person.lab_id,
        participant=person,
        session_id=uuid4(),
        session_number=1,
        stage_key="t1",
        at=now - DAYS * DAY,
        message_ids=[uuid4(), uuid4()],
        said=sentence(random),
        answered=sentence(random),
        **state._asdict(),
        valence=0.0,
        offensiveness=0.0,
        boundary=False,
        rpe_reward=0.0,
        rpe_threat=0.0,
        behaviour={},
        retrieval=False,
        token_out=60,
    )


def store(rows: Rows) -> None:
    """Store rows of any kinds, in the order of each. Call inside a scope."""
    kinds = dict.fromkeys(type(row) for row in rows)
    for kind in kinds:
        alike = [row for row in rows if type(row) is kind]
        kind._default_manager.bulk_create(alike, batch_size=500)


def about(random: Generator, count: int) -> list[str]:
    """Words for some of the things that a person speaks of."""
    return [f"topic{number}" for number in random.integers(TOPICS, size=count)]


def common(person: Participant, vector: Vectors) -> dict[str, object]:
    """What items share, whatever their kind."""
    return {
        "id": uuid4(),
        "lab_id": person.lab_id,
        "participant": person,
        "session_id": uuid4(),
        "session_number": 1,
        "stage_key": "t1",
        "message_ids": [uuid4()],
        "embedder": EMBEDDER,
        "vector": vector,
    }
