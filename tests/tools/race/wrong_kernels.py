#!/usr/bin/env python3
"""Races kernels with a mistake, exploits, and the examples on this machine's GPU: each mistake must be found, its cause named.

With --emulate no GPU is needed, and mistakes that are seen in memory must be named with their line. The judge is that of searches for
the CPU, which wrong_searches_test.cpp tests with more mistakes. Here are those of kernels.

Usage: wrong_kernels.py C63BENCH FOLDER_OF_EXAMPLES [--emulate]
Exit status: 0 all found, at most one cause not named, and all examples right; 1 not; 77 no GPU.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple, Optional

HERE = pathlib.Path(__file__).resolve().parent
INEXACT = {"three_step.cu", "diamond.cu", "hexagon.cu", "pyramid.cu"}  # by design
BARRIER, KEYS, KERNEL = "  __syncthreads();\n\n  // The search window", "  keys[thread] = best;\n", "C63_MOTION_KERNEL"
STORE = (
    "    job.vectors[row * columns + column] = "
    "{(signed char)(left + i % width - x0), (signed char)(top + i / width - y0)};\n"
)
LOAD = "  if (thread < 64) current[thread] = job.current[(y0 + thread / 8) * job.current_pitch + x0 + thread % 8];\n"
SAD = "abs(block[y * job.reference_pitch + x] - current[y * 8 + x])"
TREE = (
    "  for (int half = kThreads / 2; half > 0; half /= 2) {\n    __syncthreads();\n"
    "    if (thread < half) keys[thread] = min(keys[thread], keys[thread + half]);\n  }\n"
)
WARP_MIN = "  best = c63_motion_warp_min(best);\n  if"


class Wrong(NamedTuple):
    """A kernel with a mistake."""

    what: str
    causes: set  # suspicions that would help a person to find it, of which one must be reported
    edits: dict  # texts of the example, each replaced everywhere
    line: Optional[int] = None  # that emulation names with the cause
    seen: str = ""  # what emulation must report, if that is something else
    example: str = "textbook.cu"
    on_gpu: bool = True  # it is wrong on a GPU in each race


WRONG = [
    Wrong("only the first plane", {"not-written"}, {"batch.jobs[blockIdx.z]": "batch.jobs[0]"}, 46, "global-race"),
    Wrong(
        "last column left out", {"not-written", "last-column-only"},
        {"column >= columns ||": "column >= columns - 1 ||"},
    ),
    Wrong(
        "blocks outside the plane", {"writes-outside", "illegal-access", "reads-outside"},
        {"  if (column >= columns || row >= rows) return;": ""},
        19, "reads-outside",
    ),
    Wrong(
        "results one block too far", {"block-before", "writes-outside"},
        {"row * columns + column": "row * columns + column + 1"},
        46, "writes-outside",
    ),
    Wrong(
        "width in place of pitch", {"width-as-pitch", "pitch-only"},
        {"job.current_pitch": "job.width", "job.reference_pitch": "job.width"},
    ),
    Wrong("range of luma always", {"range-fixed-16", "range-doubled", "chroma-only"}, {"job.range": "16"}),
    Wrong(
        "last of equal sums", {"last-of-equals"},
        {"sad << 16 | i": "sad << 16 | (0xFFFF - i)", "keys[0] & 0xFFFF": "0xFFFF - (keys[0] & 0xFFFF)"},
    ),
    Wrong(
        "first of equal sums by columns", {"columns-first"},
        {
            "width = right - left": "height = bottom - top",
            "width * (bottom - top)": "height * (right - left)",
            "i % width": "i / height",
            "i / width": "i % height",
        },
    ),
    Wrong(
        "256 candidates only", {"candidates-256"},
        {
            "kThreads = 1024": "kThreads = 256",
            "i < width * (bottom - top)": "i < min(kThreads, width * (bottom - top))",
        },
    ),
    Wrong("12 bits of the sum", {"sad-12-bits"}, {"sad << 16": "(sad & 0xFFF) << 16"}),
    Wrong(
        "sum in 8 bits", {"sad-8-bits"},
        {"unsigned sad = 0": "unsigned char sad = 0", "sad << 16": "(unsigned)sad << 16"},
    ),
    Wrong(
        "difference in 8 bits with sign", {"wrapped-difference", "narrow-difference"},
        {SAD: SAD.replace("(", "((signed char)(", 1) + ")"},
    ),
    Wrong("seven rows of a block", {"seven-rows"}, {"y < 8": "y < 7"}),
    Wrong(
        "window up to the plane's edge", {"border-inclusive"},
        {"job.width - 8": "job.width - 7", "job.height - 8": "job.height - 7"},
    ),
    Wrong(
        "window not cut at the plane", {"reads-outside", "illegal-access", "plain-range"},
        {"max(0, x0 - job.range)": "x0 - job.range", "max(0, y0 - job.range)": "y0 - job.range"},
        34, "reads-outside",
    ),
    Wrong(
        "searches one block, not two", {"not-written"},
        {KERNEL: "C63_MOTION_SHAPE({kThreads, 1}, {2, 1}, {0, 0, 0});\n" + KERNEL},
    ),
    Wrong(
        "too many threads", {"launch-failed"},
        {KERNEL: "C63_MOTION_SHAPE({2048, 1}, {1, 1}, {0, 0, 0});\n" + KERNEL},
    ),
    Wrong(
        "no barrier after the load", {"unsteady"},
        {BARRIER: BARRIER.replace("__syncthreads();", "")},
        34, "shared-race",
    ),
    Wrong(
        "barrier for loading threads only", {"unsteady"},
        {
            LOAD + "  __syncthreads();\n":
                LOAD.replace("current[thread]", "{\n    current[thread]", 1) + "    __syncthreads();\n  }\n",
        },
        43, "divergent-barrier", on_gpu=False,
    ),
    Wrong(
        "half of the keys not written", {"unsteady", "impossible-sad"},
        {KEYS: "  if (best != kNone && thread % 2 == 0) keys[thread] = best;\n"},
        42, "reads-unwritten",
    ),
    Wrong(
        "no barrier in the tree", {"unsteady"},
        {"    __syncthreads();\n    if (thread < half)": "    if (thread < half)"},
        41, "shared-race",
    ),
    Wrong(
        "minimum without an atomic function", {"unsteady"},
        {
            KEYS: "  if (thread == 0) keys[0] = kNone;\n  __syncthreads();\n  if (best < keys[0]) keys[0] = best;\n",
            TREE: "  __syncthreads();\n",
        },
        41, "shared-race", on_gpu=False,
    ),
    Wrong(
        "atomic minimum not begun", {"unsteady", "impossible-sad"},
        {KEYS: "  atomicMin(&keys[0], best);\n", TREE: "  __syncthreads();\n"},
        39, "reads-unwritten", on_gpu=False,
    ),
    Wrong(
        "too few keys", {"illegal-access", "unsteady"},
        {"keys[kThreads];": "keys[kThreads / 2];"},
        39, "outside-array", on_gpu=False,
    ),
    Wrong(
        "a minimum of other launches", {"unsteady", "first-time-only", "stale"},
        {
            KERNEL: "__device__ unsigned kept = kNone;\n" + KERNEL,
            KEYS: "  keys[thread] = min(best, kept);\n",
            STORE: STORE + "    kept = min(kept, keys[0]);\n",
        },
        40, "global-race",
    ),
    Wrong(
        "right in the first launch only", {"unsteady", "first-time-only"},
        {
            KERNEL: "__device__ int searched = 0;\n" + KERNEL,
            STORE: STORE + "    if (searched && column < columns - 1) job.vectors[row * columns + column].x *= -1;\n"
            "    if (column == columns - 1 && row == rows - 1) searched = 1;\n",
        },
        48, "global-race",
    ),
    Wrong(
        "barrier that not all reach, and a loop without end", {"hangs"},
        {
            "    __syncthreads();\n    if (thread < half)": "    if (thread < half) __syncthreads();\n"
            "    while (thread == 0 && column == 1) half += (keys[0] == kNone - 1);\n    if (thread < half)",
        },
        41, "divergent-barrier",
    ),
    Wrong(
        "null pointer", {"illegal-access", "sads-not-written"},
        {STORE: STORE + "    unsigned short* sads = nullptr;\n", "job.sads[": "sads["},
        48,
    ),
    Wrong(
        "copy not waited for", {"reads-unwritten"},
        {"    wait_for_copies();\n": ""},
        83, example="ahead.cu", on_gpu=False,
    ),
    Wrong(
        "too little shared memory", {"writes-outside"},
        {"{120, 46, 4}": "{0, 46, 4}"},
        29, example="packed.cu", on_gpu=False,
    ),
    Wrong("words at odd addresses", {"misaligned"}, {"+ (x & ~3)": "+ x"}, 46, example="packed.cu", on_gpu=False),
    Wrong(
        "half of a warp at its minimum", {"divergent-warp"},
        {WARP_MIN: WARP_MIN.replace("best =", "if (thread % 2 == 0) best =")},
        52, example="packed.cu", on_gpu=False,
    ),
    Wrong(
        "mask of half a warp", {"divergent-warp"},
        {
            WARP_MIN:
                "  for (int step = 16; step > 0; step /= 2) best = min(best, __shfl_xor_sync(0x0000FFFF, best, step));\n  if",
        },
        52, example="packed.cu", on_gpu=False,
    ),
    Wrong(
        "window loaded by one turn", {"reads-unwritten"},
        {
            "  for (int i = thread; i < window_width * window_height; i += kThreads)":
                "  if (const int i = thread; i < window_width * window_height)",
        },
        37, example="shared_window.cu", on_gpu=False,
    ),
    Wrong(
        "keys one place too far", {"outside-array"},
        {KEYS: "  keys[thread + 1] = best;\n"},
        42, example="shared_window.cu", on_gpu=False,
    ),
    Wrong(
        "no barrier before the result", {"shared-race"},
        {"  __syncthreads();\n\n  if (thread == 0) {": "  if (thread == 0) {"},
        78, example="sums.cu", on_gpu=False,
    ),
]
# Files in exploits/, and what must be reported of each.
EXPLOITS = {
    "content": {"replays"},
    "pointer": {"timed-runs-differ", "stale", "unsteady", "first-time-only", "replays"},
    "skip": {"not-written", "timed-runs-differ"},
    "stream": {"not-written", "timed-runs-differ", "unsteady", "works-after"},
    "late": {"not-written", "unsteady", "works-after", "illegal-access"},
    "input": {"writes-planes"},
    "persist": set(),
}
WITHOUT_GAIN = {"content", "persist"}  # or not reported, if they are not faster than the honest kernel
FAST = "--limit 6 --kernels fast --sizes 352x288 --contents natural --jobs 1 --repeats".split()


def race(bench, files, out, *options):
    """Returns the exit code and the results of a race."""
    out.unlink(missing_ok=True)
    done = subprocess.run([bench, "me", "--kernel", ",".join(map(str, files)), "--json", out, *options], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(out.read_text()) if out.exists() else {}


def write(wrong, number, examples, folder):
    """Writes the file of a wrong kernel. Returns its path."""
    text = pathlib.Path(examples, wrong.example).read_text()
    for before, after in wrong.edits.items():
        assert before in text, (wrong.what, before)
        text = text.replace(before, after)
    file = folder / f"wrong{number}.cu"
    file.write_text(text)
    return file


def is_named(entrant, causes, line=None):
    """Returns whether one of the causes is reported, in this line."""
    suspicions = [s for s in entrant.get("suspicions", []) if s["id"] in causes]
    return any(line is None or f":{line}: " in s["text"] for s in suspicions)


def race_wrong(bench, wrong, number, examples, folder, emulate):
    """Returns the entrant of a wrong kernel, and whether it was found, and named."""
    options = ["--emulate", "--range", "12"] if emulate else [*FAST, "3"]
    code, results = race(bench, [write(wrong, number, examples, folder)], folder / f"{number}.json", "--seed", str(1000 + number), *options)
    entrant = results.get("entrants", [{}])[0]
    causes, line = ({wrong.seen} if emulate and wrong.seen else wrong.causes), wrong.line if emulate else None
    return entrant, code == 3 and entrant.get("verdict") in ("wrong", "stopped"), is_named(entrant, causes, line)


def write_exploit(name, examples, folder):
    """Writes an exploit's file, in which the textbook's kernel is a function. Returns its path."""
    file = HERE / "exploits" / f"{name}.cu"
    text = file.read_text()
    honest = pathlib.Path(examples, "textbook.cu").read_text()
    if "C63_MOTION_HOST" not in text:
        at, end = honest.index(KERNEL), honest.index(" {\n", honest.index(KERNEL))
        honest = honest[:at] + "static __device__ void honest(const c63_motion_batch& batch)" + honest[end:]
    (folder / file.name).write_text(text.replace('#include "textbook.cu"', honest))
    shutil.copy(HERE / "exploits" / "own_stream.h", folder)
    return folder / file.name


def race_exploits(bench, examples, folder):
    """Returns the names of the exploits that were not caught, or not named."""
    missed = []
    honest = pathlib.Path(examples, "textbook.cu")

    def ranks(out):
        return "not ranked" not in subprocess.run([bench, "board", out], capture_output=True, text=True, check=False).stdout

    for name, causes in EXPLOITS.items():
        out = folder / f"{name}.json"
        options = [*FAST, "9"]
        if name == "content":
            options[options.index("--jobs") + 1] = "8"  # eight frames a launch, so that the time of launches hides no replay
        files = [write_exploit(name, examples, folder)] + ([honest] if name in WITHOUT_GAIN else [])
        code, results = race(bench, files, out, *options)
        entrant = results.get("entrants", [{}])[0]
        is_caught = code == 3 and is_named(entrant, causes) and not ranks(out)
        us = {row["kernel"]: row["us"]["median"] for row in results.get("results", [])}
        if name in WITHOUT_GAIN and entrant.get("verdict") == "right":
            is_caught = us[f"{name}.cu"] > 0.9 * us["textbook.cu"]
        told = [s["id"] for s in entrant.get("suspicions", [])]
        print(f"exploit {name}: {'caught' if is_caught else 'NOT CAUGHT'} {told} {us}: {entrant.get('first')}", flush=True)
        missed += [] if is_caught else [name]
    race(bench, [honest], folder / "seed.json", *FAST, "3", "--seed", "5")
    return missed + (["seed"] if ranks(folder / "seed.json") else [])


def main():
    bench, examples, *emulate = sys.argv[1:]
    if not emulate and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("skipped: race/wrong_on_gpu: this machine has no GPU")
        return 77
    files = sorted(pathlib.Path(examples).glob("*.cu"))
    wrong = [one for one in WRONG if emulate or one.on_gpu]
    found, named, slowest, missed = 0, 0, 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, one in enumerate(wrong, 1):
            began = time.monotonic()
            entrant, is_found, has_name = race_wrong(bench, one, number, examples, folder, emulate)
            slowest = max(slowest, time.monotonic() - began)
            found, named = found + is_found, named + has_name
            told = [suspicion["id"] for suspicion in entrant.get("suspicions", [])]
            print(f"{one.what}: {'found' if is_found else 'NOT FOUND'}, {'named' if has_name else 'NOT NAMED'} {told}: {entrant.get('first')}", flush=True)
        if not emulate:
            missed = race_exploits(bench, examples, folder)
        options = ["--emulate", "--range", "12"] if emulate else []
        entrants = race(bench, [f for f in files if f.name not in INEXACT], folder / "right.json", *options)[1].get("entrants", [])
        entrants += race(bench, [f for f in files if f.name in INEXACT], folder / "inexact.json", "--inexact", *options)[1].get("entrants", [])
    right = [entrant for entrant in entrants if entrant["verdict"] == "right"]
    print(f"{found} of {len(wrong)} wrong kernels found, causes of {named} named, each in at most {slowest:.0f} s; {len(right)} of {len(files)} examples right")
    print(*(f"exploit {name} was not caught" for name in missed), sep="\n")
    if emulate and not all(entrant["counts"]["global"]["bytes"] > 0 for entrant in right):
        return 1
    return 0 if found == len(wrong) and named >= len(wrong) - 1 and len(right) == len(entrants) == len(files) and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
