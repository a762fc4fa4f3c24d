"""How many tokens a text is, roughly, without asking anybody.

Exact tokenizers differ by model and fetch their tables from the network. Budgets
and replays need a number that is the same on every machine and for every model,
so this is an estimate by writing system:

- a Chinese, Japanese or Korean character counts `CJK_TOKENS` (current byte-pair
  vocabularies with Chinese in them merge common two-character words: 0.6-0.8 a
  character for Qwen and DeepSeek, over 1 for older ones; 1 is the cautious side);
- a run of Latin (or other alphabetic) letters counts `WORD_TOKENS`, and a long
  one a token for every `LETTERS_PER_TOKEN` letters, whichever is more;
- digits count one token for every three, as most vocabularies split them;
- every other visible character (punctuation, emoji) counts one.

White space counts nothing: vocabularies join it to the word that follows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

CJK_TOKENS = 1.0
WORD_TOKENS = 1.3
LETTERS_PER_TOKEN = 6
DIGITS_PER_TOKEN = 3
# What a chat format adds around each message: the speaker and its delimiters.
MESSAGE_TOKENS = 4

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_PIECE = re.compile(
    rf"(?P<cjk>[{_CJK}])|(?P<digits>\d+)|(?P<word>(?:(?![{_CJK}])[^\W\d_])+)|(?P<other>[^\s])"
)


def count_tokens(text: str) -> int:
    """An estimate of the tokens in `text`: deterministic, 0 only for nothing but white space."""
    tokens = 0.0
    for piece in _PIECE.finditer(text):
        length = piece.end() - piece.start()
        match piece.lastgroup:
            case "cjk":
                tokens += CJK_TOKENS
            case "digits":
                tokens += math.ceil(length / DIGITS_PER_TOKEN)
            case "word":
                tokens += max(WORD_TOKENS, length / LETTERS_PER_TOKEN)
            case _:
                tokens += 1.0
    # Rounded first: ten times 1.3 is 13, not 13.000000000000002 and so 14.
    return math.ceil(round(tokens, 6))


def count_message_tokens(contents: Iterable[str]) -> int:
    """An estimate for a list of chat messages, their delimiters included."""
    return sum(count_tokens(content) + MESSAGE_TOKENS for content in contents)
