"""Opening the doors to models, with a lab's own keys."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from django.conf import settings

from experiments.configuration import DoorChoice, StudyConfiguration
from experiments.models.key import ProviderKey
from memlab.core.embeddings import open_embedder
from memlab.core.embeddings.base import Embedder
from memlab.core.llm import ProviderConfigurationError, open_model
from memlab.core.llm.base import LanguageModel, Timeouts
from memlab.core.llm.unusable import UnusableModel
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDoors:
    """The models of one study: for talking, for extraction, for embeddings. ``fallback`` talks
    where ``talking`` can't; None if the study has none."""

    talking: LanguageModel
    extraction: LanguageModel
    embedder: Embedder
    fallback: LanguageModel | None = None

    async def aclose(self) -> None:
        every = (self.talking, self.fallback, self.extraction, self.embedder)
        await asyncio.gather(*(each.aclose() for each in every if each is not None))


class OpenDoors(Protocol):
    """Who opens the doors of a study: a ``DoorKeeper``, or what a replay puts in its place."""

    async def doors(self, lab_id: int, configuration: StudyConfiguration) -> StudyDoors: ...


@dataclass(frozen=True, slots=True)
class Credentials:
    """A provider key, opened, and where it is good for."""

    api_key: str | None = None
    base_url: str | None = None


# The keys that a configuration names, by their ids.
Keys = dict[int, Credentials]

# How long keys are used before they are looked up again, in seconds.
KEYS_KEPT = 10.0


def _choices(configuration: StudyConfiguration) -> tuple[DoorChoice, ...]:
    return tuple(configuration.doors.values())


def _credentials(lab_id: int, *choices: DoorChoice) -> Keys:
    """The keys that choices name, opened. Ids of another lab are simply not found."""
    wanted = {choice.key for choice in choices if choice.key is not None}
    if not wanted:
        return {}
    with lab_scope(lab_id):
        return {
            key.pk: Credentials(key.opened(), key.base_url or None)
            for key in ProviderKey.objects.filter(lab_id=lab_id, pk__in=wanted)
        }


def open_doors(configuration: StudyConfiguration, keys: Keys) -> StudyDoors:
    """Clients for a study's models; nothing is sent yet. Raises ProviderConfigurationError."""
    return StudyDoors(
        talking=_model(configuration.talking, keys),
        extraction=_model(configuration.extraction, keys),
        embedder=_embedder(configuration.embedding, keys),
        fallback=_fallback(configuration, keys),
    )


async def open_study_embedder(lab_id: int, choice: DoorChoice) -> Embedder:
    """One embedder with its lab's key; whoever opens it closes it."""
    return _embedder(choice, await unit(_credentials, lab_id, choice))


def _options(choice: DoorChoice, keys: Keys) -> dict[str, Any]:
    credentials = keys.get(choice.key, Credentials()) if choice.key else Credentials()
    return {
        "api_key": credentials.api_key,
        "base_url": credentials.base_url,
        "allowed_base_urls": settings.ALLOWED_MODEL_URLS,
        "timeouts": Timeouts(**settings.MODEL_TIMEOUTS),
    }


def _model(choice: DoorChoice, keys: Keys) -> LanguageModel:
    return open_model(
        choice.provider, choice.model, calls_tools=choice.calls_tools, **_options(choice, keys)
    )


def _fallback(configuration: StudyConfiguration, keys: Keys) -> LanguageModel | None:
    """The fallback, with the talking model's tools. One that can't be opened, because its key has
    been removed since, must not keep the other doors shut: it fails where it is asked."""
    if configuration.fallback is None:
        return None
    choice = replace(configuration.fallback, calls_tools=configuration.talking.calls_tools)
    try:
        return _model(choice, keys)
    except ProviderConfigurationError as error:
        logger.error("the fallback can't be used: %s", error)
        return UnusableModel(choice.provider, choice.model, error, calls_tools=choice.calls_tools)


def _embedder(choice: DoorChoice, keys: Keys) -> Embedder:
    local = choice.provider == "local"
    spec = choice.provider if local else f"{choice.provider}:{choice.model}"
    return open_embedder(spec, **_options(choice, keys))


class DoorKeeper:
    """Doors that one event loop shares among all conversations under the same configuration.

    A changed key opens new doors, at most KEYS_KEPT seconds later; the old ones stay open for turns
    that still use them and are closed with the keeper. ``opening`` makes the clients.
    """

    def __init__(
        self,
        opening: Callable[[StudyConfiguration, Keys], StudyDoors] = open_doors,
    ) -> None:
        self._opening = opening
        self._open: dict[str, StudyDoors] = {}
        self._keys: dict[tuple[int, tuple[DoorChoice, ...]], tuple[float, Keys]] = {}

    async def doors(self, lab_id: int, configuration: StudyConfiguration) -> StudyDoors:
        keys = await self._keys_of(lab_id, _choices(configuration))
        name = _fingerprint(lab_id, configuration, keys)
        if name not in self._open:
            self._open[name] = self._opening(configuration, keys)
        return self._open[name]

    async def _keys_of(self, lab_id: int, choices: tuple[DoorChoice, ...]) -> Keys:
        """The keys, looked up anew once those at hand are older than KEYS_KEPT."""
        if all(choice.key is None for choice in choices):
            return {}
        looked_up, keys = self._keys.get((lab_id, choices), (float("-inf"), {}))
        if time.monotonic() - looked_up > KEYS_KEPT:
            keys = await unit(_credentials, lab_id, *choices)
            self._keys[lab_id, choices] = (time.monotonic(), keys)
        return keys

    async def aclose(self) -> None:
        doors, self._open = list(self._open.values()), {}
        for each in doors:
            await each.aclose()


def _fingerprint(lab_id: int, configuration: StudyConfiguration, keys: Keys) -> str:
    secret = repr(
        (lab_id, _choices(configuration), sorted((key, repr(value)) for key, value in keys.items()))
    )
    return hashlib.sha256(secret.encode()).hexdigest()
