"""The due table: everything that has to happen at some time, in one place.

A row says *what* (``kind``), *to whom* (``lab_id``, ``subject``) and *when*, in study time and in
wall time. ``wall_at`` is null where a participant's clock is scripted, so the running cluster
leaves a replay alone. One fixed schedule calls ``tick``; handlers are idempotent, for a row that
was handed out comes back after ``HANDED_OUT_FOR`` unless its handler removed or moved it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, models, transaction
from django.utils.translation import gettext_lazy as _

HANDED_OUT_FOR = timedelta(minutes=2)


class DueKind(models.TextChoices):
    REPLY = "reply", _("reply")  # a pending reply whose lease may have run out
    SESSION = "session", _("session")  # an open session whose timer or idleness may close it
    STEPS = "steps", _("memory steps")  # a participant with pending memory steps
    MAINTAIN = "maintain", _("memory maintenance")  # a memory that changes with time alone
    ALERT = "alert", _("safety alert")  # an adverse event whose contact hasn't been told
    SCREEN = "screen", _("risk screening")  # a message that the extraction model shall screen
    WINDOW = "window", _("stage window")  # a participant whose next stage opens or closes
    REMINDER = "reminder", _("reminder")  # one reminder, to be sent at most once
    WITHDRAWAL = "withdrawal", _("withdrawal")  # a withdrawal that is to be carried out
    DEBRIEFING = "debriefing", _("debriefing")  # a participant whose debriefing is held


class DueQuerySet(models.QuerySet["Due"]):
    def plan(
        self,
        *,
        lab_id: int,
        kind: DueKind,
        subject: UUID,
        study_at: datetime | None,
        wall_at: datetime | None,
    ) -> None:
        """Insert or move the one row of this kind and subject, in one statement."""
        # In SQL, as below: a turn does it often, and the ORM takes longer than the database.
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO core_due (lab_id, kind, subject, study_at, wall_at)"
                " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (kind, subject) DO UPDATE"
                " SET lab_id = excluded.lab_id, study_at = excluded.study_at,"
                " wall_at = excluded.wall_at",
                [lab_id, kind.value, subject, study_at, wall_at],
            )

    def settle(self, *, lab_id: int, kind: DueKind, subject: UUID) -> None:
        """Nothing of this kind is due for this subject any more."""
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM core_due WHERE lab_id = %s AND kind = %s AND subject = %s",
                [lab_id, kind.value, subject],
            )

    def locked(self, *, lab_id: int, kind: DueKind, subject: UUID) -> Due | None:
        """The row, if there is one, kept from others until the transaction ends."""
        rows = self.filter(lab_id=lab_id, kind=kind, subject=subject)
        return rows.select_for_update().first()

    def hand_out(
        self, *, wall: datetime, kinds: tuple[DueKind, ...] = tuple(DueKind), limit: int = 200
    ) -> list[Due]:
        """Take due rows so that no other worker takes them for ``HANDED_OUT_FOR``."""
        with transaction.atomic():
            rows: list[Due] = list(
                self.filter(wall_at__lte=wall, kind__in=kinds)
                .order_by("wall_at")
                .select_for_update(skip_locked=True)[:limit]
            )
            self.filter(pk__in=[row.pk for row in rows]).update(wall_at=wall + HANDED_OUT_FOR)
        return rows


class Due(models.Model):
    lab_id = models.BigIntegerField()
    kind = models.CharField(_("kind"), max_length=24, choices=DueKind)
    subject = models.UUIDField(help_text="Public id of the reply, session or participant.")
    study_at = models.DateTimeField(_("study time"), null=True)
    wall_at = models.DateTimeField(_("wall time"), null=True, db_index=True)

    objects = DueQuerySet.as_manager()

    class Meta:
        verbose_name = _("due work")
        verbose_name_plural = _("due work")
        constraints = [
            models.UniqueConstraint(fields=["kind", "subject"], name="one_due_a_subject")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.subject}"


def tick() -> dict[str, int]:
    """Hand every due row to its task. Called by the one fixed schedule; safe to run anywhere."""
    from django.utils import timezone
    from django_q.tasks import async_task

    counts: dict[str, int] = {}
    for row in Due.objects.hand_out(wall=timezone.now()):
        async_task(handler_of(row.kind), row.lab_id, str(row.subject))
        counts[row.kind] = counts.get(row.kind, 0) + 1
    return counts


def handler_of(kind: str) -> str:
    """Dotted path of the task for a kind; ``settings.DUE_HANDLERS`` knows them all."""
    handlers: dict[str, Any] = settings.DUE_HANDLERS
    return str(handlers[kind])
