"""What staff changes in a memory by hand: one transaction, one event, and what it makes due."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from experiments.models import Participant
from memory.models import Compressible
from memory.models.content import Content


class ChangedMeanwhile(Exception):
    """The memory is no longer what staff was shown."""


def edit_compressible(
    memory_id: UUID, content: Content, *, revision: int, reason: str, wall: datetime
) -> Compressible:
    """Put staff's words in place of what a memory says, at the participant's present study time.

    ``revision`` is the one that staff was shown. A new text is embedded by the participant's next
    maintenance, which is planned here. Call it in a lab's scope. Raises ChangedMeanwhile, or
    ValueError for an archived memory.
    """
    row: Compressible = Compressible.objects.defer("vector").select_for_update().get(pk=memory_id)
    if row.revision != revision:
        raise ChangedMeanwhile
    # Locked as by every writer that plans maintenance, so that no plan is overtaken.
    person = Participant.objects.select_for_update(no_key=True).get(pk=row.participant_id)
    event = row.edit(content, at=person.study_time(wall), reason=reason)
    Compressible.objects.write(changed=[row], events=[event])
    person.maintain_at(Compressible.objects.of_participant(person.pk).next_due())
    return row
