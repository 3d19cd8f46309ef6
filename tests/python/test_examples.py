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
    [["rate_distortion.py", "absent.y4m"], ["stabilize.py"], ["stabilize.py", "absent.y4m", "out.y4m"], ["stabilize.py", __file__, "out.y4m"]],
)
def test_errors_are_one_line(arguments, tmp_path):
    done = subprocess.run([sys.executable, EXAMPLES / arguments[0], *arguments[1:]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr


def test_stabilize(tmp_path):
    rng = np.random.default_rng(5)
    texture = np.kron(rng.integers(30, 220, (40, 50)), np.ones((6, 6)))
    texture = sum(np.roll(texture, k, axis) for axis in (0, 1) for k in range(4)) / 8
    video = np.full((24, 144, 128), 128, np.uint8)
    for i, (x, y) in enumerate(rng.integers(-6, 7, (24, 2))):
        video[i, :96] = texture[40 + y : 136 + y, 60 + x : 188 + x]
    shaky, steady = tmp_path / "shaky_128x96.yuv", tmp_path / "steady.y4m"
    shaky.write_bytes(video.tobytes())
    subprocess.run([sys.executable, EXAMPLES / "stabilize.py", shaky, steady], check=True)
    with c63.open(steady) as result:
        held = result.read()
    assert held.shape == video.shape

    def restless(frames):
        middle = frames[:, 16:80, 16:112].astype(int)
        return np.abs(np.diff(middle, axis=0)).mean()

    assert restless(held) < 0.4 * restless(video), (restless(held), restless(video))
