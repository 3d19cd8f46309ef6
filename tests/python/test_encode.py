"""Tests encode(): its bytes, arrays of all kinds, errors, threads and interrupts."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import DlpackOnly, error_of, make_video

import c63


@pytest.mark.parametrize("options", [{}, {"qp": 40, "keyint": 5}, {"preset": "fast"}, {"preset": "good", "qp": 18}, {"preset": "best"}])
def test_bytes_are_those_of_c63enc(video, c63enc, tmp_path, options):
    arguments = [text for key, value in options.items() for text in ("--" + key, str(value))]
    expected = c63enc(video, 112, 96, tmp_path, *arguments)
    assert c63.encode(video, **options) == expected
    assert c63.encode(video, c63.Settings(**options), threads=1, lanes=1) == expected


def test_layouts_of_one_video_give_the_same_bytes(video):
    expected = c63.encode(video, backend="cpu")
    poisoned = np.full((24, 160, 130), 99, np.uint8)  # frames with gaps between rows, and between frames
    y, u, v = c63.planes(video)
    poisoned_y = poisoned[::2, 3:99, 5:117]
    poisoned_y[...] = y
    readonly = video.copy()
    readonly.flags.writeable = False
    every_second = np.repeat(video, 2, axis=0)
    every_second[1::2] = 7
    for frames in (
        memoryview(video),
        readonly,
        every_second[::2],
        (y, u, v),
        [y.copy(), u.copy(), v.copy()],
        (poisoned_y, u, v),
        DlpackOnly(video),
        tuple(DlpackOnly(plane.copy()) for plane in (y, u, v)),
        DlpackOnly(every_second[::2]),
    ):
        assert c63.encode(frames, backend="cpu") == expected
    assert c63.encode(video[::-1], backend="cpu") == c63.encode(video[::-1].copy(), backend="cpu") != expected


@pytest.mark.parametrize("width, height", [(20, 13), (16, 16), (36, 1), (4, 9)])
def test_odd_sizes_take_flat_frames(c63enc, tmp_path, width, height):
    frame_bytes = width * height + 2 * (width * height // 4)
    frames = np.random.default_rng(width).integers(0, 256, (3, frame_bytes), dtype=np.uint8)
    assert c63.encode(frames, input_res=(width, height)) == c63enc(frames, width, height, tmp_path)


@pytest.mark.parametrize("layout", ["frames", "planes", "flat", "file"])
def test_a_video_without_a_whole_frame_is_an_error(video, clip, layout):
    clip.write_bytes(video.tobytes()[:99])
    options = {"input_res": (112, 96)} if layout == "flat" else {}
    frames = {
        "frames": lambda: video[:0],
        "planes": lambda: c63.planes(video[:0]),
        "flat": lambda: video.reshape(12, -1)[:0],
        "file": lambda: c63.open(clip),
    }[layout]()
    for call in (c63.encode, c63.VideoEncoder(112, 96).encode, lambda v, **o: c63.encode(v, bitrate=1e5, **o)):
        error = error_of(call, frames, **options)
        assert (error.kind, error.id) == ("input", "C63-NO-FRAMES")
    for measure in (c63.psnr, c63.ssim):
        assert error_of(measure, frames, frames, **options).id == "C63-NO-FRAMES"


def test_an_encoder_of_videos_gives_each_the_same_bytes(video):
    encoder = c63.VideoEncoder(112, 96, backend="cpu", keyint=4)
    assert encoder.summary == {} and len(encoder.statistics) == 0
    for frames in (video, video[::-1], video[:5], c63.planes(video), video):
        expected = c63.encode_with_statistics(frames, backend="cpu", keyint=4)
        assert encoder.encode(frames) == expected.stream
        assert (encoder.statistics["bytes"] == expected.statistics["bytes"]).all()
        assert encoder.summary["bytes"] == len(expected.stream)
    assert error_of(encoder.encode, video[:0]).id == "C63-NO-FRAMES"
    assert encoder.encode(video) == expected.stream


def test_streams_go_into_out(video):
    encoder = c63.VideoEncoder(112, 96, backend="cpu")
    expected = encoder.encode(video)
    for room in (bytearray(b"\xa5" * 100_000), np.full((10, 10_000), 0xA5, np.uint8), memoryview(bytearray(100_000))):
        part = encoder.encode(video, out=room)
        assert isinstance(part, memoryview) and part == expected
        after = memoryview(room).cast("B")[len(expected) :]
        assert set(after) <= {0xA5, 0}, "nothing is written past the stream"
    exact = bytearray(len(expected))
    assert encoder.encode(video, out=exact) == expected == exact
    error = error_of(encoder.encode, video, out=memoryview(exact)[:-1])
    assert (error.kind, error.id) == ("limit", "C63-ROOM")
    for out, id in ((b"constant", "READONLY"), (np.zeros(9), "DTYPE"), (memoryview(exact)[::2], "STRIDES")):
        assert error_of(encoder.encode, video, out=out).id == f"C63-ARRAY-{id}"
    assert encoder.encode(video) == expected


def test_limits_keep_their_kind(video):
    error = error_of(c63.encode, video, max_memory=1000)
    assert (error.kind, error.id, isinstance(error, ValueError)) == ("limit", "C63-MAX-MEMORY", False)


def test_arrays_are_given_back(video):
    frames = video.copy()
    wrapped = DlpackOnly(frames)
    wrong = frames.astype(np.int16)
    before = [sys.getrefcount(a) for a in (frames, wrapped, wrong)]
    for _ in range(5):
        c63.encode(frames[:2])
        c63.encode(wrapped, lanes=1)
        for array in (wrong, frames[:, ::2], DlpackOnly(wrong)):
            with pytest.raises(c63.UsageError):
                c63.encode(array)
        with pytest.raises(c63.UsageError):
            c63.encode(frames, qp=1)
        with pytest.raises(c63.UsageError):
            c63.encode((frames[:, :64], frames, wrong))
        del array
    assert [sys.getrefcount(a) for a in (frames, wrapped, wrong)] == before
    frames.resize((6, 288, 112), refcheck=False)


def test_statistics_add_up(video):
    stream, rows, summary = c63.encode_with_statistics(video, keyint=4, ssim=True)
    assert list(rows.dtype.names) == c63.STATISTICS
    assert list(rows["index"]) == list(range(12))
    assert list(rows["key"]) == [i % 4 == 0 for i in range(12)]
    assert rows["bytes"].sum() == len(stream) == summary["bytes"]
    bits = rows["header_bits"] + rows["motion_bits"] + rows["luma_bits"] + rows["chroma_bits"]
    assert list(bits) == list(8 * rows["bytes"])
    decoded = c63.decode(stream)
    errors = (decoded.astype(np.int64) - video) ** 2
    assert list(rows["sse"][:, 0]) == list(errors[:, :96].sum((1, 2)))
    assert c63.ssim(video, decoded).y == pytest.approx(rows["ssim"][:, 0].mean(), rel=1e-12)
    assert (summary["frames"], summary["key_frames"], summary["stopped"]) == (12, 3, False)


def test_other_threads_run_meanwhile():
    frames = make_video(6, 256, 320)
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    counter = threading.Thread(target=count)
    counter.start()
    try:
        while ticks < 5:
            c63.encode(frames, preset="good", threads=1)
    finally:
        done.set()
        counter.join()


def test_several_threads_encode_at_once(video):
    expected = c63.encode(video)
    results = []
    threads = [threading.Thread(target=lambda: results.append(c63.encode(video, threads=1))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_ctrl_c_ends_an_encode():
    frames = np.broadcast_to(make_video(1, 256, 320), (200_000, 384, 320))  # this would take hours
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        c63.encode(frames, preset="good", backend="cpu")
    assert time.monotonic() - start < 30
    assert c63.encode(make_video(1, 16, 16))  # everything still works
