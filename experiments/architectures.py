"""Memory architectures as this app sees them: keys, titles and declared parameters.

The classes are named by dotted path in ``settings.MEMORY_ARCHITECTURES`` and loaded as Django
loads its backends, so nothing here imports ``memory`` and a lab can add its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from experiments.parameters import Parameter, Value, validated


class ArchitectureClass(Protocol):
    """What every architecture declares about itself, on its class."""

    key: str
    title: str
    parameters: Sequence[Parameter]
    presets: Mapping[str, Mapping[str, Value]]


@cache
def _load(path: str) -> ArchitectureClass:
    return cast(ArchitectureClass, import_string(path))


def keys() -> list[str]:
    """All architectures of this installation, in the order of the settings."""
    return list(settings.MEMORY_ARCHITECTURES)


def architecture(key: str) -> ArchitectureClass:
    """The class for a key; raises ImproperlyConfigured naming the known keys."""
    try:
        path = settings.MEMORY_ARCHITECTURES[key]
    except KeyError:
        raise ImproperlyConfigured(
            f"No memory architecture is called {key!r}. settings.MEMORY_ARCHITECTURES has: "
            f"{', '.join(keys())}."
        ) from None
    return _load(path)


def choices() -> list[tuple[str, str]]:
    return [(key, str(architecture(key).title)) for key in keys()]


def validated_parameters(key: str, given: Mapping[str, Any]) -> dict[str, Value]:
    """An arm's parameters, complete and checked; ValidationError otherwise."""
    if key not in settings.MEMORY_ARCHITECTURES:
        raise ValidationError(
            _("There is no memory architecture %(key)r. Known: %(known)s.")
            % {"key": key, "known": ", ".join(keys())}
        )
    return validated(architecture(key).parameters, given)
