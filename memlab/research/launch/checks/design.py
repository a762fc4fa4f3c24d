"""Design: stages and arms are there, arms differ only where declared, memory can recall at all."""

from __future__ import annotations

from django.utils.translation import gettext as _

from experiments.configuration import StageConfiguration
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State
from memlab.research.launch.identity import identity, sample_prompts
from memlab.research.launch.wording import row_name
from memory.admin.feasibility import evidence_of
from memory.feasibility import LEAST_SHARE, recall_feasibility


def protocol(draft: Draft) -> list[Finding]:
    """Stages, and arms for those with manipulation."""
    configuration, title = draft.configuration, _("Stages and arms")
    troubles = []
    if not configuration.stages:
        troubles.append(_("There is no stage."))
    if any(stage.manipulation for stage in configuration.stages) and not configuration.arms:
        troubles.append(_("A stage has the manipulation active, but there is no arm."))
    if troubles:
        return [
            Finding(
                key="protocol",
                title=title,
                state=State.BLOCKING,
                found=" ".join(troubles),
                remedy=_("Add what is missing on the study's page."),
                url=draft.url,
                overridable=False,
            )
        ]
    found = _("%(stages)s stages, %(arms)s arms.") % {
        "stages": len(configuration.stages),
        "arms": len(configuration.arms),
    }
    state = State.OK
    if len(configuration.arms) == 1:
        state, found = State.WARNING, _("There is only one arm: nothing is compared.")
    return [Finding(key="protocol", title=title, state=state, found=found, url=draft.url)]


def arms_differ(draft: Draft) -> list[Finding]:
    """The design-identity comparison of all arms."""
    configuration, title = draft.configuration, _("Arms differ only where declared")
    compared = identity(configuration, sample_prompts(configuration))
    url, twins = draft.page("arms"), compared.twins()
    if compared.undeclared:
        return [
            Finding(
                key="arms_differ",
                title=title,
                state=State.BLOCKING,
                found=_("Undeclared: %(names)s.")
                % {"names": ", ".join(row_name(row) for row in compared.undeclared)},
                remedy=_("Make them alike, or declare that they are varied on purpose."),
                url=url,
            )
        ]
    if twins:
        return [
            Finding(
                key="arms_differ",
                title=title,
                state=State.WARNING,
                found=_("Some arms are the same treatment: %(pairs)s.")
                % {"pairs": ", ".join(f"{first} = {second}" for first, second in twins)},
                remedy=_("Compare them, and take one out if that isn't meant."),
                url=url,
            )
        ]
    found = _("Nothing else differs: parameters, prompts and shared factors were compared.")
    return [Finding(key="arms_differ", title=title, state=State.OK, found=found, url=url)]


def recall_feasible(draft: Draft) -> list[Finding]:
    """Whether enough true evidence can still be recalled after each gap of the study."""
    evidence, title = evidence_of(draft.study), _("Recall is feasible over the gaps")
    percent, poor, unknown, url = round(100 * LEAST_SHARE), [], False, draft.url
    for arm in draft.configuration.arms:
        rows = recall_feasibility(
            parameters=arm.parameters, stages=draft.configuration.stages, evidence=evidence
        )
        unknown = unknown or any(row.evidence_share is None for row in rows)
        too_little = [row.stage for row in rows if row.too_little]
        if too_little:
            url = draft.arm_url(arm)
            poor.append(f"{arm.label} ({', '.join(too_little)})")
    if poor:
        return [
            Finding(
                key="recall_feasible",
                title=title,
                state=State.BLOCKING,
                found=_("Less than %(percent)s %% of true evidence would be recalled in: %(arms)s.")
                % {"percent": percent, "arms": "; ".join(poor)},
                remedy=_("Choose a preset for such gaps, e.g. weekly, or shorten the gaps."),
                url=url,
            )
        ]
    if unknown:
        return [
            Finding(
                key="recall_feasible",
                title=title,
                state=State.WARNING,
                found=_("Something can be recalled; how much is unknown for this embedder."),
                remedy=_("Run `manage.py calibrate_study` with this study's id."),
                url=url,
            )
        ]
    found = _("At least %(percent)s %% of true evidence passes in every arm that forgets.") % {
        "percent": percent
    }
    return [Finding(key="recall_feasible", title=title, state=State.OK, found=found)]


def timetable(draft: Draft) -> list[Finding]:
    """Minima, maxima, windows and reminders that contradict each other."""
    impossible = [trouble for stage in draft.configuration.stages for trouble in _impossible(stage)]
    odd = [trouble for stage in draft.configuration.stages for trouble in _odd(stage)]
    title, remedy = _("Timetable is consistent"), _("Change the stage on the study's page.")
    if impossible or odd:
        return [
            Finding(
                key="timetable",
                title=title,
                state=State.BLOCKING if impossible else State.WARNING,
                found=" ".join(impossible + odd),
                remedy=remedy,
                url=draft.url,
                overridable=False,
            )
        ]
    found = _("Gaps, windows, reminders, minima and maxima fit together.")
    return [Finding(key="timetable", title=title, state=State.OK, found=found)]


def _impossible(stage: StageConfiguration) -> list[str]:
    """What nobody could fulfil."""
    said = []
    minutes, turns = stage.maximum_minutes, stage.maximum_turns
    if minutes is not None and minutes < stage.minimum_minutes:
        said.append(_("%(stage)s ends before its minimum of minutes.") % {"stage": stage.key})
    if turns is not None and turns < stage.minimum_turns:
        said.append(_("%(stage)s ends before its minimum of turns.") % {"stage": stage.key})
    if stage.window_hours is not None and stage.window_hours * 60 < stage.minimum_minutes:
        said.append(
            _("The window of %(stage)s is shorter than its conversation.") % {"stage": stage.key}
        )
    return said


def _odd(stage: StageConfiguration) -> list[str]:
    """What is possible, but hardly meant."""
    said = []
    late = [hours for hours in stage.reminder_hours if hours >= (stage.window_hours or hours + 1)]
    if late:
        said.append(
            _("Reminders of %(stage)s come after its window: %(hours)s h.")
            % {"stage": stage.key, "hours": ", ".join(f"{hours:g}" for hours in late)}
        )
    if stage.number == 1 and stage.minimum_gap_hours:
        said.append(_("The first stage has a gap before it."))
    if stage.number > 1 and not stage.minimum_gap_hours:
        said.append(_("%(stage)s follows the stage before at once.") % {"stage": stage.key})
    return said
