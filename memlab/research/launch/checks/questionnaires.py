"""Questionnaires: there are some, they are whole in the study's language, and validated."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _

from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State
from questionnaires.checks import complete_in
from questionnaires.content import InstrumentContent
from questionnaires.models import InstrumentVersion


def contents(draft: Draft) -> dict[str, InstrumentContent]:
    """What the study asks, by the instrument's key, in the versions that it would freeze."""
    wanted = {
        (placed.instrument, placed.version)
        for placed in draft.configuration.placements
        if placed.instrument
    }
    rows = InstrumentVersion.objects.filter(
        instrument__key__in={key for key, _number in wanted}
    ).select_related("instrument")
    return {
        row.instrument.key: row.content
        for row in rows
        if (row.instrument.key, row.number) in wanted
    }


def instruments(draft: Draft) -> list[Finding]:
    """Two lines: whether they are complete, whether they are validated."""
    placements, asked = draft.configuration.placements, contents(draft)
    title = _("Questionnaires are complete")
    if not placements:
        return [
            Finding(
                key="instruments",
                title=title,
                state=State.WARNING,
                found=_("The study asks no questionnaire."),
                remedy=_("Place some, unless the conversations are all you need."),
                url=draft.url,
            )
        ]
    incomplete = [
        key
        for key, content in asked.items()
        if not content.items or not complete_in(content, draft.configuration.language)
    ]
    if incomplete:
        return [
            Finding(
                key="instruments",
                title=title,
                state=State.BLOCKING,
                found=_("Not whole in the study's language: %(names)s.")
                % {"names": ", ".join(incomplete)},
                remedy=_("Add items, or their texts in the study's language."),
                url=_list_url(),
                overridable=False,
            )
        ]
    found = _("%(places)s places, %(instruments)s instruments.") % {
        "places": len(placements),
        "instruments": len(asked),
    }
    whole = Finding(key="instruments", title=title, state=State.OK, found=found)
    return [whole, _validated(asked)]


def _validated(asked: dict[str, InstrumentContent]) -> Finding:
    title = _("Questionnaires are validated")
    own = [key for key, content in asked.items() if not content.validated]
    if own:
        return Finding(
            key="validated",
            title=title,
            state=State.BLOCKING,
            found=_("Wording of your own, or of the demonstration: %(names)s.")
            % {"names": ", ".join(own)},
            remedy=_("Replace it by the licensed scale, or mark it as validated."),
            url=_list_url(),
        )
    found = _("Every instrument is marked as validated.")
    return Finding(key="validated", title=title, state=State.OK, found=found)


def _list_url() -> str:
    return reverse("admin:questionnaires_instrument_changelist")
