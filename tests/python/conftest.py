"""Shared by the tests: videos, c63enc, and arrays of other libraries."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest


def make_video(count, height, width, seed=1):
    """Frames (count, height*3/2, width): a moving texture, some noise, and a picture without any motion."""
    rng = np.random.default_rng(seed)
    texture = rng.integers(0, 256, (height + 64, width + 64), dtype=np.uint8)
    texture = (texture.astype(np.uint16) + np.roll(texture, 1, 0) + np.roll(texture, 1, 1) + np.roll(texture, 2, 1)) // 4
    video = np.empty((count, height * 3 // 2, width), np.uint8)
    for i in range(count):
        y, x = i % 32, 2 * i % 32
        video[i, :height] = texture[y : y + height, x : x + width]
        video[i, height:] = 128 + (texture[y : y + height // 2, x : x + width] // 8)
        video[i, i % height] = rng.integers(0, 256, width, dtype=np.uint8)
    return video


@pytest.fixture(scope="session")
def video():
    return make_video(12, 96, 112)


@pytest.fixture(scope="session")
def c63enc():
    """Runs c63enc on frames and returns its stream."""
    program = pathlib.Path(os.environ.get("C63_BIN_DIR", "")) / "c63enc"
    if not program.is_file():
        pytest.skip("no c63enc (set C63_BIN_DIR)")

    def run(frames, width, height, folder, *options):
        source, stream = folder / "in.yuv", folder / "out.c63"
        source.write_bytes(np.ascontiguousarray(frames).tobytes())
        subprocess.run(
            [program, "--quiet", "--backend", "cpu", "-w", str(width), "-h", str(height), *options, "-o", stream, source],
            check=True,
        )
        return stream.read_bytes()

    return run


@pytest.fixture(scope="session")
def shared():
    """Returns the path of a file of the shared test data."""

    def path(name):
        file = pathlib.Path(os.environ.get("C63_SHARED_DATA", "")) / name
        if not file.is_file():
            pytest.skip(f"no {name} (set C63_SHARED_DATA)")
        return file

    return path


class DlpackOnly:
    """An array that offers only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
