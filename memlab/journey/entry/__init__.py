"""How a person enters a study, and comes back as the same participant.

Link → age gate → information sheet → consents → address → code → screening → baseline. Each page
posts one step, which is stored before the next page is asked for: whoever closes the browser, or
dies with the server, goes on at the first step that is not stored.
"""

from memlab.journey.entry.steps import UNDER_WAY, next_page

__all__ = ["UNDER_WAY", "next_page"]
