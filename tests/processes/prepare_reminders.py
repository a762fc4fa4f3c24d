"""``python -m tests.processes.prepare_reminders URL N``: two studies with N participants each, one
that reminds by e-mail and one by a webhook at ``URL``. Prints the lab's id."""

from __future__ import annotations

import sys

import django

SECRET = "a-webhook-s-secret-0123456789"
STAGES = {
    "minimum_gap_hours": 1,
    "window_hours": 480,
    "reminder_hours": [0, 24, 48, 336],
}


def prepare(url: str, number: int) -> int:
    from experiments.enums import IdentifierKind
    from experiments.models import Identifier, Identity, Lab
    from memlab.core.tenancy import lab_scope
    from tests.studies import enrol, make_study

    lab = Lab.objects.found(name="A lab that reminds")
    by_mail = make_study(lab, title="Mail", stages=STAGES)
    by_hook = make_study(
        lab, title="Hook", stages=STAGES, reminder_channel="webhook", webhook_url=url
    )
    with lab_scope(lab.pk):
        by_hook.seal_webhook(SECRET)
        by_hook.save()
        for each in range(number):
            enrol(by_hook)
            identity = Identity(IdentifierKind.EMAIL, f"p{each}@example.org")
            Identifier.objects.all().keep(enrol(by_mail), identity)
    return int(lab.pk)


if __name__ == "__main__":
    django.setup()
    print(prepare(sys.argv[1], int(sys.argv[2])))
