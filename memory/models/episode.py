"""Episodes: moments of a conversation that fade, and that recall makes last longer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from django.db import connection, models
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from memlab.core.tenancy import require_lab
from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.enums import Cause, EventKind, MemoryKind, TimeUnit
from memory.formulas import forgetting
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.event import MemoryEvent

#: Stands for "never forgotten": salience alone reaches the threshold.
NEVER_FORGOTTEN = datetime(9999, 12, 31, tzinfo=UTC)
#: Added to the stored moment, so that rounding never prunes what the exact curve lets pass.
ROUNDING = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The forgetting curve of one arm; symbols as in ``memory.formulas.forgetting``."""

    initial_g: float = 1.0
    salience_gain: float = 0.5
    recall_threshold: float = 0.86
    recall_bonus: float = 0.05
    reconsolidation_alpha: float = 0.5
    time_unit: TimeUnit = TimeUnit.DAYS

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Curve:
        """The curve that an arm's complete parameters describe."""
        curve = {name: parameters[name] for name in cls.__slots__}
        return cls(**curve | {"time_unit": TimeUnit(curve["time_unit"])})

    def elapsed(self, since: datetime, now: datetime) -> float:
        """Time between two moments of study time in this curve's unit; never negative."""
        return max(0.0, (now - since).total_seconds() / self.time_unit.seconds)

    def recallable_until(self, *, g: float, anchor: datetime, salience: float) -> datetime:
        """The study time until which a perfect cue would still bring a memory back."""
        units = forgetting.recallable_days(
            consolidation=g,
            threshold=self.recall_threshold,
            salience=salience,
            bonus=self.recall_bonus,
        )
        seconds = units * self.time_unit.seconds
        if seconds >= (NEVER_FORGOTTEN - anchor).total_seconds() - 1.0:
            return NEVER_FORGOTTEN
        return anchor + timedelta(seconds=seconds) + ROUNDING


def episode_id(*, participant: UUID, ends_with: UUID) -> UUID:
    """Encoding a message twice gives the same episode; two participants never share one."""
    return uuid5(participant, f"episode:{ends_with}")


class EpisodeQuerySet(TenantQuerySet["Episode"]):
    def of_participant(self, participant_id: int) -> EpisodeQuerySet:
        return self.filter(participant_id=participant_id)

    def encode(self, episodes: Iterable[Episode], *, now: datetime) -> int:
        """Store new episodes with an event each; how many were new.

        ``now`` is the study time of the consolidation. Episodes that exist already stay as
        they are: recall may have changed them since.
        """
        offered = list(episodes)
        known = set(
            self.filter(pk__in=[episode.pk for episode in offered]).values_list("pk", flat=True)
        )
        new = [episode for episode in offered if episode.pk not in known]
        self.bulk_create(new, batch_size=200)
        MemoryEvent.objects.record(episode.encoding_event(now) for episode in new)
        return len(new)

    def reconsolidate(
        self, ids: Collection[UUID], *, curve: Curve, now: datetime, reply: UUID
    ) -> int:
        """Strengthen what a reply recalled, with an event each; how many were strengthened.

        Does nothing if this reply did so before. Rows are locked in the order of their ids, and
        before the log is asked: whoever comes second waits, and then finds the first in it.
        """
        if not ids:
            return 0
        asked = self.filter(pk__in=ids).order_by("pk").only(*Episode.STRENGTHENED)
        rows = list(asked.select_for_update())
        events = [row.strengthen(curve=curve, now=now, reply=reply) for row in rows]
        if not self._store_strength(rows, reply):
            return 0
        MemoryEvent.objects.record(events)
        return len(rows)

    def _store_strength(self, rows: Sequence[Episode], reply: UUID) -> bool:
        """What ``strengthen`` changed, in one statement: ``bulk_update`` words a case for each row
        and field, and takes ten times as long in the middle of a turn. False, with nothing changed,
        if the log says that this reply strengthened before."""
        names = ("pk", *Episode.STRENGTH)
        columns = [[getattr(row, name) for row in rows] for name in names]
        lab = require_lab("episodes")
        with connection.cursor() as cursor:
            cursor.execute(_STORE_STRENGTH, [*columns, lab, lab, reply, EventKind.RECALLED.value])
            return cursor.rowcount > 0


_STORE_STRENGTH = """
    UPDATE memory_episode AS episode
       SET g = changed.g, anchor = changed.anchor, recall_count = changed.recall_count,
           last_recalled_at = changed.last_recalled_at,
           recallable_until = changed.recallable_until
      FROM unnest(%s::uuid[], %s::float8[], %s::timestamptz[], %s::int[], %s::timestamptz[],
                  %s::timestamptz[])
        AS changed (id, g, anchor, recall_count, last_recalled_at, recallable_until)
     WHERE episode.id = changed.id AND episode.lab_id = %s
       AND NOT EXISTS (SELECT FROM memory_memoryevent
                        WHERE lab_id = %s AND reply_id = %s AND event = %s)
"""


class Episode(Memory):
    """One encoded moment. Its strength is computed on read from g and the anchor.

    Columns of a fixed width come first and the vector before the texts, so that a scan reaches
    what it needs without unpacking the rest. The last three are for the ranking ``hybrid`` only
    and empty where it isn't used; ``second_vector`` also where nothing was said before.
    """

    #: What a search compares; derived from the text, and of no use to anybody else.
    KEYS = ("vector", "second_vector", "words", "words_before")
    STRENGTH = ("g", "anchor", "recall_count", "last_recalled_at", "recallable_until")
    #: What ``strengthen`` reads.
    STRENGTHENED = ("lab", "participant", "salience", *STRENGTH)

    recallable_until = models.DateTimeField(
        _("recallable until (study time)"),
        help_text=_("Later than this not even a perfect cue would bring it back."),
    )
    anchor = models.DateTimeField(_("last recalled or encoded (study time)"))
    g = models.FloatField(_("consolidation g"))
    salience = models.FloatField(_("emotional salience"))
    encoded_at = models.DateTimeField(_("said at (study time)"))
    recall_count = models.PositiveIntegerField(_("recalls"), default=0)
    importance = models.FloatField(_("importance"))
    intensity = models.FloatField(_("emotional intensity"))
    self_disclosure = models.FloatField(_("self-disclosure"))
    value_relevance = models.FloatField(_("value relevance"))
    ends_with = models.UUIDField(_("last message"))
    embedder = models.CharField(_("embedder"), max_length=120)
    vector = VectorField()
    text = models.TextField(_("text"))
    message_ids = message_ids_field()
    stage_key = stage_field()
    form = models.CharField(_("encoded from"), max_length=24)
    last_recalled_at = models.DateTimeField(_("last recalled (study time)"), null=True)
    second_vector = VectorField(
        _("second vector"),
        null=True,
        help_text=_("Of the message alone if the first is in context, and the other way round."),
    )
    words = models.TextField(_("content words, separated by spaces"), default="", blank=True)
    words_before = models.TextField(
        _("content words of the message before, separated by spaces"), default="", blank=True
    )

    objects = TenantManager.from_queryset(EpisodeQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("episode")
        verbose_name_plural = _("episodes")
        ordering = ["encoded_at", "id"]
        indexes = [
            # The lab first: the policy's condition is then part of the index scan.
            models.Index(
                fields=["lab", "participant", "recallable_until"], name="episode_recallable"
            )
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(g__gt=0), name="episode_g_above_zero"),
            models.CheckConstraint(
                condition=models.Q(salience__gte=0, salience__lte=1), name="episode_salience_range"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage_key} {self.encoded_at:%Y-%m-%d %H:%M}"

    def strengthen(self, *, curve: Curve, now: datetime, reply: UUID) -> MemoryEvent:
        """Apply one recall to this (unsaved) row and return its event.

        ``EpisodeQuerySet.reconsolidate`` locks the rows, saves them and the events.
        """
        before = self.strength()
        self.g = forgetting.reconsolidated(
            consolidation=self.g,
            elapsed_days=curve.elapsed(self.anchor, now),
            salience=self.salience,
            alpha=curve.reconsolidation_alpha,
        )
        self.anchor = self.last_recalled_at = max(self.anchor, now)
        self.recall_count += 1
        self.recallable_until = curve.recallable_until(
            g=self.g, anchor=self.anchor, salience=self.salience
        )
        return MemoryEvent(
            participant_id=self.participant_id,
            event=EventKind.RECALLED,
            memory_kind=MemoryKind.EPISODE,
            memory_id=self.pk,
            before=before,
            after=self.strength(),
            cause=Cause.RECALL,
            reply_id=reply,
            study_at=now,
        )

    def strength(self) -> dict[str, Any]:
        """What recall changes, as JSON."""
        return {
            "g": self.g,
            "anchor": self.anchor.isoformat(),
            "recall_count": self.recall_count,
            "last_recalled_at": self.last_recalled_at and self.last_recalled_at.isoformat(),
            "recallable_until": self.recallable_until.isoformat(),
        }

    def encoding_event(self, now: datetime) -> MemoryEvent:
        """The first event of a new episode: all of it but what a search compares."""
        after = self.strength() | {
            "text": self.text,
            "message_ids": [str(message) for message in self.message_ids],
            "ends_with": str(self.ends_with),
            "form": self.form,
            "stage_key": self.stage_key,
            "session_number": self.session_number,
            "encoded_at": self.encoded_at.isoformat(),
            "embedder": self.embedder,
            "intensity": self.intensity,
            "self_disclosure": self.self_disclosure,
            "value_relevance": self.value_relevance,
            "salience": self.salience,
            "importance": self.importance,
        }
        return MemoryEvent(
            participant_id=self.participant_id,
            event=EventKind.ENCODED,
            memory_kind=MemoryKind.EPISODE,
            memory_id=self.pk,
            before=None,
            after=after,
            cause=Cause.CONSOLIDATION,
            session_id=self.session_id,
            study_at=now,
        )
