"""The examples run, and what they print is true."""

import json
import pathlib
import subprocess
import sys

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
    curves = json.loads((tmp_path / "rate_distortion.json").read_text())["curves"]
    stream = c63.encode(video[:5], preset="fast", qp=28)
    rate, quality = curves["fast"][2]
    assert rate == 8 * len(stream) / 5
    assert quality == pytest.approx(c63.psnr(video[:5], c63.decode(stream)).y, rel=1e-12)
    for picture in ("rate_distortion.png", "motion.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
