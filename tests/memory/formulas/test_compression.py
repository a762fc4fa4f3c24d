from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.formulas.compression import (
    Level,
    MergeStrategy,
    UpdateDecision,
    UpdateTrigger,
    boosted_weight,
    decide,
    due_level,
    leaving_age,
    upgraded_level,
    weight,
)

LADDER = ["full", "summary", "tag", "trace", "archive"]
days = st.floats(min_value=0.0, max_value=4000.0)
shares = st.floats(min_value=0.0, max_value=1.0)


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [(0, 1.0), (10, 0.9091), (40, 0.7143), (100, 0.5), (180, 0.3571)],
)
def test_weight_decays_hyperbolically(elapsed: float, expected: float) -> None:
    assert round(weight(initial=1.0, elapsed_days=elapsed), 4) == expected


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0, "full"),
        (6.999, "full"),
        (7, "summary"),
        (29.999, "summary"),
        (30, "tag"),
        (89.999, "tag"),
        (90, "trace"),
        (179.999, "trace"),
        (180, "archive"),
        (3650, "archive"),
    ],
)
def test_age_leads_down_the_ladder(age: float, expected: str) -> None:
    assert due_level(level="full", age_days=age) == expected


@pytest.mark.parametrize(
    ("level", "age", "expected"),
    [
        ("tag", 0, "tag"),
        ("summary", 10, "summary"),
        ("trace", 40, "trace"),
        ("archive", 0, "archive"),
        (Level.TAG, 100, Level.TRACE),
    ],
)
def test_the_lower_of_the_two_levels_is_due(level: str, age: float, expected: str) -> None:
    assert due_level(level=level, age_days=age) == expected


def test_ages_are_parameters_and_ascend() -> None:
    assert due_level(level="full", age_days=2, summary_after=1) is Level.SUMMARY
    assert leaving_age(level="trace", archive_after=365) == 365
    assert leaving_age(level="archive") is None
    with pytest.raises(ValueError, match="ascend"):
        due_level(level="full", age_days=2, summary_after=40)


@pytest.mark.parametrize(
    ("before", "similarity", "after"),
    [(0.2, 0.92, 0.68), (0.2, 0.85, 0.68), (0.3, 0.68, 0.51), (0.3, 0.60, 0.51), (0.3, 0.15, 0.40)],
)
def test_a_mention_gives_back_weight_by_its_band(
    before: float, similarity: float, after: float
) -> None:
    assert boosted_weight(weight=before, similarity=similarity) == pytest.approx(after, abs=1e-12)


def test_weight_is_capped_at_one() -> None:
    assert boosted_weight(weight=0.95, similarity=0.1) == 1.0
    assert boosted_weight(weight=1.0, similarity=0.9) == 1.0


@pytest.mark.parametrize(
    ("level", "similarity", "expected"),
    [
        ("archive", 0.91, "trace"),
        ("archive", 0.90, "archive"),
        ("trace", 0.91, "tag"),
        ("trace", 0.90, "trace"),
        ("tag", 0.92, "summary"),
        ("tag", 0.90, "tag"),
        ("summary", 0.95, "summary"),
        ("summary", 0.96, "full"),
        ("full", 1.0, "full"),
    ],
)
def test_a_close_mention_lifts_one_level(level: str, similarity: float, expected: str) -> None:
    assert upgraded_level(level=level, similarity=similarity) == expected


@pytest.mark.parametrize(
    ("similarity", "strategy", "refreshes", "upgrades"),
    [
        (1.0, "merge_update", True, True),
        (0.92, "merge_update", True, True),
        (0.90, "merge_update", True, False),
        (0.85, "merge_update", True, False),
        (0.84, "keep_both", False, False),
        (0.68, "keep_both", False, False),
        (0.60, "keep_both", False, False),
        (0.59, "create_new", False, False),
        (0.15, "create_new", False, False),
    ],
)
def test_similarity_decides(
    similarity: float, strategy: str, refreshes: bool, upgrades: bool
) -> None:
    decision = decide(similarity=similarity)
    assert decision.strategy == strategy
    assert decision.should_refresh_timestamp is refreshes
    assert decision.should_upgrade_level is upgrades
    assert decision.similarity_score == similarity


def test_a_decision_is_frozen_and_says_why() -> None:
    decision = decide(similarity=0.68)
    assert decision == UpdateDecision(
        strategy=MergeStrategy.KEEP_BOTH,
        should_refresh_timestamp=False,
        should_upgrade_level=False,
        reason="0.60 ≤ similarity 0.68 < 0.85",
        similarity_score=0.68,
    )
    with pytest.raises(AttributeError):
        decision.reason = "another"  # type: ignore[misc]


def test_enums_are_plain_strings() -> None:
    assert [str(level) for level in Level] == LADDER
    assert [str(strategy) for strategy in MergeStrategy] == [
        "merge_update",
        "keep_both",
        "create_new",
    ]
    assert [str(trigger) for trigger in UpdateTrigger] == [
        "passive_decay",
        "user_mention",
        "manual_edit",
    ]


@pytest.mark.parametrize("bad", [-0.01, 1.01, float("nan")])
def test_what_is_out_of_range_raises(bad: float) -> None:
    for call in (
        lambda: weight(initial=bad, elapsed_days=0),
        lambda: boosted_weight(weight=bad, similarity=0.5),
        lambda: boosted_weight(weight=0.5, similarity=bad),
        lambda: upgraded_level(level="tag", similarity=bad),
        lambda: decide(similarity=bad),
    ):
        with pytest.raises(ValueError, match="must lie in"):
            call()
    with pytest.raises(ValueError, match="0 or more"):
        weight(initial=1.0, elapsed_days=-1)
    with pytest.raises(ValueError, match="gist"):
        due_level(level="gist", age_days=1)


@settings(max_examples=100, deadline=None)
@given(level=st.sampled_from(LADDER), first=days, more=days)
def test_time_only_leads_down_and_in_one_way(level: str, first: float, more: float) -> None:
    once = due_level(level=level, age_days=first)
    later = due_level(level=level, age_days=first + more)
    assert LADDER.index(level) <= LADDER.index(once) <= LADDER.index(later)
    assert due_level(level=once, age_days=first + more) == later


@settings(max_examples=100, deadline=None)
@given(initial=shares, first=days, more=days, similarity=shares)
def test_weight_never_rises_without_a_mention_and_never_falls_by_one(
    initial: float, first: float, more: float, similarity: float
) -> None:
    now = weight(initial=initial, elapsed_days=first)
    assert 0.0 <= weight(initial=initial, elapsed_days=first + more) <= now <= initial
    assert now <= boosted_weight(weight=now, similarity=similarity) <= 1.0


@settings(max_examples=100, deadline=None)
@given(level=st.sampled_from(LADDER), similarity=shares)
def test_a_mention_lifts_by_one_level_at_most(level: str, similarity: float) -> None:
    lifted = upgraded_level(level=level, similarity=similarity)
    assert LADDER.index(level) - LADDER.index(lifted) in (0, 1)
