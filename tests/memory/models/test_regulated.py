"""The state of a memory: anchored, read at any time, moved by turns and shifted by sleep."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.models import Participant
from memlab.core.tenancy import lab_scope
from memory.dynamics import Dynamics, Effort, Surprise, surprise_of
from memory.enums import EventKind
from memory.formulas.regulation import Appraisal, State
from memory.models import MemoryEvent, RegulatedState
from tests.memory.dialogue import START, identified
from tests.memory.models.test_binned import replayed

pytestmark = pytest.mark.django_db

DYNAMICS = Dynamics()
POLITE = Appraisal(valence=0.3)
HOUR = timedelta(hours=1)


def begun(participant: Participant) -> RegulatedState:
    return RegulatedState.objects.begin(
        participant_id=participant.pk,
        participant=participant.public_id,
        dynamics=DYNAMICS,
        now=START,
    )


def take(row: RegulatedState, appraisal: Appraisal, *, turn: int, tokens: int = 0) -> Surprise:
    return row.stimulate(
        appraisal,
        Effort(tokens=tokens),
        dynamics=DYNAMICS,
        now=START + turn * timedelta(minutes=1),
        reply=identified(f"reply {turn}"),
        session=identified("session"),
    )


def sleep(row: RegulatedState, reward: float | None, threat: float | None, *, night: int) -> None:
    row.shift(
        mean_reward=reward,
        mean_threat=threat,
        low_impact=1,
        dynamics=DYNAMICS,
        now=START + night * 24 * HOUR,
        run=identified(f"run {night}"),
    )


def test_a_turn_moves_the_state_and_teaches_what_to_expect(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = begun(participant)
        felt = take(
            row, Appraisal(valence=-0.5, offensiveness=0.9, boundary=True), turn=0, tokens=800
        )
        row.refresh_from_db()
    assert felt == Surprise(reward=0.0, threat=0.9)
    assert (felt.rpe, felt.magnitude) == (0.9, 0.9)
    assert State(*(round(value, 6) for value in row.anchored())) == (
        0.51875,
        0.956,
        0.425,
        0.492806,
        0.5,
    )
    assert (row.expected_reward, round(row.expected_threat, 9)) == (0.0, 0.18)


def test_it_is_read_at_any_time_and_written_at_none(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = begun(participant)
        take(row, Appraisal(valence=1.0), turn=0)
        assert row.at(START, DYNAMICS).da == pytest.approx(0.65)
        assert row.at(START + 2 * HOUR, DYNAMICS).da == pytest.approx(0.575)
        assert row.at(START - HOUR, DYNAMICS).da == pytest.approx(0.65)
        assert row.at(START + 1000 * HOUR, DYNAMICS) == pytest.approx((0, 1, 0.5, 0.3, 0.6))
        assert RegulatedState.objects.get().anchored() == row.anchored()


@pytest.mark.parametrize("ticks", [1, 1000])
def test_ticking_once_or_a_thousand_times_ends_in_the_same_state(
    participant: Participant, ticks: int
) -> None:
    """A tick, here, is a sleep without evidence: it only anchors the state anew."""
    with lab_scope(participant.lab_id):
        row = begun(participant)
        take(row, Appraisal(valence=-1.0, offensiveness=1.0), turn=0, tokens=5000)
        untouched = row.at(START + 48 * HOUR, DYNAMICS)
        for tick in range(1, ticks + 1):
            row._anchor(
                row.at(START + tick * 48 * HOUR / ticks, DYNAMICS), START + tick * 48 * HOUR / ticks
            )
        assert row.anchored() == pytest.approx(untouched, abs=1e-12)


def test_a_hundred_polite_turns_leave_ne_at_its_baseline(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = begun(participant)
        for turn in range(100):
            felt = take(row, POLITE, turn=turn, tokens=60)
            assert felt.threat == 0.0
        sleep(row, 0.1, 0.0, night=1)
        assert row.ne == 0.3
        assert row.mu_threat == 0.0
        assert row.at(START + 240 * HOUR, DYNAMICS).ne == 0.3


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(-1, 1), st.floats(-1, 1)),
        min_size=1,
        max_size=8,
    )
)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_event_of_any_size_moves_a_baseline_by_more_than_the_limit(
    participant: Participant, nights: list[tuple[float, float, float, float]]
) -> None:
    with lab_scope(participant.lab_id):
        row = RegulatedState(
            id=identified("unsaved"), participant=participant, anchor=START, **State()._asdict()
        )
        row._store = lambda event: None  # type: ignore[method-assign]
        for night, (valence, offence, reward, threat) in enumerate(nights, start=1):
            before = DYNAMICS.baselines(row.mu_reward, row.mu_threat)
            take(row, Appraisal(valence=valence, offensiveness=offence), turn=night)
            assert DYNAMICS.baselines(row.mu_reward, row.mu_threat) == before
            sleep(row, reward, threat, night=night)
            after = DYNAMICS.baselines(row.mu_reward, row.mu_threat)
            for now, then in zip(after, before, strict=True):
                assert abs(now - then) <= 0.02 + 1e-12


def test_slow_variables_have_channels_of_their_own_and_return(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = begun(participant)
        for night in range(1, 6):
            sleep(row, 0.0, 0.9, night=night)
        assert (row.mu_reward, round(row.mu_threat, 9)) == (0.0, 0.1)
        assert DYNAMICS.baselines(row.mu_reward, row.mu_threat).ne == pytest.approx(0.4)
        for night in range(6, 12):
            sleep(row, 0.0, -0.002, night=night)
        assert abs(row.mu_threat) <= 0.0121
        assert replayed(row.pk) == row.snapshot()


def test_a_shifted_baseline_pulls_from_the_night_on(participant: Participant) -> None:
    """The state drifts towards the old baseline until the sleep, towards the new one after it."""
    with lab_scope(participant.lab_id):
        row = begun(participant)
        sleep(row, 0.9, 0.0, night=1)
        assert row.at(START + 24 * HOUR, DYNAMICS).da == 0.5
        assert row.at(START + 26 * HOUR, DYNAMICS).da == pytest.approx(0.51)
        assert row.at(START + 28 * HOUR, DYNAMICS).da == pytest.approx(0.515)


def test_a_sleep_without_evidence_shifts_nothing(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = begun(participant)
        sleep(row, None, None, night=1)
        assert (row.mu_reward, row.mu_threat, row.low_impact_turns) == (0.0, 0.0, 1)
        assert row.last_slept_at == START + 24 * HOUR


def test_its_events_tell_the_whole_of_it(participant: Participant) -> None:
    with lab_scope(participant.lab_id):
        row = begun(participant)
        take(row, Appraisal(valence=0.4), turn=1)
        sleep(row, 0.4, 0.0, night=1)
        assert replayed(row.pk) == RegulatedState.objects.get().snapshot()
        kinds = [event.event for event in MemoryEvent.objects.of_memory(row.pk)]
    assert kinds == [EventKind.ENCODED, EventKind.MOVED, EventKind.SHIFTED]


def test_noise_is_the_same_for_the_same_turn(participant: Participant) -> None:
    noisy = Dynamics(noise_sigma=0.05)
    change = {"appraisal": POLITE, "before": State(), "effort": Effort(tokens=10)}
    one = noisy.change(**change, seed="turn 1")  # type: ignore[arg-type]
    assert one == noisy.change(**change, seed="turn 1")  # type: ignore[arg-type]
    assert one != noisy.change(**change, seed="turn 2")  # type: ignore[arg-type]


def test_the_larger_error_counts_as_a_turns_surprise() -> None:
    assert surprise_of(Appraisal(valence=0.5), 0.9, 0.0).rpe == pytest.approx(-0.4)
    assert surprise_of(Appraisal(valence=-0.5), 0.2, 0.0).rpe == 0.5
