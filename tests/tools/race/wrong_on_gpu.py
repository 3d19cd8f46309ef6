#!/usr/bin/env python3
"""Races kernels with a mistake, and the examples, on this machine's GPU: each mistake must be found, its cause named.

The judge is that of searches for the CPU, which wrong_searches_test.cpp tests with more mistakes. Here are those of
kernels.

Usage: wrong_on_gpu.py C63BENCH FOLDER_OF_EXAMPLES
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
# textbook.cu, each replaced everywhere.
WRONG = [
    ({"not-written"}, {"batch.jobs[blockIdx.z]": "batch.jobs[0]"}),
    ({"not-written", "last-column-only"}, {"column >= columns ||": "column >= columns - 1 ||"}),
    ({"writes-outside", "illegal-access", "reads-outside"}, {"  if (column >= columns || row >= rows) return;": ""}),
    ({"block-before", "writes-outside"}, {"row * columns + column": "row * columns + column + 1"}),
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
    ({"unsteady"}, {BARRIER: BARRIER.replace("__syncthreads();", "")}),
    ({"unsteady", "impossible-sad"}, {KEYS: "  if (best != kNone && thread % 2 == 0) keys[thread] = best;\n"}),
    ({"unsteady"}, {"    __syncthreads();\n    if (thread < half)": "    if (thread < half)"}),
    (
        {"unsteady", "first-time-only", "stale"},
        {
            KERNEL: "__device__ unsigned kept = kNone;\n" + KERNEL,
            KEYS: "  keys[thread] = min(best, kept);\n",
            STORE: STORE + "    kept = min(kept, keys[0]);\n",
        },
    ),
    (
        {"unsteady", "first-time-only"},
        {
            KERNEL: "__device__ int searched = 0;\n" + KERNEL,
            STORE: STORE + "    if (searched && column < columns - 1) job.vectors[row * columns + column].x *= -1;\n"
            "    if (column == columns - 1 && row == rows - 1) searched = 1;\n",
        },
    ),
    (  # a barrier that not all threads reach, in a loop that does not end
        {"hangs"},
        {
            "    __syncthreads();\n    if (thread < half)": "    if (thread < half) __syncthreads();\n"
            "    while (thread == 0 && column == 1) half += (keys[0] == kNone - 1);\n    if (thread < half)"
        },
    ),
    ({"illegal-access"}, {STORE: STORE + "    unsigned short* sads = nullptr;\n", "job.sads[": "sads["}),
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


def main():
    bench, examples = sys.argv[1:]
    if not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("skipped: race/wrong_on_gpu: this machine has no GPU")
        return 77
    files = sorted(pathlib.Path(examples).glob("*.cu"))
    text, found, named = pathlib.Path(examples, "textbook.cu").read_text(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (causes, edits) in enumerate(WRONG, 1):
            file = folder / f"wrong{number}.cu"
            file.write_text(edited(text, edits))
            code, entrants = race(bench, [file], folder / f"{number}.json", "--repeats", "3", "--seed", str(1000 + number), "--limit", "6",
                                  "--kernels", "fast", "--jobs", "1")
            entrant = (entrants or [{}])[0]
            is_found = code == 3 and entrant.get("verdict") in ("wrong", "stopped")
            is_named = not causes.isdisjoint(s["id"] for s in entrant.get("suspicions", []))
            found, named = found + is_found, named + is_named
            print(f"{causes} {'found' if is_found else 'NOT FOUND'} {'named' if is_named else 'NOT NAMED'}: {entrant.get('first')}", flush=True)
        entrants = race(bench, [f for f in files if f.name not in INEXACT], folder / "right.json")[1]
        entrants += race(bench, [f for f in files if f.name in INEXACT], folder / "inexact.json", "--inexact")[1]
    print(f"{found} of {len(WRONG)} wrong kernels found, causes of {named} named")
    right = [entrant for entrant in entrants if entrant["verdict"] == "right"]
    return 0 if found == len(WRONG) and named >= len(WRONG) - 1 and len(right) == len(entrants) == len(files) else 1


sys.exit(main())
