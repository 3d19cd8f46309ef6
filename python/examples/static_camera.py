#!/usr/bin/env python3
"""Says when the camera of a film stands still, moves, and when the film cuts: static_camera.py film.mp4

The camera's motion is the most frequent vector among the certain blocks. A block is certain if its second-best
candidate is clearly worse. What moves before a still camera is not as frequent.
"""

import itertools
import sys

import numpy as np

import c63


def states(film):
    """Returns a time and a state for each frame: "still", "cut", "unclear", or how the camera moves."""
    with c63.film_motion(film, second=True, second_distance=3) as motions:
        for motion in motions:
            if motion.reference is None or motion.sad.mean() > 64 * 15:
                yield motion.time, "cut"
                continue
            sure = motion.second > 1.3 * motion.sad + 64
            vectors, counts = np.unique(motion.vectors[sure], axis=0, return_counts=True)
            if counts.sum() < 0.02 * sure.size:
                yield motion.time, "unclear"
                continue
            x, y = (-vectors[counts.argmax()].astype(int)).tolist()  # vectors lead back
            words = ["left"] * (x > 0) + ["right"] * (x < 0) + ["up"] * (y > 0) + ["down"] * (y < 0)
            yield motion.time, "moves " + " and ".join(words) if words else "still"


def main(film):
    for state, run in itertools.groupby(states(film), lambda frame: frame[1]):
        times = [time for time, _ in run]
        print(f"{times[0]:8.2f} to {times[-1]:8.2f} s: {state}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: static_camera.py film.mp4")
    try:
        main(sys.argv[1])
    except (c63.Error, OSError) as error:
        sys.exit(f"static_camera.py: {error}")
