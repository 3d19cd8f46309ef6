#!/usr/bin/env python3
"""Shows how many bits presets save, and how a clip moves.

rate_distortion.py [clip] [--out FOLDER] [--frames N]

Encodes a clip with three presets at four qualities each. The clip is any file that c63.open() reads, or a moving
pattern. Draws the rate-distortion curves with matplotlib, and the motion vectors of a frame over its picture. Estimates
the same motion on a GPU, if there is one. Cells start with "# %%", for editors that run them one by one.
"""

import argparse
import json
import pathlib
import sys

try:
    import matplotlib
    import numpy as np

    import c63
except ImportError as error:
    sys.exit(f"rate_distortion.py: {error} (Debian: python3-matplotlib; docs/python.md says how to build c63)")

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# %% A clip: (n, height*3/2, width), planes Y, U, V one below the other


def pattern(count, height=144, width=176):
    """Returns a texture that moves to the right and down."""
    texture = np.kron(np.random.default_rng(63).integers(40, 216, (height // 4 + 16, width // 4 + 16)), np.ones((4, 4)))
    texture = (texture + np.roll(texture, 3, 0) + np.roll(texture, 3, 1)) / 3
    frames = np.full((count, height * 3 // 2, width), 128, np.uint8)
    for i in range(count):
        frames[i, :height] = texture[32 - i % 32 :][:height, 64 - 2 * i % 64 :][:, :width]
    return frames


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("clip", nargs="?")
parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
parser.add_argument("--frames", type=int, default=60)
arguments = parser.parse_args()
try:
    clip = c63.open(arguments.clip).read(arguments.frames) if arguments.clip else pattern(arguments.frames)
    arguments.out.mkdir(parents=True, exist_ok=True)
except (c63.Error, OSError) as error:
    sys.exit(f"rate_distortion.py: {error}")
if clip.ndim != 3 or len(clip) < 2:
    sys.exit("rate_distortion.py: the clip needs two frames, and an even height")

# %% Bits per frame, and PSNR of luma, for three presets at four qualities

figure, axes = plt.subplots(figsize=(6, 4))
curves = {}
for preset in ("reference", "fast", "good"):
    streams = [c63.encode(clip, preset=preset, qp=qp) for qp in (12, 20, 28, 36)]
    curves[preset] = [(8 * len(stream) / len(clip), c63.psnr(clip, c63.decode(stream)).y) for stream in streams]
    axes.plot(*zip(*curves[preset]), "o-", label=preset)
    percent = c63.bd_rate(curves["reference"], curves[preset]).rate_percent
    print(f"{preset}: {percent:+.1f} % of the bits of reference at equal PSNR" if percent is not None else f"{preset}: no overlap")
axes.set(xlabel="bits a frame", ylabel="PSNR of luma, dB", xscale="log")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig(arguments.out / "rate_distortion.png", dpi=120, bbox_inches="tight")
(arguments.out / "rate_distortion.json").write_text(json.dumps(curves, indent=2) + "\n")

# %% The motion vectors of one frame

middle, luma = len(clip) // 2, c63.luma(clip)
height, width = (side // 8 * 8 for side in luma.shape[1:])
current, reference = luma[middle, :height, :width], luma[middle - 1, :height, :width]
motion = c63.estimate_motion(current, reference)
rows, columns = np.mgrid[: height // 8, : width // 8]
figure, axes = plt.subplots(figsize=(8, 8 * height / width))
axes.imshow(current, cmap="gray", vmin=0, vmax=255)
axes.quiver(8 * columns + 4, 8 * rows + 4, motion.vectors[..., 0], motion.vectors[..., 1], motion.sad, angles="xy",
            scale_units="xy", scale=1, cmap="autumn_r", width=0.002)
axes.set_axis_off()
figure.savefig(arguments.out / "motion.png", dpi=120, bbox_inches="tight")

# %% The same motion on a GPU

try:
    import torch

    found = c63.estimate_motion(*(torch.from_numpy(plane.copy()).cuda() for plane in (current, reference)))
    print("motion on the GPU is the same:", np.array_equal(found.vectors.cpu().numpy(), motion.vectors))
except (ImportError, AssertionError, RuntimeError) as error:
    print("no motion on a GPU:", str(error).splitlines()[0])
