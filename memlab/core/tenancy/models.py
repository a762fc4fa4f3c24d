"""The base of every model whose rows belong to one lab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from django.db import models
from django.db.models.lookups import Exact
from django.db.models.sql.where import AND

from memlab.core.tenancy.scope import active_lab_id, require_lab

Row = TypeVar("Row", bound=models.Model, covariant=True)


class TenantQuerySet(models.QuerySet[Row]):
    """Refuses to reach the database outside a lab.

    Without this check a queryset made inside a scope and read after it would be silently empty,
    for row-level security hides everything from a connection without a lab.
    """

    def _fetch_all(self) -> None:
        if self._result_cache is None:
            self._require_lab()
        super()._fetch_all()

    def _iterator(self, use_chunked_fetch: bool, chunk_size: int | None) -> Iterator[Any]:
        self._require_lab()
        return super()._iterator(use_chunked_fetch, chunk_size)  # type: ignore[misc, no-any-return]

    def count(self) -> int:
        self._require_lab()
        return super().count()

    def exists(self) -> bool:
        self._require_lab()
        return super().exists()

    def aggregate(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        self._require_lab()
        return super().aggregate(*args, **kwargs)

    def update(self, **kwargs: Any) -> int:
        self._require_lab()
        return super().update(**kwargs)

    def _insert(self, *args: Any, **kwargs: Any) -> Any:
        self._require_lab()
        return super()._insert(*args, **kwargs)  # type: ignore[misc]

    def _raw_delete(self, using: str | None) -> int:
        self._require_lab()
        return super()._raw_delete(using)

    def _require_lab(self) -> int:
        return require_lab(f"rows of {self.model._meta.label}")


class TenantManager(models.Manager[Any]):
    """Shows the active lab's rows only, and raises NoActiveLab where there is none."""

    _queryset_class = TenantQuerySet

    def get_queryset(self) -> models.QuerySet[Any]:
        lab_id = require_lab(f"rows of {self.model._meta.label}")
        queryset = super().get_queryset()
        # What ``filter(lab_id=lab_id)`` comes to, at a third of its time: every use of a tenant's
        # rows begins with it, some twenty in a turn of a conversation.
        query = queryset.query
        column = self.model._meta.get_field(self.model.tenant_column).get_col(
            query.get_initial_alias()
        )
        query.where.add(Exact(column, lab_id), AND)
        return queryset


class TenantModel(models.Model):
    """A row of one lab. The lab is the active one unless it is given."""

    tenant_column = "lab_id"

    lab = models.ForeignKey(
        "experiments.Lab",
        on_delete=models.PROTECT,
        related_name="+",
        editable=False,
        db_index=False,  # the unique (lab_id, id) of every tenant table serves
    )

    objects: Any = TenantManager()  # django-stubs knows each model's own manager

    class Meta:
        abstract = True
        # Following a foreign key, saving and refreshing use the refusing manager too.
        base_manager_name = "objects"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.__dict__.get("lab_id", self) is None:  # not deferred, and not given
            self.__dict__["lab_id"] = active_lab_id()
