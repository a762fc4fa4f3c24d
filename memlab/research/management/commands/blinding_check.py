"""`manage.py blinding_check`: what could a participant tell their condition by?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memlab.research.bench.scratch import scratch_database
from memlab.research.blinding.people import Pace
from memlab.research.blinding.report import table, write
from memlab.research.blinding.run import Size, check


class Command(BaseCommand):
    help = (
        "Lives through paced sessions in every arm and compares what their browsers receive: "
        "bytes, headers and frames, which must be the same, and times, which are tested. In a "
        "database of its own that is dropped afterwards; with the offline model, whose "
        "answers are replaced by the same words for everybody (docs/blinding.md)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = tuple(settings.MEMORY_ARCHITECTURES)
        parser.add_argument("--arm", choices=kinds, action="append", help="Compare these alone.")
        parser.add_argument("--sessions", type=int, default=100, help="Of each arm.")
        parser.add_argument("--turns", type=int, default=3, help="Of each session.")
        parser.add_argument("--at-once", type=int, default=8, help="Sessions at the same time.")
        parser.add_argument("--floor", type=int, default=600, help="Until the first token, ms.")
        parser.add_argument("--rate", type=float, default=100.0, help="Tokens a second.")
        parser.add_argument(
            "--preparing", type=int, default=6, help="How long a conversation is prepared, s."
        )
        parser.add_argument(
            "--report", type=Path, default=settings.ROOT / "bench" / "blinding.json", metavar="FILE"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        arms = options["arm"] or list(settings.MEMORY_ARCHITECTURES)
        if len(arms) < 2:
            raise CommandError("One arm can't be compared: name two with --arm, or none.")
        size = Size(
            each=options["sessions"],
            turns=options["turns"],
            at_once=options["at_once"],
            preparing=options["preparing"],
            pace=Pace(first_token_ms=options["floor"], tokens_per_second=options["rate"]),
        )
        with scratch_database():
            found = check(arms, size, self.stderr.write)
        write(found, size, options["report"])
        self.stdout.write(table(found))
        self.stdout.write(f"\n{options['report']}")
        if found.structure:
            raise CommandError("What browsers receive differs between arms: see above.")
