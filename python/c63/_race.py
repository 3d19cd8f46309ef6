"""Races a motion search of the user's own: is it right, and how fast is it?"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Optional, get_args

import numpy as np

from . import _c63
from ._arguments import choice, flag, integer, picture_size, refuse
from ._measure import estimate_motion

RaceArrays = Literal["numpy", "cupy", "torch"]
Search = Callable[[Any, Any, int, Any, Any], Any]

_UNSET = 0xA5  # the bytes of results before a timed search
_GUARD = 4096  # bytes before and after each plane and each result
_SEARCHES_AGAIN = 3  # repeated searches of a case; if threads race, some of them give other results
_SECONDS = 0.2  # of timed calls for each search, in all rounds together


class Library:
    """How the arrays of a library are made, read, and waited for."""

    def __init__(self, name: RaceArrays) -> None:
        self.name = name
        self.module: Any = np
        if name != "numpy":
            self.module = __import__(name)
            if not self.module.cuda.is_available():
                refuse("arrays", f"a GPU that {name} can use", "none")

    def upload(self, data: Any) -> Any:
        """A uint8 array of these bytes."""
        if self.name == "torch":
            return self.module.from_numpy(data.copy()).cuda()
        return self.module.array(data)

    def view(self, buffer: Any, dtype: str, shape: tuple[int, ...]) -> Any:
        """The bytes of a 1-D array as an array of another type."""
        return buffer.view(getattr(self.module, dtype)).reshape(shape)

    def download(self, array: Any) -> Any:
        if self.name == "torch":
            return array.cpu().numpy()
        return array if self.name == "numpy" else self.module.asnumpy(array)

    def synchronize(self) -> None:
        if self.name == "torch":
            self.module.cuda.synchronize()
        elif self.name == "cupy":
            self.module.cuda.get_current_stream().synchronize()


class Guarded:
    """An array in the middle of other bytes."""

    def __init__(self, library: Library, data: Any, around: int) -> None:
        self.library = library
        self.around = around
        self.bytes = len(data)
        guard = np.full(_GUARD, around, np.uint8)
        self.buffer = library.upload(np.concatenate([guard, data, guard]))
        self.inner = self.buffer[_GUARD : _GUARD + self.bytes]

    def read(self) -> tuple[Any, bool]:
        """The bytes, and whether those around them are as they were."""
        every = self.library.download(self.buffer)
        whole = bool((every[:_GUARD] == self.around).all() and (every[_GUARD + self.bytes :] == self.around).all())
        return every[_GUARD : _GUARD + self.bytes], whole


class Stopped(Exception):
    """The function raised something, or returned something else than results."""


def take_results(returned: Any, vectors: Any, sads: Any) -> None:
    """Puts what a function returns into its results. A function that wrote into them returns nothing."""
    if returned is None:
        return
    try:
        found_vectors, found_sads = returned
        vectors[...] = found_vectors
        sads[...] = found_sads
    except Exception as error:
        raise Stopped(f"returns something other than (vectors, sads): {error}") from error


def call(function: Search, *arguments: Any) -> None:
    try:
        returned = function(*arguments)
    except Exception as error:
        raise Stopped(f"raises {type(error).__name__}: {error}") from error
    take_results(returned, arguments[3], arguments[4])


def judge_cases(library: Library, function: Search, judge: Any, seed: int, search_range: int) -> None:
    """Has the function find the motion of all cases."""

    def search(
        name: str, current: Any, reference: Any, width: int, search_range: int, poison: int, around: int
    ) -> tuple[Any, Any, bool, bool]:
        """Searches a case. Returns vectors, SADs, whether it wrote past them, and whether it wrote into the planes."""
        rows, columns = len(current) // 8, width // 8
        planes = [Guarded(library, data.ravel(), around) for data in (current, reference)]
        results = [Guarded(library, np.full(2 * rows * columns, poison, np.uint8), poison) for _ in range(2)]
        views = [plane.inner.reshape(data.shape)[:, :width] for plane, data in zip(planes, (current, reference))]
        vectors = library.view(results[0].inner, "int8", (rows, columns, 2))
        sads = library.view(results[1].inner, "uint16", (rows, columns))
        try:
            call(function, *views, search_range, vectors, sads)
        except Stopped as error:
            raise Stopped(f"{name}: it {error}") from error
        library.synchronize()
        (found_vectors, whole_vectors), (found_sads, whole_sads) = (result.read() for result in results)
        wrote_planes = False
        for plane, data in zip(planes, (current, reference)):
            now, is_whole = plane.read()
            wrote_planes |= not is_whole or bool((now != data.ravel()).any())
        return found_vectors, found_sads, not (whole_vectors and whole_sads), wrote_planes

    try:
        judge.judge(search, seed, search_range, _SEARCHES_AGAIN)
    except Stopped as error:
        judge.stopped(str(error), "raises", "an error of the function, with this size, range or these rows")


class Timing(NamedTuple):
    """Times of one search."""

    name: str
    us: float  #: microseconds of a call, the median of all rounds
    us_low: float  #: of the fastest round
    us_high: float  #: of the slowest round
    more_sad_percent: float  #: sum of SADs, more than that of exact search


class Race:
    """The result of c63.race()."""

    def __init__(self, name: str, verdict: dict[str, Any], timings: list[Timing], size: tuple[int, int], device: str, seed: int) -> None:
        self.name = name  #: of the function
        self.is_right: bool = verdict["is_right"]
        self.first: str = verdict["first"]  #: the first thing that is wrong
        self.suspicions: list[tuple[str, str]] = verdict["suspicions"]  #: likely causes: short name, and what to look at
        self.cases: int = verdict["cases"]
        self.wrong_cases: int = verdict["wrong_cases"]
        self.timings = timings  #: of the function and of the built-in searches; empty if it is wrong
        self.size = size  #: width and height of the timed planes
        self.device = device
        self.seed = seed  #: race(seed=...) repeats this race
        self._text: str = verdict["text"]

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self._text} (seed {self.seed})"]
        if self.timings:
            title = f"{self.size[0]}x{self.size[1]}, {self.device}"
            lines.append(f"{title:<32} {'us a call':>10} {'lowest..highest':>21} {'more SAD':>9}")
        for t in self.timings:
            lines.append(f"{t.name:<32} {t.us:>10.1f} {t.us_low:>9.1f}..{t.us_high:>10.1f} {t.more_sad_percent:>7.2f} %")
        return "\n".join(lines)


def planes_of(library: Library, size: tuple[int, int], seed: int) -> tuple[Any, Any]:
    """Two planes of a moving picture."""
    current, reference = (library.upload(_c63.moving_texture(*size, index, seed)) for index in (1, 0))
    return current, reference


def time_searches(
    library: Library, searches: dict[str, Search], size: tuple[int, int], search_range: int, rounds: int, seed: int
) -> tuple[list[Timing], bool]:
    """Times the searches in turns. Returns the times, and whether the first one found what the second one did."""
    current, reference = planes_of(library, size, seed)
    rows, columns = size[1] // 8, size[0] // 8
    results = {}
    for name in searches:
        buffers = [library.upload(np.full(2 * rows * columns, _UNSET, np.uint8)) for _ in range(2)]
        results[name] = (library.view(buffers[0], "int8", (rows, columns, 2)), library.view(buffers[1], "uint16", (rows, columns)))

    def seconds(name: str, calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            call(searches[name], current, reference, search_range, *results[name])
        library.synchronize()
        return time.perf_counter() - start

    calls = {}
    for name in searches:
        seconds(name, 1)  # compiles, and allocates memory
        calls[name] = max(1, min(1000, int(_SECONDS / rounds / max(seconds(name, 1), 1e-6))))
    # The searches take turns. So if something slows the machine for a while, it slows all of them.
    times: dict[str, list[float]] = {name: [] for name in searches}
    for _ in range(rounds):
        for name in searches:
            times[name].append(1e6 * seconds(name, calls[name]) / calls[name])
    found = {name: [library.download(each).astype(np.int64) for each in both] for name, both in results.items()}
    exact = list(found.values())[1]
    timings = []
    for name, each in times.items():
        more = 100 * (float(found[name][1].sum()) / max(float(exact[1].sum()), 1) - 1)
        timings.append(Timing(name, statistics.median(each), min(each), max(each), more))
    mine = next(iter(found.values()))
    return timings, all(bool((a == b).all()) for a, b in zip(mine, exact))


def built_in(method: Literal["full", "full-brute"]) -> Search:
    def search(current: Any, reference: Any, search_range: int, vectors: Any, sads: Any) -> Any:
        found = estimate_motion(current, reference, search_range, method=method)
        return found.vectors, found.sad

    return search


def built_in_on_device(current: Any, reference: Any, search_range: int, vectors: Any, sads: Any) -> None:
    estimate_motion(current, reference, search_range, out=(vectors, sads))


def device_of(library: Library) -> str:
    if library.name == "torch":
        return str(library.module.cuda.get_device_name())
    if library.name == "cupy":
        return str(library.module.cuda.runtime.getDeviceProperties(library.module.cuda.Device().id)["name"].decode())
    return "CPU"


def race(
    function: Search,
    *,
    arrays: RaceArrays = "numpy",
    inexact: bool = False,
    size: tuple[int, int] = (352, 288),
    search_range: int = 16,
    rounds: int = 5,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Race:
    """Checks a motion search, times it next to the built-in ones, and says what is wrong with it.

    function: called as function(current, reference, search_range, vectors, sads). current and reference are uint8 planes (height,
    width), whose sides are multiples of 8 and whose rows may have gaps: their distance is the array's stride. It writes vectors int8
    (rows, columns, 2), x before y, and sads uint16 (rows, columns), a value for each 8x8 block. Or it returns (vectors, sads). The
    rules are those of estimate_motion(): the first minimum of all candidates in raster order wins.
    arrays: the library of the arrays: numpy, or cupy or torch for a GPU. Numba takes those of CuPy, and Triton those of torch.
    inexact: a search that finds other candidates is not wrong. The result says how much more its SADs are.
    size: width and height of the timed planes. rounds: of timed calls; the searches take turns.
    seed: of the samples; each race has others without it.

    The function runs in this process: one that crashes ends it. Raises UsageError for other arguments, ImportError if the library of
    `arrays` is missing.
    """
    choice("arrays", arrays, get_args(RaceArrays))
    inexact, rounds = flag("inexact", inexact), integer("rounds", rounds, 1)
    search_range = integer("search_range", search_range, 1, 127)
    checked = picture_size(size, "size")
    if not callable(function):
        refuse("function", "a function of (current, reference, search_range, vectors, sads)", function)
    if checked is None or checked[0] % 8 or checked[1] % 8:
        refuse("size", "(width, height), multiples of 8", size)
    seed = integer("seed", seed) if seed is not None else time.time_ns() // 1000 % 1000000007 + 1
    library = Library(arrays)
    label = name or str(getattr(function, "__name__", type(function).__name__))
    judge = _c63.RaceJudge(inexact)
    timings: list[Timing] = []
    judge_cases(library, function, judge, seed, search_range)
    if judge.verdict()["is_right"]:
        searches: dict[str, Search] = {label: function}
        if arrays == "numpy":
            searches |= {"c63 full": built_in("full"), "c63 full-brute": built_in("full-brute")}
        else:
            searches["c63.estimate_motion"] = built_in_on_device
        try:
            timings, same = time_searches(library, searches, checked, search_range, rounds, seed)
        except Stopped as error:
            same = True
            judge.stopped(f"timed runs: it {error}", "raises", "an error of the function, when calls follow each other")
        judge_cases(library, function, judge, seed + 1, search_range)
        if not inexact and not same:
            judge.stopped(
                "the timed runs give other vectors than exact search", "timed-runs-differ",
                "wrong when calls follow each other at once",
            )
    return Race(label, judge.verdict(), timings, checked, device_of(library), seed)
