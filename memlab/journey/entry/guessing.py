"""How many recruiters' ids one address may try.

Such ids are often short, and whoever names one comes in as that person. So every address may name
only so many different ones in a while that are somebody's here, or that get another answer than a
newcomer does. Browsers that are known as the person aren't counted, nor are newcomers whom the
study takes: a whole class may enter at once. An address whose allowance is used up gets the same
answer to every further id, a newcomer's too, or it could still ask who is known here.
"""

from __future__ import annotations

from datetime import datetime

from experiments.models import FailedReturn
from experiments.models.returning import Bucket
from memlab.core import sealing
from memlab.journey.entry import admission
from memlab.journey.entry.admission import Visit

#: Different ids within ``experiments.models.returning.WINDOW``. No small number, for people of one
#: campus share an address.
MOST_IDS = 60


def tries_too_many(visit: Visit, *, address: str, wall: datetime) -> bool:
    """Whether the visitor's address has used up its allowance; counts this visit if it hasn't.

    The same id again is counted once, for a page is opened, then posted.
    """
    if visit.identity is None:
        return False
    tried, of_address = _buckets(visit, address)
    if FailedReturn.objects.blocked((tried,), wall=wall):
        return False
    if FailedReturn.objects.blocked((of_address,), wall=wall):
        return True
    if not _is_plain_newcomer(visit):
        FailedReturn.objects.note((tried, of_address), wall=wall)
    return False


def _buckets(visit: Visit, address: str) -> tuple[Bucket, Bucket]:
    """That this address has named this id, and how many it has named."""
    assert visit.identity is not None
    digest = visit.identity.digests(visit.link.lab_id)[0]
    return (
        Bucket(sealing.digests("id", address, digest)[0], 1),
        Bucket(sealing.digests("ids", address)[0], MOST_IDS),
    )


def _is_plain_newcomer(visit: Visit) -> bool:
    return (
        visit.participant is None
        and admission.admits(visit.study, test_mode=visit.link.test_mode)
        and not visit.leads_nobody_new()
        and not visit.is_barred()
    )
