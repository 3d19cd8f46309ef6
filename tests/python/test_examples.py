"""The examples run, and what they print is true."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import make_video

import c63

EXAMPLES = pathlib.Path(__file__).parents[2] / "python" / "examples"


def test_rate_distortion(tmp_path):
    pytest.importorskip("matplotlib")
    video = make_video(6, 96, 112)
    clip = tmp_path / "clip_112x96.yuv"
    clip.write_bytes(video.tobytes())
    done = subprocess.run(
        [sys.executable, EXAMPLES / "rate_distortion.py", clip, "--out", tmp_path, "--frames", "5"],
        check=True, capture_output=True, text=True,
    )
    assert "fast: " in done.stdout and "good: " in done.stdout
    curves = json.loads((tmp_path / "rate_distortion.json").read_text())
    stream = c63.encode(video[:5], preset="fast", qp=28)
    rate, quality = curves["fast"][2]
    assert rate == 8 * len(stream) / 5
    assert quality == pytest.approx(c63.psnr(video[:5], c63.decode(stream)).y, rel=1e-12)
    for picture in ("rate_distortion.png", "motion.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments",
    [["rate_distortion.py", "absent.y4m"], ["static_camera.py"], ["static_camera.py", "absent.y4m"], ["stabilize.py", __file__, "out.y4m"]],
)
def test_errors_are_one_line(arguments, tmp_path):
    done = subprocess.run([sys.executable, EXAMPLES / arguments[0], *arguments[1:]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr


def smooth_texture(height, width):
    texture = np.kron(np.random.default_rng(5).integers(30, 220, (height // 6, width // 6)), np.ones((6, 6)))
    return sum(np.roll(texture, k, axis) for axis in (0, 1) for k in range(4)) / 8


def film_of(tmp_path, places, cut=None):
    """Writes a film of 128x96 that shows a texture from each of the places (x, y), from frame `cut` on with other samples."""
    texture = smooth_texture(240, 300)
    video = np.full((len(places), 144, 128), 128, np.uint8)
    for i, (x, y) in enumerate(places):
        video[i, :96] = texture[40 + y : 136 + y, 60 + x : 188 + x]
        if cut is not None and i >= cut:
            video[i, :96] = 255 - video[i, :96, ::-1]
    path = tmp_path / "film_128x96.yuv"
    path.write_bytes(video.tobytes())
    return path, video


def run(name, *arguments):
    return subprocess.run([sys.executable, EXAMPLES / name, *arguments], check=True, capture_output=True, text=True).stdout


def test_stabilize(tmp_path):
    shaky, video = film_of(tmp_path, np.random.default_rng(5).integers(-6, 7, (24, 2)))
    run("stabilize.py", shaky, tmp_path / "steady.y4m")
    with c63.open(tmp_path / "steady.y4m") as result:
        held = result.read()
    assert held.shape == video.shape

    def restless(frames):
        middle = frames[:, 16:80, 16:112].astype(int)
        return np.abs(np.diff(middle, axis=0)).mean()

    assert restless(held) < 0.4 * restless(video), (restless(held), restless(video))


def test_interpolate(tmp_path):
    places = [(3 * i, -2 * i) for i in range(9)]
    _, truth = film_of(tmp_path, places)
    film, half = film_of(tmp_path, places[::2])
    run("interpolate.py", film, tmp_path / "double.y4m")
    with c63.open(tmp_path / "double.y4m") as result:
        double = result.read()
        assert result.rate == 50
    assert double.shape == truth.shape and np.array_equal(double[::2], half)
    middle = np.s_[1::2, 16:80, 16:112]
    error = np.abs(double[middle].astype(int) - truth[middle]).mean()
    blended = np.abs((half[:-1].astype(int) + half[1:]) // 2 - truth[1::2])[:, 16:80, 16:112].mean()
    assert error < 0.05 * blended, (error, blended)


def test_heat_map(tmp_path):
    pytest.importorskip("matplotlib")
    film, video = film_of(tmp_path, [(0, 0)] * 8)
    for i in range(8):
        video[i, 48:64, 64:80] = smooth_texture(60, 120)[20:36, 20 + 4 * i : 36 + 4 * i]
    film.write_bytes(video.tobytes())
    told = run("heat_map.py", film, tmp_path / "map.png")
    assert told == "most motion: 100.0 samples in a second, at 64,48\n"
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_static_camera(tmp_path):
    film, _ = film_of(tmp_path, [(0, 0)] * 10 + [(2 * i, 0) for i in range(10)] + [(20, -3 * i) for i in range(9)], cut=20)
    assert run("static_camera.py", film).splitlines() == [
        "    0.00 to     0.00 s: cut",
        "    0.04 to     0.40 s: still",
        "    0.44 to     0.76 s: moves right",
        "    0.80 to     0.80 s: cut",
        "    0.84 to     1.12 s: moves up",
    ]
