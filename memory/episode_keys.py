"""What a search compares of an episode: made from its moment when a session is consolidated."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy import float32
from numpy.typing import NDArray

from memlab.core.embeddings.base import Embedder, Form
from memlab.core.values import Role
from memory.encoding import Moment
from memory.enums import Encoding
from memory.words import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The columns of the same names; the last three for the ranking ``hybrid`` only.

    Words are separated by spaces: two thousand such texts are read in a third of the time of
    as many arrays.

    Vectors have shape (dimensions,). Without a message before there is no second vector: alone
    and in context are the same then.
    """

    vector: NDArray[float32]
    second_vector: NDArray[float32] | None = None
    words: str = ""
    words_before: str = ""


async def dense_keys(
    encoded: Sequence[Moment], *, names: Mapping[Role, str], embedder: Embedder
) -> list[Keys]:
    """One each, from the text that its moment is embedded with. Raises ``EmbeddingFailure``."""
    vectors = await embedder.embed([moment.embedded(names) for moment in encoded], Form.PASSAGE)
    return [Keys(vector=vector) for vector in vectors]


async def hybrid_keys(
    in_context: Sequence[Moment],
    *,
    encoding: Encoding,
    names: Mapping[Role, str],
    embedder: Embedder,
) -> list[Keys]:
    """One each, of moments that hold the message before them where there is one; ``encoding``
    says which vector is the first. Raises ``EmbeddingFailure``."""
    first = [moment.embedded_alone(names) for moment in in_context]
    second = [moment.embedded(names) for moment in in_context]
    if encoding is Encoding.IN_CONTEXT:
        first, second = second, first
    paired = [number for number, moment in enumerate(in_context) if moment.before is not None]
    vectors = await embedder.embed([*first, *(second[number] for number in paired)], Form.PASSAGE)
    seconds = dict(zip(paired, vectors[len(first) :], strict=True))
    # The first Chinese text loads a dictionary: not on the event loop.
    cut = await asyncio.to_thread(_cut, in_context, names)
    return [
        Keys(
            vector=vectors[number],
            second_vector=seconds.get(number),
            words=said,
            words_before=before,
        )
        for number, (said, before) in enumerate(cut)
    ]


def _cut(in_context: Sequence[Moment], names: Mapping[Role, str]) -> list[tuple[str, str]]:
    return [
        (
            " ".join(words(moment.embedded_alone(names))),
            " ".join(words(moment.embedded_before(names))),
        )
        for moment in in_context
    ]
