"""``manage.py doctor``: can this installation carry a study? 0 if so, 1 if something is wrong."""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from memlab.research.doctor import Look, looks, models_of_open_studies


class Command(BaseCommand):
    help = "Looks at database, tasks, layer, e-mail, storage, secrets and open studies' models."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-models", action="store_true", help="Ask no provider, which costs a few tokens."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        asked = () if options["no_models"] else models_of_open_studies()
        wrong = 0
        try:
            for look in chain(looks(), asked):
                wrong += not look.well
                self.stdout.write(_line(look))
        except DatabaseError as error:
            self.stdout.write(f"!! database: {type(error).__name__}. Is DATABASE_URL right?")
            sys.exit(1)
        self.stdout.write("all is well" if not wrong else f"{wrong} to put right")
        if wrong:
            sys.exit(1)


def _line(look: Look) -> str:
    mark = "ok" if look.well else "!!"
    return f"{mark} {look.what}: {look.found}{f' → {look.remedy}' if look.remedy else ''}"
