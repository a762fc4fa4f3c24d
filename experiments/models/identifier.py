"""What participants are known by outside the study, apart from everything else about them.

Every other table knows a random code. An identifier is found by a keyed digest and read only by
unsealing it; a tombstone is the digest alone, of somebody who had their data erased.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import IdentifierKind
from experiments.models.participant import Participant
from experiments.models.study import Study
from memlab.core import sealing
from memlab.core.tenancy.models import TenantManager, TenantModel, TenantQuerySet

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Upper and lower case are the same person in these.
_CASELESS = (IdentifierKind.EMAIL, IdentifierKind.CODE)


@dataclass(frozen=True, slots=True)
class Identity:
    """An identifier as it was given. ``source`` names a recruiter of kind ``OTHER``, whose ids
    would otherwise be mistaken for those of the next one."""

    kind: IdentifierKind
    value: str
    source: str = ""

    def digests(self, lab_id: int) -> tuple[str, ...]:
        """Keyed digests within a lab, the one to be stored first."""
        return sealing.digests(lab_id, str(self.kind), self.source, self.normalised)

    @property
    def normalised(self) -> str:
        value = unicodedata.normalize("NFKC", self.value).strip()
        return value.casefold() if self.kind in _CASELESS else value


class IdentifierQuerySet(TenantQuerySet["Identifier"]):
    def matching(self, lab_id: int, identity: Identity) -> IdentifierQuerySet:
        """Rows that hold this identifier, in whichever study of the lab."""
        return self.filter(lab_id=lab_id, kind=identity.kind, digest__in=identity.digests(lab_id))

    def holder(self, study: Study, identity: Identity, *, test_mode: bool) -> Participant | None:
        """Who this is in a study; test runs are other people than real ones."""
        row = (
            self.matching(study.lab_id, identity)
            .filter(study=study, test_mode=test_mode)
            .select_related("participant")
            .order_by("pk")
            .first()
        )
        return None if row is None else row.participant

    def took_part_elsewhere(self, study: Study, identity: Identity) -> bool:
        """Whether this person has consented to another study of the lab."""
        return (
            self.matching(study.lab_id, identity)
            .filter(test_mode=False, participant__consented_at__isnull=False)
            .exclude(study=study)
            .exists()
        )

    def keep(self, participant: Participant, identity: Identity) -> Identifier:
        """Store an identifier of a participant, in the place of their last one of its kind.

        Raises IntegrityError if it is somebody else's in the same study, but for e-mail addresses:
        two people may share one.
        """
        row, _created = self.update_or_create(
            participant=participant,
            kind=identity.kind,
            source=identity.source,
            defaults={
                "lab_id": participant.lab_id,
                "study_id": participant.study_id,
                "test_mode": participant.test_mode,
                "digest": identity.digests(participant.lab_id)[0],
                "sealed": sealing.seal(identity.value.strip()),
            },
        )
        return row

    def rotate(self) -> int:
        """Seal and digest every row anew with the newest secret; the number of rows changed."""
        rows = list(self.select_for_update(of=("self",)))
        for row in rows:
            row.digest = row.identity.digests(row.lab_id)[0]
            row.sealed = sealing.sealed_anew(row.sealed)
            row.save(update_fields=["digest", "sealed"])
        return len(rows)


class Identifier(TenantModel):
    """One identifier of one participant: whom it finds, and sealed, what it is."""

    participant = models.ForeignKey(
        Participant, models.PROTECT, related_name="identifiers", verbose_name=_("participant")
    )
    study = models.ForeignKey(Study, models.PROTECT, related_name="+", verbose_name=_("study"))
    test_mode = models.BooleanField(_("test run"), default=False)
    kind = models.CharField(_("kind"), max_length=8, choices=IdentifierKind.choices)
    source = models.CharField(_("recruiter"), max_length=40, blank=True)
    digest = models.CharField(max_length=64, editable=False)
    sealed = models.BinaryField(editable=False)
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(IdentifierQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("identifier")
        verbose_name_plural = _("identifiers")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "study", "test_mode", "kind", "digest"],
                condition=~models.Q(kind="email"),
                name="one_participant_an_identifier",
            ),
            models.UniqueConstraint(
                fields=["lab", "participant", "kind", "source"], name="one_identifier_of_a_kind"
            ),
        ]
        indexes = [models.Index(fields=["lab", "kind", "digest"], name="identifier_by_digest")]

    def __str__(self) -> str:
        return f"{self.participant_id} {self.kind}"

    @property
    def value(self) -> str:
        """What it is, in clear. Whoever shows it to staff logs that."""
        return sealing.unseal(self.sealed)

    @property
    def identity(self) -> Identity:
        return Identity(IdentifierKind(self.kind), self.value, self.source)


class TombstoneQuerySet(TenantQuerySet["Tombstone"]):
    def lay(self, participant: Participant) -> int:
        """Remember, by digest alone, everything that a participant is known by. Safe to repeat.

        For an erasure, before it deletes the identifiers. Returns how many digests there are. Who
        tries a study out, perhaps under their own address, isn't kept from it.
        """
        if participant.test_mode:
            return 0
        digests = {(row.kind, row.digest) for row in participant.identifiers.all()}
        for kind, digest in sorted(digests):
            self.get_or_create(
                lab_id=participant.lab_id, study_id=participant.study_id, kind=kind, digest=digest
            )
        return len(digests)

    def bars(self, study: Study, identities: Iterable[Identity]) -> bool:
        """Whether one of these is of somebody whose data in this study were erased."""
        return any(
            self.filter(
                lab_id=study.lab_id,
                study=study,
                kind=identity.kind,
                digest__in=identity.digests(study.lab_id),
            ).exists()
            for identity in identities
        )


class Tombstone(TenantModel):
    """Somebody was here and had their data erased: nothing but a keyed digest is left of them."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="+", verbose_name=_("study"))
    kind = models.CharField(_("kind"), max_length=8, choices=IdentifierKind.choices)
    digest = models.CharField(_("digest"), max_length=64)
    laid_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = TenantManager.from_queryset(TombstoneQuerySet)()

    class Meta(TenantModel.Meta):
        verbose_name = _("tombstone")
        verbose_name_plural = _("tombstones")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "study", "kind", "digest"], name="one_tombstone_a_digest"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.digest[:8]}"
