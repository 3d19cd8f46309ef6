"""Races a motion search of the user's own: is it right, and how fast is it?"""

from __future__ import annotations

import secrets
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

_GUARD = 4096  # bytes before and after each plane and each result
_SEARCHES_AGAIN = 3  # repeated searches of a case; if threads race, some of them give other results
_clock = time.perf_counter  # a function that runs in this process cannot replace it here


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
        """Waits for all streams of the GPU."""
        if self.name == "torch":
            self.module.cuda.synchronize()
        elif self.name == "cupy":
            self.module.cuda.Device().synchronize()

    def time(self, work: Callable[[], None]) -> float:
        """Seconds that work takes on the GPU's current stream; if other streams work longer, until they are done."""
        cuda = self.module.cuda
        start, stop = (cuda.Event(enable_timing=True) if self.name == "torch" else cuda.Event() for _ in range(2))
        self.synchronize()
        begin = _clock()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        self.synchronize()
        host = _clock() - begin
        ms = start.elapsed_time(stop) if self.name == "torch" else cuda.get_elapsed_time(start, stop)
        return host if host > 2e-3 * ms + 1e-3 else float(ms) / 1e3


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


def on_host(function: Search) -> Search:
    """The function as its own process calls it."""

    def search(*arguments: Any) -> None:
        try:
            call(function, *arguments)
        except Stopped as error:
            raise RuntimeError(str(error)) from None

    return search


def on_device(library: Library, function: Search) -> Any:
    """The function as the judge calls it, with arrays on the GPU."""

    def search(
        name: str, current: Any, reference: Any, width: int, search_range: int, poison: int, around: int
    ) -> tuple[Any, Any, bool, bool, float]:
        """Searches a case. Returns vectors, SADs, whether it wrote past them, whether it wrote into the planes, and the seconds."""
        rows, columns = len(current) // 8, width // 8
        planes = [Guarded(library, data.ravel(), around) for data in (current, reference)]
        results = [Guarded(library, np.full(2 * rows * columns, poison, np.uint8), poison) for _ in range(2)]
        views = [plane.inner.reshape(data.shape)[:, :width] for plane, data in zip(planes, (current, reference))]
        vectors = library.view(results[0].inner, "int8", (rows, columns, 2))
        sads = library.view(results[1].inner, "uint16", (rows, columns))
        seconds = library.time(lambda: call(function, *views, search_range, vectors, sads))
        (found_vectors, whole_vectors), (found_sads, whole_sads) = (result.read() for result in results)
        wrote_planes = False
        for plane, data in zip(planes, (current, reference)):
            now, is_whole = plane.read()
            wrote_planes |= not is_whole or bool((now != data.ravel()).any())
        return found_vectors, found_sads, not (whole_vectors and whole_sads), wrote_planes, seconds

    return search


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


def time_searches(
    judge: Any, searches: dict[str, Any], size: tuple[int, int], search_range: int, rounds: int, seed: int
) -> list[Timing]:
    """Times the searches in turns, and judges what the first one finds. Each round has planes that nobody knows before."""
    judges = {name: judge if not i else _c63.RaceJudge(False) for i, name in enumerate(searches)}
    times: dict[str, list[float]] = {name: [] for name in searches}
    sads = dict.fromkeys(searches, 0)
    for n in range(rounds + 1):  # the first round compiles, and is not counted
        for name, search in searches.items():
            wall, cpu, sum_of_sads = judges[name].time(search, *size, search_range, seed + n)
            times[name].append(wall if n else 0)
            sads[name] += sum_of_sads
            if cpu > 1.2 * wall + 0.02:  # threads count as if one thread had done their work
                times[name][-1] = cpu if n else 0
    mine = next(iter(searches))
    # In turns, because other programs disturb both: planes that nobody knows, and the same planes again.
    pairs = [[judge.time(searches[mine], *size, search_range, seed + rounds + 1 + n)[0] for _ in range(2)] for n in range(5)]
    fresh, again = zip(*pairs)
    judge.check_times(statistics.median(times[mine][1:]), min(*times[mine][1:], *fresh), min(again))
    least = list(sads.values())[1]
    timings = []
    for name, each in times.items():
        us = [1e6 * t for t in each[1:]]
        timings.append(Timing(name, statistics.median(us), min(us), max(us), 100 * (sads[name] / max(least, 1) - 1)))
    return timings


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
    seed: repeats a race. Without it nobody knows the samples before.

    On numpy's arrays the function runs in a copy of this process (fork), on those of a GPU in this process, which ends if the function
    crashes. Raises UsageError for other arguments, ImportError if the library of
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
    largest = (checked[0] + 8) * (checked[1] + 8)  # samples of a plane: sizes vary by at most 8
    if seed is not None:
        seed = integer("seed", seed)
    library = Library(arrays)
    label = name or str(getattr(function, "__name__", type(function).__name__))

    def of(search: Search) -> Any:
        if arrays != "numpy":
            return on_device(library, search)
        return _c63.SearchProcess(on_host(search), max(1 << 18, largest))

    searches = {label: of(function)}
    if seed is None:
        seed = secrets.randbits(31)  # after the start of the process, so its memory does not hold it
    judge = _c63.RaceJudge(inexact)
    timings: list[Timing] = []
    try:
        judge.judge(searches[label], seed, search_range, _SEARCHES_AGAIN)
        if judge.verdict()["is_right"]:
            if arrays == "numpy":
                searches |= {"c63 full": of(built_in("full")), "c63 full-brute": of(built_in("full-brute"))}
            else:
                searches["c63.estimate_motion"] = of(built_in_on_device)
            timings = time_searches(judge, searches, checked, search_range, rounds, seed)
            judge.judge(searches[label], seed + 1, search_range, _SEARCHES_AGAIN)
    except (Stopped, _c63.SearchEnded) as error:
        timings = []
        what, *cause = error.args
        judge.stopped(f"it {what}", *(cause or ("raises", "an error of the function")))
    return Race(label, judge.verdict(), timings, checked, device_of(library), seed)
