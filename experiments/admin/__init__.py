"""The back office of labs, studies and people. Django's autodiscover imports this package."""

from experiments.admin import arm, audit, calibration, key, lab, participant, study, version, work

__all__ = ["arm", "audit", "calibration", "key", "lab", "participant", "study", "version", "work"]
