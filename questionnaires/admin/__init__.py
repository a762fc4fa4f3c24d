"""The back office of questionnaires. Django's autodiscover imports this package.

Instruments, their versions and their places belong to the area of studies. That somebody answered
belongs to people; what they answered, its scores and the report of them are what participants said,
and belong to transcripts. Nothing of it depends on the arm.
"""

from questionnaires.admin import instrument, placement, report, response

__all__ = ["instrument", "placement", "report", "response"]
