#!/usr/bin/env python3
"""Doubles the frame rate of a film: interpolate.py film.mp4 double.y4m

Between two frames, each block of the new picture lies in the middle of a vector: it is the mean of what the frame before
and the frame after have at the vector's ends. Of the vectors of its place and of the eight places around, a block takes the
one whose ends differ least. At a cut, the frame before is shown twice.
"""

import sys

import numpy as np

import c63


def sample(plane, x, y):
    """Returns the plane at places between its samples, and outside that of its edge."""
    x, y = np.clip(x, 0, plane.shape[1] - 1), np.clip(y, 0, plane.shape[0] - 1)
    left, top = np.minimum(x.astype(int), plane.shape[1] - 2), np.minimum(y.astype(int), plane.shape[0] - 2)
    upper, lower = (plane[row, left] * (1 - x + left) + plane[row, left + 1] * (x - left) for row in (top, top + 1))
    return upper * (1 - y + top) + lower * (y - top)


def ends(before, after, vectors, size):
    """Returns, for each sample of the new picture, both frames at the ends of its block's vector."""
    rows, columns = np.indices(after.shape)
    x, y = np.moveaxis(vectors.repeat(size, 0).repeat(size, 1)[: len(after), : after.shape[1]] * (size / 16), -1, 0)
    return sample(before, columns + x, rows + y), sample(after, columns - x, rows - y)


def between(motion, before, after):
    """Returns the planes of the picture between two frames, of which `after` has the vectors."""
    rows, columns = motion.sad.shape
    around = np.pad(motion.vectors, ((1, 1), (1, 1), (0, 0)), "edge")
    choices = [around[y : y + rows, x : x + columns] for y in (1, 0, 2) for x in (1, 0, 2)]
    costs = []
    for vectors in choices:
        first, second = ends(before[0], after[0], vectors, 8)
        missing = [(0, 8 * blocks - side) for blocks, side in zip((rows, columns), first.shape)]
        costs.append(np.pad(np.abs(first - second), missing).reshape(rows, 8, columns, 8).sum((1, 3)))
    best = np.take_along_axis(np.array(choices), np.argmin(costs, 0)[None, ..., None], 0)[0]
    return [np.rint(sum(ends(before[i], after[i], best, 8 if i == 0 else 4)) / 2) for i in range(3)]


def main(film, double):
    with c63.film_motion(film, 32, fraction=32, smooth=4, pictures=True) as motions, open(double, "wb") as out:
        rate = 2 * motions.rate
        out.write(f"YUV4MPEG2 W{motions.width} H{motions.height} F{rate.numerator}:{rate.denominator} C420jpeg\n".encode())
        before = None
        for motion in motions:
            shown = [c63.planes(motion.picture)]
            if before is not None:
                shown.insert(0, before if motion.sad.mean() > 64 * 15 else between(motion, before, shown[0]))
            for planes in shown:
                out.write(b"FRAME\n" + b"".join(plane.astype(np.uint8).tobytes() for plane in planes))
            before = shown[-1]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: interpolate.py film.mp4 double.y4m")
    try:
        main(*sys.argv[1:])
    except (c63.Error, OSError) as error:
        sys.exit(f"interpolate.py: {error}")
