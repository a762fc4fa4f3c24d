"""A participant's memory as its events tell it: what was kept, how it stood over time, and from
which messages it came. Unblinded staff only: what a memory does reveals its arm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from chat.models import Message
from experiments import architectures
from experiments.admin.participant import ParticipantAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction
from experiments.models import Participant
from experiments.rights import Area, Viewer, viewer_of
from memlab.core import charts
from memlab.core.clock import wall_now
from memory import exports
from memory.enums import Bin, EventKind, MemoryKind, ProfilePart, Shelf, SleepTrigger
from memory.history import GONE
from memory.models import MemoryEvent
from memory.models.compressible import LEVELS
from memory.traces import Trace, trace

PER_PAGE = 50
#: The files that can be downloaded, all of them JSON Lines, and what their buttons say.
FILES = {
    "events": exports.stream_events,
    "log": exports.stream_turn_log,
    "bins": exports.stream_binned_items,
}
TITLES = {
    "events": _("Download all events (JSON Lines)"),
    "log": _("Download the log (JSON Lines)"),
    "bins": _("Download the bins (JSON Lines)"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One memory and what became of it; ``state`` is all that its events have laid over each
    other, ``gone`` the event with which it went."""

    id: UUID
    kind: str
    events: tuple[MemoryEvent, ...]
    state: Mapping[str, Any]
    gone: str | None

    @property
    def text(self) -> str:
        """What it says now; what the event of a refusal says of one that never was."""
        said = self.state.get("text") or self.state.get("content") or ""
        return str(said or (self.events[0].note or {}).get("text", ""))

    @property
    def nameless(self) -> str:
        """What stands for a row that says nothing in words, such as a state."""
        return f"{self.kind_label} · {self.id.hex[:8]}"

    @property
    def kind_label(self) -> str:
        return _label(MemoryKind, self.kind)

    @property
    def gone_label(self) -> str:
        return "" if self.gone is None else _label(EventKind, self.gone)

    @property
    def since(self) -> datetime:
        return self.events[0].study_at

    @property
    def changed(self) -> datetime:
        return self.events[-1].study_at

    def message_ids(self) -> list[UUID]:
        return [UUID(each) for each in self.state.get("message_ids", ())]


def _label(kinds: type[MemoryKind] | type[EventKind], value: str) -> str:
    """A plug-in may have kinds of its own; they are told as they are."""
    return str(kinds(value).label) if value in kinds.values else value


def memories_of(participant: Participant, *, kind: str = "", text: str = "") -> list[Kept]:
    """Every memory that a participant's agent ever had, the youngest first."""
    events = MemoryEvent.objects.filter(participant=participant).order_by("memory_id", "pk")
    if kind:
        events = events.filter(memory_kind=kind)
    kept = [
        _kept(tuple(of_one)) for _id, of_one in groupby(events, key=lambda event: event.memory_id)
    ]
    wanted = [each for each in kept if text.casefold() in each.text.casefold()]
    return sorted(wanted, key=lambda each: (each.since, str(each.id)), reverse=True)


def _kept(events: tuple[MemoryEvent, ...]) -> Kept:
    state: dict[str, Any] = {}
    gone = None
    for event in events:
        state |= event.after or {}
        if event.event in GONE or event.event == EventKind.REFUSED:
            gone = event.event
        elif event.event == EventKind.ENCODED:
            gone = None
    first = events[0]
    return Kept(id=first.memory_id, kind=first.memory_kind, events=events, state=state, gone=gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One event in words: what it changed, from what to what."""

    event: MemoryEvent
    changes: tuple[tuple[str, str, str], ...]


def _line(event: MemoryEvent) -> Line:
    before, after = event.before or {}, event.after or {}
    changed = [name for name in after if before.get(name) != after[name]]
    return Line(
        event=event,
        changes=tuple(
            (name, _worded(name, before.get(name)), _worded(name, after[name])) for name in changed
        ),
    )


#: What fields with a fixed choice of values hold, in words.
_VALUES = {
    name: {str(value): label for value, label in choices}
    for name, choices in (
        ("dimension", ProfilePart.choices),
        ("bin", Bin.choices),
        ("level", LEVELS),
        ("state", Shelf.choices),
        ("trigger", SleepTrigger.choices),
    )
}


def _worded(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str) and value in _VALUES.get(name, {}):
        return str(_VALUES[name][value])
    if isinstance(value, float):
        return f"{value:.6g}"
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Truncator(told).chars(300)


def drawn(found: Trace | None) -> SafeString:
    """The trace as SVG; its labels are escaped by ``charts``."""
    if found is None:
        return SafeString("")
    marks = [(str(label), float(value)) for label, value in found.marks]
    return mark_safe(
        charts.curves(
            {str(found.measure): found.points},
            least=found.least,
            most=found.most,
            marks=marks,
            levels=found.levels,
        )
    )


def _view(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    asked = request.GET
    if request.method == "POST":
        return _download(request, pages, participant)
    if "memory" in asked:
        return _one(request, pages, participant, asked["memory"])
    kept = memories_of(participant, kind=asked.get("kind", ""), text=asked.get("text", ""))
    state = asked.get("state", "")
    if state in ("there", "gone"):
        kept = [each for each in kept if (each.gone is not None) == (state == "gone")]
    found = MemoryEvent.objects.filter(participant=participant).values_list("memory_kind")
    kinds = sorted({kind for (kind,) in found.order_by().distinct()})
    context = pages.page_context(
        request,
        participant,
        title=_now("Memory of %(code)s") % {"code": participant.code},
        participant=participant,
        page=Paginator(kept, PER_PAGE).get_page(asked.get("page")),
        kinds=[(kind, _label(MemoryKind, kind)) for kind in kinds],
        kind=asked.get("kind", ""),
        state=state,
        text=asked.get("text", ""),
        slow=_slow(participant),
        files=_files(request, kinds),
    )
    return render(request, "back_office/memory.html", context)


def _files(request: HttpRequest, kinds: Sequence[str]) -> list[tuple[str, Any]]:
    """What the viewer may download of a memory of these kinds: a file's name and its title."""
    viewer = viewer_of(request)
    if viewer is None or not viewer.may(Area.EXPORT):
        return []
    regulated = MemoryKind.BINNED in kinds
    return [(name, title) for name, title in TITLES.items() if name == "events" or regulated]


def _one(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant, memory: str
) -> HttpResponseBase:
    kept = _found(participant, memory)
    until = max(participant.study_time(wall_now()), kept.changed)
    found = trace(kept.events, _parameters(participant), until=until)
    sources = {
        message.id: message
        for message in Message.objects.filter(
            session__participant=participant, id__in=kept.message_ids()
        )
    }
    context = pages.page_context(
        request,
        participant,
        title=_now("One memory of %(code)s") % {"code": participant.code},
        participant=participant,
        kept=kept,
        chart=drawn(found),
        measure="" if found is None else found.measure,
        lines=[_line(event) for event in kept.events],
        sources=[sources[each] for each in kept.message_ids() if each in sources],
    )
    return render(request, "back_office/memory_one.html", context)


def _found(participant: Participant, memory: str) -> Kept:
    try:
        identity = UUID(memory)
    except ValueError:
        raise Http404 from None
    events = MemoryEvent.objects.filter(participant=participant, memory_id=identity).order_by("pk")
    if not events:
        raise Http404
    return _kept(tuple(events))


def _parameters(participant: Participant) -> Mapping[str, Any]:
    arm = participant.arm()
    assert arm is not None, "Without an arm there is nothing to see; see `_shown`."
    return architectures.validated_parameters(arm.architecture, arm.parameters)


def _slow(participant: Participant) -> SafeString:
    """The slow variables of a homeostatic memory over the runs of its sleep, if it has any."""
    events = MemoryEvent.objects.filter(participant=participant, memory_kind=MemoryKind.SLOW)
    series: dict[str, list[tuple[datetime, float]]] = {}
    for event in events.order_by("study_at", "pk"):
        for name in ("mu_reward", "mu_threat"):
            value = (event.after or {}).get(name)
            if value is not None:
                series.setdefault(name, []).append((event.study_at, float(value)))
    values = [value for points in series.values() for _at, value in points]
    if not values:
        return SafeString("")
    most = max(0.02, *(abs(value) for value in values))
    return mark_safe(charts.curves(series, least=-most, most=most, marks=[("0", 0.0)]))


def _download(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    """A file of JSON Lines; that it was taken is logged."""
    viewer = viewer_of(request)
    stream = FILES.get(request.POST.get("file", ""))
    if viewer is None or not viewer.may(Area.EXPORT) or stream is None:
        raise Http404
    name = request.POST["file"]
    pages.record(request, AuditAction.EXPORT_MEMORY, participant, file=name)
    pieces = stream(lab_id=participant.lab_id, participant_id=participant.pk)
    response = StreamingHttpResponse(pieces, content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{participant.code}-{name}.jsonl"'
    return response


def _shown(viewer: Viewer, participant: Participant) -> bool:
    """Only who may read transcripts and sees the arm; and only once there is one."""
    return (
        viewer.may(Area.TRANSCRIPTS)
        and participant.arm() is not None
        and viewer.sees_arm_of(participant)
    )


ParticipantAdmin.pages.insert(
    1,
    ObjectPage(slug="memory", title=_("Memory"), icon="psychology", view=_view, shown=_shown),
)
