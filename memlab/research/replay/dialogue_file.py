"""Reading a dialogue from its JSON file, strictly: see docs/dialogues.md.

Everything is checked before anything is replayed. An error names the file, the place in it as a
JSON path, what is wrong there, and what to write instead.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings

from experiments.enums import Language
from memlab.core.values import Role
from memlab.research.replay.dialogue import (
    PROBES_AFTER,
    SPACING,
    Dialogue,
    Message,
    Probe,
    RecordedSession,
)

ROLES = {"user": Role.PARTICIPANT, "assistant": Role.ASSISTANT}
ID_CHARACTERS = 120


class MalformedDialogue(Exception):
    """A file is no dialogue; the message says where, why, and what to do."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A value in a file: where it stands, and what it is."""

    file: str
    path: str
    value: Any

    def refuse(self, what: str, remedy: str) -> NoReturn:
        raise MalformedDialogue(f"{self.file}: {self.path}: {what}. {remedy}")

    def fields(self, *, needed: Collection[str], optional: Collection[str]) -> dict[str, _Place]:
        """The fields of an object, none missing and none unknown."""
        if not isinstance(self.value, dict):
            self.refuse(f"an object is expected, not {_kind(self.value)}", "Write {…}.")
        known = [*needed, *optional]
        for name in self.value:
            if name not in known:
                _Place(self.file, f"{self.path}.{name}", None).refuse(
                    "this field is unknown", f"Known here: {', '.join(known)}."
                )
        for name in needed:
            if name not in self.value:
                self.refuse(f"the field {name!r} is missing", f"Needed: {', '.join(needed)}.")
        return {
            name: _Place(self.file, f"{self.path}.{name}", value)
            for name, value in self.value.items()
        }

    def items(self) -> list[_Place]:
        if not isinstance(self.value, list):
            self.refuse(f"a list is expected, not {_kind(self.value)}", "Write […].")
        return [
            _Place(self.file, f"{self.path}[{number}]", value)
            for number, value in enumerate(self.value)
        ]

    def text(self, *, longest: int) -> str:
        """A text with something in it, without the space around it."""
        if not isinstance(self.value, str):
            self.refuse(f"a text is expected, not {_kind(self.value)}", 'Write "…".')
        stripped = self.value.strip()
        if not stripped:
            self.refuse("the text is empty", "Leave the whole entry out, or write its words.")
        if len(stripped) > longest:
            self.refuse(
                f"the text has {len(stripped)} characters",
                f"At most {longest} are possible here: shorten or divide it.",
            )
        if "\x00" in stripped or not _encodable(stripped):
            self.refuse(
                "the text holds a character that can't be stored",
                "Remove \\u0000 and unpaired surrogates (\\ud800 to \\udfff).",
            )
        return stripped

    def moment(self) -> datetime:
        remedy = "Write ISO 8601 with an offset, such as 2024-03-01T09:30:00+08:00."
        if not isinstance(self.value, str):
            self.refuse(f"a time is expected, not {_kind(self.value)}", remedy)
        try:
            moment = datetime.fromisoformat(self.value)
        except ValueError:
            self.refuse(f"{self.value!r} is no time", remedy)
        if moment.tzinfo is None:
            self.refuse(f"{self.value!r} has no time zone", remedy)
        return moment

    def choice(self, among: Collection[str]) -> str:
        if not isinstance(self.value, str) or self.value not in among:
            self.refuse(f"{self.value!r} is not possible here", f"Write {' or '.join(among)}.")
        return self.value


def read_dialogues(paths: Sequence[Path]) -> tuple[Dialogue, ...]:
    """Every file's dialogue, in order. Raises MalformedDialogue."""
    dialogues: list[Dialogue] = []
    files: dict[str, Path] = {}
    for path in paths:
        dialogue = read_dialogue(path)
        if dialogue.id in files:
            _Place(str(path), "$.id", None).refuse(
                f"{dialogue.id!r} is also the id of {files[dialogue.id]}",
                "Give every dialogue of a run an id of its own, and name each file once.",
            )
        files[dialogue.id] = path
        dialogues.append(dialogue)
    return tuple(dialogues)


def read_dialogue(path: Path) -> Dialogue:
    """The dialogue in a file. Raises MalformedDialogue."""
    top = _Place(str(path), "$", None)
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_object)
    except OSError as error:
        top.refuse(f"the file can't be read ({error.strerror})", "Check its name and its rights.")
    except UnicodeDecodeError as error:
        top.refuse(f"byte {error.start} is no UTF-8", "Save the file as UTF-8.")
    except json.JSONDecodeError as error:
        top.refuse(
            f"no JSON at line {error.lineno}, column {error.colno} ({error.msg})",
            "Correct the file there.",
        )
    except _Twice as error:
        top.refuse(f"an object has the field {str(error)!r} twice", "Keep one of them.")
    except RecursionError:
        top.refuse("the values are nested too deeply", "See docs/dialogues.md for the format.")
    return _dialogue(_Place(str(path), "$", value))


def _dialogue(place: _Place) -> Dialogue:
    fields = place.fields(
        needed=("id", "language", "sessions"),
        optional=("probes", "speakers", "origin", "licence"),
    )
    for name in ("origin", "licence"):
        if name in fields:
            fields[name].text(longest=2000)
    sessions = _sessions(fields["sessions"])
    ids = {message.id for session in sessions for message in session.messages}
    probes = fields["probes"].items() if "probes" in fields else []
    return Dialogue(
        id=fields["id"].text(longest=ID_CHARACTERS),
        language=fields["language"].choice(Language.values),
        sessions=sessions,
        probes=tuple(_probe(probe, sessions=sessions, ids=ids) for probe in probes),
        names=_names(fields.get("speakers")),
    )


def _names(place: _Place | None) -> dict[Role, str]:
    if place is None:
        return {}
    speakers = place.fields(needed=(), optional=tuple(ROLES))
    return {ROLES[role]: speaker.text(longest=40) for role, speaker in speakers.items()}


def _sessions(place: _Place) -> tuple[RecordedSession, ...]:
    places = place.items()
    if not places:
        place.refuse("there is no session", "Write at least one; it may have no messages.")
    sessions: list[RecordedSession] = []
    seen: dict[str, str] = {}
    for each in places:
        session = _session(each, seen)
        if sessions and session.started_at <= sessions[-1].ended_at:
            _Place(each.file, f"{each.path}.started_at", None).refuse(
                f"the session begins at {session.started_at.isoformat()}, but the one before "
                f"lasts until {sessions[-1].ended_at.isoformat()}",
                f"Sessions stand in order of time; messages count {SPACING.seconds} s each.",
            )
        sessions.append(session)
    return tuple(sessions)


def _session(place: _Place, seen: dict[str, str]) -> RecordedSession:
    fields = place.fields(needed=("started_at", "messages"), optional=())
    started_at = fields["started_at"].moment()
    return RecordedSession(
        started_at=started_at,
        messages=tuple(
            _message(each, at=started_at + number * SPACING, seen=seen)
            for number, each in enumerate(fields["messages"].items())
        ),
    )


def _message(place: _Place, *, at: datetime, seen: dict[str, str]) -> Message:
    fields = place.fields(needed=("id", "role", "text"), optional=())
    id_ = fields["id"].text(longest=ID_CHARACTERS)
    if id_ in seen:
        fields["id"].refuse(
            f"{id_!r} is also the id of {seen[id_]}", "Give every message an id of its own."
        )
    seen[id_] = place.path
    return Message(
        id=id_,
        role=ROLES[fields["role"].choice(ROLES)],
        text=fields["text"].text(longest=settings.CHAT_MESSAGE_CHARACTERS),
        at=at,
    )


def _probe(place: _Place, *, sessions: Sequence[RecordedSession], ids: Collection[str]) -> Probe:
    fields = place.fields(
        needed=("question",), optional=("asked_at", "evidence", "answer", "category")
    )
    for name in ("answer", "category"):
        if name in fields and fields[name].value is not None:
            fields[name].text(longest=4000)
    return Probe(
        question=fields["question"].text(longest=settings.CHAT_MESSAGE_CHARACTERS),
        asked_at=_asked_at(fields, sessions[-1]),
        evidence=_evidence(fields["evidence"], ids) if "evidence" in fields else None,
    )


def _asked_at(fields: Mapping[str, _Place], last: RecordedSession) -> datetime:
    if "asked_at" not in fields:
        return last.started_at + PROBES_AFTER
    asked_at = fields["asked_at"].moment()
    if asked_at <= last.ended_at:
        fields["asked_at"].refuse(
            f"the question comes before the last session ended ({last.ended_at.isoformat()})",
            "Probes are asked after all sessions: write a later time, or leave it out.",
        )
    return asked_at


def _evidence(place: _Place, ids: Collection[str]) -> tuple[str, ...] | None:
    if place.value is None:
        return None
    evidence: list[str] = []
    for each in place.items():
        id_ = each.text(longest=ID_CHARACTERS)
        if id_ not in ids:
            each.refuse(f"no message has the id {id_!r}", "Name messages of this dialogue.")
        if id_ in evidence:
            each.refuse(f"{id_!r} is named twice", "Name each message once.")
        evidence.append(id_)
    return tuple(evidence)


class _Twice(Exception):
    """A field that an object has twice, of which JSON readers silently keep one."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _Twice(name)
        found[name] = value
    return found


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
