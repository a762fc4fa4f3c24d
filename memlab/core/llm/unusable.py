"""A model that can't be opened as it is configured, and says so whenever it is asked.

It stands at a door that must not keep the other doors of a study shut.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from memlab.core.llm.base import Completion, FailureKind, ModelFailure, Sampling, TextDelta, Tool
from memlab.core.llm.configuration import ProviderConfigurationError

if TYPE_CHECKING:
    from memlab.core.values import Prompt


class UnusableModel:
    """Fails with what is wrong with its configuration; sends nothing."""

    def __init__(
        self, provider: str, model: str, error: ProviderConfigurationError, *, calls_tools: bool
    ) -> None:
        self.provider = provider
        self.model = model
        self.calls_tools = calls_tools
        self._error = error

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        yield await self.complete(prompt, sampling=sampling)

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        raise ModelFailure(FailureKind.BAD_REQUEST, str(self._error))

    async def aclose(self) -> None:
        """Nothing is open."""
