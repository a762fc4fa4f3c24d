"""What is kept about one person: every app says it once, in its ``erasure.py``.

The same words serve erasure, anonymisation and subject access, so that what is told to a person and
what goes with them can't differ. ``settings.PERSONAL_DATA`` names each app's ``Personal`` by dotted
path, children before their parents; a lab's own app puts its own in front.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.core.files.storage import Storage
from django.db import DEFAULT_DB_ALIAS, models
from django.utils.module_loading import import_string

#: How many rows of which table, or of which kind of trace.
Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A participant as the tables know them.

    ``ids`` are the UUIDs by which due work, steps, leases and tasks may name them or what is
    theirs; ``rows`` the ids of their rows by model, as text.
    """

    lab_id: int
    pk: int
    public_id: UUID
    code: str
    ids: frozenset[UUID] = frozenset()
    rows: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def with_rows(self) -> Self:
        """The same person with everything that names them. Call inside the lab's scope."""
        rows: dict[str, frozenset[str]] = {}
        ids = {self.public_id}
        for rule in rules():
            found = set(rule.of(self).values_list("pk", flat=True))
            rows[rule.model] = frozenset(str(key) for key in found)
            ids |= {key for key in found if isinstance(key, UUID)}
        return replace(self, ids=frozenset(ids), rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one model that are about a participant.

    ``path`` is the lookup from a row to what of the person is named by ``by``. They are erased with
    the person, unless ``kept`` says why not. ``identifies``: anonymising erases them too.
    ``removable`` are free texts that anonymising overwrites, with the value they get. ``evidence``:
    whether there are such rows, or what they say, depends on the arm; ``evidence_fields``: what
    these fields say does. ``hidden`` are fields that nobody is told: secrets and hashes. ``tells``
    adds what no field says by itself.
    """

    model: str
    path: str = "participant"
    by: Literal["pk", "public_id"] = "pk"
    kept: str = ""
    identifies: bool = False
    removable: Mapping[str, Any] = field(default_factory=dict)
    evidence: bool = False
    evidence_fields: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    tells: Callable[[Any], Mapping[str, Any]] | None = None

    def model_class(self) -> type[models.Model]:
        return apps.get_model(self.model)

    def of(self, person: Person) -> models.QuerySet[Any]:
        """The person's rows. Call inside the lab's scope."""
        rows = self.model_class()._default_manager.filter(**{self.path: getattr(person, self.by)})
        return rows.order_by("pk")

    def erase(self, person: Person) -> int:
        """Delete them, whatever refers to them: foreign keys are looked at when it commits."""
        # Not `delete()`, which would fetch every row and refuse what is protected.
        return self.of(person).order_by()._raw_delete(DEFAULT_DB_ALIAS)

    def files(self, person: Person) -> list[tuple[Storage, str]]:
        """Files of theirs, with the storage that holds them."""
        return [
            (column.storage, name)
            for column in self.model_class()._meta.concrete_fields
            if isinstance(column, models.FileField)
            for name in self.of(person).values_list(column.name, flat=True)
            if name
        ]


#: What rules can't say: rows that name a person in a text, or that stay without them.
Work = Callable[[Person], Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """All that an app says. ``erase`` and ``anonymise`` are called before the rows go."""

    rows: tuple[Rows, ...] = ()
    erase: tuple[Work, ...] = ()
    anonymise: tuple[Work, ...] = ()


def declared() -> list[Personal]:
    """Every app's, in the order in which rows may go."""
    return [import_string(path) for path in settings.PERSONAL_DATA]


def rules() -> list[Rows]:
    """Every rule of every app."""
    return [rule for personal in declared() for rule in personal.rows]
