"""Entry links: a directory outside the policies that finds a lab from a token's hash, and what
staff know of each link, which is the lab's own."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.participant import Participant
from experiments.models.study import Study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.models import TenantModel


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class EntryLinkManager(models.Manager["EntryLink"]):
    def issue(
        self,
        *,
        lab_id: int,
        study_id: int,
        test_mode: bool = False,
        label: str = "",
        participant: Participant | None = None,
        expires_at: datetime | None = None,
    ) -> str:
        """Make a link and return its token, which is stored nowhere.

        With a ``participant`` it is personal: it brings that one person, until it expires.
        """
        token = secrets.token_urlsafe(16)
        with lab_scope(lab_id):
            link = self.register(
                token,
                lab_id=lab_id,
                study_id=study_id,
                test_mode=test_mode,
                participant=None if participant is None else participant.public_id,
                expires_at=expires_at,
            )
            IssuedLink.objects.create(
                link=link, study_id=study_id, participant=participant, label=label
            )
        return token

    def register(
        self,
        token: str,
        *,
        lab_id: int,
        study_id: int,
        test_mode: bool = False,
        participant: UUID | None = None,
        recruiter_id: int | None = None,
        expires_at: datetime | None = None,
    ) -> EntryLink:
        """Let a token be found, by its hash."""
        return self.create(
            token_hash=_hash(token),
            lab_id=lab_id,
            study_id=study_id,
            test_mode=test_mode,
            participant=participant,
            recruiter_id=recruiter_id,
            expires_at=expires_at,
        )

    def find(self, token: str) -> EntryLink | None:
        """The link of a token unless it was revoked; whether it has expired is to be asked of
        it."""
        return self.filter(token_hash=_hash(token), revoked_at=None).first()

    def revoke(self, **which: object) -> int:
        """Links that nobody enters by any more; the number of those that were valid before."""
        return self.filter(revoked_at=None, **which).update(revoked_at=wall_now())


class EntryLink(models.Model):
    """A way into a study: open to everybody, of one participant, or for a recruiter's people."""

    token_hash = models.CharField(max_length=64, unique=True)
    lab_id = models.BigIntegerField()
    study_id = models.BigIntegerField()
    participant = models.UUIDField(null=True, help_text="Public id of whom a personal link brings.")
    recruiter_id = models.BigIntegerField(null=True)
    test_mode = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = EntryLinkManager()

    def __str__(self) -> str:
        return f"link {self.pk} of study {self.study_id}"

    def expired(self, wall: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= wall


class IssuedLink(TenantModel):
    """A link as staff know it: what they call it, and whom it brings."""

    link = models.ForeignKey(EntryLink, models.PROTECT, related_name="+", verbose_name=_("link"))
    study = models.ForeignKey(
        Study, models.CASCADE, related_name="issued_links", verbose_name=_("study")
    )
    participant = models.ForeignKey(
        Participant,
        models.CASCADE,
        null=True,
        related_name="issued_links",
        verbose_name=_("participant"),
        help_text=_("Whom a personal link brings; empty for an open one."),
    )
    label = models.CharField(_("label"), max_length=80, blank=True)

    class Meta(TenantModel.Meta):
        verbose_name = _("entry link")
        verbose_name_plural = _("entry links")
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["lab", "link"], name="one_note_of_a_link")]

    def __str__(self) -> str:
        return self.label or f"#{self.pk}"

    def revoke(self) -> bool:
        """Nobody enters by it any more; False if that was so before."""
        return EntryLink.objects.revoke(pk=self.link_id) == 1
