"""``manage.py load_demo [--json]``: the demo lab with an open study in each language."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse

from experiments.enums import Language
from memlab.research.demo import Demo, load_demo


class Command(BaseCommand):
    help = "Makes the demo lab with an open study in each language and a new admin password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(os.environ.get("MEMLAB_DATA_DIR") or settings.ROOT / ".data")
        printed = _printed(load_demo(folder / "demo.json"))
        if options["json"]:
            self.stdout.write(json.dumps(printed, ensure_ascii=False))
        else:
            for name, value in printed.items():
                self.stdout.write(f"{name:24} {value}")


def _printed(demo: Demo) -> dict[str, str]:
    english, chinese = demo.links[Language.ENGLISH], demo.links[Language.CHINESE]
    return {
        "participant_path": reverse("journey:join", args=[english.entry]),
        "participant_path_zh": reverse("journey:join", args=[chinese.entry]),
        "test_path": reverse("journey:join", args=[english.test]),
        "test_path_zh": reverse("journey:join", args=[chinese.test]),
        "admin_path": reverse("admin:index"),
        "admin_username": demo.email,
        "admin_password": demo.password,
    }
