"""Memories that compress: what is left of each, and staff's own words in their place."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.text import Truncator
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from experiments.back_office import EvidenceAdmin, ObjectPage, TenantModelAdmin
from experiments.enums import AuditAction, DeviationKind
from experiments.models import Deviation
from experiments.rights import Area, Right, Viewer
from memlab.core.clock import wall_now
from memory.answers import storable
from memory.edits import ChangedMeanwhile, edit_compressible
from memory.formulas.compression import Level
from memory.models import Compressible
from memory.models.content import MOST_TAGS, TEXT_CHARACTERS, TOPIC_CHARACTERS, Content
from memory.statements import as_tag


class EditForm(forms.Form):
    """What is left at the memory's level, and why it is changed."""

    text = forms.CharField(
        label=_("Text"), max_length=TEXT_CHARACTERS, widget=UnfoldAdminTextareaWidget
    )
    topic = forms.CharField(
        label=_("Topic"), max_length=TOPIC_CHARACTERS, widget=UnfoldAdminTextInputWidget
    )
    tags = forms.CharField(
        label=_("Tags"),
        widget=UnfoldAdminTextareaWidget,
        help_text=_("One a line, as #dimension:value."),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Kept in the audit log and in the memory's own."),
    )
    revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, memory: Compressible, submitted: Any = None) -> None:
        initial = {
            "text": memory.text,
            "topic": memory.topic,
            "tags": "\n".join(memory.tags),
            "revision": memory.revision,
        }
        super().__init__(submitted, initial=initial)
        self.memory = memory
        level = Level(memory.level)
        if not level.holds_text:
            del self.fields["text"]
        if level is Level.TRACE:
            del self.fields["tags"]

    def clean_text(self) -> str:
        return _one_line(self.cleaned_data["text"], TEXT_CHARACTERS)

    def clean_topic(self) -> str:
        return _one_line(self.cleaned_data["topic"], TOPIC_CHARACTERS)

    def clean_tags(self) -> list[str]:
        tags = []
        for line in self.cleaned_data["tags"].splitlines():
            if not line.strip():
                continue
            dimension, _colon, value = line.strip().removeprefix("#").partition(":")
            tag = as_tag(" ".join(dimension.split()), " ".join(value.split()))
            if tag is None:
                raise ValidationError(
                    _now("“%(tag)s” is no tag. Write #dimension:value, short.") % {"tag": line}
                )
            tags.append(tag)
        if not 1 <= len(tags) <= MOST_TAGS:
            raise ValidationError(_now("Write 1 to %(most)s tags.") % {"most": MOST_TAGS})
        return list(dict.fromkeys(tags))

    def content(self) -> Content:
        """The memory's content with what was written; parts that its level lacks stay away."""
        given = self.cleaned_data
        return Content(
            text=given.get("text", self.memory.text),
            topic=given["topic"],
            tags=tuple(given.get("tags", self.memory.tags)),
        )

    def save(self, *, wall: datetime) -> bool:
        """Whether it could be written; if not, an error of the form says why."""
        try:
            edit_compressible(
                self.memory.pk,
                self.content(),
                revision=self.cleaned_data["revision"],
                reason=self.cleaned_data["reason"],
                wall=wall,
            )
        except ChangedMeanwhile:
            self.add_error(
                None, _now("This memory has changed in the meantime. Go back and look at it again.")
            )
            return False
        return True


def _one_line(text: str, longest: int) -> str:
    line = storable(text, longest=longest)
    if line is None:
        raise ValidationError(_now("Write one line of at most %(n)s characters.") % {"n": longest})
    return line


def _edit(request: HttpRequest, pages: TenantModelAdmin, memory: Compressible) -> HttpResponseBase:
    form = EditForm(memory, request.POST or None)
    if request.method == "POST" and form.is_valid() and form.save(wall=wall_now()):
        changed = [name for name in form.changed_data if name not in ("reason", "revision")]
        reason = form.cleaned_data["reason"]
        pages.record(request, AuditAction.EDIT_MEMORY, memory, changed=changed, reason=reason)
        Deviation.objects.record(
            DeviationKind.MEMORY_EDITED,
            study=memory.participant.study_id,
            participant=memory.participant,
            user_id=request.user.pk,
            memory=str(memory.pk),
            changed=changed,
        )
        messages.success(request, _now("The memory now says what you wrote."))
        return redirect(pages.change_url(memory))
    return pages.form_page(
        request,
        memory,
        title=_now("Edit this memory"),
        form=form,
        button=_now("Save"),
        lead=_now(
            "You change what the agent remembers. Level, weight and date stay. The log keeps "
            "what it said before, and that you changed it."
        ),
    )


def _editable(viewer: Viewer, memory: Compressible) -> bool:
    return viewer.may(Area.EVIDENCE, Right.CHANGE) and memory.level != Level.ARCHIVE


@admin.register(Compressible)
class CompressibleAdmin(EvidenceAdmin):
    menu_position, icon = 52, "compress"
    list_display = [
        "excerpt",
        "level",
        "participant",
        "stage_key",
        "activated_at",
        "rounded_weight",
        "mentions",
        "due_at",
    ]
    list_filter = ["level", "participant__study", "stage_key"]
    list_select_related = ["participant"]
    search_fields = ["text", "topic", "participant__code"]
    ordering = ["-activated_at"]
    fields = [
        "participant",
        "stage_key",
        "session_number",
        "level",
        "text",
        "topic",
        "shown_tags",
        "encoded_at",
        "activated_at",
        "due_at",
        "weight",
        "weighed_at",
        "mentions",
        "revision",
        "unembedded",
        "embedder",
        "sources",
    ]
    pages = [
        ObjectPage(
            slug="edit",
            title=_("Edit"),
            icon="edit",
            view=_edit,
            shown=_editable,
        )
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Compressible]:
        return super().get_queryset(request).defer("vector")

    @admin.display(description=_("text"), ordering="text")
    def excerpt(self, memory: Compressible) -> str:
        return Truncator(memory.text).chars(80)

    @admin.display(description=_("weight when weighed"), ordering="weight")
    def rounded_weight(self, memory: Compressible) -> str:
        return f"{memory.weight:.2f}"

    @admin.display(description=_("tags"))
    def shown_tags(self, memory: Compressible) -> str:
        return " ".join(memory.tags)

    @admin.display(description=_("messages"))
    def sources(self, memory: Compressible) -> str:
        return "\n".join(str(message) for message in memory.message_ids)
