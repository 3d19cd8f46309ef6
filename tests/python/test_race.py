"""Tests c63.race() with right and wrong searches in numpy."""

import ctypes
import threading
import time

import numpy as np
import pytest

import c63


def built_in(current, reference, search_range, vectors, sads):
    return c63.estimate_motion(np.ascontiguousarray(current), np.ascontiguousarray(reference), search_range)[:2]


def test_a_right_search_is_right_and_timed():
    race = c63.race(built_in, size=(96, 80), rounds=2, seed=7)
    assert race.is_right, race
    assert [t.name for t in race.timings] == ["built_in", "c63 full", "c63 full-brute"]
    assert all(0 < t.us_low <= t.us <= t.us_high for t in race.timings)
    assert all(t.more_sad_percent == 0 for t in race.timings)
    assert "right in all" in repr(race) and "(seed 7)" in repr(race)


def test_a_mistake_is_told():
    def swapped(*arguments):
        vectors, sads = built_in(*arguments)
        return vectors[..., ::-1], sads

    race = c63.race(swapped, seed=3)
    assert not race.is_right and not race.timings and race.first
    assert race.suspicions[0][0] == "components-swapped" and "WRONG" in repr(race)


def test_results_that_are_not_written_are_told():
    race = c63.race(lambda current, reference, search_range, vectors, sads: None, name="nothing")
    assert race.suspicions[0][0] == "not-written" and race.name == "nothing"


def test_rows_without_their_gaps_are_told():
    def ignores_strides(current, reference, search_range, vectors, sads):
        planes = [np.lib.stride_tricks.as_strided(p, strides=(p.shape[1], 1)) for p in (current, reference)]
        return built_in(*planes, search_range, vectors, sads)

    race = c63.race(ignores_strides)
    assert {"width-as-pitch", "pitch-only"} & {each[0] for each in race.suspicions}, race


def test_writes_outside_are_told():
    def past(current, reference, search_range, vectors, sads):
        ctypes.c_uint16.from_address(sads.ctypes.data + 2 * sads.size).value = 1
        return built_in(current, reference, search_range, vectors, sads)

    def into_planes(current, reference, search_range, vectors, sads):
        found = built_in(current, reference, search_range, vectors, sads)
        current[0, 0] ^= 1
        return found

    assert "writes-outside" in {each[0] for each in c63.race(past).suspicions}
    assert "writes-planes" in {each[0] for each in c63.race(into_planes).suspicions}


def test_exploits_are_told():
    memo, calls = {}, [0]

    def by_content(current, reference, search_range, vectors, sads):
        key = (current.tobytes(), reference.tobytes(), search_range)
        memo[key] = memo.get(key) or tuple(built_in(current, reference, search_range, vectors, sads))
        return memo[key]

    def by_pointer(current, reference, search_range, vectors, sads):
        key = (current.ctypes.data, vectors.shape)
        memo[key] = memo.get(key) or tuple(built_in(current, reference, search_range, vectors, sads))
        return memo[key]

    def skips(current, reference, search_range, vectors, sads):
        calls[0] += current.size > 90000
        return built_in(current, reference, search_range, vectors, sads) if calls[0] % 2 == 0 else None

    def late(current, reference, search_range, vectors, sads):
        found = built_in(current, reference, search_range, vectors, sads)
        threading.Timer(0.0005, np.copyto, (vectors, found[0])).start()
        vectors[:], sads[:] = 0, found[1]

    def slow_clock(current, reference, search_range, vectors, sads):
        time.perf_counter = time.monotonic = lambda: 0.0
        return built_in(current, reference, search_range, vectors, sads)

    causes = {by_content: {"replays"}, by_pointer: {"stale", "unsteady", "first-time-only"}, skips: {"not-written"}, late: {"works-after"}}
    for exploit, names in causes.items():
        race = c63.race(exploit, size=(352, 288), search_range=32, rounds=4)
        assert not race.is_right and names & {each[0] for each in race.suspicions}, race
    race = c63.race(slow_clock, size=(96, 80), rounds=2)
    assert all(t.us > 10 for t in race.timings) and time.perf_counter() > 0, "the clock is not in reach"


def test_an_error_of_the_function_is_told():
    def fails(current, reference, search_range, vectors, sads):
        raise ValueError("no such range")

    race = c63.race(fails)
    assert race.first.endswith("it raises ValueError: no such range") and race.suspicions[0][0] == "raises"
    race = c63.race(lambda *arguments: 3)
    assert "returns something other than (vectors, sads)" in race.first


def test_inexact_searches_are_measured_by_their_sads():
    def zero(current, reference, search_range, vectors, sads):
        rows, columns = sads.shape
        vectors[:] = 0
        sads[:] = np.abs(current.astype(np.int16) - reference).reshape(rows, 8, columns, 8).sum((1, 3))

    assert not c63.race(zero).is_right
    race = c63.race(zero, inexact=True, rounds=1, seed=1)
    assert race.is_right and race.timings[0].more_sad_percent > 0


@pytest.mark.parametrize(
    "arguments",
    [{"arrays": "jax"}, {"size": (100, 80)}, {"size": None}, {"search_range": 0}, {"rounds": 0}, {"inexact": 1}, {"seed": "x"}],
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(c63.UsageError):
        c63.race(built_in, **arguments)
    with pytest.raises(c63.UsageError):
        c63.race("built_in")


# Tests of searches on a GPU.
@pytest.mark.parametrize("arrays", ["cupy", "torch"])
def test_the_built_in_search_of_the_gpu_is_right(arrays):
    module = pytest.importorskip(arrays)
    if not module.cuda.is_available():
        pytest.skip("no GPU")

    def search(current, reference, search_range, vectors, sads):
        planes = [p.clone(memory_format=module.contiguous_format) if arrays == "torch" else module.ascontiguousarray(p) for p in (current, reference)]
        c63.estimate_motion(*planes, search_range, out=(vectors, sads))

    race = c63.race(search, arrays=arrays)
    assert race.is_right, race
