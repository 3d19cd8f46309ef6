"""Tests what type checkers accept and reject, and that the declared types are right."""

import dataclasses
import inspect
import json
import os
import pathlib
import subprocess
import sys
import typing

import numpy as np
import pytest

import c63
from c63._options import TARGETS
from c63._settings import RENAMED

PACKAGES = pathlib.Path(c63.__file__).parents[1]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy --strict, or another module of its package, in a folder. Returns status and text."""
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def run(folder, *arguments, module="mypy"):
        options = ["--strict", f"--cache-dir={cache}"] if module == "mypy" else []
        done = subprocess.run(
            [sys.executable, "-m", module, *options, *map(str, arguments)],
            env={**os.environ, "MYPYPATH": str(PACKAGES)}, cwd=folder, text=True, capture_output=True,
        )
        return done.returncode, done.stdout + done.stderr

    return run


# If the whole package is checked, mypy reads the stub of _encode.py instead of the file itself. So _encode.py is
# checked by itself, too.
@pytest.mark.parametrize("part", ["c63", "c63/_encode.py"])
def test_the_package_is_typed(mypy, tmp_path, part):
    status, text = mypy(tmp_path, PACKAGES / part)
    assert status == 0, text


def test_the_stub_is_what_runs(mypy, tmp_path):
    status, text = mypy(tmp_path, "c63._encode", "--ignore-missing-stub", "--concise", module="mypy.stubtest")
    assert status == 0, text


GOOD = """
import fractions
import numpy as np
import c63

with c63.open("clip.yuv", input_res=(352, 288)) as video:
    stream: bytes = c63.encode(video, qp=25, preset="good", keyint=50, me="full-brute", rdoq=True, device=0, fps=video.rate)
    c63.encode(video[:10], c63.Settings(qp=30), bitrate=800e3, gop_cap=1.5, device=[0, 1])
    c63.encode(video.read(5), target_psnr=("all", 38), merange=None)
    c63.encode(video, size=200_000, fps=fractions.Fraction(30000, 1001))
    first = video[0]
    print(len(video), first.shape, c63.psnr(video, c63.decode(stream)).y)
with c63.Encoder(352, 288, keep_motion=True) as encoder:
    encoder.push(first)
    for coded in encoder.poll():
        stream += coded.data
room: memoryview = c63.VideoEncoder(352, 288, preset="fast").encode(first[np.newaxis], out=bytearray(9))
with c63.Decoder(stream, threads=2) as decoder:
    pictures = [frame.picture for frame in decoder[0:3]]
rgb = c63.yuv_to_rgb(pictures[0], "bt709")
motion = c63.estimate_motion(c63.luma(first), first, 16, method="full")
c63.filters.convolve([1.0, 2, 3], [0.5])
"""


def test_right_calls_are_accepted(mypy, tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    status, text = mypy(tmp_path, "good.py")
    assert status == 0, text


BAD = [
    ('c63.encode(v, qp="25")', 'Argument "qp" to "encode" has incompatible type "str"'),
    ('c63.encode(v, preset="god")', "expected \"Literal['reference', 'fast', 'good', 'best']\"|Argument \"preset\""),
    ("c63.encode(v, nonsense=3)", 'Unexpected keyword argument "nonsense"'),
    ("c63.encode(v, key_interval=3)", 'Unexpected keyword argument "key_interval"'),
    ("c63.encode(v, size=(16, 16))", 'Argument "size"'),
    ("c63.encode(v, target_psnr='all:38')", 'Argument "target_psnr"'),
    ("c63.encode_with_statistics(v, keyint=2.5)", 'Argument "keyint"'),
    ("c63.Settings(rdoq='yes')", 'Argument "rdoq" to "Settings"'),
    ("c63.Encoder(16, 16, bitrate=1e6)", 'Unexpected keyword argument "bitrate"'),
    ("c63.VideoEncoder('16', 16)", 'Argument 1 to "VideoEncoder"'),
    ("c63.VideoEncoder(16, 16, backend='tpu')", 'Argument "backend"'),
    ("c63.open('x', format='avi')", 'Argument "format"'),
    ("c63.estimate_motion(v, v, method='best')", 'Argument "method"'),
    ("c63.yuv_to_rgb(v, 'bt2020')", "Argument 2"),
    ("len(c63.Encoder(16, 16))", "incompatible type"),
]


def test_wrong_calls_are_found(mypy, tmp_path):
    (tmp_path / "bad.py").write_text("from typing import Any\nimport c63\nv: Any = 0\n" + "".join(f"{call}\n" for call, _ in BAD))
    status, text = mypy(tmp_path, "bad.py")
    assert status == 1
    for line, (call, says) in enumerate(BAD, 4):
        found = [error for error in text.splitlines() if error.startswith(f"bad.py:{line}: error")]
        assert any(part in error for error in found for part in says.split("|")), f"{call}: {text}"


FIELDS = {field.name: field for field in dataclasses.fields(c63.Settings)}


def test_names_are_those_of_the_command_line():
    program = pathlib.Path(os.environ.get("C63_BIN_DIR", "")) / "c63enc"
    if not program.is_file():
        pytest.skip("no c63enc (set C63_BIN_DIR)")
    described = json.loads(subprocess.run([program, "--describe-options"], check=True, capture_output=True, text=True).stdout)
    options = {
        name.lstrip("-").replace("-", "_"): option for option in described["options"] for name in option["names"] if name[:2] == "--"
    }
    only_here = {"keep_reconstruction", "keep_prediction", "keep_motion"}
    assert set(FIELDS) - set(options) == only_here
    files_and_programs = {"Input and output", "Segments", "General", "Measurement"}
    left_out = {"stats", "spool", "me_kernel", "entropy", "upload", "launch", "sync", "list_devices"}
    of_encodes = {name for name, option in options.items() if option["group"] not in files_and_programs}
    assert {name for name in of_encodes if not name.startswith("no_")} - set(FIELDS) - left_out == set()


def test_all_settings_are_explained_and_shown():
    for name in FIELDS:
        assert f"\n    {name}: " in c63.Settings.__doc__, name
        for function in (c63.encode, c63.encode_with_statistics, c63.VideoEncoder):
            parameter = inspect.signature(function).parameters[name]
            assert parameter.kind == parameter.KEYWORD_ONLY and parameter.default == FIELDS[name].default
    assert set(FIELDS) - set(inspect.signature(c63.Encoder).parameters) == {*TARGETS, "frame_drop", "gop_cap", "fps"}
    assert set(RENAMED.values()) <= set(FIELDS)


@pytest.mark.parametrize(
    "options, says",
    [
        ({"qp": "25"}, "qp: wanted a number, got '25'"),
        ({"qp": True}, "qp: wanted a number, got True"),
        ({"qp": float("nan")}, "qp nan is outside 5..50"),
        ({"qp": 10**400}, "qp: wanted a number that a float holds"),
        ({"qp": [25]}, "qp: wanted a number, got \\[25\\]"),
        ({"preset": "god"}, "preset: wanted one of reference, fast, good, best, got 'god'"),
        ({"preset": 3}, "preset: wanted one of"),
        ({"keyint": 2.5}, "keyint: wanted an int, got 2.5"),
        ({"keyint": 2**40}, "keyint: wanted an int from"),
        ({"keyint": -(2**70)}, "keyint: wanted an int from"),
        ({"keyint": -3}, "keyint -3 is below 1"),
        ({"merange": 128}, "outside 1..127"),
        ({"threads": -1}, "threads -1 is outside 0..4096"),
        ({"lanes": -1}, "lanes -1 is outside 0..4096"),
        ({"threads": 2**31}, "threads: wanted an int"),
        ({"max_memory": -1}, "max_memory: wanted an int of 0 or more, got -1"),
        ({"max_memory": 2**64}, "max_memory: wanted an int"),
        ({"rdoq": "yes"}, "rdoq: wanted True or False, got 'yes'"),
        ({"psnr": 1}, "psnr: wanted True or False, got 1"),
        ({"device": "0"}, "device: wanted GPUs"),
        ({"device": -1}, "device: wanted an int of 0 or more, got -1"),
        ({"simd": "mmx"}, "simd: wanted one of scalar, .* or None, got 'mmx'"),
        ({"nonsense": 3}, "nonsense: there is no such option; see help"),
        ({"presett": "fast"}, "presett: there is no such option; did you mean preset?"),
        ({"key_interval": 3}, "key_interval: there is no such option; did you mean keyint?"),
        ({"devices": [0]}, "did you mean device?"),
        ({"size": (352, 288)}, r"size: wanted bytes of the stream \(the size of pictures is input_res"),
        ({"size": "2M"}, "size: wanted an int"),
        ({"bitrate": 1e6, "size": 9999}, "bitrate, size: give only one target"),
        ({"gop_cap": 2.0}, "gop_cap: it needs bitrate"),
        ({"bitrate": 1e5, "gop_cap": 0.5}, "C63-GOP-CAP"),
        ({"bitrate": -5}, "no stream can have a bit rate"),
        ({"target_ssim": 1.5}, "no stream can have SSIM"),
        ({"target_psnr": ("u", 38)}, "target_psnr: wanted dB"),
        ({"fps": 0}, "fps: wanted a number above 0"),
        ({"input_res": 5}, r"input_res: wanted \(width, height\), got 5"),
        ({"input_res": (2**40, 1)}, "input_res: wanted an int"),
        ({"input_res": (-2, 16)}, "input_res: wanted an int of 0 or more"),
    ],
)
def test_wrong_options_are_reported_in_one_line(video, options, says):
    with pytest.raises(c63.UsageError, match=says) as caught:
        c63.encode(video, **options)
    assert "\n" not in str(caught.value) and caught.value.kind == "usage" and caught.value.id
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda v: c63.encode(v, {"qp": 3}), "settings: wanted c63.Settings"),
        (lambda v: c63.encode("video.yuv"), "frames: wanted arrays or c63.open"),
        (lambda v: c63.encode(None), "frames: wanted an array"),
        (lambda v: c63.VideoEncoder("16", 16), "width: wanted an int, got '16'"),
        (lambda v: c63.VideoEncoder(2**33, 16), "width: wanted an int"),
        (lambda v: c63.VideoEncoder(-16, 16), "both sides must be positive"),
        (lambda v: c63.Encoder(16, 16.5), "height: wanted an int, got 16.5"),
        (lambda v: c63.Encoder(16, 16, bitrate=1e5), "a target needs several passes over the whole video"),
        (lambda v: c63.Encoder(16, 16).summary, "after finish"),
        (lambda v: c63.Encoder(16, 16).push(None), "frame: wanted an array"),
        (lambda v: c63.estimate_motion(v[0, :96], v[0, :96], "16"), "search_range: wanted an int, got '16'"),
        (lambda v: c63.estimate_motion(v[0, :96], v[0, :96], 2**40), "search_range: wanted an int"),
        (lambda v: c63.estimate_motion(v[0, :96], v[0, :96], -4), "outside 1..127"),
        (lambda v: c63.estimate_motion(v[0, :96], v[0, :96], method="diamond"), "method: wanted one of full, full-brute"),
        (lambda v: c63.estimate_motion(v[0, :96], "reference"), "reference: wanted an array"),
        (lambda v: c63.psnr(v, 3), "wanted an array"),
        (lambda v: c63.psnr(v, v, input_res="112x96"), "input_res: wanted"),
        (lambda v: c63.bd_rate("a", [(1, 2)]), "anchor: wanted points"),
        (lambda v: c63.bd_rate([(1, 2), (3,)], [(1, 2)]), "anchor: wanted points"),
        (lambda v: c63.Decoder(b"", threads="2"), "threads: wanted an int"),
        (lambda v: c63.Decoder(b"", motion="yes"), "motion: wanted True or False"),
        (lambda v: c63.Decoder(3), "stream: wanted an array"),
        (lambda v: c63.decode(3), "stream: wanted an array"),
        (lambda v: c63.decode(b"", threads=-1), "threads: wanted an int of 0 or more"),
        (lambda v: c63.open(3), "path: wanted a file's name, got 3"),
        (lambda v: c63.open("x.yuv", input_res=(352, 288, 1)), r"input_res: wanted \(width, height\)"),
        (lambda v: c63.open("x.yuv", format=3), "format: wanted one of auto, raw, y4m, av"),
        (lambda v: c63.open("x.yuv", strict=1), "strict: wanted True or False"),
        (lambda v: c63.filters.mean_kernel("3"), "size: wanted an int"),
        (lambda v: c63.filters.gauss_kernel(None), "sigma: wanted a number, got None"),
        (lambda v: c63.filters.mean_filter([1.0], 2**50), "width: wanted an int"),
        (lambda v: c63.filters.whiten(v, "3"), "memory: wanted an int"),
        (lambda v: c63.filters.whiten(v, 2, 3), "method: wanted"),
        (lambda v: c63.filters.convolve(np.zeros(5), ["a"]), "taps: wanted numbers"),
        (lambda v: c63.filters.convolve(np.zeros(5), [[1], [2, 3]]), "taps: wanted numbers"),
        (lambda v: c63.filters.convolve(5, [1]), "signal: wanted an array"),
        (lambda v: c63.filters.convolve_picture(v[0], [[0.5]]), "taps: wanted whole numbers"),
        (lambda v: c63.filters.multiply(3, [[1]]), "a: wanted an array"),
        (lambda v: c63.filters.sum("text"), "values: wanted an array"),
        (lambda v: c63.filters.inclusive_scan(3), "values: wanted an array"),
    ],
)
def test_wrong_arguments_are_reported_in_one_line(video, call, says):
    with pytest.raises(c63.UsageError, match=says) as caught:
        call(video)
    assert "\n" not in str(caught.value)


def test_numbers_of_numpy_are_numbers(video):
    expected = c63.encode(video, qp=30, keyint=5, scenecut=True, threads=1)
    assert expected == c63.encode(
        video, qp=np.float32(30), keyint=np.int64(5), scenecut=np.bool_(True), threads=np.uint8(1), device=np.array([], int)
    )
    assert c63.Settings(qp=np.float32(30)) == c63.Settings(qp=30.0)
