"""Asking a language model for what a memory that compresses needs: statements, summaries, mergers.

As in ``memory.extraction`` nothing of an answer is trusted: what doesn't fit is dropped and
counted, and where nothing usable is left ``ExtractionFailed`` is raised, so that the step is
degraded and tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memlab.core.llm.base import LanguageModel
from memlab.core.values import Statement, Utterance
from memory.answers import storable
from memory.extraction import (
    BATCH_CHARACTERS,
    BATCH_STATEMENTS,
    ExtractionFailed,
    as_statements,
    asked,
    batches,
)
from memory.models.content import (
    MOST_TAGS,
    STATEMENT_CHARACTERS,
    TAG_CHARACTERS,
    TEXT_CHARACTERS,
    TOPIC_CHARACTERS,
    Content,
)
from memory.statement_prompts import merge_prompt, statements_prompt, summaries_prompt

#: More statements than this from one call are not extraction but noise.
MOST_STATEMENTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """What somebody told about themselves, checked, with the message it comes from."""

    content: Content
    message: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatements:
    statements: tuple[ExtractedStatement, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


async def extract_statements(
    model: LanguageModel, *, language: str, said: Sequence[Utterance]
) -> ExtractedStatements:
    """What a participant's own messages tell about them, in the order in which they were said.

    The same text from the same message counts once. Raises ExtractionFailed.
    """
    found: dict[tuple[UUID, str], ExtractedStatement] = {}
    dropped: Counter[str] = Counter()
    for batch in batches(said):
        prompt = statements_prompt(language=language, said=as_statements(batch))
        items = await asked(model, prompt, holding="statements")
        ids = {str(utterance.id): utterance.id for utterance in batch}
        for item in items[:MOST_STATEMENTS]:
            statement = _checked_statement(item, ids=ids)
            if isinstance(statement, str):
                dropped[statement] += 1
            else:
                found.setdefault((statement.message, statement.content.text), statement)
        if len(items) > MOST_STATEMENTS:
            dropped["too_many"] += len(items) - MOST_STATEMENTS
    order = {utterance.id: place for place, utterance in enumerate(said)}
    statements = sorted(found.values(), key=lambda statement: order[statement.message])
    return ExtractedStatements(statements=tuple(statements), dropped=dict(dropped))


async def summarise(
    model: LanguageModel, *, language: str, texts: Mapping[UUID, str]
) -> dict[UUID, str]:
    """A summary for each text; a text may be left without one.

    What an answer leaves out, or gives in a form that can't be used, is asked about once more. A
    text that came back longer can't be shortened: it is its own summary. Raises ExtractionFailed.
    """
    summaries: dict[UUID, str] = {}
    for _attempt in range(2):
        missing = {str(key): key for key in texts if key not in summaries}
        full = [Statement(id=name, text=texts[key]) for name, key in missing.items()]
        for batch in _batched(full):
            prompt = summaries_prompt(language=language, full=batch)
            offered = {statement.id for statement in batch}
            for item in await asked(model, prompt, holding="summaries"):
                name = item.get("id") if isinstance(item, dict) else None
                if not isinstance(name, str) or name not in offered:
                    continue
                text, key = storable(item.get("text"), longest=TEXT_CHARACTERS), missing[name]
                if text is not None:
                    summaries.setdefault(key, min(text, texts[key], key=len))
    return summaries


async def merge(model: LanguageModel, *, language: str, earlier: str, now: str) -> Content:
    """What an earlier memory and a new statement say together. Raises ExtractionFailed."""
    prompt = merge_prompt(language=language, earlier=earlier, now=now)
    for item in await asked(model, prompt, holding="merged"):
        content = _checked_content(item, longest=TEXT_CHARACTERS)
        if isinstance(content, Content):
            return content
    raise ExtractionFailed("extraction:unusable_merger")


def _batched(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    batch: list[Statement] = []
    for statement in statements:
        characters = sum(len(each.text) for each in batch) + len(statement.text)
        if batch and (len(batch) >= BATCH_STATEMENTS or characters > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(statement)
    if batch:
        yield batch


def _checked_statement(item: object, *, ids: Mapping[str, UUID]) -> ExtractedStatement | str:
    """The statement, or the reason for which it is dropped."""
    if not isinstance(item, dict):
        return "not_an_object"
    message = item.get("message")
    if not isinstance(message, str) or message not in ids:
        return "foreign_message"
    content = _checked_content(item, longest=STATEMENT_CHARACTERS)
    if isinstance(content, str):
        return content
    return ExtractedStatement(content=content, message=ids[message])


def _checked_content(item: object, *, longest: int) -> Content | str:
    """Text, topic and tags, or what is wrong with them. Unusable tags beside usable ones go."""
    if not isinstance(item, dict):
        return "not_an_object"
    text = storable(item.get("text"), longest=longest)
    if text is None:
        return "unusable_text"
    topic = storable(item.get("topic"), longest=TOPIC_CHARACTERS)
    if topic is None:
        return "unusable_topic"
    offered = item.get("tags")
    tags = [_checked_tag(tag) for tag in offered] if isinstance(offered, list) else []
    usable = tuple(dict.fromkeys(tag for tag in tags if tag is not None))[:MOST_TAGS]
    return Content(text=text, topic=topic, tags=usable) if usable else "unusable_tags"


def _checked_tag(tag: object) -> str | None:
    """``#dimension:value``, or None."""
    if not isinstance(tag, dict):
        return None
    dimension = storable(tag.get("dimension"), longest=TAG_CHARACTERS)
    value = storable(tag.get("value"), longest=TAG_CHARACTERS)
    if dimension is None or value is None:
        return None
    return as_tag(dimension, value)


def as_tag(dimension: str, value: str) -> str | None:
    """A tag in its written form; None if nothing is left of it or it is too long."""
    name, meaning = dimension.strip("#:： ").replace(" ", "_"), value.strip("#:： ")
    tag = f"#{name}:{meaning}"
    return tag if name and meaning and len(tag) <= TAG_CHARACTERS else None
