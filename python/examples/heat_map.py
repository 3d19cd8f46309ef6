#!/usr/bin/env python3
"""Draws where a film moves: heat_map.py film.mp4 map.png

The map shows how far each block moves in a second, in the mean, over the film's first picture. Blocks whose
second-best candidate is hardly worse do not count, nor those that are found nowhere: walls and the sky show no
motion, and what comes into view has none.
"""

import sys

import matplotlib
import numpy as np

import c63

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def motion_map(film):
    """Returns the samples that each block moves in a second, in the mean, and the film's first picture."""
    total = sure = 0.0
    picture = None
    with c63.film_motion(film, second=True, second_distance=3, zero_bias=64, pictures=True) as motions:
        for motion in motions:
            if picture is None:
                picture = motion.picture
            if motion.reference is None:
                continue
            certain = (motion.second > 1.3 * motion.sad + 64) & (motion.sad < 64 * 8)
            total += certain * np.hypot(*np.moveaxis(motion.vectors.astype(float), -1, 0))
            sure += certain
        return float(motions.rate) * total / np.maximum(sure, 1), picture


def main(film, to):
    heat, picture = motion_map(film)
    height, width = c63.luma(picture).shape
    figure, axes = plt.subplots(figsize=(8, 8 * height / width))
    axes.imshow(c63.luma(picture), cmap="gray", vmin=16, vmax=235, extent=(0, width, height, 0))
    shown = axes.imshow(heat, cmap="inferno", alpha=0.6, extent=(0, 8 * heat.shape[1], 8 * heat.shape[0], 0))
    axes.set(xlim=(0, width), ylim=(height, 0))
    figure.colorbar(shown, label="samples in a second", fraction=0.04)
    figure.savefig(to, dpi=100, bbox_inches="tight")
    row, column = np.unravel_index(heat.argmax(), heat.shape)
    print(f"most motion: {heat.max():.1f} samples in a second, at {8 * column},{8 * row}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: heat_map.py film.mp4 map.png")
    try:
        main(*sys.argv[1:])
    except (c63.Error, OSError) as error:
        sys.exit(f"heat_map.py: {error}")
