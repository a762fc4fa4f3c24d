"""What adaptive confidence puts into every prompt, in the order in which an agent boots. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memlab.core.values import Grounds, MemoryReading, Recall, Section
from memory.architectures.base import MemorySetting
from memory.architectures.confidence_sections import (
    beliefs_section,
    logs_section,
    profile_section,
    tools_section,
)
from memory.architectures.confidence_wording import ConfidenceWording
from memory.enums import MemoryKind, Reason
from memory.formulas.confidence import Band
from memory.models import Belief, SessionLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """The boot sequence of one arm: profile, logs, what is confirmed, what is uncertain, tools.

    ``tools`` says whether the model that talks is offered any: then beliefs carry the codes by
    which its calls name them.
    """

    words: ConfidenceWording
    values: Mapping[str, Any]
    setting: MemorySetting
    categories: Mapping[str, bool]
    tools: bool

    def recall(
        self,
        beliefs: Sequence[Belief],
        logs: Sequence[SessionLog],
        grounds: Grounds,
        now: datetime,
    ) -> Recall:
        """The recall of a turn; its ``memories`` list beliefs in the order of their codes."""
        confirmed = self.of_band(beliefs, Band.CONFIRMED)
        shown = [*confirmed, *self.of_band(beliefs, Band.UNCERTAIN)]
        covered = [message for belief in shown for message in belief.message_ids]
        covered += [message for log in logs for message in log.message_ids]
        return Recall(
            at=now,
            sections=(
                *self._profile(confirmed),
                *logs_section(
                    logs,
                    words=self.words,
                    time_zone=self.setting.time_zone,
                    provenance=self.setting.provenance_in_prompt,
                ),
                *self._zones(beliefs, (Band.CONFIRMED, Band.UNCERTAIN), coded=self.tools),
                *((tools_section(self.words),) if self.tools else ()),
            ),
            memories=(
                *(self.reading(belief, now) for belief in shown),
                *(_log_reading(log, now) for log in logs),
            ),
            message_ids=tuple(dict.fromkeys(covered)),
            grounds=grounds,
        )

    def whole(self, beliefs: Sequence[Belief], grounds: Grounds, now: datetime) -> Recall:
        """Every belief with its code, hidden ones too: for going over a turn that is finished,
        where nothing is told to anybody."""
        ordered = [belief for band in Band for belief in self.of_band(beliefs, band)]
        return Recall(
            at=now,
            sections=self._zones(beliefs, Band, coded=True),
            memories=tuple(self.reading(belief, now) for belief in ordered),
            grounds=grounds,
        )

    def _zones(
        self, beliefs: Sequence[Belief], bands: Iterable[Band], *, coded: bool
    ) -> tuple[Section, ...]:
        """A section for each band, with codes that count on through them, or without."""
        titles = {
            Band.CONFIRMED: self.words.confirmed,
            Band.UNCERTAIN: self.words.uncertain,
            Band.HIDDEN: self.words.hidden,
        }
        sections: list[Section] = []
        first = 1
        for band in bands:
            inside = self.of_band(beliefs, band)
            sections += beliefs_section(
                inside,
                key=band,
                title=titles[band],
                first=first if coded else None,
                provenance=self.setting.provenance_in_prompt,
            )
            first += len(inside)
        return tuple(sections)

    def band(self, belief: Belief) -> Band:
        confirm: float = self.values["confirm_threshold"]
        return belief.band(confirm=confirm, show=min(confirm, self.values["show_threshold"]))

    def of_band(self, beliefs: Sequence[Belief], band: Band) -> list[Belief]:
        return [belief for belief in beliefs if self.band(belief) is band]

    def reading(self, belief: Belief, now: datetime) -> MemoryReading:
        """How a belief stands: its confidence, and the threshold that it reaches or misses."""
        band = self.band(belief)
        reasons = {
            Band.CONFIRMED: (Reason.BOOTED, "confirm_threshold"),
            Band.UNCERTAIN: (Reason.UNCERTAIN, "confirm_threshold"),
            Band.HIDDEN: (Reason.HIDDEN, "show_threshold"),
        }
        reason, threshold = reasons[band]
        return MemoryReading(
            kind=MemoryKind.BELIEF,
            id=belief.pk,
            text=belief.content,
            recalled=band is not Band.HIDDEN,
            reason=reason,
            elapsed_days=_days(belief.changed_at, now),
            score=belief.confidence,
            threshold=self.values[threshold],
            message_ids=tuple(belief.message_ids),
            stage=belief.stage_key,
        )

    def _profile(self, confirmed: Sequence[Belief]) -> tuple[Section, ...]:
        """The factual memories in brief, those that changed last."""
        facts = [belief for belief in confirmed if belief.factual]
        facts.sort(key=lambda belief: belief.changed_at, reverse=True)
        return profile_section(
            facts[: self.values["profile_items"]],
            categories=self.categories,
            words=self.words,
            characters=self.values["profile_characters"],
        )


def _log_reading(log: SessionLog, now: datetime) -> MemoryReading:
    return MemoryReading(
        kind=MemoryKind.LOG,
        id=log.pk,
        text=log.text,
        recalled=True,
        reason=Reason.BOOTED,
        elapsed_days=_days(log.at, now),
        message_ids=tuple(log.message_ids),
        stage=log.stage_key,
    )


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / 86400)
