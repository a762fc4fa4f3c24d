"""`manage.py calibrate`: measure where an embedder's cosines begin to mean something."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memlab.core.embeddings import EmbeddingFailure, open_embedder
from memlab.core.embeddings.calibration import MEASURED_FILE, Measurement, measure_all, written
from memlab.core.llm.configuration import ProviderConfigurationError

# The key of a remote embedder comes through the environment: arguments show in process lists.
KEY_VARIABLE = "MEMLAB_EMBEDDER_KEY"


class Command(BaseCommand):
    help = (
        "Measures an embedder on the bilingual calibration set and prints, per language and form, "
        "the cosines that become relevance 0 and 1, and the share of related and unrelated pairs "
        f"above a relevance of 0.5. The key of a remote embedder is read from {KEY_VARIABLE}."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--embedder",
            default="local",
            help="local, dashscope[:MODEL@DIMENSIONS] or openai_compatible:MODEL@DIMENSIONS",
        )
        parser.add_argument("--base-url", help="the address of a remote embedder")
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
        parser.add_argument(
            "--write",
            action="store_true",
            help="replace the measurements that ship with Memlab (for its developers)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            measurements = asyncio.run(_measure(options["embedder"], options["base_url"]))
        except (ProviderConfigurationError, EmbeddingFailure, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["write"]:
            if options["embedder"] != "local":
                raise CommandError("only the local embedder's measurements ship with Memlab")
            MEASURED_FILE.write_text(written(measurements), encoding="utf-8")
        text = written(measurements) if options["json"] else _table(measurements)
        self.stdout.write(text, ending="")


async def _measure(spec: str, base_url: str | None) -> tuple[Measurement, ...]:
    embedder = open_embedder(
        spec,
        api_key=os.environ.get(KEY_VARIABLE),
        base_url=base_url,
        # Whoever runs commands on the server may call what they like from it.
        allowed_base_urls=[base_url] if base_url else [],
    )
    try:
        return await measure_all(embedder)
    finally:
        await embedder.aclose()


def _table(measurements: tuple[Measurement, ...]) -> str:
    head = (
        f"{'embedder':24} {'language':9} {'form':16} "
        f"{'low':>7} {'high':>7} {'related':>8} {'strangers':>9}"
    )
    rows = [
        f"{m.calibration.embedder_id:24} {m.calibration.language:9} {m.calibration.form:16} "
        f"{m.calibration.low:7.4f} {m.calibration.high:7.4f} "
        f"{m.evidence_share(0.5):8.0%} {m.stranger_share(0.5):9.0%}"
        for m in measurements
    ]
    return "\n".join([head, *rows]) + "\n"
