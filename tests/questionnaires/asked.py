"""Questionnaires for tests: an instrument with every type of item, asked in a study."""

from __future__ import annotations

from typing import Any

from experiments.enums import Moment
from experiments.models import Participant, Study
from memlab.core.tenancy import lab_scope
from questionnaires.content import Condition, InstrumentContent, ItemContent, Option, Text
from questionnaires.enums import ItemType, MissingRule
from questionnaires.models import Instrument, Placement
from tests.studies import enrol

AGREE: dict[str, Any] = {
    "minimum": 1.0,
    "maximum": 7.0,
    "low": Text(en="Disagree", zh="不同意"),
    "high": Text(en="Agree", zh="同意"),
}


def item(code: str, kind: ItemType, **fields: Any) -> ItemContent:
    fields.setdefault("text", Text(en=f"{code}?", zh=f"{code}？"))
    return ItemContent(code=code, type=kind, **fields)


def options(*labels: str) -> tuple[Option, ...]:
    return tuple(
        Option(value=number, label=Text(en=label, zh=label))
        for number, label in enumerate(labels, start=1)
    )


LIKERT = (
    item("like_1", ItemType.LIKERT, subscale="liking", **AGREE),
    item("like_2", ItemType.LIKERT, subscale="liking", reverse=True, **AGREE),
    item("check", ItemType.LIKERT, expected=2.0, **AGREE),
)
#: Two pages and a third that only comes up for whoever has a pet.
PETS = InstrumentContent(
    key="pets",
    title=Text(en="Pets", zh="宠物"),
    missing=MissingRule.NONE,
    items=(
        *LIKERT,
        item("pet", ItemType.SINGLE, options=options("no", "a cat", "a dog"), page=2),
        item("why", ItemType.TEXT, required=False, page=2),
        item(
            "name",
            ItemType.TEXT,
            page=3,
            condition=Condition(item="pet", operator=">=", value=2),
        ),
    ),
)
#: One item of each type, on one page.
EVERYTHING = InstrumentContent(
    key="everything",
    title=Text(en="Everything", zh="全部"),
    items=(
        *LIKERT,
        item("one", ItemType.SINGLE, options=options("red", "green")),
        item("some", ItemType.MULTIPLE, options=options("left", "right"), required=False),
        item("slide", ItemType.SLIDER, minimum=0.0, maximum=10.0, step=0.5),
        item("warm", ItemType.DIFFERENTIAL, **{**AGREE, "maximum": 5.0}),
        item("ios", ItemType.PICTURE, minimum=1.0, maximum=7.0),
        item("years", ItemType.NUMBER, minimum=0.0, maximum=120.0, step=1.0),
        item("words", ItemType.TEXT, required=False),
        item("day", ItemType.DATE, required=False),
    ),
)


def ask(
    study: Study,
    *contents: InstrumentContent | str,
    moment: Moment = Moment.AFTER,
    stage: str = "T1",
    **fields: Any,
) -> None:
    """Place instruments, or external surveys by address, in this order."""
    with lab_scope(study.lab_id):
        at = study.stages.get(key=stage) if stage else None
        for position, content in enumerate(contents, start=1):
            if isinstance(content, str):
                fields |= {"external_url": content}
            else:
                fields |= {"instrument": Instrument.objects.store(content)}
            Placement.objects.create(
                study=study, moment=moment, stage=at, position=position, **fields
            )


def asked(study: Study, *contents: InstrumentContent | str, **fields: Any) -> Participant:
    """A participant of a study that asks these after T1."""
    ask(study, *contents, **fields)
    return enrol(study)
