"""What is left of a participant who leaves: the conversations, the study, or every trace."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Self
from uuid import uuid4

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.enums import ParticipantState
from experiments.models.participant_row import ParticipantRow
from experiments.participant_codes import new_code


class ParticipantLeaving(ParticipantRow):
    """The part of ``Participant`` that withdrawal changes; see ``memlab.journey.withdrawing``."""

    chat_left_at = models.DateTimeField(
        _("left the conversations (study time)"), null=True, editable=False
    )
    anonymised_at = models.DateTimeField(
        _("anonymised (wall time)"),
        null=True,
        editable=False,
        help_text=_("Nothing leads to the person any more but what they wrote themselves."),
    )
    needs_redaction = models.BooleanField(
        _("needs redaction"),
        default=False,
        editable=False,
        help_text=_("What was said has to be gone through before it is shared."),
    )
    erased_on = models.DateField(
        _("erased on"),
        null=True,
        editable=False,
        help_text=_("An empty row in place of a person whose data are gone: it is only counted."),
    )

    class Meta(ParticipantRow.Meta):
        abstract = True

    @property
    def has_left_chat(self) -> bool:
        """Whether the participant has withdrawn, from the conversations at least: then nothing is
        said any more, and no memory is kept up."""
        return self.state == ParticipantState.WITHDRAWN or self.chat_left_at is not None

    def leave_chat(self, *, now: datetime) -> None:
        self.chat_left_at = now
        self.save(update_fields=["chat_left_at"])

    def withdraw(self) -> None:
        """Nothing that is still to come is wanted."""
        self.state = ParticipantState.WITHDRAWN
        self.save(update_fields=["state"])

    def anonymise(self, *, wall: datetime) -> None:
        """A new code and id, so that neither a link nor a code nor a browser leads here any more.

        What the participant wrote stays and may name them: it waits for redaction.
        """
        self.code, self.public_id = new_code(), uuid4()
        self.password, self.time_zone = "", ""
        self.anonymised_at, self.needs_redaction = wall, True
        self.save(
            update_fields=[
                "code",
                "public_id",
                "password",
                "time_zone",
                "anonymised_at",
                "needs_redaction",
            ]
        )

    def leave_shell(self, *, wall: datetime) -> Self:
        """An empty row that stands for this one in the study's counts once it is erased.

        It knows the study, the version that was consented to, whether it was a test run, and the
        day of the erasure, which stands for every moment that it must have.
        """
        day = wall.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        shell = type(self)._default_manager.create(
            study_id=self.study_id,
            version_id=self.version_id,
            test_mode=self.test_mode,
            state=ParticipantState.WITHDRAWN,
            consented_at=None if self.consented_at is None else day,
            erased_on=day.date(),
        )
        type(self)._default_manager.filter(pk=shell.pk).update(entered_at=day)
        shell.entered_at = day
        return shell
