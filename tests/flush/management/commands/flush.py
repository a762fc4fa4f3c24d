"""Delete what a test has committed, lab by lab as the application's role may, and nothing else."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection, transaction

#: What ``migrate`` puts in place and no test changes.
KEPT = ("django_migrations", "django_content_type", "auth_permission", "django_q_schedule")
#: A table that has never held a row has no file of any size. Policies and logs that only grow let
#: the rows go in this transaction; foreign keys are checked at its end.
DELETE = """
DO $$
DECLARE lab bigint; tables text[]; kept text[] := %s; name text;
BEGIN
    PERFORM set_config('memlab.purge', 'on', true);
    SELECT array_agg(quote_ident(relname)) INTO tables FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relrowsecurity
       AND pg_relation_size(oid) > 0;
    FOR lab IN SELECT lab_id FROM experiments_labdirectory LOOP
        PERFORM set_config('memlab.lab_id', lab::text, true);
        FOREACH name IN ARRAY coalesce(tables, '{}') LOOP
            EXECUTE 'DELETE FROM ' || name;
        END LOOP;
    END LOOP;
    FOR name IN SELECT quote_ident(relname) FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND NOT relrowsecurity
       AND pg_relation_size(oid) > 0 AND relname <> ALL (kept) LOOP
        EXECUTE 'DELETE FROM ' || name;
    END LOOP;
END $$
"""


class Command(BaseCommand):
    help = "Empties the test database."
    stealth_options = ("reset_sequences", "allow_cascade", "inhibit_post_migrate")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--noinput", "--no-input", action="store_false", dest="interactive")
        parser.add_argument("--database")

    def handle(self, *args: Any, **options: Any) -> None:
        if options.get("reset_sequences"):
            raise NotImplementedError("No test needs its sequences reset; this flush doesn't.")
        kept = "ARRAY[" + ", ".join(f"'{name}'" for name in KEPT) + "]"
        with transaction.atomic(), connection.cursor() as cursor:
            # This connection checks foreign keys by plans from when the tables held a few rows:
            # of twenty thousand, each would read them all.
            cursor.execute("DISCARD PLANS")
            cursor.execute(DELETE.replace("%s", kept))
