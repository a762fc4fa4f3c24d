"""A state under the names that the protocol's files give its variables."""

from __future__ import annotations

from memory.formulas.regulation import State


def state_json(state: State) -> dict[str, float]:
    return {
        "hSocial": state.h_social,
        "hEnergy": state.h_energy,
        "da": state.da,
        "ne": state.ne,
        "ht": state.ht,
    }
