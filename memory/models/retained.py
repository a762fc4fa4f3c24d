"""Items that stay at hand as long as their retention score holds, and then rest in an archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from numpy import float32
from numpy.typing import NDArray
from pgvector.django import VectorField

from memlab.core.tenancy.models import TenantManager
from memory.enums import Cause, EventKind, MemoryKind, Shelf
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.event import MemoryEvent
from memory.models.profile import normalised
from memory.models.retained_query import RetainedItemQuerySet
from memory.models.retention_rule import Point, Retention
from memory.words import words

ITEM_CHARACTERS = 200
KEYWORD_CHARACTERS = 40
MOST_KEYWORDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """What a participant said, as an extraction put it, with what it is to be filed under.

    ``vector`` has shape (dimensions,).
    """

    text: str
    keywords: Sequence[str]
    vector: NDArray[float32]


def item_id(*, participant: UUID, message: UUID, text: str) -> UUID:
    """Encoding a message twice gives the same items; two participants never share one."""
    return uuid5(participant, f"retained:{message}:{normalised(text)}")


class RetainedItem(Memory):
    """One thing a participant said, with the score that keeps it at hand.

    The score is computed on read from importance, hits and the last access; stored is the exact
    moment at which it will have sunk to the threshold (``archive_at``, or ``archive_turn`` where
    an arm counts in turns).
    """

    state = models.CharField(_("state"), max_length=8, choices=Shelf.choices, default=Shelf.WORKING)
    importance = models.FloatField(_("importance"))
    hits = models.PositiveIntegerField(_("hits"), default=0)
    anchor = models.DateTimeField(_("last access (study time)"))
    anchor_turn = models.PositiveIntegerField(_("last access (turn)"))
    archive_at = models.DateTimeField(
        _("leaves at (study time)"),
        null=True,
        help_text=_("When its score reaches the threshold; empty if it never does."),
    )
    archive_turn = models.PositiveIntegerField(
        _("leaves after turn"), null=True, help_text=_("For arms that count in turns.")
    )
    archived_at = models.DateTimeField(_("archived at (study time)"), null=True)
    rehearsals = models.PositiveIntegerField(_("rehearsals"), default=0)
    rehearsed_at = models.DateTimeField(_("last offered (study time)"), null=True)
    encoded_at = models.DateTimeField(_("said at (study time)"))
    embedder = models.CharField(_("embedder"), max_length=120)
    vector = VectorField()
    text = models.CharField(_("text"), max_length=ITEM_CHARACTERS)
    keywords = ArrayField(
        models.CharField(max_length=KEYWORD_CHARACTERS), verbose_name=_("keywords"), default=list
    )
    keyword_words = ArrayField(models.TextField(), default=list, editable=False)
    words = ArrayField(models.TextField(), default=list, editable=False)
    message_ids = message_ids_field()
    stage_key = stage_field()

    objects = TenantManager.from_queryset(RetainedItemQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("retained item")
        verbose_name_plural = _("retained items")
        ordering = ["encoded_at", "id"]
        indexes = [
            models.Index(fields=["lab", "participant", "state"], name="retained_of_participant"),
            models.Index(
                fields=["lab", "participant", "archive_at"],
                condition=models.Q(state=Shelf.WORKING),
                name="retained_leaves_at",
            ),
            models.Index(
                fields=["lab", "participant", "archive_turn"],
                condition=models.Q(state=Shelf.WORKING),
                name="retained_leaves_after",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(importance__gte=0, importance__lte=1),
                name="retained_importance_range",
            ),
            models.CheckConstraint(
                condition=models.Q(state=Shelf.WORKING, archived_at__isnull=True)
                | models.Q(state=Shelf.ARCHIVED, archived_at__isnull=False),
                name="retained_archived_since",
            ),
        ]

    def __str__(self) -> str:
        return self.text

    # What it is worth, on read

    @property
    def accessed(self) -> Point:
        return Point(at=self.anchor, turn=self.anchor_turn)

    def score(self, *, retention: Retention, now: Point) -> float:
        """I·F − T·R at ``now``."""
        return retention.score(self, now=now)

    def archived_by(self, now: Point) -> bool:
        """Whether it rests in the archive at ``now``, whether or not it has been put there."""
        if self.state == Shelf.ARCHIVED:
            return True
        by_time = self.archive_at is not None and self.archive_at <= now.at
        by_turns = self.archive_turn is not None and self.archive_turn <= now.turn
        return by_time or by_turns

    # What changes it: each on this (unsaved) row, giving the event; querysets lock and save

    def set_leaving(self, retention: Retention) -> None:
        """Work out anew when it leaves, from what it is."""
        leaving = retention.leaving(importance=self.importance, hits=self.hits, since=self.accessed)
        self.archive_at, self.archive_turn = leaving.at, leaving.turn

    def word(self, said: Worded) -> None:
        """Take a wording, with what is worked out from it. Keywords it already had come after the
        newest, as many as an item may have."""
        self.text, self.vector, self.words = said.text, said.vector, list(words(said.text))
        self.keywords = list(dict.fromkeys([*said.keywords, *self.keywords]))[:MOST_KEYWORDS]
        self.keyword_words = sorted({word for key in self.keywords for word in words(key)})

    def hit(
        self, *, retention: Retention, now: Point, reply: UUID, cause: Cause = Cause.RECALL
    ) -> MemoryEvent:
        """It was needed while at hand: hits + 1, T = 0."""
        before = self.present()
        self._access(retention, now)
        return self._event(EventKind.RECALLED, before, cause=cause, at=now.at, reply=reply)

    def wake(
        self, *, retention: Retention, now: Point, reply: UUID, cause: Cause = Cause.RECALL
    ) -> MemoryEvent:
        """It was needed while in the archive: back to the working set, hits + 1, T = 0."""
        before = self.present()
        at = self._access(retention, now)
        return self._event(EventKind.WOKEN, before, cause=cause, at=at, reply=reply)

    def restate(
        self, said: Worded, *, message: UUID, access: Retention | None, now: Point, reply: UUID
    ) -> MemoryEvent:
        """The participant said it again: the newest wording counts, for it may be a correction,
        and the message joins its sources. With ``access`` this is also a hit, or wakes it."""
        before = self.present()
        woken = access is not None and self.state == Shelf.ARCHIVED
        self.word(said)
        self.message_ids = list(dict.fromkeys([*self.message_ids, message]))
        at = now.at if access is None else self._access(access, now)
        kind = EventKind.WOKEN if woken else EventKind.MENTIONED
        return self._event(kind, before, cause=Cause.MENTION, at=at, reply=reply)

    def archive(self, at: datetime) -> MemoryEvent:
        """Its score has reached the threshold: it leaves the working set."""
        before = {"state": str(self.state), "archived_at": _iso(self.archived_at)}
        self.state, self.archived_at = Shelf.ARCHIVED, at
        after = {"state": str(self.state), "archived_at": _iso(at)}
        return self._change(EventKind.ARCHIVED, before, after, cause=Cause.PASSIVE, at=at)

    def rehearse(self, *, at: datetime, reply: UUID) -> MemoryEvent:
        """It was offered to the model to bring up. That is no hit: an answer to it may be one."""
        before = self.present()
        self.rehearsals += 1
        self.rehearsed_at = at
        return self._event(EventKind.REHEARSED, before, cause=Cause.RECALL, at=at, reply=reply)

    def present(self) -> dict[str, Any]:
        """All of its state that ever changes, as JSON; but for what is worked out from the text
        (its vector and words)."""
        return {
            "state": str(self.state),
            "hits": self.hits,
            "anchor": _iso(self.anchor),
            "anchor_turn": self.anchor_turn,
            "archive_at": _iso(self.archive_at),
            "archive_turn": self.archive_turn,
            "archived_at": _iso(self.archived_at),
            "rehearsals": self.rehearsals,
            "rehearsed_at": _iso(self.rehearsed_at),
            "text": self.text,
            "keywords": list(self.keywords),
            "message_ids": [str(message) for message in self.message_ids],
        }

    def encoding_event(self, now: datetime, *, reply: UUID) -> MemoryEvent:
        """The first event of a new item: all of it but vector and words."""
        after = self.present() | {
            "importance": self.importance,
            "stage_key": self.stage_key,
            "session_number": self.session_number,
            "encoded_at": _iso(self.encoded_at),
            "embedder": self.embedder,
        }
        return self._change(
            EventKind.ENCODED, None, after, cause=Cause.OBSERVATION, at=now, reply=reply
        )

    def _access(self, retention: Retention, now: Point) -> datetime:
        """The study time of the access: nothing wakes before it has gone to sleep."""
        at = max(now.at, self.archived_at or now.at)
        self.state, self.archived_at = Shelf.WORKING, None
        self.hits += 1
        self.anchor = max(self.anchor, at)
        self.anchor_turn = max(self.anchor_turn, now.turn)
        self.set_leaving(retention)
        return at

    def _event(
        self, kind: EventKind, before: dict[str, Any], *, cause: Cause, at: datetime, reply: UUID
    ) -> MemoryEvent:
        after = self.present()
        changed = {name for name, value in after.items() if value != before[name]}
        return self._change(
            kind,
            {name: before[name] for name in before if name in changed},
            {name: after[name] for name in after if name in changed},
            cause=cause,
            at=at,
            reply=reply,
        )

    def _change(
        self,
        kind: EventKind,
        before: dict[str, Any] | None,
        after: dict[str, Any],
        *,
        cause: Cause,
        at: datetime,
        reply: UUID | None = None,
    ) -> MemoryEvent:
        return MemoryEvent(
            participant_id=self.participant_id,
            event=kind,
            memory_kind=MemoryKind.RETAINED,
            memory_id=self.pk,
            before=before,
            after=after,
            cause=cause,
            session_id=self.session_id if kind is EventKind.ENCODED else None,
            reply_id=reply,
            study_at=at,
        )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
