"""`python -m tests.standin --port N --script file.json`: the stand-in as a process of its own.

The script: {"answers": [...], "default": {...}}, answers as in `tests.standin.script.Answer`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import sys
import threading
from dataclasses import replace

from tests.standin.script import Answer
from tests.standin.server import StandIn


async def _serve(standin: StandIn, port: int) -> None:
    ready = threading.Event()
    serving = asyncio.ensure_future(standin.serve(port, ready))
    opening = asyncio.ensure_future(asyncio.to_thread(ready.wait, 10))
    await asyncio.wait({serving, opening}, return_when=asyncio.FIRST_COMPLETED)
    if ready.is_set():
        addresses = {"dashscope": standin.dashscope_url, "openai": standin.openai_url}
        print(json.dumps({"port": standin.port, **addresses}), flush=True)
    await serving


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.standin", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=0, help="0 chooses a free one, which is printed"
    )
    parser.add_argument("--script", type=pathlib.Path, help="JSON file")
    parser.add_argument("--delay", type=float, help="seconds between tokens of the default answer")
    parser.add_argument("--text", help="text of the default answer")
    options = parser.parse_args()
    script = json.loads(options.script.read_text(encoding="utf-8")) if options.script else {}
    default = Answer.from_json(script.get("default", {}))
    if options.delay is not None:
        default = replace(default, delay=options.delay)
    if options.text is not None:
        default = replace(default, text=options.text)
    standin = StandIn(default)
    standin.script(Answer.from_json(answer) for answer in script.get("answers", []))
    try:
        asyncio.run(_serve(standin, options.port))
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
