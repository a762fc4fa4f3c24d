"""Memories that lose content instead of strength alone, and that a mention may give some back.

The methods of a row are the strategies. Each changes the (unsaved) row and returns the event of
the change; ``CompressibleQuerySet.write`` stores rows and events together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray
from pgvector.django import VectorField

from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.enums import Cause, EventKind, MemoryKind
from memory.formulas.compression import LOWER, Level, UpdateTrigger
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.content import TAG_CHARACTERS, TOPIC_CHARACTERS, Content, Mention
from memory.models.event import MemoryEvent
from memory.models.ladder import Ladder
from memory.words import words

LEVELS = (
    (Level.FULL.value, _("Full text")),
    (Level.SUMMARY.value, _("Summary")),
    (Level.TAG.value, _("Tags")),
    (Level.TRACE.value, _("Trace")),
    (Level.ARCHIVE.value, _("Archived")),
)


class CompressibleQuerySet(TenantQuerySet["Compressible"]):
    def of_participant(self, participant_id: int) -> CompressibleQuerySet:
        return self.filter(participant_id=participant_id)

    def due(self, now: datetime) -> CompressibleQuerySet:
        """What has something to be done to it at ``now``, the longest due first."""
        return self.filter(due_at__lte=now).order_by("due_at", "pk")

    def next_due(self) -> datetime | None:
        """The next moment (study time) at which there is something to do."""
        moment: datetime | None = self.aggregate(next=models.Min("due_at"))["next"]
        return moment

    def unchanged(self, read: Mapping[UUID, int]) -> frozenset[UUID]:
        """Lock rows, and say which still have the revision that was read of them."""
        rows = self.filter(pk__in=read).order_by("pk").select_for_update()
        return frozenset(
            pk for pk, revision in rows.values_list("pk", "revision") if revision == read[pk]
        )

    def write(
        self,
        *,
        created: Sequence[Compressible] = (),
        changed: Sequence[Compressible] = (),
        events: Iterable[MemoryEvent],
        vectors: bool = False,
    ) -> None:
        """Store rows as their methods left them, and the events of it; nothing else is written.

        ``vectors`` says that some of the changed rows have a new one.
        """
        self.bulk_create(created, batch_size=200)
        fields = [*Compressible.CHANGING, *(["vector"] if vectors else [])]
        self.bulk_update(changed, fields, batch_size=200)
        MemoryEvent.objects.record(events)

    def compress(
        self,
        rows: Sequence[Compressible],
        *,
        ladder: Ladder,
        now: datetime,
        summaries: Mapping[UUID, str],
        vectors: Mapping[UUID, NDArray[float32]],
    ) -> int:
        """Lead rows down every level due at ``now``, each at its own moment; how many steps.

        ``summaries`` holds the text of those that become summaries, ``vectors`` those of rows whose
        text staff has rewritten. A row that has changed since it was read is left alone.
        """
        unchanged = self.unchanged({row.pk: row.revision for row in rows})
        fresh = [row for row in rows if row.pk in unchanged]
        events = []
        for row in fresh:
            if row.pk in vectors:
                events.append(row.reembed(vectors[row.pk], ladder=ladder))
            events += row.walk(ladder=ladder, now=now, summary=summaries.get(row.pk))
        self.write(changed=fresh, events=events, vectors=bool(vectors))
        return len(events)


class Compressible(Memory):
    """One statement of the participant's at the level that is left of it.

    ``weight`` is an anchor: what it was at ``weighed_at``; time lowers it on read. Only a merge
    refreshes ``activated_at``, the date the agent knows it by. The vector is that of the last full
    text, whatever the level, so that a mention can still find the memory. ``revision`` counts
    changes: a writer that read another one leaves the row alone.
    """

    CHANGING = (
        "level",
        "text",
        "topic",
        "tags",
        "words",
        "weight",
        "weighed_at",
        "activated_at",
        "due_at",
        "mentions",
        "message_ids",
        "unembedded",
        "revision",
    )
    #: What changes and is logged: the words follow from the text.
    LOGGED = tuple(name for name in CHANGING if name != "words")

    due_at = models.DateTimeField(
        _("next due (study time)"),
        null=True,
        help_text=_("When it is next compressed, or at once after an edit. Empty: never."),
    )
    activated_at = models.DateTimeField(_("last activated (study time)"))
    weighed_at = models.DateTimeField(_("weighed (study time)"))
    weight = models.FloatField(_("weight when weighed"), default=1.0)
    encoded_at = models.DateTimeField(_("first said (study time)"))
    mentions = models.PositiveIntegerField(_("mentions"), default=0)
    revision = models.PositiveIntegerField(_("revision"), default=0)
    level = models.CharField(_("level"), max_length=8, choices=LEVELS, default=Level.FULL.value)
    embedder = models.CharField(_("embedder"), max_length=120)
    vector = VectorField()
    text = models.TextField(_("text"))
    topic = models.CharField(_("topic"), max_length=TOPIC_CHARACTERS, blank=True)
    tags = ArrayField(models.CharField(max_length=TAG_CHARACTERS), verbose_name=_("tags"))
    words = ArrayField(models.TextField(), editable=False)
    unembedded = models.TextField(
        _("not yet embedded"), blank=True, help_text=_("What staff wrote and no vector is made of.")
    )
    message_ids = message_ids_field()
    stage_key = stage_field()
    language = models.CharField(_("language"), max_length=8)

    objects = TenantManager.from_queryset(CompressibleQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("memory that compresses")
        verbose_name_plural = _("memories that compress")
        ordering = ["encoded_at", "id"]
        indexes = [models.Index(fields=["lab", "participant", "due_at"], name="compressible_due")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(weight__gte=0, weight__lte=1), name="compressible_weight_range"
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage_key} {self.encoded_at:%Y-%m-%d %H:%M} {self.level}"

    @property
    def content(self) -> Content:
        return Content(text=self.text, topic=self.topic, tags=tuple(self.tags))

    # The strategies

    def create(
        self, content: Content, *, ladder: Ladder, at: datetime, note: Mapping[str, Any]
    ) -> MemoryEvent:
        """Begin as a statement that was said ``at``: full, weight 1."""
        self.weight, self.activated_at, self.weighed_at, self.encoded_at = 1.0, at, at, at
        self._hold(Level.FULL, content, ladder)
        origin = {
            "stage_key": self.stage_key,
            "session_number": self.session_number,
            "encoded_at": _written(self.encoded_at),
            "embedder": self.embedder,
            "language": self.language,
        }
        event = self._event(
            EventKind.ENCODED, {}, Cause.CONSOLIDATION, at=at, trigger=UpdateTrigger.USER_MENTION
        )
        event.before, event.after = None, (event.after or {}) | origin
        event.session_id, event.note = self.session_id, event.note | dict(note)
        return event

    def compress(self, *, ladder: Ladder, summary: str | None) -> MemoryEvent:
        """One level down, at the moment when that was due: neither timestamp nor weight moves.

        ``summary`` takes the place of a full text, and is needed for that step alone.
        """
        before, moment = self.logged(), ladder.due_at(self.level, self.activated_at)
        assert moment is not None, "Nothing leaves the archive by itself."
        content = self.content
        if self.level == Level.FULL:
            assert summary is not None, "The text of a summary has to be made first."
            content = Content(text=summary, topic=self.topic, tags=tuple(self.tags))
        self._hold(LOWER[Level(self.level)], content, ladder)
        return self._event(
            EventKind.COMPRESSED,
            before,
            Cause.PASSIVE,
            at=moment,
            trigger=UpdateTrigger.PASSIVE_DECAY,
        )

    def walk(self, *, ladder: Ladder, now: datetime, summary: str | None) -> list[MemoryEvent]:
        """Every step down that is due at ``now``, in order."""
        events = []
        while (moment := ladder.due_at(self.level, self.activated_at)) and moment <= now:
            events.append(self.compress(ladder=ladder, summary=summary))
        return events

    def merge(
        self,
        mention: Mention,
        merged: Content | None,
        vector: NDArray[float32] | None,
        *,
        ladder: Ladder,
    ) -> MemoryEvent:
        """Take in a mention: refreshed, weightier, and a level higher if it is close enough.

        ``merged`` is what both say together, with its ``vector``; both are None where the row has
        no room for more, and then its content and level stay.
        """
        before, level = self.logged(), Level(self.level)
        self._boost(mention, ladder)
        self.activated_at = max(self.activated_at, mention.at)
        self.mentions += 1
        self.message_ids = list(dict.fromkeys([*self.message_ids, mention.message]))
        if merged is not None and vector is not None:
            level = ladder.upgraded(level, mention.similarity)
            self.vector, self.unembedded = vector, ""
        self._hold(level, merged or self.content, ladder)
        event = self._mentioned(EventKind.MERGED, before, mention, ladder)
        event.note |= {"embedded": merged.text if merged is not None else None}
        return event

    def remind(self, mention: Mention, *, ladder: Ladder) -> MemoryEvent:
        """Gain weight from a mention that isn't close enough to be merged, and nothing else."""
        before = self.logged()
        self._boost(mention, ladder)
        return self._mentioned(EventKind.MENTIONED, before, mention, ladder)

    def edit(self, content: Content, *, at: datetime, reason: str) -> MemoryEvent:
        """Put in staff's words what is left at this level; date, weight and level stay.

        A text is embedded anew by the next maintenance, which is due at once: until then the
        memory is found by what it said before. Raises ValueError for what is archived.
        """
        level, before = Level(self.level), self.logged()
        if level is Level.ARCHIVE:
            raise ValueError("Nothing is left of an archived memory that could be edited.")
        if level.holds_text and content.text != self.text:
            self.unembedded = content.text
            self.due_at = at
        self._take(content.at_level(level, language=self.language))
        event = self._event(
            EventKind.EDITED, before, Cause.STAFF, at=at, trigger=UpdateTrigger.MANUAL_EDIT
        )
        event.note |= {"reason": reason}
        return event

    def reembed(self, vector: NDArray[float32], *, ladder: Ladder) -> MemoryEvent:
        """From now on be found by what staff wrote, as of the time of the edit."""
        before, at = self.logged(), self.due_at
        assert at is not None, "An edit makes a memory due."
        self.vector, embedded, self.unembedded = vector, self.unembedded, ""
        self.due_at = ladder.due_at(self.level, self.activated_at)
        event = self._event(
            EventKind.UPDATED, before, Cause.STAFF, at=at, trigger=UpdateTrigger.MANUAL_EDIT
        )
        event.note |= {"embedded": embedded}
        return event

    # What they share

    def _take(self, content: Content) -> None:
        self.text, self.topic, self.tags = content.text, content.topic, list(content.tags)
        self.words = list(words(content.text)) if self.level != Level.ARCHIVE else []

    def _hold(self, level: Level, content: Content, ladder: Ladder) -> None:
        """Be at a level, with what it leaves of a content, and due for the next lower one."""
        self.level = level.value
        self._take(content.at_level(level, language=self.language))
        self.due_at = ladder.due_at(level, self.activated_at)

    def _boost(self, mention: Mention, ladder: Ladder) -> None:
        at = max(self.weighed_at, mention.at)
        present = ladder.weight(self.weight, self.weighed_at, at)
        self.weight, self.weighed_at = ladder.boosted(present, mention.similarity), at

    def _mentioned(
        self, kind: EventKind, before: dict[str, Any], mention: Mention, ladder: Ladder
    ) -> MemoryEvent:
        event = self._event(
            kind, before, Cause.MENTION, at=mention.at, trigger=UpdateTrigger.USER_MENTION
        )
        event.session_id = mention.session
        event.note |= ladder.noted(mention.similarity)
        return event

    def _event(
        self,
        kind: EventKind,
        before: dict[str, Any],
        cause: Cause,
        *,
        at: datetime,
        trigger: UpdateTrigger,
    ) -> MemoryEvent:
        self.revision += 1
        return MemoryEvent(
            lab_id=self.lab_id,  # made outside a scope as well
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.COMPRESSIBLE,
            memory_id=self.pk,
            before=before,
            after=self.logged(),
            cause=cause,
            note={"trigger": trigger.value},
            study_at=at,
        )

    def logged(self) -> dict[str, Any]:
        """What can change, as JSON."""
        return {name: _written(getattr(self, name)) for name in self.LOGGED}


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, list):
        return [str(each) for each in value]
    return value
