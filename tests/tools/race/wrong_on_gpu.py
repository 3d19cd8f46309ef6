#!/usr/bin/env python3
"""Races the 36 wrong kernels of wrong.cu and the examples on this machine's GPU: each mistake must be found, and its cause named.

Usage: wrong_on_gpu.py C63BENCH WRONG.cu FOLDER_OF_EXAMPLES
Exit status: 0 all found, at least 30 causes named and all examples right; 1 not; 77 no GPU.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

INEXACT = {"three_step.cu", "diamond.cu", "hexagon.cu", "pyramid.cu"}  # by design
# For each mistake in wrong.cu, from 1 on: the suspicions that would help a person to find it. One of them must be reported.
CAUSES = """not-written
one-size-only not-written writes-outside
not-written last-column-only
not-written last-row-only
writes-outside illegal-access reads-outside
width-as-pitch pitch-only
current-pitch-for-both pitch-only
unsteady
range-fixed-16 range-doubled chroma-only
border-inclusive
range-inclusive
edge-right-short
edge-left-short
edge-top-short
reach-left-short window-left-short
edge-bottom-short
candidates-256
wrapped-difference
signed-samples
squares sad-only
last-of-equals
sad-12-bits
unsteady impossible-sad
unsteady first-time-only stale
unsteady
hangs
vector-4-bits
unsteady first-time-only
not-written
components-swapped
window-corner
blocks-transposed
block-before writes-outside
sad-8-bits
sads-not-written
illegal-access""".splitlines()


def race(bench, files, out, *options):
    """Returns the exit code and the entrants of a race."""
    done = subprocess.run([bench, "me", "--kernel", ",".join(map(str, files)), "--json", out, *options], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(out.read_text()).get("entrants", []) if out.exists() else []


def main():
    bench, wrong, examples = sys.argv[1:]
    if not list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("skipped: race/wrong_on_gpu: this machine has no GPU")
        return 77
    text, found, named = pathlib.Path(wrong).read_text(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, causes in enumerate(CAUSES, 1):
            file = folder / f"wrong{number}.cu"
            file.write_text(f"#define MISTAKE {number}\n{text}")
            code, entrants = race(bench, [file], folder / f"{number}.json", "--repeats", "3", "--seed", str(1000 + number), "--limit", "6",
                                  "--kernels", "fast", "--jobs", "1")
            entrant = (entrants or [{}])[0]
            is_found = code == 3 and entrant.get("verdict") in ("wrong", "stopped")
            is_named = not set(causes.split()).isdisjoint(s["id"] for s in entrant.get("suspicions", []))
            found, named = found + is_found, named + is_named
            print(f"{number} {'found' if is_found else 'NOT FOUND'} {'named' if is_named else 'NOT NAMED'}: {entrant.get('first')}", flush=True)
        right = folder / "right.cu"
        right.write_text("#define MISTAKE 0\n" + text)
        files = sorted(pathlib.Path(examples).glob("*.cu"))
        entrants = race(bench, [right] + [f for f in files if f.name not in INEXACT], folder / "right.json")[1]
        entrants += race(bench, [f for f in files if f.name in INEXACT], folder / "inexact.json", "--inexact")[1]
    print(f"{found} of {len(CAUSES)} wrong kernels found, causes of {named} named")
    right = [entrant for entrant in entrants if entrant["verdict"] == "right"]
    return 0 if found == len(CAUSES) and named >= 30 and len(right) == len(entrants) == len(files) + 1 else 1


sys.exit(main())
