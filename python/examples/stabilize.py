#!/usr/bin/env python3
"""Steadies a shaking video: stabilize.py film.mp4 steady.y4m

The camera's motion between two frames is the most frequent vector among the certain blocks. A block is certain if its
second-best candidate is clearly worse. The camera's path is smoothed, and each frame is moved from the true path to the
smooth one. Where a moved frame leaves the picture empty, its edge samples are repeated.
"""

import sys

import numpy as np

import c63


def camera_motion(motion):
    """Returns the motion from a frame to the one before, in whole samples, by most certain blocks; 0, 0 if none is
    certain."""
    sure = motion.second > 1.3 * motion.sad + 64
    vectors, counts = np.unique(motion.vectors[sure], axis=0, return_counts=True)
    return vectors[counts.argmax()].astype(int) if len(vectors) else np.zeros(2, int)


def moved(plane, x, y):
    """Returns the plane moved right by x and down by y samples, with its edges repeated."""
    rows = np.clip(np.arange(plane.shape[0]) - y, 0, plane.shape[0] - 1)
    columns = np.clip(np.arange(plane.shape[1]) - x, 0, plane.shape[1] - 1)
    return plane[rows[:, None], columns]


def main(film, steady, smoothing=0.9):
    with c63.film_motion(film, 24, second=True, second_distance=3, pictures=True) as motions, open(steady, "wb") as out:
        out.write(b"YUV4MPEG2 W%d H%d F%d:%d C420jpeg\n" % (motions.width, motions.height, *motions.rate.as_integer_ratio()))
        offset = np.zeros(2)
        for motion in motions:
            if motion.reference is not None:
                offset = smoothing * (offset + camera_motion(motion))  # keeps the shaking, forgets slow movement
            shift = np.rint(offset / 2).astype(int) * 2  # even, because chroma has half the samples
            planes = [moved(plane, *(shift // (1 if i == 0 else 2))) for i, plane in enumerate(c63.planes(motion.picture))]
            out.write(b"FRAME\n" + b"".join(plane.tobytes() for plane in planes))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: stabilize.py film.mp4 steady.y4m")
    try:
        main(*sys.argv[1:])
    except (c63.Error, OSError) as error:
        sys.exit(f"stabilize.py: {error}")
