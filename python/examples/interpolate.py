#!/usr/bin/env python3
"""Doubles the frame rate of a film: interpolate.py film.mp4 double.y4m

A block of a new picture is the mean of both frames at the ends of a vector: that one of its place and the eight
places around whose ends differ least. At a cut, the frame before is shown twice.
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
    """Returns both frames at the ends of the vectors, for each sample of the new picture."""
    rows, columns = np.indices(after.shape)
    x, y = np.moveaxis(vectors.repeat(size, 0).repeat(size, 1)[: len(after), : after.shape[1]] * (size / 16), -1, 0)
    return sample(before, columns + x, rows + y), sample(after, columns - x, rows - y)


def between(motion, before, after):
    """Returns the planes of the picture between two frames, of which `after` has the vectors."""
    around = np.pad(motion.vectors, ((1, 1), (1, 1), (0, 0)), "edge")
    choices = [around[y : len(around) - 2 + y, x : around.shape[1] - 2 + x] for y in (1, 0, 2) for x in (1, 0, 2)]
    errors = [np.abs(np.subtract(*ends(before[0], after[0], vectors, 8))) for vectors in choices]
    costs = [np.add.reduceat(np.add.reduceat(e, range(0, len(e), 8), 0), range(0, e.shape[1], 8), 1) for e in errors]
    best = np.take_along_axis(np.array(choices), np.argmin(costs, 0)[None, ..., None], 0)[0]
    return [np.rint(sum(ends(before[i], after[i], best, 8 if i == 0 else 4)) / 2) for i in range(3)]


def main(film, double):
    with c63.film_motion(film, 32, fraction=32, smooth=4, pictures=True) as motions, open(double, "wb") as out:
        about = motions.width, motions.height, *(2 * motions.rate).as_integer_ratio()
        out.write(b"YUV4MPEG2 W%d H%d F%d:%d C420jpeg\n" % about)
        before = ()
        for motion in motions:
            after = c63.planes(motion.picture)
            new = [before if motion.sad.mean() > 64 * 15 else between(motion, before, after)] if before else []
            for planes in [*new, after]:
                out.write(b"FRAME\n" + b"".join(plane.astype(np.uint8).tobytes() for plane in planes))
            before = after


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: interpolate.py film.mp4 double.y4m")
    try:
        main(*sys.argv[1:])
    except (c63.Error, OSError) as error:
        sys.exit(f"interpolate.py: {error}")
