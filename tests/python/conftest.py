"""Shared by the tests: videos, c63enc, and arrays of other libraries."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest

import c63


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


@pytest.fixture
def clip(video, tmp_path):
    """Returns the path of the video as a raw file."""
    path = tmp_path / "clip_112x96.yuv"
    path.write_bytes(video.tobytes())
    return path


def pushed(frames, **options):
    """Returns the frames that an Encoder makes of the first ones of `video`."""
    with c63.Encoder(112, 96, **options) as encoder:
        for frame in frames:
            encoder.push(frame)
    return encoder.poll()


def error_of(call, *arguments, **keywords):
    """Returns the c63.Error that a call raises."""
    with pytest.raises(c63.Error) as caught:
        call(*arguments, **keywords)
    return caught.value


def assert_same_motion(found, expected, get=np.asarray):
    """Compares two results of estimate_motion(). `get` makes numpy arrays of the first one's."""
    for name in ("vectors", "sad", "second", "quarters"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        assert (mine is None) == (theirs is None) and (theirs is None or np.array_equal(get(mine), theirs)), name


def open_or_skip(path, **options):
    """Opens a video that needs FFmpeg."""
    try:
        return c63.open(path, **options)
    except c63.Error as error:
        if error.id != "C63-NO-FFMPEG":
            raise
        pytest.skip("this build has no FFmpeg")


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
    """An array of an unknown library that offers only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **stream):
        return self.array.__dlpack__(**stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
