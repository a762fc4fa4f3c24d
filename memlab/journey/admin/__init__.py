"""What staff do for participants on their way. Django's autodiscover imports this package."""

from memlab.journey.admin import extend, remind

__all__ = ["extend", "remind"]
