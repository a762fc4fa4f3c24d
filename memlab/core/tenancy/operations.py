"""Migration operations that put tables under row-level security.

A new tenant model needs one line in the migration that creates it::

    operations = [migrations.CreateModel("Rating", …), SecureTenantTables("Rating")]

``tests/core/test_catalogue.py`` fails on a table with tenant data that lacks it.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from memlab.core.tenancy.scope import SETTING

POLICY = "lab_isolation"


def is_tenant(model: type[models.Model]) -> bool:
    return any(field.attname == "lab_id" and field.is_relation for field in model._meta.fields)


def scoped_key(table: str, lab_column: str, field: models.ForeignKey[Any, Any]) -> str:
    """The statement for a foreign key that leads to rows of the same lab only."""
    return (
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_{field.column}_lab_fk" '
        f'FOREIGN KEY ("{lab_column}", "{field.column}") '
        f'REFERENCES "{field.related_model._meta.db_table}" '
        f'("lab_id", "{field.target_field.column}") DEFERRABLE INITIALLY DEFERRED'
    )


class SecureTenantTables(Operation):
    """ENABLE and FORCE row-level security, the policy, and foreign keys that carry the lab.

    ``column`` is the one that holds the lab's id: ``lab_id`` everywhere but on the lab itself.
    """

    reversible = True

    def __init__(self, *model_names: str, column: str = "lab_id") -> None:
        self.model_names = model_names
        self.column = column

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__qualname__, list(self.model_names), {"column": self.column})

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The models stay as they are."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        tables = [to_state.apps.get_model(app_label, name) for name in self.model_names]
        for model in tables:
            for statement in self._isolate(model):
                schema_editor.execute(statement)
        for model in tables:
            for statement in self._scoped_keys(model):
                schema_editor.execute(statement)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for name in reversed(self.model_names):
            table = from_state.apps.get_model(app_label, name)._meta.db_table
            schema_editor.execute(f'DROP POLICY {POLICY} ON "{table}"')
            schema_editor.execute(f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY')
            schema_editor.execute(f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY')
            schema_editor.execute(
                f'ALTER TABLE "{table}" DROP CONSTRAINT IF EXISTS "{table}_lab_key" CASCADE'
            )

    def describe(self) -> str:
        return f"Row-level security on {', '.join(self.model_names)}"

    def _isolate(self, model: type[models.Model]) -> list[str]:
        table, key = model._meta.db_table, model._meta.pk.column
        mine = f"\"{self.column}\" = nullif(current_setting('{SETTING}', true), '')::bigint"
        statements = [
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
            f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY',
            f'CREATE POLICY {POLICY} ON "{table}" USING ({mine}) WITH CHECK ({mine})',
        ]
        if self.column != key:
            statements.append(
                f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_lab_key" '
                f'UNIQUE ("{self.column}", "{key}")'
            )
        return statements

    def _scoped_keys(self, model: type[models.Model]) -> list[str]:
        return [
            scoped_key(model._meta.db_table, self.column, field)
            for field in model._meta.fields
            if isinstance(field, models.ForeignKey)
            and field.attname != "lab_id"
            and is_tenant(field.related_model)
        ]


class SecureForeignKeys(Operation):
    """Foreign keys that carry the lab, for columns that are added to a table made before."""

    reversible = True

    def __init__(self, model_name: str, *fields: str) -> None:
        self.model_name = model_name
        self.fields = fields

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__qualname__, [self.model_name, *self.fields], {})

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The model stays as it is."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        for name in self.fields:
            field = model._meta.get_field(name)
            assert isinstance(field, models.ForeignKey)
            schema_editor.execute(scoped_key(model._meta.db_table, "lab_id", field))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        for name in self.fields:
            column, table = model._meta.get_field(name).column, model._meta.db_table
            schema_editor.execute(
                f'ALTER TABLE "{table}" DROP CONSTRAINT "{table}_{column}_lab_fk"'
            )

    def describe(self) -> str:
        return f"Foreign keys of {self.model_name} that carry the lab: {', '.join(self.fields)}"


class AppendOnly(Operation):
    """Refuse UPDATE and DELETE on a log, but for a transaction that sets ``memlab.purge`` to on.

    The purge is erasure's, which writes its own audit entry.
    """

    reversible = True

    def __init__(self, model_name: str) -> None:
        self.model_name = model_name

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__qualname__, [self.model_name], {})

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The model stays as it is."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        table = to_state.apps.get_model(app_label, self.model_name)._meta.db_table
        schema_editor.execute(
            f"""
            CREATE FUNCTION "{table}_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF coalesce(current_setting('memlab.purge', true), '') = 'on' THEN
                    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                    RETURN NEW;
                END IF;
                RAISE EXCEPTION '{table} is append-only: only an erasure may remove its rows';
            END $$
            """,
            params=None,
        )
        schema_editor.execute(
            f'CREATE TRIGGER "{table}_append_only" BEFORE UPDATE OR DELETE ON "{table}" '
            f'FOR EACH ROW EXECUTE FUNCTION "{table}_append_only"()'
        )

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        table = from_state.apps.get_model(app_label, self.model_name)._meta.db_table
        schema_editor.execute(f'DROP TRIGGER "{table}_append_only" ON "{table}"')
        schema_editor.execute(f'DROP FUNCTION "{table}_append_only"()')

    def describe(self) -> str:
        return f"Make {self.model_name} append-only"
