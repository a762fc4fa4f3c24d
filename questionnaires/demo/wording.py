"""Short forms in which the demo's instruments are written down."""

from __future__ import annotations

from typing import Any

from questionnaires.content import InstrumentContent, ItemContent, Option, Text
from questionnaires.enums import ItemType, MissingRule

INTRODUCTION = Text(
    en="Please think of the conversation that you have just had. There are no right or wrong "
    "answers.",
    zh="请回想您刚刚进行的对话。答案没有对错之分。",
)
AGREE: dict[str, Any] = {
    "low": Text(en="Strongly disagree", zh="非常不同意"),
    "high": Text(en="Strongly agree", zh="非常同意"),
}
TRUE: dict[str, Any] = {
    "low": Text(en="Not at all true", zh="完全不符合"),
    "high": Text(en="Completely true", zh="完全符合"),
}


def likert(
    code: str,
    en: str,
    zh: str,
    *,
    subscale: str,
    points: int = 7,
    ends: dict[str, Any] = AGREE,
    reverse: bool = False,
) -> ItemContent:
    """A statement on a scale from 1 to ``points``."""
    return ItemContent(
        code=code,
        type=ItemType.LIKERT,
        text=Text(en=en, zh=zh),
        minimum=1.0,
        maximum=float(points),
        subscale=subscale,
        reverse=reverse,
        **ends,
    )


def attention(code: str, answer: int, *, points: int = 7) -> ItemContent:
    """An item that tells which answer to choose."""
    return ItemContent(
        code=code,
        type=ItemType.LIKERT,
        text=Text(
            en=f"To show that you read every line, please choose {answer} here.",
            zh=f"为表明您在认真阅读，本题请选择“{answer}”。",
        ),
        minimum=1.0,
        maximum=float(points),
        expected=float(answer),
        **AGREE,
    )


def single(code: str, en: str, zh: str, *choices: tuple[str, str], **more: Any) -> ItemContent:
    """One of several answers, numbered from 1."""
    options = tuple(
        Option(value=number, label=Text(en=english, zh=chinese))
        for number, (english, chinese) in enumerate(choices, start=1)
    )
    more = {"type": ItemType.SINGLE, **more}
    return ItemContent(code=code, text=Text(en=en, zh=zh), options=options, **more)


def text(code: str, en: str, zh: str, **more: Any) -> ItemContent:
    """A free text that may stay empty."""
    return ItemContent(
        code=code, type=ItemType.TEXT, text=Text(en=en, zh=zh), required=False, **more
    )


def demo(
    key: str,
    en: str,
    zh: str,
    *items: ItemContent,
    stands_for: str,
    introduction: Text = INTRODUCTION,
    randomised: bool = False,
) -> InstrumentContent:
    """A demo instrument: our own wording, stamped as such, with the scale that it stands for."""
    return InstrumentContent(
        key=f"demo_{key}",
        title=Text(en=f"{en} (demo, not validated)", zh=f"{zh}（演示，未经验证）"),
        introduction=introduction,
        citation=f"Demo, not validated: wording of our own. Stands for: {stands_for}",
        validated=False,
        randomised=randomised,
        missing=MissingRule.SHARE,
        missing_share=0.75,
        items=items,
    )
