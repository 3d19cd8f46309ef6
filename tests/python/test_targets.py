"""Targets: encode() gives the bytes of c63enc."""

import fractions

import numpy as np
import pytest
from conftest import error_of, make_video, open_or_skip

import c63


@pytest.fixture(scope="module")
def frames():
    return make_video(10, 96, 112)


@pytest.mark.parametrize(
    "options, arguments",
    [
        ({"bitrate": 900e3, "fps": 50}, ["--bitrate", "900k", "--fps", "50"]),
        ({"size": 12_000, "preset": "fast"}, ["--size", "12000", "--preset", "fast"]),
        ({"target_psnr": 36.5, "preset": "good"}, ["--target-psnr", "36.5", "--preset", "good"]),
        ({"target_psnr": ("all", 38), "qp": 12}, ["--target-psnr", "all:38", "--qp", "12"]),
        ({"target_ssim": 0.96, "preset": "fast"}, ["--target-ssim", "0.96", "--preset", "fast"]),
    ],
)
def test_streams_are_those_of_c63enc(frames, c63enc, tmp_path, options, arguments):
    expected = c63enc(frames, 112, 96, tmp_path, *arguments)
    coded = c63.encode_with_statistics(frames, backend="cpu", **options)
    assert coded.stream == expected
    target = coded.summary["target"]
    assert set(target) == {"met", "distance", "passes"} and 1 < len(target["passes"]) <= 8
    (best,) = [p for p in target["passes"] if p["bytes"] == len(expected)]
    assert best["bytes"] == coded.statistics["bytes"].sum() == coded.summary["bytes"]
    assert best["psnr_y"] == pytest.approx(c63.psnr(frames, c63.decode(expected)).y, rel=1e-12)
    encoder = c63.VideoEncoder(112, 96, backend="cpu", **options)
    assert encoder.encode(frames) == expected
    room = bytearray(len(expected))
    assert encoder.encode(frames, out=room) == expected == room
    assert encoder.summary["target"]["passes"] == target["passes"]


def test_a_target_is_kept(frames):
    coded = c63.encode_with_statistics(frames, preset="fast", size=14_000)
    assert coded.summary["target"]["met"] and 0.98 * 14_000 < len(coded.stream) <= 14_000
    assert c63.encode_with_statistics(frames).summary["target"] is None
    assert c63.encode(frames, target_psnr=("y", 36.5)) == c63.encode(frames, target_psnr=36.5)
    with pytest.warns(c63.TargetWarning, match="would do") as told:
        assert c63.encode(frames, target_psnr=90)
    assert told[0].filename == __file__
    tight = c63.Settings(preset="fast", size=14_000, max_memory=16 << 20)  # the best stream so far takes a part of it
    assert c63.encode(frames, tight) == coded.stream
    error = error_of(c63.encode, frames, size=100)
    assert (error.kind, error.id) == ("limit", "C63-TARGET-LIMIT")


def test_files_have_their_own_rate(frames, tmp_path):
    path = tmp_path / "clip.y4m"
    path.write_bytes(b"YUV4MPEG2 W112 H96 F50:1 C420jpeg\n" + b"".join(b"FRAME\n" + f.tobytes() for f in frames))
    clip = c63.open(path)
    expected = c63.encode(frames, bitrate=900e3, fps=fractions.Fraction(50))
    assert c63.encode(clip, bitrate=900e3) == expected != c63.encode(frames, bitrate=900e3)
    assert c63.encode(clip, bitrate=900e3, fps=25) == c63.encode(frames, bitrate=900e3)
    assert c63.VideoEncoder(112, 96, bitrate=900e3).encode(clip) == expected


def test_files_that_cannot_be_sought_in_are_read_again(tmp_path):
    path = tmp_path / "clip.ppm"
    pictures = np.random.default_rng(2).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    path.write_bytes(b"".join(b"P6\n32 32\n255\n" + picture.tobytes() for picture in pictures))
    clip = open_or_skip(path)
    assert not clip.seekable
    assert c63.encode(clip) == c63.encode(clip) == c63.encode(c63.open(path).read())
    error_of(clip.read)  # an encode has read it
    clip = c63.open(path)
    frames = c63.open(path).read()
    assert c63.encode(clip, size=9000) == c63.encode(frames, size=9000)
    assert c63.encode(clip, size=9000) == c63.encode(frames, size=9000)
    assert c63.psnr(clip, frames).all == c63.psnr(clip, clip).all == np.inf
