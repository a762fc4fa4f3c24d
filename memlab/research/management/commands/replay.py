"""`manage.py replay`: recorded dialogues through the live code, under each memory architecture."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from experiments import architectures
from memlab.core.clock import wall_now
from memlab.core.embeddings import Form, open_embedder
from memlab.core.embeddings.base import EmbeddingFailure
from memlab.core.llm import open_model
from memlab.research.replay import laboratory
from memlab.research.replay.connections import kept_open
from memlab.research.replay.dialogue_file import MalformedDialogue, read_dialogues
from memlab.research.replay.progress import Progress
from memlab.research.replay.report import Row, write
from memlab.research.replay.run import Plan, replay
from memlab.research.replay.study import Choices

#: What the standard protocol's arms have. With the papers' numbers nothing lives from one week to
#: the next.
USUAL_PRESET = "weekly"


class Command(BaseCommand):
    help = (
        "Replays recorded dialogues (docs/dialogues.md) through the code of the live chat at their "
        "own times, asks their probes, and writes what each memory architecture brought. Works in "
        "a lab of its own, which is erased afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="dialogues (JSON)")
        parser.add_argument(
            "--architecture", metavar="KEY[,KEY…]|all", help="which architectures, or all"
        )
        parser.add_argument("--report", type=Path, help="where to write the report (JSON)")
        parser.add_argument("--llm", default="offline", help="model for extraction: offline")
        parser.add_argument("--embedder", default="local", help="embedding model: local")
        parser.add_argument(
            "--preset",
            help=f"a preset of the architectures; {USUAL_PRESET} if none is named",
        )
        parser.add_argument(
            "--encode", choices=("user", "turn", "all"), help="which messages become episodes"
        )
        parser.add_argument(
            "--encoding", choices=("in_context", "message"), help="what an episode is embedded with"
        )
        parser.add_argument(
            "--ranking", choices=("dense", "hybrid"), help="how what is found is ordered"
        )
        parser.add_argument("--keep", action="store_true", help="keep the lab, to look at it")
        parser.add_argument(
            "--clean",
            action="store_true",
            help="only erase the labs that killed or kept replays left behind",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["clean"]:
            erased = laboratory.clean(wall=wall_now(), kept=True)
            self.stdout.write(f"{erased} labs of earlier replays erased.")
            return
        plan, report = _plan(options), _report(options["report"])
        progress = Progress(
            sys.stderr, dialogues=len(plan.dialogues), architectures=len(plan.architectures)
        )
        left_behind = laboratory.clean(wall=wall_now(), kept=False)
        if left_behind:
            progress.note(f"{left_behind} labs that killed replays had left were erased.")
        try:
            rows = asyncio.run(_run(plan, progress))
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise CommandError(
                "Interrupted: the lab is erased, no report is written.", returncode=130
            ) from None
        write(rows, report)
        progress.note(f"{len(rows)} rows in {report} after {progress.total():.1f} s.")


async def _run(plan: Plan, progress: Progress) -> list[Row]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await _try_embedder(plan)
        async with kept_open():
            return await replay(plan, progress)
    finally:
        await asyncio.gather(plan.extraction.aclose(), plan.embedder.aclose())


async def _try_embedder(plan: Plan) -> None:
    """Find out before anything is written that the embedder can't be used."""
    try:
        await plan.embedder.embed(["hello"], Form.QUERY)
    except EmbeddingFailure as failure:
        raise CommandError(f"--embedder: {failure.detail}") from failure


def _plan(options: dict[str, Any]) -> Plan:
    """What the arguments ask for, all of it checked before anything is written."""
    if not options["files"]:
        raise CommandError("No file is named. Name one or more dialogues; see docs/dialogues.md.")
    keys, choices = _architectures(options["architecture"]), _choices(options)
    _check(keys, choices)
    if options["llm"] != "offline":
        raise CommandError(
            f"--llm: a replay has no lab whose key could open {options['llm']!r}. "
            "Write offline, which needs none."
        )
    if options["embedder"] != "local":
        raise CommandError(
            f"--embedder: a replay has no lab whose key could open {options['embedder']!r}. "
            "Write local, which needs none."
        )
    try:
        dialogues = read_dialogues(options["files"])
    except MalformedDialogue as error:
        raise CommandError(str(error)) from error
    return Plan(
        dialogues=dialogues,
        architectures=keys,
        choices=choices if choices.preset else replace(choices, preset=USUAL_PRESET),
        extraction=open_model("offline", "offline-1"),
        embedder=open_embedder("local"),
        keep=options["keep"],
    )


def _architectures(given: str | None) -> tuple[str, ...]:
    known = architectures.keys()
    if given == "all":
        return tuple(known)
    keys = tuple(dict.fromkeys(key.strip() for key in (given or "").split(",") if key.strip()))
    unknown = [key for key in keys if key not in known]
    if not keys or unknown:
        what = f"unknown: {', '.join(unknown)}" if unknown else "none is named"
        raise CommandError(f"--architecture: {what}. Write all, or some of {', '.join(known)}.")
    return keys


def _choices(options: dict[str, Any]) -> Choices:
    return Choices(**{name: options[name] for name in ("preset", "encode", "encoding", "ranking")})


def _check(keys: tuple[str, ...], choices: Choices) -> None:
    """Presets and parameters, against what the architectures declare."""
    kinds = {key: architectures.architecture(key) for key in keys}
    presets = {preset for kind in kinds.values() for preset in kind.presets}
    if choices.preset is not None and choices.preset not in presets:
        known = ", ".join(sorted(presets)) or "none"
        raise CommandError(f"--preset: {choices.preset!r} is unknown. These have: {known}.")
    for key, kind in kinds.items():
        try:
            architectures.validated_parameters(key, choices.parameters(kind))
        except ValidationError as error:
            raise CommandError(f"{key}: {' '.join(error.messages)}") from error


def _report(path: Path | None) -> Path:
    if path is None:
        raise CommandError("--report is missing. Name the file that the report is written to.")
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CommandError(f"--report: {path} can't be written. Name a file in a folder of yours.")
    return path
