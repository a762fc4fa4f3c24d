"""Content words, in both languages."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.stop_words import CHINESE, ENGLISH
from memory.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She was running to the museums", ("run", "museum")),
        ("What did Melanie's kids like at the museum?", ("melani", "kid", "like", "museum")),
        ("I don't, they've and it isn’t", ()),
        ("Cats, cats and a CAT", ("cat", "cat", "cat")),
        (
            "GPT-4 at 3:30 for 2.50 on 21 May 2023",
            ("gpt", "4", "3:30", "2.50", "21", "may", "2023"),
        ),
        ("o'clock", ("o'clock",)),
        ("n't", ()),
        ("snake_case", ("snake", "case")),
        ("ＡＢＣ ①", ("abc", "1")),
        ("", ()),
    ],
)
def test_english_words_are_stemmed_without_stop_words(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我对花生过敏，不能吃花生酱。", ("花生", "过敏", "吃", "花生酱")),
        ("我昨天和李小明去上海看了演唱会", ("昨天", "李小明", "上海", "看", "演唱会")),
        ("你好，我们是这样的。", ()),
        ("她养了三只猫", ("养", "三只", "猫")),
        ("我养了一只猫，叫咪咪", ("养", "一只", "猫", "咪咪")),
        ("阿强和张晓红去爬泰山", ("阿强", "张晓红", "爬", "泰山")),
    ],
)
def test_chinese_words_are_segmented_without_stop_words(
    text: str, expected: tuple[str, ...]
) -> None:
    assert words(text) == expected


def test_both_languages_in_one_sentence_keep_their_order() -> None:
    assert words("我在 Google 工作了5年, running 很快乐") == (
        *("googl", "工作", "5", "年", "run", "快乐"),
    )


def test_stop_words_are_no_content_words() -> None:
    assert words(" ".join(ENGLISH)) == ()
    assert words("，".join(CHINESE)) == ()


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_has_words_that_are_not_empty(text: str) -> None:
    found = words(text)
    assert all(found)
    assert found == words(text)


def test_threads_cut_alike() -> None:
    text = "我昨天和李小明去上海看了演唱会 and we were dancing in the rain " * 20
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(words, [text] * 12))
    assert found == {words(text)}


def test_a_poisoned_cache_in_the_temporary_folder_is_not_read(tmp_path: Path) -> None:
    # What jieba itself would unmarshal, and leave behind.
    (tmp_path / "jieba.cache").write_bytes(b"not marshalled")
    script = "from memory.words import words; print('|'.join(words('我对花生过敏')))"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={"TMPDIR": str(tmp_path), "PATH": "", "PYTHONIOENCODING": "utf-8"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert result.stdout == "花生|过敏\n"
    assert result.stderr == ""
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"not marshalled"]
