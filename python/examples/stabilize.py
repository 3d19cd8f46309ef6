#!/usr/bin/env python3
"""Steadies a shaking video: stabilize.py film.mp4 steady.y4m

The camera's motion between two frames is the most frequent vector among the certain blocks. A block is certain if its
second-best candidate is clearly worse. The camera's path is smoothed, and each frame is moved from the true path to the
smooth one. Where a moved frame leaves the picture empty, its edge samples are repeated.
"""

import sys

import numpy as np

import c63


def camera_motion(current, reference):
    """Returns the motion from a frame to the one before, in whole samples, by most certain blocks; 0, 0 if none is
    certain."""
    found = c63.estimate_motion(current, reference, 24, second=True, second_distance=3)
    sure = found.second > 1.3 * found.sad + 64
    vectors, counts = np.unique(found.vectors[sure], axis=0, return_counts=True)
    return vectors[counts.argmax()].astype(int) if len(vectors) else np.zeros(2, int)


def moved(plane, x, y):
    """Returns the plane moved right by x and down by y samples, with its edges repeated."""
    rows = np.clip(np.arange(plane.shape[0]) - y, 0, plane.shape[0] - 1)
    columns = np.clip(np.arange(plane.shape[1]) - x, 0, plane.shape[1] - 1)
    return plane[rows[:, None], columns]


def main(film, steady, smoothing=0.9):
    with c63.open(film) as video, open(steady, "wb") as out:
        out.write(f"YUV4MPEG2 W{video.width} H{video.height} F{video.rate.numerator}:{video.rate.denominator} C420jpeg\n".encode())
        height, width = video.height // 8 * 8, video.width // 8 * 8
        offset, before = np.zeros(2), None
        for frame in video:
            luma = c63.luma(frame)[:height, :width]
            if before is not None:
                offset = smoothing * (offset + camera_motion(luma, before))  # keeps the shaking, forgets slow movement
            before, shift = luma, np.rint(offset / 2).astype(int) * 2  # even, because chroma has half the samples
            planes = [moved(plane, *(shift // (1 if i == 0 else 2))) for i, plane in enumerate(c63.planes(frame))]
            out.write(b"FRAME\n" + b"".join(plane.tobytes() for plane in planes))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: stabilize.py film.mp4 steady.y4m")
    try:
        main(*sys.argv[1:])
    except (c63.Error, OSError) as error:
        sys.exit(f"stabilize.py: {error}")
