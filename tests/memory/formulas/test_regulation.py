from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.formulas import regulation
from memory.formulas.regulation import Appraisal, State

UNIT = st.floats(0, 1)
STATES = st.builds(State, UNIT, UNIT, UNIT, UNIT, UNIT)
START = State()


def test_it_starts_social_half_awake_and_at_its_baselines() -> None:
    assert State() == (0.5, 1.0, 0.5, 0.3, 0.6)


def test_each_variable_has_its_own_half_life() -> None:
    moved = State(0.8, 0.2, 0.9, 0.9, 0.2)
    assert regulation.drifted(state=moved, hours=2).da == pytest.approx(0.7)
    assert regulation.drifted(state=moved, hours=0.5).ne == pytest.approx(0.6)
    assert regulation.drifted(state=moved, hours=12).ht == pytest.approx(0.4)
    # Time constants: after 24 and 8 hours a share of e^−1 is left.
    assert round(regulation.drifted(state=moved, hours=24).h_social, 6) == 0.294304
    assert round(regulation.drifted(state=moved, hours=8).h_energy, 6) == 0.705696


@given(STATES, st.floats(0, 500), st.integers(1, 1000))
@settings(max_examples=50, deadline=None)
def test_a_state_doesnt_mind_how_often_it_is_ticked(state: State, hours: float, ticks: int) -> None:
    ticked = state
    for _ in range(ticks):
        ticked = regulation.drifted(state=ticked, hours=hours / ticks)
    assert ticked == pytest.approx(regulation.drifted(state=state, hours=hours), abs=1e-12)


@pytest.mark.parametrize(
    ("appraisal", "tokens", "tool_calls", "expected"),
    [
        (Appraisal(), 0, 0, State(0.0375, 0.0, 0.0, 0.0, 0.0)),
        (
            Appraisal(valence=1.0, offensiveness=1.0, boundary=True),
            800,
            0,
            State(0.075, -0.044, 0.15, 0.196274, -0.1),
        ),
        (
            Appraisal(valence=-0.5, offensiveness=0.6),
            200,
            2,
            State(0.01875, -0.031, -0.075, 0.152319, 0.0),
        ),
        (Appraisal(offensiveness=0.3), 8000, 0, State(0.0375, -0.26, 0.0, 0.0, 0.0)),
        (Appraisal(valence=-1.0), 80000, 0, State(0.0, -0.3, -0.15, 0.0, 0.0)),
    ],
)
def test_what_a_turn_does(
    appraisal: Appraisal, tokens: int, tool_calls: int, expected: State
) -> None:
    change = regulation.stimuli(
        appraisal=appraisal, h_social=0.5, tokens=tokens, tool_calls=tool_calls
    )
    assert State(*(round(by, 6) for by in change)) == expected


@given(STATES, st.floats(-1, 1), UNIT, st.booleans(), st.integers(0, 10**7), st.floats(0, 5))
def test_no_turn_moves_the_state_by_more_than_the_limit_or_out_of_its_range(
    state: State, valence: float, offence: float, boundary: bool, tokens: int, sigma: float
) -> None:
    change = regulation.with_noise(
        change=regulation.stimuli(
            appraisal=Appraisal(valence=valence, offensiveness=offence, boundary=boundary),
            h_social=state.h_social,
            tokens=tokens,
        ),
        seed="a turn",
        sigma=sigma,
    )
    after = regulation.stimulated(state=state, change=change)
    for value, before in zip(after, state, strict=True):
        assert 0 <= value <= 1
        assert abs(value - before) <= 0.3 + 1e-12


def test_noise_is_off_by_default_and_the_same_for_the_same_turn() -> None:
    change = State(0.1, 0.0, 0.0, 0.0, 0.0)
    assert regulation.with_noise(change=change, seed="a") == change
    one = regulation.with_noise(change=change, seed="a", sigma=0.05)
    assert one == regulation.with_noise(change=change, seed="a", sigma=0.05)
    assert one != regulation.with_noise(change=change, seed="b", sigma=0.05)
    assert one != change


def test_slow_variables_move_the_baselines_of_their_channel_only() -> None:
    assert regulation.shifted_baselines(mu_reward=0.1, mu_threat=-0.05) == pytest.approx(
        (0.0, 1.0, 0.6, 0.25, 0.6)
    )
    assert regulation.shifted_baselines(mu_reward=1.0, mu_threat=-1.0).da == 1.0
    assert regulation.shifted_baselines(mu_reward=1.0, mu_threat=-1.0).ne == 0.0


def test_behaviour_at_the_start() -> None:
    shown = regulation.behaviour(state=START)
    assert {name: round(getattr(shown, name), 6) for name in shown.__slots__} == {
        "initiative": 0.6,
        "warmth": 0.49,
        "patience": 0.58,
        "verbosity": 0.59,
        "directness": 0.5,
        "defensiveness": 0.22,
        "curiosity": 0.59,
        "boundary_strength": 0.33,
    }


@given(STATES)
def test_behaviour_stays_between_0_and_1(state: State) -> None:
    shown = regulation.behaviour(state=state)
    assert all(0 <= getattr(shown, name) <= 1 for name in shown.__slots__)


def test_an_appraisal_out_of_range_raises() -> None:
    with pytest.raises(ValueError, match="valence"):
        Appraisal(valence=1.5)
    with pytest.raises(ValueError, match="offensiveness"):
        Appraisal(offensiveness=float("nan"))
