"""People: participants, their sessions and consents; and, unblinded only, their allocation."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import (
    BooleanField,
    Count,
    ExpressionWrapper,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.http import HttpRequest
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from experiments.admin.study_pages import unblind_page
from experiments.back_office import EvidenceAdmin, Menu, ObjectPage, ReadOnlyAdmin, ReadOnlyInline
from experiments.back_office.codes import all_told
from experiments.enums import ConsentKind, SessionState
from experiments.models import (
    Allocation,
    AllocationCounter,
    Consent,
    Participant,
    Session,
)
from experiments.rights import Area, Viewer, viewer_of

FINISHED = (SessionState.ENDED, SessionState.COMPLETE)
STATES = {
    "open": "success",
    "closing": "warning",
    "ended": "info",
    "complete": "info",
    "expired": "danger",
}


class SessionInline(ReadOnlyInline):
    model = Session
    area = Area.PEOPLE
    verbose_name_plural = _("sessions")
    fields = ["number", "stage_key", "state", "turns", "started_at", "ended_at", "closed_by"]
    ordering = ["number"]


def _can_unblind(viewer: Viewer, participant: Participant) -> bool:
    return viewer.member.may_unblind and not viewer.sees_arm_of(participant)


class UseFilter(admin.SimpleListFilter):
    """What was answered after the debriefing to whether the data may be used."""

    title = _("use of the data")
    parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("refused", _("refused")), ("agreed", _("agreed")), ("open", _("not answered"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted: dict[str | None, bool | None] = {"refused": False, "agreed": True, "open": None}
        if self.value() not in wanted:
            return queryset
        return queryset.filter(use_answer=wanted[self.value()])


@admin.register(Participant)
class ParticipantAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 10, "person"
    list_display = [
        "code",
        "study",
        "state_label",
        "progress",
        "use_label",
        "entered_at",
        "test_mode",
    ]
    list_filter = [
        "study",
        "state",
        "exclusion",
        UseFilter,
        "test_mode",
        ("paused_at", admin.EmptyFieldListFilter),
    ]
    linked_by = frozenset({"version"})
    list_select_related = ["study", "version"]
    search_fields = ["code", "study__title"]
    ordering = ["-pk"]
    inlines = [SessionInline]
    pages = [
        ObjectPage(
            slug="unblind",
            title=_("Unblind"),
            icon="visibility",
            view=unblind_page,
            shown=_can_unblind,
        )
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        viewer = viewer_of(request)
        assert viewer is not None
        return (
            super()
            .get_queryset(request)
            .prefetch_related("allocations")
            .annotate(
                seen=ExpressionWrapper(viewer.unblinded_people(), output_field=BooleanField()),
                use_answer=Subquery(
                    Consent.objects.filter(
                        participant=OuterRef("pk"), kind=ConsentKind.DEBRIEFED
                    ).values("agreed")[:1]
                ),
                finished=Count("sessions", filter=Q(sessions__state__in=FINISHED)),
                planned=Func(
                    F("version__configuration_json__stages"),
                    function="jsonb_array_length",
                    output_field=IntegerField(),
                ),
            )
        )

    def get_list_display(self, request: HttpRequest) -> list[str]:
        viewer = viewer_of(request)
        shown = list(super().get_list_display(request))
        if viewer is not None and viewer.unblinded_to_any:
            shown.append("arm")
        return shown

    def get_fields(self, request: HttpRequest, obj: Participant | None = None) -> Any:
        fields = [
            "code",
            "study",
            "state",
            "exclusion",
            "progress",
            "entered_at",
            "consented_at",
            "use_label",
            "chat_left_at",
            "paused_at",
            "test_mode",
            "clock_offset",
        ]
        viewer = viewer_of(request)
        if obj is not None and viewer is not None and viewer.sees_arm_of(obj):
            fields.append("arm")
        return fields

    @display(
        description=_("state"),
        ordering="state",
        label={
            "invited": "info",
            "active": "success",
            "complete": "success",
            "declined": "warning",
            "withdrawn": "danger",
        },
    )
    def state_label(self, participant: Participant) -> tuple[str, str]:
        return participant.state, participant.get_state_display()

    @display(
        description=_("use of the data"),
        ordering="use_answer",
        label={"refused": "danger", "agreed": "success"},
    )
    def use_label(self, participant: Any) -> tuple[str, str] | str:
        """Refused: left out of files and reports unless somebody asks for them."""
        if participant.use_answer is None:
            return "–"
        if participant.use_answer:
            return "agreed", _now("agreed")
        return "refused", _now("refused")

    @admin.display(description=_("stages finished"))
    def progress(self, participant: Any) -> str:
        if participant.planned is None:
            return "–"
        return f"{participant.finished} / {participant.planned}"

    @admin.display(description=_("arm"))
    def arm(self, participant: Any) -> str:
        if not participant.seen:
            return _now("blinded")
        allocations = list(participant.allocations.all())
        if not allocations:
            return _now("not allocated yet")
        if participant.version is None:
            return allocations[0].arm_key
        arm = participant.version.configuration.arm(allocations[0].arm_key)
        return f"{arm.label} · {arm.name}"


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 20, "forum"
    list_display = [
        "participant",
        "study",
        "stage_key",
        "state_label",
        "turns",
        "started_at",
        "ended_at",
        "closed_by",
    ]
    list_filter = [
        "participant__study",
        "stage_key",
        "state",
        "closed_by",
        "participant__test_mode",
    ]
    list_select_related = ["participant__study"]
    search_fields = ["participant__code", "stage_key"]
    ordering = ["-started_wall"]

    def get_fields(self, request: HttpRequest, obj: Session | None = None) -> Any:
        fields = [
            "participant",
            "study",
            "stage_key",
            "number",
            "state",
            "manipulation",
            "turns",
            "started_at",
            "last_activity_at",
            "window_closes_at",
            "ended_at",
            "closed_by",
            "started_wall",
        ]
        viewer = viewer_of(request)
        if obj is not None and viewer is not None and viewer.sees_arm_of(obj.participant):
            fields.append("shown_degraded")
        return fields

    @admin.display(description=_("degraded"))
    def shown_degraded(self, session: Session) -> str:
        return all_told(session.degraded) or "–"

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, session: Session) -> str:
        return session.participant.study.title

    @display(description=_("state"), ordering="state", label=STATES)
    def state_label(self, session: Session) -> tuple[str, str]:
        return session.state, session.get_state_display()


@admin.register(Consent)
class ConsentAdmin(ReadOnlyAdmin):
    area = Area.PEOPLE
    menu, menu_position, icon = Menu.PEOPLE, 40, "contract"
    list_display = ["participant", "study", "kind", "agreed", "agreed_at", "sha256"]
    list_filter = ["participant__study", "kind", "agreed"]
    list_select_related = ["participant__study"]
    search_fields = ["participant__code", "sha256"]
    fields = ["participant", "study", "kind", "agreed", "agreed_at", "sha256", "text"]

    @admin.display(description=_("study"), ordering="participant__study__title")
    def study(self, consent: Consent) -> str:
        return consent.participant.study.title


@admin.register(Allocation)
class AllocationAdmin(EvidenceAdmin):
    menu_position, icon = 10, "shuffle"
    list_display = [
        "participant",
        "arm_key",
        "stratum",
        "position",
        "block",
        "test_mode",
        "study_at",
    ]
    list_filter = ["participant__study", "arm_key", "test_mode"]
    list_select_related = ["participant"]
    search_fields = ["participant__code", "stratum"]
    fields = [
        "participant",
        "arm_key",
        "stratum",
        "position",
        "block",
        "block_size",
        "test_mode",
        "study_at",
        "recorded_at",
    ]


@admin.register(AllocationCounter)
class AllocationCounterAdmin(EvidenceAdmin):
    """Of studies the viewer is unblinded to as a whole."""

    menu_position, icon = 20, "pin"
    menu_title = _("Allocation counters")
    list_display = ["version", "stratum", "test_mode", "used"]
    list_filter = ["test_mode"]
    list_select_related = ["version"]
    search_fields = ["stratum"]
    fields = ["version", "stratum", "test_mode", "used"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AllocationCounter]:
        viewer = viewer_of(request)
        studies = frozenset() if viewer is None else viewer.studies
        rows = ReadOnlyAdmin.get_queryset(self, request)
        if viewer is None or not viewer.member.may_unblind:
            return rows.none()
        return rows.filter(version__study_id__in=studies)
