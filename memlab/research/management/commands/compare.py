"""`manage.py compare`: reports of replays side by side, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memlab.research.compare.markdown import table
from memlab.research.compare.page import page
from memlab.research.compare.reports import MalformedReport, arms_of, read_reports


class Command(BaseCommand):
    help = (
        "Puts reports of `manage.py replay` side by side on one page in English and Chinese, which "
        "opens without a network: evidence coverage, ranking recall, prompt tokens, latency, "
        "memories over time, and what each architecture knew when it was asked."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT", help="report (JSON)")
        parser.add_argument("--html", type=Path, required=True, help="where to write the page")
        parser.add_argument(
            "--markdown", action="store_true", help="print the table of all dialogues as Markdown"
        )
        parser.add_argument(
            "--probes", type=int, default=20, help="questions shown of each dialogue; 20"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["probes"] < 0:
            raise CommandError("--probes: write a number from 0 on.")
        try:
            arms = arms_of(read_reports(options["reports"]))
        except MalformedReport as error:
            raise CommandError(str(error)) from error
        target: Path = options["html"]
        try:
            target.write_text(page(arms, probes=options["probes"]), encoding="utf-8")
        except OSError as error:
            raise CommandError(
                f"--html: {target} can't be written ({error.strerror}). Name another file."
            ) from error
        if options["markdown"]:
            self.stdout.write(table(arms))
        self.stdout.write(f"{len(arms)} arms compared in {target}.")
