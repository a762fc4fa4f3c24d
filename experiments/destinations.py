"""Where a study sends what participants write: shown below its information sheet."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.configuration import DoorChoice, StudyConfiguration
from experiments.models.key import ProviderKey

#: Operators of servers that are known by name; the lab's own word in the key goes before it.
_OPERATORS = {
    "dashscope.aliyuncs.com": gettext_lazy("Alibaba Cloud, mainland China"),
    "dashscope-intl.aliyuncs.com": gettext_lazy("Alibaba Cloud, Singapore"),
    "api.openai.com": gettext_lazy("OpenAI, United States"),
    "api.deepseek.com": gettext_lazy("DeepSeek, mainland China"),
}
_HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Destination:
    """To whom something goes, and what: at least one line."""

    operator: str
    what: tuple[str, ...]


def destinations(configuration: StudyConfiguration) -> tuple[Destination, ...]:
    """In the active language: the study's own server first, then each operator of a model."""
    choices = (
        (_("Your messages, to answer them"), configuration.talking),
        *_if_it_fails(configuration),
        (_("Your messages, to summarise them"), configuration.extraction),
        (_("Your messages, to find related ones"), configuration.embedding),
    )
    named = {choice.key for _what, choice in choices if choice.key is not None}
    keys = {key.pk: key for key in ProviderKey.objects.filter(pk__in=named)} if named else {}
    uses = {_own_server(): [_("Everything that you write and answer, to keep it")]}
    for what, choice in choices:
        uses.setdefault(_operator(choice, keys), []).append(what)
    return tuple(Destination(operator, tuple(what)) for operator, what in uses.items())


def _if_it_fails(configuration: StudyConfiguration) -> tuple[tuple[str, DoorChoice], ...]:
    if configuration.fallback is None:
        return ()
    return (
        (_("Your messages, to answer them if the first service fails"), configuration.fallback),
    )


def _operator(choice: DoorChoice, keys: dict[int, ProviderKey]) -> str:
    if choice.provider in ("offline", "local"):
        return _own_server()
    key = None if choice.key is None else keys.get(choice.key)
    if key is not None and key.region:
        return key.region
    host = urlsplit(key.base_url).hostname if key is not None else None
    if host is None:
        host = "dashscope.aliyuncs.com" if choice.provider == "dashscope" else choice.provider
    return _own_server() if host in _HERE else str(_OPERATORS.get(host, host))


def _own_server() -> str:
    return _("The server of the study")
