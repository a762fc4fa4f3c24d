"""What a memory that compresses says, what is left of it at each level, and what is like it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from memory.formulas.compression import Level

#: One statement as it was extracted; what a memory may grow to by merging; a topic; a tag.
STATEMENT_CHARACTERS = 300
TEXT_CHARACTERS = 1500
TOPIC_CHARACTERS = 40
TAG_CHARACTERS = 80
MOST_TAGS = 12

_TRACE = {
    "en": "There was once something about {topic}",
    "zh-hans": "曾有与“{topic}”相关的记忆",
}
_ARCHIVED = {"en": "[archived]", "zh-hans": "[已归档]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a memory says: its text, its topic in a few words, and tags ``#dimension:value``."""

    text: str
    topic: str
    tags: tuple[str, ...]

    def at_level(self, level: Level, *, language: str) -> Content:
        """What is left of it at a level; at summary, its text has to be the summary already."""
        if level is Level.TAG:
            return Content(text=" ".join(self.tags), topic=self.topic, tags=self.tags)
        if level is Level.TRACE:
            text = _TRACE[language].format(topic=self.topic)
            return Content(text=text, topic=self.topic, tags=())
        if level is Level.ARCHIVE:
            return Content(text=_ARCHIVED[language], topic="", tags=())
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A new statement that is like a memory: when and where it was said, and how like it is."""

    message: UUID
    session: UUID
    at: datetime
    similarity: float


def compressible_id(*, participant: UUID, message: UUID, text: str) -> UUID:
    """The same statement of the same message always has the same id."""
    return uuid5(participant, f"compressible:{message}:{text}")
