"""``manage.py replay_erasures``: after a restore, erase again whoever came back with the backup."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from memlab.core import erasure_log
from memlab.core.clock import wall_now
from memlab.research import restore


class Command(BaseCommand):
    help = "Erase again everybody in the log of erasures who is back in a restored database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--log", type=Path, help="The log, if not in MEMLAB_ERASURE_LOG.")
        parser.add_argument("--dry-run", action="store_true", help="Say how many, change nothing.")

    def handle(self, *, log: Path | None, dry_run: bool, **options: Any) -> None:
        try:
            found = erasure_log.read(log)
        except erasure_log.ErasureLogError as error:
            raise CommandError(str(error)) from None
        if found.broken:
            numbers = ", ".join(str(number) for number in found.broken)
            self.stderr.write(
                f"Lines that can't be read and are left out: {numbers}. A process that was killed "
                "leaves such a line, and a whole one below it; compare with the log's backup."
            )
        back = list(restore.returned(found.lines))
        if not dry_run:
            for person in back:
                restore.erase_again(person, wall=wall_now())
        verb = "would be erased" if dry_run else "erased"
        self.stdout.write(f"{len(found.lines)} lines read, {len(back)} people {verb} again.")
