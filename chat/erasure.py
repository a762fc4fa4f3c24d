"""What conversations keep about a participant."""

from __future__ import annotations

from memlab.core.personal import Personal, Rows

PERSONAL = Personal(
    rows=(
        Rows(model="chat.Receipt", path="reply__session__participant", evidence=True),
        Rows(model="chat.Reply", path="session__participant", evidence=True),
        Rows(model="chat.AdverseEvent", path="participant", removable={"note": ""}),
        Rows(model="chat.ModelScreening", path="message__session__participant"),
        Rows(model="chat.Writing", path="message__session__participant"),
        Rows(model="chat.Message", path="session__participant"),
    )
)
