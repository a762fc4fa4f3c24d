"""Studies to start from: what a template sets, and a new study made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from experiments import architectures
from experiments.enums import Instruction, Language, WithinSession
from experiments.models import Arm, Stage, Study
from experiments.protocol import TEXTS

HOUR, DAY, WEEK = 1.0, 24.0, 168.0
#: Of each stage of the standard protocol: key, hours since the one before, window in hours,
#: whether the manipulation is active.
TIMETABLE = (
    ("t1", 0.0, None, False),
    ("t2", DAY, 3 * DAY, True),
    ("t3", WEEK, 3 * DAY, True),
    ("t4", WEEK, 3 * DAY, True),
)
LEVELS = (
    ("l1", "sensory", ""),
    ("l2", "working", ""),
    ("l3", "gist", ""),
    ("l4", "hybrid", "weekly"),
)
CONTROLS = (("full", "full_history", ""), ("random", "random_recall", "weekly"))
OTHER_SYSTEMS = (
    ("compression", "compression", ""),
    ("confidence", "confidence", ""),
    ("homeostatic", "homeostatic", ""),
    ("retention", "retention", ""),
)
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyTemplate:
    """``fields`` are the study's, ``arms`` key, architecture and preset of each arm."""

    key: str
    title: str | Promise
    description: str | Promise
    fields: Mapping[str, Any]
    arms: tuple[tuple[str, str, str], ...]
    stages: bool = True
    #: Fields of single arms that differ from the shared factors, by the arm's key.
    exceptions: Mapping[str, Mapping[str, Any]]


CONTROLLED = {
    "within_session": WithinSession.FULL,
    "instruction": Instruction.NEUTRAL,
    "provenance_in_prompt": False,
    "pacing": True,
}
TEMPLATES = {
    template.key: template
    for template in (
        StudyTemplate(
            key="controlled",
            title=_("Controlled: four memory levels"),
            description=_(
                "The standard protocol T1–T4 with the arms L1–L4, which differ in memory and in "
                "nothing else: one neutral instruction, the whole current session in every arm, "
                "no provenance in the prompt."
            ),
            fields=CONTROLLED,
            arms=LEVELS,
            exceptions={},
        ),
        StudyTemplate(
            key="controlled-with-controls",
            title=_("Controlled, with two control arms"),
            description=_(
                "As “controlled”, with the whole history as an upper bound and random recall "
                "yoked to L4."
            ),
            fields=CONTROLLED,
            arms=LEVELS + CONTROLS,
            exceptions={},
        ),
        StudyTemplate(
            key="controlled-all",
            title=_("Controlled, with every memory system"),
            description=_(
                "As “controlled”, with both control arms and the four other memory systems: "
                "compression, adaptive confidence, homeostatic and retention. Take out what your "
                "question doesn't need."
            ),
            fields=CONTROLLED,
            arms=LEVELS + CONTROLS + OTHER_SYSTEMS,
            exceptions={},
        ),
        StudyTemplate(
            key="as-in-the-seed",
            title=_("As in the original design"),
            description=_(
                "The standard protocol with the original wording of each level: L1 sees nothing "
                "of the current session, every level has its own instruction, and memories carry "
                "their source and relevance in the prompt."
            ),
            fields={
                "within_session": WithinSession.FULL,
                "instruction": Instruction.SEED,
                "provenance_in_prompt": True,
                "pacing": True,
            },
            arms=LEVELS,
            exceptions={"l1": {"within_session": WithinSession.NONE}},
        ),
        StudyTemplate(
            key="empty",
            title=_("Empty"),
            description=_("Texts to start from, no stages and no arms."),
            fields={},
            arms=(),
            stages=False,
            exceptions={},
        ),
    )
}


def planned_study(template: StudyTemplate, *, title: str, language: Language) -> Study:
    """An unsaved study with the template's fields and the language's texts."""
    text = TEXTS[language]
    return Study(
        title=title,
        language=language,
        assistant_name=text.assistant_name,
        persona=text.persona,
        information=text.information,
        consent=text.consent,
        **template.fields,
    )


def planned_stages(template: StudyTemplate, study: Study) -> list[Stage]:
    """The standard protocol's stages, unsaved; none for a template without."""
    if not template.stages:
        return []
    return [
        Stage(
            study=study,
            number=number,
            key=key,
            title=text.title,
            briefing=text.briefing,
            instructions=text.instructions,
            opening_line=text.opening_line,
            topics=list(text.topics),
            minimum_gap_hours=gap,
            window_hours=window,
            minimum_minutes=10,
            maximum_minutes=15,
            minimum_turns=4,
            manipulation=manipulation,
        )
        for number, ((key, gap, window, manipulation), text) in enumerate(
            zip(TIMETABLE, TEXTS[Language(study.language)].stages, strict=True), start=1
        )
    ]


def planned_arms(template: StudyTemplate, study: Study) -> list[Arm]:
    """The template's arms, unsaved: named in the study's language, with labels in a fixed order."""
    with translation.override(study.language):
        return [
            Arm(
                study=study,
                key=key,
                name=str(architectures.architecture(architecture).title),
                label=label,
                architecture=architecture,
                preset=preset,
                **template.exceptions.get(key, {}),
            )
            for label, (key, architecture, preset) in zip(LABELS, template.arms, strict=False)
        ]


def create_study(
    template_key: str,
    *,
    title: str,
    language: Language,
    adjust: Callable[[Study], None] | None = None,
) -> Study:
    """A new draft in the active lab, checked as the back office checks it.

    ``adjust`` may change the study before it is stored; ``settings.STUDY_TEMPLATE_PARTS`` adds what
    apps above bring to a template. Raises ValidationError.
    """
    template = TEMPLATES[template_key]
    study = planned_study(template, title=title, language=language)
    if adjust is not None:
        adjust(study)
    for row in (study, *planned_stages(template, study), *planned_arms(template, study)):
        row.clean()
        row.save()
    for path in settings.STUDY_TEMPLATE_PARTS:
        import_string(path)(study, template)
    return study


def duplicate(study: Study, *, title: str) -> Study:
    """A new draft with the same texts, stages and arms; participants and versions stay behind.

    ``settings.STUDY_COPIES`` adds what apps above hang on a study.
    """
    copy = Study.objects.get(pk=study.pk)
    fresh = Study()
    copy.pk, copy.title, copy._state.adding = None, title, True
    for name in ("public_id", "allocation_seed", "status"):
        setattr(copy, name, getattr(fresh, name))
    copy.save()
    parts: list[Stage | Arm] = [*study.stages.all(), *study.arms.all()]
    for part in parts:
        part.pk, part.study, part._state.adding = None, copy, True
        part.save()
    for path in settings.STUDY_COPIES:
        import_string(path)(study, copy)
    return copy
