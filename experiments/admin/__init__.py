"""The back office of labs, studies and people. Django's autodiscover imports this package."""

from experiments.admin import arm, audit, key, lab, participant, study, version, work

__all__ = ["arm", "audit", "key", "lab", "participant", "study", "version", "work"]
