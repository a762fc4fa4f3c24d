"""Labs that never see each other: the scope, the refusing manager, row-level security."""

from memlab.core.tenancy.scope import NoActiveLab, active_lab_id, lab_scope, require_lab

__all__ = ["NoActiveLab", "active_lab_id", "lab_scope", "require_lab"]
