"""Which moments of a session become episodes, and what their vectors are made from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from uuid import UUID

from memlab.core.values import Role, SessionTranscript, Utterance
from memory.enums import Encode, Encoding

#: Of a long message that comes before, the end is embedded: the embedder reads some hundred words
#: only, and what is remembered is the message that follows.
CONTEXT_CHARACTERS = 400
NOBODY: Mapping[Role, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What becomes one episode: the messages said, and the one before them if it goes in too.

    ``rated`` is the message whose emotional salience counts.
    """

    said: tuple[Utterance, ...]
    rated: Utterance
    before: Utterance | None = None

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        return self.said if self.before is None else (self.before, *self.said)

    @property
    def message_ids(self) -> list[UUID]:
        return [utterance.id for utterance in self.utterances]

    @property
    def ends_with(self) -> Utterance:
        return self.said[-1]

    def embedded(self, names: Mapping[Role, str] = NOBODY) -> str:
        """The text that the vector is made from, with the names of who speaks where they are given.

        A question that names somebody finds what they said by it: without the names, dialogues
        between two people lose a third of what is found.
        """
        return "\n".join(filter(None, (self.embedded_before(names), self.embedded_alone(names))))

    def embedded_alone(self, names: Mapping[Role, str] = NOBODY) -> str:
        """The same of the messages said."""
        return "\n".join(_named(each.role, each.text, names) for each in self.said)

    def embedded_before(self, names: Mapping[Role, str] = NOBODY) -> str:
        """The same of the message before them; empty if none goes in."""
        if self.before is None:
            return ""
        return _named(self.before.role, self.before.text[-CONTEXT_CHARACTERS:], names)


def moments(session: SessionTranscript, *, encode: Encode, encoding: Encoding) -> list[Moment]:
    """A session's moments in order.

    ``user`` and ``turn`` encode finished turns only: a message whose reply failed is neither
    encoded nor anybody's context. ``all`` encodes every message, whoever said it.
    """
    in_context = encoding is Encoding.IN_CONTEXT
    if encode is Encode.ALL:
        flow = session.utterances
        said: list[tuple[tuple[Utterance, ...], Utterance]] = [
            ((utterance,), utterance) for utterance in flow
        ]
    else:
        flow = _flow_of_turns(session)
        said = [
            ((turn.said,) if encode is Encode.USER else (turn.said, turn.answered), turn.said)
            for turn in session.turns
        ]
    before = {after.id: earlier for earlier, after in pairwise(flow)}
    return [
        Moment(said=texts, rated=rated, before=before.get(texts[0].id) if in_context else None)
        for texts, rated in said
    ]


def own_messages(session: SessionTranscript, *, encode: Encode = Encode.USER) -> list[Utterance]:
    """The participant's own messages that may be learned from, in order."""
    flow = session.utterances if encode is Encode.ALL else _flow_of_turns(session)
    return [utterance for utterance in flow if utterance.role is Role.PARTICIPANT]


def _flow_of_turns(session: SessionTranscript) -> tuple[Utterance, ...]:
    """The messages of finished turns, and what the assistant opened with, in order."""
    paired = {each.id for turn in session.turns for each in (turn.said, turn.answered)}
    return tuple(
        utterance
        for utterance in session.utterances
        if utterance.id in paired or utterance.role is Role.ASSISTANT
    )


def _named(role: Role, text: str, names: Mapping[Role, str]) -> str:
    name = names.get(role)
    return f"{name}: {text}" if name else text
