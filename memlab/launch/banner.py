"""What `make run` prints when everything is up, in both languages."""

import json
from dataclasses import dataclass, fields

from memlab.launch.errors import LaunchError


@dataclass(frozen=True)
class Demo:
    """Where the demo studies are and who may enter; what ``manage.py load_demo --json`` prints."""

    participant_path: str
    participant_path_zh: str
    test_path: str
    test_path_zh: str
    admin_path: str
    admin_username: str
    admin_password: str


def read_demo(printed: str) -> Demo:
    """The demo's paths and fresh password from the command's output."""
    try:
        found = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])
        return Demo(**{field.name: found[field.name] for field in fields(Demo)})
    except (ValueError, KeyError) as error:
        raise LaunchError(
            f"load_demo printed no usable JSON ({error!r})",
            remedy="Run `.venv/bin/python manage.py load_demo --json` and look at its output.",
        ) from error


def banner(demo: Demo, *, base: str, seconds: float) -> str:
    """The block of addresses; ``base`` is the server's URL without a slash at its end."""
    return f"""
  ────────────────────────────────────────────────────────────────
  Memlab is running · Memlab 已启动                      ({seconds:.0f} s)

  Participant, English      {base}{demo.participant_path}
  参与者（中文）            {base}{demo.participant_path_zh}
  Test run, skips days      {base}{demo.test_path}
  试运行（可跳过天数）      {base}{demo.test_path_zh}

  Admin · 管理后台          {base}{demo.admin_path}
  User · 用户名             {demo.admin_username}
  Password · 密码           {demo.admin_password}

  Stop with Ctrl-C · 按 Ctrl-C 停止
  ────────────────────────────────────────────────────────────────
"""
