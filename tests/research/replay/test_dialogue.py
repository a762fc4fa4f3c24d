"""What has to be said in what order."""

from __future__ import annotations

from datetime import UTC, datetime

from memlab.core.values import Role
from memlab.research.replay.dialogue import (
    SPACING,
    Exchange,
    Line,
    Message,
    RecordedSession,
    script,
)

START = datetime(2027, 3, 1, 10, tzinfo=UTC)


def session(roles: str) -> RecordedSession:
    """A session of messages whose ids are their places: ``u`` user, ``a`` assistant."""
    return RecordedSession(
        started_at=START,
        messages=tuple(
            Message(
                id=str(place),
                role=Role.PARTICIPANT if role == "u" else Role.ASSISTANT,
                text=f"message {place}",
                at=START + place * SPACING,
            )
            for place, role in enumerate(roles)
        ),
    )


def steps(roles: str) -> list[str]:
    """``0>1``: 1 answers 0; ``2>``: nobody answered 2; ``+3``: 3 opens; ``3``: 3 stands alone."""
    written = []
    for step in script(session(roles)):
        if isinstance(step, Line):
            written.append(f"{'+' if step.opening else ''}{step.message.id}")
        else:
            assert isinstance(step, Exchange)
            written.append(f"{step.said.id}>{step.answered.id if step.answered else ''}")
    return written


def test_messages_are_paired_and_none_is_lost() -> None:
    assert steps("") == []
    assert steps("uaua") == ["0>1", "2>3"]
    assert steps("aua") == ["+0", "1>2"]
    assert steps("uau") == ["0>1", "2>"]
    assert steps("uua") == ["0>", "1>2"]
    assert steps("uaa") == ["0>1", "2"]
    assert steps("aaua") == ["+0", "1", "2>3"]


def test_a_session_ends_with_its_last_message() -> None:
    assert session("").ended_at == START
    assert session("ua").ended_at == START + SPACING
