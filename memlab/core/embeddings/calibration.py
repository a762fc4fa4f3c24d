"""Calibrated relevance: where an embedder's cosines begin to mean something.

Raw cosines of different embedders aren't comparable: multilingual E5 gives
strangers 0.75-0.84. So relevance is r = clip((cos - low) / (high - low), 0, 1)
with `low` the median of unrelated pairs and `high` the 95th percentile of related
ones, measured per embedder, language and form on a set of our own
(`calibration_pairs.json`: questions about a person's life, the statements that
answer them, and paraphrases of those).

Related is what the form compares: question-answer pairs where a query looks for a
passage, paraphrases where two passages are held against each other. Pooling them
would put r = 1 of a query at the level of a restatement, which no evidence reaches.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memlab.core.embeddings.base import Embedder, Form, Vectors

PAIRS_FILE = Path(__file__).with_name("calibration_pairs.json")
MEASURED_FILE = Path(__file__).with_name("measured.json")
LANGUAGES = ("zh-hans", "en")
# Cosines are float32 sums: further digits differ between machines.
_DIGITS = 4


class PairForm(StrEnum):
    """What is compared: a query with a passage (recall, waking), or two passages (mentions)."""

    QUERY_PASSAGE = "query_passage"
    PASSAGE_PASSAGE = "passage_passage"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The two cosines that become relevance 0 and 1."""

    embedder_id: str
    language: str
    form: PairForm
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(
                f"calibration of {self.embedder_id}, {self.language}, {self.form}: "
                f"low {self.low} must be below high {self.high}; measure it again"
            )


@dataclass(frozen=True, slots=True)
class Measurement:
    """A calibration and what it was measured from.

    `evidence`: the relevance of each related pair, ascending; for a query, of each
    question to its own answer. `strangers`: percentiles 0-100 of the relevance of
    unrelated pairs.
    """

    calibration: Calibration
    evidence: tuple[float, ...]
    strangers: tuple[float, ...]

    def evidence_share(self, least_relevance: float) -> float:
        """The share of true evidence with at least this relevance, 0-1."""
        return sum(r >= least_relevance for r in self.evidence) / len(self.evidence)

    def stranger_share(self, least_relevance: float) -> float:
        """The share of unrelated pairs with at least this relevance, 0-1, to a percent."""
        return sum(r >= least_relevance for r in self.strangers) / len(self.strangers)


@dataclass(frozen=True, slots=True)
class Triple:
    """A question about a person's life, the statement that answers it, and its paraphrase."""

    question: str
    statement: str
    paraphrase: str


def calibrated(cosine: float, calibration: Calibration) -> float:
    """Relevance r in [0, 1] for a raw cosine."""
    span = calibration.high - calibration.low
    return min(1.0, max(0.0, (cosine - calibration.low) / span))


@lru_cache(maxsize=1)
def calibration_pairs() -> dict[str, tuple[Triple, ...]]:
    """The bilingual set, by language."""
    written = json.loads(PAIRS_FILE.read_text(encoding="utf-8"))
    return {language: tuple(Triple(**row) for row in rows) for language, rows in written.items()}


async def measured(embedder: Embedder, language: str, form: PairForm) -> Measurement:
    """Measure one embedder in one language and form. Raises `EmbeddingFailure`."""
    triples = calibration_pairs()[language]
    if form is PairForm.QUERY_PASSAGE:
        first = await embedder.embed([triple.question for triple in triples], Form.QUERY)
    else:
        first = await embedder.embed([triple.paraphrase for triple in triples], Form.PASSAGE)
    second = await embedder.embed([triple.statement for triple in triples], Form.PASSAGE)
    related, unrelated = _related_and_unrelated(first, second)
    calibration = Calibration(
        embedder_id=embedder.id,
        language=language,
        form=form,
        low=round(float(np.median(unrelated)), _DIGITS),
        high=round(float(np.percentile(related, 95)), _DIGITS),
    )
    return Measurement(
        calibration,
        evidence=_relevances(np.sort(related), calibration),
        strangers=_relevances(np.percentile(unrelated, range(101)), calibration),
    )


def _related_and_unrelated(
    first: Vectors, second: Vectors
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosines of the pairs that belong together, and of all that don't."""
    cosines = first.astype(np.float64) @ second.astype(np.float64).T
    together = np.eye(len(cosines), dtype=bool)
    return cosines[together], cosines[~together]


def _relevances(cosines: NDArray[np.float64], calibration: Calibration) -> tuple[float, ...]:
    return tuple(round(calibrated(float(cosine), calibration), 3) for cosine in cosines)


async def measure_all(embedder: Embedder) -> tuple[Measurement, ...]:
    """Every language and form of one embedder."""
    return tuple(
        [await measured(embedder, language, form) for language in LANGUAGES for form in PairForm]
    )


def as_json(measurement: Measurement) -> dict[str, Any]:
    """A measurement as `measured.json` writes it."""
    calibration = measurement.calibration
    return {
        "embedder": calibration.embedder_id,
        "language": calibration.language,
        "form": str(calibration.form),
        "low": calibration.low,
        "high": calibration.high,
        "evidence": list(measurement.evidence),
        "strangers": list(measurement.strangers),
    }


def from_json(row: dict[str, Any]) -> Measurement:
    """The inverse of `as_json`."""
    return Measurement(
        Calibration(
            embedder_id=row["embedder"],
            language=row["language"],
            form=PairForm(row["form"]),
            low=row["low"],
            high=row["high"],
        ),
        evidence=tuple(row["evidence"]),
        strangers=tuple(row["strangers"]),
    )


@lru_cache(maxsize=1)
def shipped_measurements() -> tuple[Measurement, ...]:
    """What was measured of the local embedder when this version was made."""
    written = json.loads(MEASURED_FILE.read_text(encoding="utf-8"))
    return tuple(from_json(row) for row in written)


def shipped_measurement(embedder_id: str, language: str, form: PairForm) -> Measurement | None:
    """The shipped measurement of an embedder; None if it must be measured by `calibrate`."""
    for measurement in shipped_measurements():
        calibration = measurement.calibration
        wanted = (embedder_id, language, form)
        if (calibration.embedder_id, calibration.language, calibration.form) == wanted:
            return measurement
    return None


def written(measurements: Sequence[Measurement]) -> str:
    """The text of `measured.json`: one measurement a line, so that a change shows in a diff."""
    rows = ",\n".join(json.dumps(as_json(measurement)) for measurement in measurements)
    return f"[\n{rows}\n]\n"
