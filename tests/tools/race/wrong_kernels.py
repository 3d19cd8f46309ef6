#!/usr/bin/env python3
"""Races kernels with a mistake, and the examples, on this machine's GPU: each mistake must be found, its cause named.

With --emulate no GPU is needed, and mistakes that are seen in memory must be named with their line. The judge is that of searches for
the CPU, which wrong_searches_test.cpp tests with more mistakes. Here are those of kernels.

Usage: wrong_kernels.py C63BENCH FOLDER_OF_EXAMPLES [--emulate]
Exit status: 0 all found, at most one cause not named, and all examples right; 1 not; 77 no GPU.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

INEXACT = {"three_step.cu", "diamond.cu", "hexagon.cu", "pyramid.cu"}  # by design
BARRIER, KEYS, KERNEL = "  __syncthreads();\n\n  // The search window", "  keys[thread] = best;\n", "C63_MOTION_KERNEL"
STORE = (
    "    job.vectors[row * columns + column] = "
    "{(signed char)(left + i % width - x0), (signed char)(top + i / width - y0)};\n"
)
# Each mistake: the suspicions that would help a person to find it, of which one must be reported, and texts of
# textbook.cu, each replaced everywhere. Then what emulation must report, and the line, if that is something else.
WRONG = [
    ({"not-written"}, {"batch.jobs[blockIdx.z]": "batch.jobs[0]"}, "global-race", 46),
    ({"not-written", "last-column-only"}, {"column >= columns ||": "column >= columns - 1 ||"}),
    ({"writes-outside", "illegal-access", "reads-outside"}, {"  if (column >= columns || row >= rows) return;": ""}, "reads-outside", 19),
    ({"block-before", "writes-outside"}, {"row * columns + column": "row * columns + column + 1"}, "writes-outside", 46),
    ({"width-as-pitch", "pitch-only"}, {"job.current_pitch": "job.width", "job.reference_pitch": "job.width"}),
    ({"range-fixed-16", "range-doubled", "chroma-only"}, {"job.range": "16"}),
    ({"last-of-equals"}, {"sad << 16 | i": "sad << 16 | (0xFFFF - i)", "keys[0] & 0xFFFF": "0xFFFF - (keys[0] & 0xFFFF)"}),
    (
        {"candidates-256"},
        {"kThreads = 1024": "kThreads = 256", "i < width * (bottom - top)": "i < min(kThreads, width * (bottom - top))"},
    ),
    ({"sad-12-bits"}, {"sad << 16": "(sad & 0xFFF) << 16"}),
    # It searches one block, not two.
    ({"not-written"}, {KERNEL: "C63_MOTION_SHAPE({kThreads, 1}, {2, 1}, {0, 0, 0});\n" + KERNEL}),
    ({"unsteady"}, {BARRIER: BARRIER.replace("__syncthreads();", "")}, "shared-race", 34),
    ({"unsteady", "impossible-sad"}, {KEYS: "  if (best != kNone && thread % 2 == 0) keys[thread] = best;\n"}, "reads-unwritten", 42),
    ({"unsteady"}, {"    __syncthreads();\n    if (thread < half)": "    if (thread < half)"}, "shared-race", 41),
    (
        {"unsteady", "first-time-only", "stale"},
        {
            KERNEL: "__device__ unsigned kept = kNone;\n" + KERNEL,
            KEYS: "  keys[thread] = min(best, kept);\n",
            STORE: STORE + "    kept = min(kept, keys[0]);\n",
        },
        "global-race",
        40,
    ),
    (
        {"unsteady", "first-time-only"},
        {
            KERNEL: "__device__ int searched = 0;\n" + KERNEL,
            STORE: STORE + "    if (searched && column < columns - 1) job.vectors[row * columns + column].x *= -1;\n"
            "    if (column == columns - 1 && row == rows - 1) searched = 1;\n",
        },
        "global-race",
        48,
    ),
    (  # a barrier that not all threads reach, in a loop that does not end
        {"hangs"},
        {
            "    __syncthreads();\n    if (thread < half)": "    if (thread < half) __syncthreads();\n"
            "    while (thread == 0 && column == 1) half += (keys[0] == kNone - 1);\n    if (thread < half)"
        },
        "divergent-barrier",
        41,
    ),
    ({"illegal-access"}, {STORE: STORE + "    unsigned short* sads = nullptr;\n", "job.sads[": "sads["}, "illegal-access", 48),
]
# More mistakes that emulation must find, in other examples.
WRONG_IN_MEMORY = [
    ("ahead.cu", {"    wait_for_copies();\n": ""}, "reads-unwritten", 83),
    ("packed.cu", {"{120, 46, 4}": "{0, 46, 4}"}, "writes-outside", 29),
    ("packed.cu", {"+ (x & ~3)": "+ x"}, "misaligned", 46),
    ("packed.cu", {"  best = c63_motion_warp_min(best);\n  if": "  if (thread % 2 == 0) best = c63_motion_warp_min(best);\n  if"}, "divergent-warp", 52),
    ("shared_window.cu", {KEYS: "  keys[thread + 1] = best;\n"}, "outside-array", 42),
    ("sums.cu", {"  __syncthreads();\n\n  if (thread == 0) {": "  if (thread == 0) {"}, "shared-race", 78),
]


def race(bench, files, out, *options):
    """Returns the exit code and the entrants of a race."""
    done = subprocess.run([bench, "me", "--kernel", ",".join(map(str, files)), "--json", out, *options], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(out.read_text()).get("entrants", []) if out.exists() else []


def edited(text, edits):
    for before, after in edits.items():
        assert before in text, before
        text = text.replace(before, after)
    return text


def is_named(entrant, causes, line=None):
    """Returns whether one of the causes is reported, in this line."""
    suspicions = [s for s in entrant.get("suspicions", []) if s["id"] in causes]
    return any(line is None or f":{line}: " in s["text"] for s in suspicions)


def main():
    bench, examples, *emulate = sys.argv[1:]
    if not emulate and not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("skipped: race/wrong_on_gpu: this machine has no GPU")
        return 77
    files = sorted(pathlib.Path(examples).glob("*.cu"))
    wrong = [("textbook.cu", edits, causes, None) for causes, edits, *_ in WRONG]
    if emulate:
        wrong = [("textbook.cu", edits, {line[0]} if line else causes, line[1] if line else None) for causes, edits, *line in WRONG]
        wrong += [(example, edits, {cause}, line) for example, edits, cause, line in WRONG_IN_MEMORY]
    options = ["--emulate", "--range", "9"] if emulate else ["--repeats", "3", "--limit", "6", "--kernels", "fast", "--jobs", "1"]
    found, named = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (example, edits, causes, line) in enumerate(wrong, 1):
            file = folder / f"wrong{number}.cu"
            file.write_text(edited(pathlib.Path(examples, example).read_text(), edits))
            code, entrants = race(bench, [file], folder / f"{number}.json", "--seed", str(1000 + number), *options)
            entrant = (entrants or [{}])[0]
            is_found = code == 3 and entrant.get("verdict") in ("wrong", "stopped")
            has_name = is_named(entrant, causes, line)
            found, named = found + is_found, named + has_name
            print(f"{causes} {'found' if is_found else 'NOT FOUND'} {'named' if has_name else 'NOT NAMED'}: {entrant.get('first')}", flush=True)
        options = options if emulate else []
        entrants = race(bench, [f for f in files if f.name not in INEXACT], folder / "right.json", *options)[1]
        entrants += race(bench, [f for f in files if f.name in INEXACT], folder / "inexact.json", "--inexact", *options)[1]
    right = [entrant for entrant in entrants if entrant["verdict"] == "right"]
    print(f"{found} of {len(wrong)} wrong kernels found, causes of {named} named; {len(right)} of {len(files)} examples right")
    if emulate and not all(entrant["counts"]["global"]["bytes"] > 0 for entrant in right):
        return 1
    return 0 if found == len(wrong) and named >= len(wrong) - 1 and len(right) == len(entrants) == len(files) else 1


sys.exit(main())
