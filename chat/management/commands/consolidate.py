"""Run the pending memory steps and the due maintenance of a study now: what the task cluster does
by itself."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from chat import sessions, steps
from experiments.directory import find_study
from experiments.doors import DoorKeeper
from experiments.models import Participant
from memlab.core.ledger import Job, JobState
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit


class Command(BaseCommand):
    help = (
        "Consolidate the finished sessions of a study now, do what time has made due to its "
        "memories, and start given-up steps again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's public id, as its admin page shows it.")
        parser.add_argument("--participant", help="Only this participant's code.")

    def handle(self, *args: Any, **options: Any) -> None:
        lab_id, participants = self._participants(options["study"], options["participant"])
        done = 0
        for number, participant in enumerate(participants, start=1):
            _plan(lab_id, participant)
            count, left = asyncio.run(_run(lab_id, participant.public_id))
            done += count
            self.stdout.write(
                f"{number}/{len(participants)} {participant.code}: {count} done, {left} left"
            )
        self.stdout.write(f"{done} steps done.")

    def _participants(self, public_id: str, code: str | None) -> tuple[int, list[Participant]]:
        study = find_study(public_id)
        with lab_scope(study.lab_id):
            participants = study.participants.exclude(allocations=None).order_by("pk")
            if code is not None:
                participants = participants.filter(code=code)
                if not participants.exists():
                    raise CommandError(
                        f"No participant {code!r} with an arm is in this study. Before the arm "
                        "is drawn there is no memory to consolidate."
                    )
            return study.lab_id, list(participants)


def _plan(lab_id: int, participant: Participant) -> None:
    """Make sure every finished session has its step, and start given-up ones again."""
    with lab_scope(lab_id):
        sessions.remember_finished(participant)
        for job in Job.objects.filter(participant=participant.public_id).exclude(
            state=JobState.DONE
        ):
            job.restart()


async def _run(lab_id: int, participant: UUID) -> tuple[int, int]:
    keeper = DoorKeeper()
    try:
        done = await steps.run_steps(lab_id, participant, keeper)
        return done, await unit(Job.objects.pending_of(participant).count)
    finally:
        await keeper.aclose()
