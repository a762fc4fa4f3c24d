"""What questionnaires keep about a participant."""

from __future__ import annotations

from django.db.models import CharField, Func

from memlab.core.personal import Counts, Person, Personal, Rows
from questionnaires.enums import Missing
from questionnaires.models import Answer


def remove_texts(person: Person) -> Counts:
    """What somebody wrote in their own words may name them; numbers and choices stay."""
    kind = Func("raw", function="jsonb_typeof", output_field=CharField())
    answers = Answer.objects.filter(response__participant=person.pk).annotate(json_kind=kind)
    written = Answer.objects.filter(pk__in=answers.filter(json_kind="string").values("pk"))
    return {"questionnaires.Answer": written.update(raw=None, missing=Missing.REMOVED)}


PERSONAL = Personal(
    rows=(
        Rows(model="questionnaires.Score", path="response__participant"),
        Rows(model="questionnaires.Answer", path="response__participant"),
        Rows(model="questionnaires.Response", hidden=frozenset({"seed"})),
    ),
    anonymise=(remove_texts,),
)
