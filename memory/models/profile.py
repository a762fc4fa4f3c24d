"""The profile: the gist of a person, trait by trait, each with the messages it was learned from."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID, uuid5

from django.db import models
from django.utils.translation import gettext_lazy as _

from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memory.enums import Cause, EventKind, MemoryKind, ProfilePart
from memory.models.base import Memory, message_ids_field, stage_field
from memory.models.event import MemoryEvent

TRAIT_CHARACTERS = 200
KEY_CHARACTERS = 60
EMOTION_CHARACTERS = 40
NORMALISED_CHARACTERS = 2 * TRAIT_CHARACTERS


def normalised(text: str, key: str = "") -> str:
    """The form in which two wordings of a trait count as the same: width, case, spaces and
    punctuation don't matter."""
    folded = unicodedata.normalize("NFKC", f"{key}:{text}" if key else text).casefold()
    kept = (
        character if unicodedata.category(character)[0] in "LNMS" else " " for character in folded
    )
    words = "".join(kept).split() or folded.split()  # a text of nothing but punctuation
    # Compatibility forms can be many times longer than what was written.
    return " ".join(words)[:NORMALISED_CHARACTERS]


def trait_id(*, participant: UUID, dimension: str, normalised_text: str) -> UUID:
    """The same trait of the same person always has the same id."""
    return uuid5(participant, f"trait:{dimension}:{normalised_text}")


class TraitQuerySet(TenantQuerySet["Trait"]):
    def of_participant(self, participant_id: int) -> TraitQuerySet:
        """A participant's profile in the order in which it was learned."""
        return self.filter(participant_id=participant_id).order_by("learned_at", "pk")

    def learn(self, traits: Iterable[Trait], *, now: datetime) -> int:
        """Add traits that aren't known yet, with an event each; how many were new.

        A trait that is known keeps its first wording and source, and none is ever removed.
        """
        offered = {trait.pk: trait for trait in reversed(list(traits))}
        known = set(self.filter(pk__in=offered).values_list("pk", flat=True))
        new = [trait for key, trait in reversed(offered.items()) if key not in known]
        self.bulk_create(new)
        MemoryEvent.objects.record(trait.learning_event(now) for trait in new)
        return len(new)


class Trait(Memory):
    """One thing known about a participant, from their own words."""

    dimension = models.CharField(_("dimension"), max_length=20, choices=ProfilePart.choices)
    key = models.CharField(
        _("key"),
        max_length=KEY_CHARACTERS,
        blank=True,
        help_text=_("For basic information, e.g. occupation."),
    )
    text = models.CharField(_("text"), max_length=TRAIT_CHARACTERS)
    normalised = models.CharField(max_length=NORMALISED_CHARACTERS, editable=False)
    emotion = models.CharField(_("emotion"), max_length=EMOTION_CHARACTERS, blank=True)
    salience = models.FloatField(_("emotional salience"))
    stage_key = stage_field()
    message_ids = message_ids_field()
    learned_at = models.DateTimeField(_("said at (study time)"))

    objects = TenantManager.from_queryset(TraitQuerySet)()

    class Meta(Memory.Meta):
        verbose_name = _("trait")
        verbose_name_plural = _("traits")
        ordering = ["learned_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "participant", "dimension", "normalised"],
                name="a_trait_is_known_once",
            )
        ]

    def __str__(self) -> str:
        return self.worded()

    def worded(self) -> str:
        """The trait with its key and emotion, without its source."""
        text = f"{self.key}: {self.text}" if self.key else self.text
        return f"{text} ({self.emotion})" if self.emotion else text

    def as_known(self) -> str:
        """As an extraction is told that it is known; see ``ExtractedTrait.worded``."""
        return f"{self.dimension}: {f'{self.key}: ' if self.key else ''}{self.text}"

    def learning_event(self, now: datetime) -> MemoryEvent:
        """The event of a new trait: all of it."""
        return MemoryEvent(
            participant_id=self.participant_id,
            event=EventKind.ENCODED,
            memory_kind=MemoryKind.TRAIT,
            memory_id=self.pk,
            before=None,
            after={
                "dimension": self.dimension,
                "key": self.key,
                "text": self.text,
                "emotion": self.emotion,
                "salience": self.salience,
                "stage_key": self.stage_key,
                "session_number": self.session_number,
                "message_ids": [str(message) for message in self.message_ids],
                "learned_at": self.learned_at.isoformat(),
            },
            cause=Cause.CONSOLIDATION,
            session_id=self.session_id,
            study_at=now,
        )
