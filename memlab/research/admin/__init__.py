"""Pages of the back office that need everything. Django's autodiscover imports this package."""

from memlab.research.admin import arms, flow, launch, people, preview, status, versions

__all__ = ["arms", "flow", "launch", "people", "preview", "status", "versions"]
