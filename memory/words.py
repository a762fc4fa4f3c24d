"""The content words of a text, in English, in Chinese, and where the two are mixed.

What a search by words compares, what keywords overlap by, and what an item is filed under: one
cutting for all. Pure and deterministic; threads may share it.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from snowballstemmer.english_stemmer import EnglishStemmer

from memory.stop_words import CHINESE, ENGLISH

#: Chinese characters: the unified ideographs with their extensions, and 〇 and 々.
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: A number with its decimals, a run of Chinese, or a run of other letters and digits, in which
#: an apostrophe may stand.
_RUN = re.compile(
    rf"(?P<number>\d+(?:[.,:]\d+)+)|(?P<han>[{_HAN}]+)|(?P<other>[^\W_{_HAN}]+(?:'[^\W_{_HAN}]+)*)"
)
#: What English hangs on a word: Anna's, they've, isn't.
_CLITIC = re.compile(r"(?<=\w)(?:n't|'(?:s|m|d|t|re|ve|ll))$")
_APOSTROPHES = str.maketrans("’ʼ", "''")

#: Pronouns and particles, of one character.
_HANGING = "我你您他她它们这那的了着过吗呢吧啊"

_SEGMENTER: Any = None
_LOADING = Lock()


def words(text: str) -> tuple[str, ...]:
    """Content words in the order of the text, repetitions included.

    NFKC-normalised and lower-cased. Chinese is segmented; English loses its stop words and is
    stemmed (Porter's second algorithm); digits stay. A text of nothing but stop words has none.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold()
    found: list[str] = []
    for run in _RUN.finditer(plain):
        if run.lastgroup == "han":
            found.extend(word for word in _segmented(run.group()) if word and word not in CHINESE)
        elif run.lastgroup == "number":
            found.append(run.group())
        else:
            bare = _CLITIC.sub("", run.group())
            if bare not in ENGLISH:
                found.append(_stem(bare))
    return tuple(found)


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    # A stemmer keeps its word in itself, so threads can't share one; making one costs nothing.
    return str(EnglishStemmer().stemWord(word))


def _segmented(run: str) -> Iterator[str]:
    """Words of the dictionary, and names and the like that jieba takes for words; from the ends of
    those it often leaves a pronoun or a particle hanging: 我养 for 养."""
    segmenter = _SEGMENTER or _load_segmenter()
    for word in segmenter.cut(run):
        yield word if segmenter.FREQ.get(word) else word.strip(_HANGING)


def _load_segmenter() -> Any:
    """jieba with its own dictionary, at the first Chinese text (a second, some 100 MB).

    jieba would keep a cache in the machine's temporary folder and unmarshal whatever lies there
    under that name, whoever wrote it. So the dictionary is read anew by each process instead,
    which also leaves nothing behind and logs nothing.
    """
    global _SEGMENTER
    with _LOADING:
        if _SEGMENTER is None:
            with warnings.catch_warnings():
                # Of its import: old escapes in its patterns, and the deprecated pkg_resources.
                warnings.simplefilter("ignore")
                import jieba
            segmenter = jieba.Tokenizer()
            with Path(jieba.__file__).with_name("dict.txt").open("rb") as dictionary:
                segmenter.FREQ, segmenter.total = segmenter.gen_pfdict(dictionary)
            segmenter.initialized = True
            _SEGMENTER = segmenter
    return _SEGMENTER
