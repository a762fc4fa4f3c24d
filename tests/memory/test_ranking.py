"""Four rankings made one, by numbers worked out by hand."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.ranking import Candidate, bm25, counted, fused, reciprocal_rank_fusion

MONDAY = datetime(2026, 3, 2, 9)
A, B, C, D = (UUID(int=number) for number in (1, 2, 3, 4))


def candidate(
    id_: UUID, alone: float | None = None, in_context: float | None = None, **more: Any
) -> Candidate:
    values: dict[str, Any] = {
        "id": id_,
        "at": MONDAY,
        "cosine_alone": alone,
        "cosine_in_context": in_context,
    }
    return Candidate(**values | more)


# BM25


def test_bm25_counts_words_and_discounts_length() -> None:
    # N 3, n 2: idf ln(1 + 1.5/2.5) = 0.470004; mean length 5/3, so that 1.5·(0.25 + 0.9) damps.
    assert bm25([("cat", "dog"), ("cat", "cat"), ("fish",)], ["cat"]) == pytest.approx(
        [0.470004 * 2.5 / 2.725, 0.470004 * 5 / 3.725, 0.0], abs=1e-6
    )


def test_bm25_weighs_rare_words_above_common_ones() -> None:
    documents = [("tea", "milk"), ("tea", "rain"), ("tea", "snow"), ("sun", "wind")]
    # idf of milk: ln(1 + 3.5/1.5) = 1.203973, of tea: ln(1 + 1.5/3.5) = 0.356675; equal lengths.
    assert bm25(documents, ["milk", "tea"]) == pytest.approx(
        [1.560648, 0.356675, 0.356675, 0.0], abs=1e-6
    )


def test_bm25_asks_for_a_word_once_however_often_it_is_in_the_query() -> None:
    documents = [("tea",), ("milk",)]
    assert bm25(documents, ["tea", "tea"]).tolist() == bm25(documents, ["tea"]).tolist()


def test_bm25_of_documents_without_words_is_nothing() -> None:
    assert bm25([None, (), ("tea",)], ["milk"]).tolist() == [0.0, 0.0, 0.0]
    assert bm25([], ["milk"]).tolist() == []
    assert bm25([None, ()], ["milk"]).tolist() == [0.0, 0.0]
    assert bm25([("tea",)], []).tolist() == [0.0]


def test_bm25_without_discount_and_saturation_is_the_idf() -> None:
    documents = [("tea", "tea", "tea"), ("milk",)]
    assert bm25(documents, ["tea"], k1=0.0) == pytest.approx([0.693147, 0.0], abs=1e-6)


def test_texts_are_counted_without_being_cut_one_by_one() -> None:
    counts, lengths = counted(["tea milk tea", "", "rain", "milk", ""], ["milk", "tea", "milk"])
    assert counts.tolist() == [[1, 2], [0, 0], [0, 0], [1, 0], [0, 0]]
    assert lengths.tolist() == [3, 0, 1, 1, 0]
    counts, lengths = counted(["tea", ""], [])
    assert (counts.shape, lengths.tolist()) == ((2, 0), [1, 0])
    counts, lengths = counted([], ["tea"])
    assert (counts.shape, lengths.tolist()) == ((0, 1), [])


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=6))
@settings(max_examples=50, deadline=None)
def test_texts_count_as_their_words_do(documents: list[list[str]]) -> None:
    counts, lengths = counted([" ".join(document) for document in documents], ["b", "a"])
    assert counts.tolist() == [[each.count("b"), each.count("a")] for each in documents]
    assert lengths.tolist() == [len(document) for document in documents]


# Reciprocal rank fusion


def test_fusion_sums_reciprocal_ranks() -> None:
    scores = reciprocal_rank_fusion([[0, 1, 2], [2, 0]], count=4, k=20)
    assert scores == pytest.approx([1 / 21 + 1 / 22, 1 / 22, 1 / 23 + 1 / 21, 0.0])


def test_a_smaller_k_favours_the_first_ranks() -> None:
    rankings = [[0, 1, 2], [2, 1, 0], [1, 0, 2]]
    assert reciprocal_rank_fusion(rankings, count=3, k=1) == pytest.approx(
        [1 / 2 + 1 / 4 + 1 / 3, 1 / 3 + 1 / 3 + 1 / 2, 1 / 4 + 1 / 2 + 1 / 4]
    )


# Four rankings made one


def test_meaning_and_words_each_alone_and_in_context_count_alike() -> None:
    found = fused(
        [
            # Ranks by cosine alone, in context, words alone, in context:
            candidate(A, 0.9, 0.5, words_alone=(), words_in_context=()),  # 1, 3, –, –
            candidate(
                B, 0.8, 0.6, words_alone=("tea",), words_in_context=("tea", "rain")
            ),  # 2 2 1 2
            candidate(C, 0.7, 0.7, words_alone=("milk",), words_in_context=("milk", "tea", "tea")),
            # 3, 1, –, 1
        ],
        ["tea"],
    )
    # B: 2/22 + 1/21 + 1/22 = 0.1840; C: 1/23 + 2/21 = 0.1387; A: 1/21 + 1/23 = 0.0911
    assert found == [B, C, A]


def test_what_has_no_context_stands_there_with_what_it_has_alone() -> None:
    found = fused(
        [
            candidate(A, 0.9, words_alone=("tea",)),  # 1, 1, 1, 1
            candidate(B, 0.8, 0.8, words_alone=("milk",), words_in_context=("milk",)),
        ],
        ["tea"],
    )
    assert found == [A, B]


def test_what_has_no_vector_takes_part_by_its_words() -> None:
    found = fused(
        [candidate(A, 0.9), candidate(B, words_alone=("tea",)), candidate(C, 0.8)], ["tea"]
    )
    # A 2/21, B 2/21, C 2/22: the tie of A and B is decided by their ids.
    assert found == [A, B, C]


def test_ties_go_to_the_later_then_to_the_id() -> None:
    later = MONDAY + timedelta(days=1)
    same = [candidate(B, 0.5), candidate(A, 0.5), candidate(C, 0.5, at=later)]
    assert fused(same, ["tea"]) == [C, A, B]
    # Ranks 1 and 3 add up to more than twice rank 2; A and C are even, and C is later.
    crossed = [candidate(A, 0.9, 0.7), candidate(B, 0.8, 0.8), candidate(C, 0.7, 0.9, at=later)]
    assert fused(crossed, []) == [C, A, B]


def test_the_bonus_of_a_session_lifts_what_was_said_in_it() -> None:
    rows = [
        candidate(A, 0.9, session="one"),  # 2/21 = 0.095238
        candidate(B, 0.8, session="two"),  # 2/22 = 0.090909
        candidate(C, 0.7, session="two"),  # 2/23 = 0.086957
        candidate(D, 0.1, session="one"),  # 2/24 = 0.083333
    ]
    assert fused(rows, [], session_bonus=0.0) == [A, B, C, D]
    # The means of the sessions are 0.089286 and 0.088933: too close to change the order.
    assert fused(rows, []) == [A, B, C, D]
    best_of_two = [*rows[1:], candidate(A, 0.05, session="one")]
    # B 2/21, C 2/22, mean 0.093074; D 2/23, A 2/24, mean 0.085145.
    assert fused(best_of_two, []) == [B, C, D, A]


def test_the_bonus_counts_the_three_best_of_a_session() -> None:
    # Scores 2/21 … 2/25. One: the best three of 2/21, 2/23, 2/24, 2/25; two: 2/22 alone.
    rows = [
        candidate(UUID(int=number), 1 - number / 10, session="two" if number == 2 else "one")
        for number in (1, 2, 3, 4, 5)
    ]
    # mean one (2/21 + 2/23 + 2/24)/3 = 0.088509 < 0.090909 of two: weighed enough, two comes first.
    assert [each.int for each in fused(rows, [])] == [1, 2, 3, 4, 5]
    assert [each.int for each in fused(rows, [], session_bonus=3.0)] == [2, 1, 3, 4, 5]


def test_nothing_to_rank_is_nothing_found() -> None:
    assert fused([], ["tea"]) == []


rows = st.lists(
    st.builds(
        candidate,
        st.uuids(),
        st.none() | st.floats(-1, 1),
        st.none() | st.floats(-1, 1),
        at=st.datetimes(),
        words_alone=st.none() | st.lists(st.sampled_from("abcd"), max_size=5),
        words_in_context=st.none() | st.lists(st.sampled_from("abcd"), max_size=5),
        session=st.sampled_from("xyz"),
    ),
    max_size=12,
    unique_by=lambda row: row.id,
)


@given(rows, st.randoms(use_true_random=False), st.sampled_from([0.0, 1.0]))
@settings(max_examples=100, deadline=None)
def test_every_candidate_comes_out_once_whatever_the_order_they_came_in(
    candidates: list[Candidate], random: Random, bonus: float
) -> None:
    found = fused(candidates, ["a", "b"], session_bonus=bonus)
    assert sorted(found) == sorted(row.id for row in candidates)
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert fused(shuffled, ["a", "b"], session_bonus=bonus) == found
