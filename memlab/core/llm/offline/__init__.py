"""The offline model: deterministic rules in Chinese and English, for demo, tests and simulation.

It is honest about itself: it says what it is when asked, answers only from what
its prompt holds, and says so when it doesn't know. It needs no key and no network.
"""

from memlab.core.llm.offline.model import MODEL, OfflineModel

__all__ = ["MODEL", "OfflineModel"]
