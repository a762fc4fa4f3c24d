"""What a step has written and refused, in staff's words; unknown codes are told as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from memory.enums import Bin, EventKind, MemoryKind, RunPart

#: Kinds of rows; the bins that items went into; and what was done, where no rows are new.
WRITTEN: Mapping[str, object] = {
    **dict(Bin.choices),
    **{
        done.value: done.label
        for done in (EventKind.MERGED, EventKind.EXPIRED, EventKind.ARCHIVED, RunPart.SLEEP)
    },
    **dict(MemoryKind.choices),
}
REFUSALS = {
    "not_an_object": _("not an object"),
    "foreign_message": _("of no message that was given"),
    "too_many": _("too many"),
    "repeated": _("repeated"),
    "said_again": _("said again"),
    "changed_meanwhile": _("changed in the meantime"),
    "unknown_dimension": _("unknown dimension"),
    "unknown_bin": _("unknown bin"),
    "bin_not_asked_for": _("a bin that wasn't asked for"),
    "unknown_event": _("unknown event"),
    "unusable_text": _("unusable text"),
    "unusable_topic": _("unusable topic"),
    "unusable_key": _("unusable key"),
    "unusable_keyword": _("unusable keyword"),
    "unusable_emotion": _("unusable emotion"),
    "unusable_rating": _("unusable rating"),
    "unusable_importance": _("unusable importance"),
    "unusable_number": _("unusable number"),
    "unusable_boundary": _("unusable boundary"),
    "unusable_events": _("unusable events"),
}


def written(counts: Mapping[str, int]) -> str:
    """Rows by kind, e.g. “Episode: 3”."""
    return _listed(counts, WRITTEN)


def refused(counts: Mapping[str, int]) -> str:
    """Refused items by reason, those of the appraisal (before a colon) with the others."""
    total: Counter[str] = Counter()
    for code, number in counts.items():
        total[code.rpartition(":")[2]] += number
    return _listed(total, REFUSALS)


def _listed(counts: Mapping[str, int], labels: Mapping[str, object]) -> str:
    return ", ".join(f"{labels.get(code, code)}: {counts[code]}" for code in sorted(counts))
