#!/usr/bin/env python3
"""Holds a shaking video still: stabilize.py film.mp4 steady.y4m

The camera's motion between two frames is the most frequent vector among blocks whose vector is sure: the second best one costs clearly
more. The path of the camera is smoothed, and each frame moved from the one to the other. Frames are cut where they have left the
picture; the last samples of its edges stand there.
"""

import sys

import numpy as np

import c63


def camera_motion(current, reference):
    """Whole samples from a frame to the one before, as most sure blocks say; 0, 0 where none is sure."""
    found = c63.estimate_motion(current, reference, 24, second=True, second_distance=3)
    sure = found.second > 1.3 * found.sad + 64
    vectors, counts = np.unique(found.vectors[sure], axis=0, return_counts=True)
    return vectors[counts.argmax()].astype(int) if len(vectors) else np.zeros(2, int)


def moved(plane, x, y):
    """The plane moved to the right and down; its edges are repeated."""
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
                offset = smoothing * (offset + camera_motion(luma, before))  # what the camera shook, and not where it went
            before, shift = luma, np.rint(offset / 2).astype(int) * 2  # even: chroma has half the samples
            planes = [moved(plane, *(shift // (1 if i == 0 else 2))) for i, plane in enumerate(c63.planes(frame))]
            out.write(b"FRAME\n" + b"".join(plane.tobytes() for plane in planes))


if __name__ == "__main__":
    main(*sys.argv[1:3])
