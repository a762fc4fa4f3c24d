"""The stand-in as a process of its own, as load and kill tests start it."""

from __future__ import annotations

import asyncio
import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from memlab.core.llm import open_model
from memlab.core.llm.base import ChatMessage, Completion, FailureKind, ModelFailure, Speaker
from memlab.core.values import Prompt, PromptTask
from tests.standin import Answer


async def _ask_twice(url: str, prompt: Prompt) -> tuple[FailureKind, Completion, float]:
    model = open_model("openai_compatible", "m", base_url=url, allowed_base_urls=[url])
    with pytest.raises(ModelFailure) as caught:
        await model.complete(prompt)
    started = time.monotonic()
    completion = await model.complete(prompt)
    took = time.monotonic() - started
    await model.aclose()
    return caught.value.kind, completion, took


def test_process_follows_its_script_and_ends_on_a_signal(tmp_path: pathlib.Path) -> None:
    prompt = Prompt(
        task=PromptTask.REPLY,
        language="zh-hans",
        system="",
        messages=(ChatMessage(Speaker.USER, "你好"),),
    )
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps({"answers": [{"fault": "status", "status": 503}], "default": {"text": "一二三"}})
    )
    command = [sys.executable, "-m", "tests.standin", "--script", str(script), "--delay", "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["openai"]
        caught, completion, took = asyncio.run(_ask_twice(url, prompt))
        process.send_signal(signal.SIGINT)
        process.wait(10)
    assert caught is FailureKind.UNAVAILABLE
    assert completion.text == "一二三"
    assert took > 0.1
    assert process.returncode == 0


def test_script_files_are_read_strictly() -> None:
    with pytest.raises(ValueError, match="unknown names in a scripted answer: delai"):
        Answer.from_json({"delai": 0.1})
