"""Calls do not leak memory, whether they succeed or fail. C63_SOAK_CYCLES is the number of cycles (default 200)."""

import gc
import os

import numpy as np
import pytest
from conftest import DlpackOnly, make_video

import c63

CYCLES = int(os.environ.get("C63_SOAK_CYCLES", "200"))


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cycle(video, stream):
    c63.encode(video, threads=1)
    videos = c63.VideoEncoder(32, 32, threads=1)
    assert videos.encode(video) == videos.encode(video, out=bytearray(4 * video.nbytes))
    with pytest.raises(c63.Error):
        videos.encode(video, out=bytearray(9))
    with c63.Encoder(32, 32, threads=1, keep_motion=True, keep_reconstruction=True) as encoder:
        encoder.push(video[0])
        encoder.push(video[1])
    frames = encoder.poll()
    del frames[0]
    with pytest.raises(c63.UsageError):
        c63.encode(DlpackOnly(video.astype(np.int32)))
    for frame in c63.Decoder(stream, prediction=True, motion=True, threads=1):
        if frame.index == 1:
            break
    with pytest.raises(c63.Error):
        c63.decode(stream[:-9], threads=1)
    c63.estimate_motion(DlpackOnly(video[1, :32]), video[0, :32], 4)
    c63.psnr(video, video)


def test_memory_is_flat():
    video = make_video(3, 32, 32)
    stream = c63.encode(video)
    for _ in range(50):
        cycle(video, stream)
    gc.collect()
    before = resident_bytes()
    for _ in range(CYCLES):
        cycle(video, stream)
    gc.collect()
    grown = resident_bytes() - before
    # The heap itself may grow by some pages. The limit is above that. A leak of one frame (1.5 KiB) per cycle exceeds
    # it if there are many cycles.
    assert grown < (4 << 20), f"{grown} bytes more after {CYCLES} cycles"
