"""`manage.py bench`: what recall, maintenance and live turns cost, in one run on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from memlab.research.bench import (
    chats,
    maintenance,
    prompts,
    ranking,
    recall,
    sockets,
    statements,
    tools,
    turns,
)
from memlab.research.bench.report import Figure, table, write
from memlab.research.bench.scratch import scratch_database

PARTS = ("recall", "ranking", *prompts.KINDS, "maintenance", "tools", "turns", "sockets")


class Command(BaseCommand):
    help = (
        "Measures recall, live turns and sockets against the barest thing that could do the same, "
        "and maintenance by the row (docs/performance.md), in a database of its own that is "
        "dropped afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", choices=PARTS, action="append", help="Measure this part.")
        parser.add_argument(
            "--quick", action="store_true", help="Fewer rows and shorter levels: for a first look."
        )
        parser.add_argument(
            "--report", type=Path, default=settings.ROOT / "bench" / "report.json", metavar="FILE"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        figures: list[Figure] = []
        with scratch_database():
            for part in options["only"] or PARTS:
                figures += self._measured(part, quick=options["quick"])
        write(figures, options["report"])
        self.stdout.write(table(figures))
        self.stdout.write(f"\n{options['report']}")

    def _measured(self, part: str, *, quick: bool) -> list[Figure]:
        if part == "recall":
            return recall.measure(recall.QUICK if quick else recall.Size(), self._say)
        if part == "ranking":
            return ranking.measure(ranking.QUICK if quick else ranking.Size(), self._say)
        if part in prompts.KINDS:
            return prompts.measure(part, prompts.QUICK if quick else prompts.Size(), self._say)
        if part == "maintenance":
            size = maintenance.QUICK if quick else maintenance.Size()
            return maintenance.measure(size, self._say)
        if part == "tools":
            return tools.measure(tools.QUICK if quick else tools.Size(), self._say)
        load = turns.QUICK if quick else turns.Load()
        self._say(f"{part}: making {max(load.levels)} participants")
        seats = chats.seats(max(load.levels))
        if part == "sockets":
            return sockets.measure(seats, self._say)
        return [*statements.measure(seats[-1], self._say), *turns.measure(load, seats, self._say)]

    def _say(self, what: str) -> None:
        self.stderr.write(what)
