"""The instruments that Memlab brings along: wording of our own, to be replaced before a real study.

``place`` stands in ``settings.STUDY_TEMPLATE_PARTS``: a study that is made from a template of the
standard protocol asks them at their places.
"""

from __future__ import annotations

from experiments.enums import Moment
from experiments.models import Study
from experiments.study_templates import StudyTemplate
from questionnaires.content import InstrumentContent
from questionnaires.demo.conversation import (
    CONTINUANCE,
    DISCLOSURE,
    INTELLIGENCE,
    MANIPULATION,
    OPEN,
    PRIVACY,
    SATISFACTION,
    UNDERSTANDING,
)
from questionnaires.demo.frame import DEBRIEFING, SCREENING
from questionnaires.demo.relation import CLOSENESS, IOS, MIND, PRESENCE, TRUST
from questionnaires.models import Instrument, Placement

#: After which stage what is asked, in this order: the manipulation check after the outcomes.
AFTER: dict[str, tuple[InstrumentContent, ...]] = {
    "t1": (MIND, IOS, CLOSENESS, TRUST, SATISFACTION),
    "t2": (UNDERSTANDING, IOS, CLOSENESS, DISCLOSURE, SATISFACTION, MANIPULATION),
    "t3": (INTELLIGENCE, TRUST, PRESENCE, CONTINUANCE, SATISFACTION, MANIPULATION),
    "t4": (IOS, CLOSENESS, MIND, TRUST, SATISFACTION, PRIVACY, MANIPULATION, OPEN),
}
PLACES: tuple[tuple[Moment, str, tuple[InstrumentContent, ...]], ...] = (
    (Moment.SCREENING, "", (SCREENING,)),
    *((Moment.AFTER, stage, contents) for stage, contents in AFTER.items()),
    (Moment.DEBRIEFING, "", (DEBRIEFING,)),
)
INSTRUMENTS: dict[str, InstrumentContent] = {
    content.key: content for _moment, _stage, contents in PLACES for content in contents
}


def place(study: Study, template: StudyTemplate) -> None:
    """Have a new study of the standard protocol ask the demo's instruments."""
    if not template.stages:
        return
    stages = {stage.key: stage for stage in study.stages.all()}
    for moment, key, contents in PLACES:
        for position, content in enumerate(contents, start=1):
            Placement.objects.create(
                study=study,
                moment=moment,
                stage=stages.get(key),
                position=position,
                instrument=loaded(content),
            )


def loaded(content: InstrumentContent) -> Instrument:
    """The lab's instrument with this key as it is there, changed or not; loaded if it isn't."""
    existing: Instrument | None = Instrument.objects.filter(key=content.key).first()
    return existing or Instrument.objects.store(content)
