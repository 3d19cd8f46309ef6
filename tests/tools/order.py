"""Tests `tools/measure order`: its figures for made curves, and its table for a small clip. The argument is the build's folder."""

import hashlib
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

MEASURE = pathlib.Path(__file__).resolve().parents[2] / "tools/measure"
BUILD = pathlib.Path(sys.argv[1])

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("measure", str(MEASURE))
measure = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure", loader))
loader.exec_module(measure)

# Points that another point beats do not count, an infinite PSNR neither. Curves are compared where both have points.
curve = [(1000, 30.0), (1100, 29.0), (2000, 34.0), (4000, 38.0), (5000, None)]
percent, overlap = measure.change(curve, [(0.9 * size, psnr) for size, psnr in curve])
assert math.isclose(percent, -10) and overlap == 8, (percent, overlap)
percent, overlap = measure.change(curve, [(3000, 34.0), (6000, 38.0), (12000, 42.0)])
assert math.isclose(percent, 50) and overlap == 4, (percent, overlap)
assert measure.change(curve, [(10, 20.0), (20, 25.0)]) == (None, 0)

os.environ["PATH"] = f"{BUILD}/bin:{os.environ['PATH']}"
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    clip = measure.quiet_clip("screen", 5, 64, 48, 2, folder)
    assert hashlib.md5(clip.read_bytes()).hexdigest() == "8dbcaac00bc93cc95b22d639e07140bc"
    table = subprocess.run([sys.executable, MEASURE, "order", "--build", BUILD, "--video", clip, "--qualities", "3,10,40", "--json", folder / "t.json"],
                           check=True, capture_output=True, text=True).stdout
    result = json.loads((folder / "t.json").read_text())
    sizes = {name: size for name, (size, _) in result["points"].items()}
    assert len(sizes) == 11, sizes  # preset reference begins at 5
    for preset, quality in (("reference", "10"), ("best", "3")):
        stream = subprocess.run(["c63enc", "--quiet", "--backend", "cpu", "--preset", preset, "-q", quality, clip, "-o", "-"], check=True,
                                capture_output=True).stdout
        assert sizes[f"{clip.stem} {preset} {quality}"] == len(stream), (preset, sizes)
    row = [f"{percent:+.1f} ({overlap:.1f})" for percent, overlap in result["changes"][clip.stem].values()]
    assert f"| {clip.stem} | {' | '.join(row)} |" in table and len(row) == 5, table
