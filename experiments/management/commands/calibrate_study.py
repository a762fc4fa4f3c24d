"""Measure a study's embedder in its language, with its lab's key, and keep the result."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from experiments.configuration import DoorChoice
from experiments.directory import find_study
from experiments.doors import open_study_embedder
from experiments.models import LabCalibration
from memlab.core.embeddings.base import EmbeddingFailure
from memlab.core.embeddings.calibration import Measurement, PairForm, measured
from memlab.core.llm.configuration import ProviderConfigurationError
from memlab.core.tenancy import lab_scope


class Command(BaseCommand):
    help = "Measure a study's embedder on the bilingual set and keep the result for its lab."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="The study's public id, as its admin page shows it.")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        try:
            measurements = asyncio.run(
                _measure(study.lab_id, study.door("embedding"), study.language)
            )
        except (EmbeddingFailure, ProviderConfigurationError) as failure:
            raise CommandError(f"The embedder of {study} can't be measured: {failure}") from failure
        with lab_scope(study.lab_id):
            for measurement in measurements:
                row = LabCalibration.objects.keep(measurement)
                self.stdout.write(f"{row}: r = 0 at {row.low:.4f}, r = 1 at {row.high:.4f}")


async def _measure(lab_id: int, choice: DoorChoice, language: str) -> list[Measurement]:
    embedder = await open_study_embedder(lab_id, choice)
    try:
        return [await measured(embedder, language, form) for form in PairForm]
    finally:
        await embedder.aclose()
