"""The web process as it is, whose assistant says the same in every arm.

An answer's words are the treatment, and how long they are shows in when they are shown: with the
same words what is left to differ is what the platform takes for them. The offline model still
reads each arm's prompt and calls its tools; only its last answer is replaced.

Run by uvicorn: ``memlab.research.blinding.web:platform``.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memlab.settings.production")

from channels.routing import get_default_application

web_process = get_default_application()  # before anything that needs the apps

from chat.makers import makers  # noqa: E402
from experiments.configuration import StudyConfiguration  # noqa: E402
from experiments.doors import DoorKeeper, Keys, StudyDoors, open_doors  # noqa: E402
from memlab.core.llm.base import Completion, LanguageModel, Sampling, TextDelta, Tool  # noqa: E402
from memlab.core.values import Prompt  # noqa: E402

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
ANSWER = (
    "That sounds good to me. I would like to hear a little more about it, if you want to tell me. "
    "What was the best part of it for you?"
)


class SameWords:
    """A model whose streamed answers are all ``ANSWER``; its calls of tools are its own."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.provider, self.model = model.provider, model.model
        self.calls_tools = model.calls_tools

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[Tool] = (), sampling: Sampling = Sampling()
    ) -> AsyncIterator[TextDelta | Completion]:
        async for part in self._model.stream(prompt, tools=tools, sampling=sampling):
            if isinstance(part, TextDelta):
                continue
            if part.tool_calls:
                yield part
                return
            for piece in re.findall(r"\S+\s*", ANSWER):
                yield TextDelta(piece)
            yield replace(part, text=ANSWER)

    async def complete(
        self, prompt: Prompt, *, json: bool = False, sampling: Sampling = Sampling()
    ) -> Completion:
        return await self._model.complete(prompt, json=json, sampling=sampling)

    async def aclose(self) -> None:
        await self._model.aclose()


def same_words(configuration: StudyConfiguration, keys: Keys) -> StudyDoors:
    """A study's doors, whose talking model says ``ANSWER``."""
    doors = open_doors(configuration, keys)
    return replace(doors, talking=SameWords(doors.talking))


async def platform(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        makers(DoorKeeper(same_words))
    await web_process(scope, receive, send)
