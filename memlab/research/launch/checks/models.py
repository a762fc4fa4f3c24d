"""Models: do they answer, do they stay the same, is the embedder calibrated, is one the offline."""

from __future__ import annotations

import re

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from experiments.calibrations import calibration_of, embedder_id
from experiments.configuration import DoorChoice
from experiments.enums import DoorUse, RelevanceScale
from experiments.models import DoorProbe
from experiments.models.probe import FRESH
from memlab.core.embeddings.calibration import PairForm
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State

#: Providers that need neither key nor network.
AT_HAND = frozenset({"offline", "local"})
#: A date in a model's name: 2025-07-28, 20250728, or a month and a day after a dash.
DATED = re.compile(r"(19|20)\d{2}-?\d{2}-?\d{2}|[-@]\d{4}$")
#: Names that their providers point at newer models now and then, although dated ones exist.
MOVING = re.compile(r"^(qwen[\d.]*-(plus|max|turbo|flash|long|vl|omni)|gpt-|chatgpt|o\d)|-latest$")
#: Names that move as well, of providers that sell nothing dated.
UNDATABLE = re.compile(r"^deepseek-(chat|reasoner)")


def answers(draft: Draft) -> list[Finding]:
    """One line a use: what came back when it was really asked."""
    return [_answers(draft, use, choice) for use, choice in draft.configuration.doors.items()]


def _answers(draft: Draft, use: DoorUse, choice: DoorChoice) -> Finding:
    key, title = f"answers_{use}", _("%(use)s model answers") % {"use": use.label}
    named = f"{choice.provider} · {choice.model}"
    if choice.provider in AT_HAND:
        found = _("%(model)s runs here and needs no key.") % {"model": named}
        return Finding(key=key, title=title, state=State.OK, found=found)
    probe = DoorProbe.objects.last(draft.study, use, choice)
    if probe is None or not probe.is_fresh(draft.wall):
        found = (
            _("%(model)s was never asked.") % {"model": named}
            if probe is None
            else _("%(model)s was last asked more than %(hours)s hours ago.")
            % {"model": named, "hours": int(FRESH.total_seconds() // 3600)}
        )
        remedy = _("Press “Ask the models”.")
        return Finding(key=key, title=title, state=State.UNKNOWN, found=found, remedy=remedy)
    when = date_format(localtime(probe.at), "DATETIME_FORMAT")
    if probe.answered:
        found = _("%(model)s answered as %(answered)s in %(ms)s ms (%(when)s).") % {
            "model": named,
            "answered": probe.answered_model or "–",
            "ms": round(probe.milliseconds),
            "when": when,
        }
        return Finding(key=key, title=title, state=State.OK, found=found)
    found = _("%(model)s didn't answer: %(failure)s (%(when)s)") % {
        "model": named,
        "failure": probe.failure,
        "when": when,
    }
    remedy = _("Check key, address and name of the model in the study, then ask again.")
    return Finding(
        key=key, title=title, state=State.BLOCKING, found=found, remedy=remedy, url=draft.url
    )


def dated(draft: Draft) -> list[Finding]:
    """Whether a model can change under its name while the study runs."""
    moving, undatable = [], []
    for choice in draft.configuration.doors.values():
        if choice.provider in AT_HAND or DATED.search(choice.model):
            continue
        if MOVING.search(choice.model):
            moving.append(choice.model)
        elif UNDATABLE.search(choice.model):
            undatable.append(choice.model)
    title = _("Models are dated")
    if moving:
        return [
            Finding(
                key="dated",
                title=title,
                state=State.BLOCKING,
                found=_("%(models)s may become another model while the study runs.")
                % {"models": ", ".join(dict.fromkeys(moving))},
                remedy=_("Name a dated snapshot, such as qwen-plus-2025-07-28."),
                url=draft.url,
            )
        ]
    if undatable:
        return [
            Finding(
                key="dated",
                title=title,
                state=State.WARNING,
                found=_("The provider has no dated snapshots of %(models)s.")
                % {"models": ", ".join(dict.fromkeys(undatable))},
                remedy=_("Each receipt keeps which model answered: look there for a change."),
                url=draft.url,
            )
        ]
    found = _("Every name stands for one model.")
    return [Finding(key="dated", title=title, state=State.OK, found=found)]


def calibrated(draft: Draft) -> list[Finding]:
    """Whether relevance means the same in [0, 1] whatever the embedder."""
    configuration, title = draft.configuration, _("Embedder is calibrated")
    embedder, language = embedder_id(configuration.embedding), configuration.language
    if configuration.relevance is RelevanceScale.RAW:
        found = _("The study uses raw cosines, which need no calibration.")
        return [Finding(key="calibrated", title=title, state=State.OK, found=found)]
    missing = [
        str(form)
        for form in PairForm
        if calibration_of(configuration.embedding, language, form) is None
    ]
    if missing:  # the configuration refuses this too, with the command that helps
        return [
            Finding(
                key="calibrated",
                title=title,
                state=State.BLOCKING,
                found=_("%(embedder)s was never measured in %(language)s: %(forms)s.")
                % {"embedder": embedder, "language": language, "forms": ", ".join(missing)},
                remedy=_("Run `manage.py calibrate_study` with this study's id."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = _("%(embedder)s, measured in %(language)s.") % {
        "embedder": embedder,
        "language": draft.study.get_language_display(),
    }
    return [Finding(key="calibrated", title=title, state=State.OK, found=found)]


def real_models(draft: Draft) -> list[Finding]:
    """The offline model is for demonstrations: what people tell it is no data."""
    offline = [
        str(use.label)
        for use, choice in draft.configuration.doors.items()
        if choice.provider == "offline"
    ]
    title = _("No offline model")
    if not offline:
        found = _("Real models talk and extract.")
        return [Finding(key="offline", title=title, state=State.OK, found=found)]
    return [
        Finding(
            key="offline",
            title=title,
            state=State.BLOCKING,
            found=_("The offline model is chosen for: %(uses)s. It answers by rules.")
            % {"uses": ", ".join(offline)},
            remedy=_("Choose a provider, unless this is a demonstration."),
            url=draft.url,
        )
    ]
