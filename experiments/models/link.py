"""Public entry links: a directory outside the policies that finds a lab from a token's hash."""

from __future__ import annotations

import hashlib
import secrets

from django.db import models


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class EntryLinkManager(models.Manager["EntryLink"]):
    def issue(self, *, lab_id: int, study_id: int, test_mode: bool = False) -> str:
        """Make a link and return its token, which is stored nowhere."""
        token = secrets.token_urlsafe(12)
        self.create(token_hash=_hash(token), lab_id=lab_id, study_id=study_id, test_mode=test_mode)
        return token

    def find(self, token: str) -> EntryLink | None:
        return self.filter(token_hash=_hash(token), revoked_at=None).first()


class EntryLink(models.Model):
    token_hash = models.CharField(max_length=64, unique=True)
    lab_id = models.BigIntegerField()
    study_id = models.BigIntegerField()
    test_mode = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True)

    objects = EntryLinkManager()

    def __str__(self) -> str:
        return f"link {self.pk} of study {self.study_id}"
