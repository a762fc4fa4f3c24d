"""L1, sensory memory (Atkinson & Shiffrin 1968): nothing is encoded, nothing comes back."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from memory.architectures.base import Architecture


class Sensory(Architecture):
    """Brings nothing from earlier sessions and stores nothing."""

    key = "sensory"
    title = _("L1 · Sensory memory")
    seed_instructions = {
        "en": (
            "You have no memory of the user. Every conversation begins from nothing: you recall "
            "nothing that was said before, so don't act as if you did."
        ),
        "zh-hans": (
            "你对用户没有任何记忆，每次对话都从零开始。你想不起以前说过的任何话，也不要装作记得。"
        ),
    }
