"""All extraction patterns, and what a supposition looks like."""

from __future__ import annotations

import re

from memlab.core.llm.offline.patterns_chinese import CHINESE
from memlab.core.llm.offline.patterns_english import ENGLISH
from memlab.core.llm.offline.rule import Rule

SUPPOSITION = re.compile(r"如果|假如|要是|假设|\b(?:if|suppose|imagine)\b", re.IGNORECASE)
RULES: tuple[Rule, ...] = CHINESE + ENGLISH
