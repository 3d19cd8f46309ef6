"""Tests what type checkers accept and reject, and that the declared types are right."""

import dataclasses
import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import c63
from c63._options import TARGETS
from c63._settings import RENAMED

PACKAGES = pathlib.Path(c63.__file__).parents[1]


GOOD = """
import fractions
import numpy as np
import c63

with c63.open("clip.yuv", input_res=(352, 288)) as video:
    stream: bytes = c63.encode(video, qp=25, preset="good", keyint=50, me="full-brute", rdoq=True, device=0, fps=video.rate)
    c63.encode(video[:10], c63.Settings(qp=30), bitrate=800e3, device=[0, 1])
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
with c63.film_motion("film.mp4", 16, codec_vectors=True, device=0, on_progress=lambda done, all: None) as film:
    times: list[float] = [found.time for found in film if found.reference is not None]
    numbers = film.read().frame
c63.filters.convolve([1.0, 2, 3], [0.5])
"""


BAD = (
    'c63.encode(v, qp="25")',
    'c63.encode(v, preset="god")',
    "c63.encode(v, nonsense=3)",
    "c63.encode(v, size=(16, 16))",
    "c63.encode(v, target_psnr='all:38')",
    "c63.encode_with_statistics(v, keyint=2.5)",
    "c63.Settings(rdoq='yes')",
    "c63.Encoder(16, 16, bitrate=1e6)",
    "c63.VideoEncoder('16', 16)",
    "c63.VideoEncoder(16, 16, backend='tpu')",
    "c63.open('x', format='avi')",
    "c63.estimate_motion(v, v, method='best')",
    "c63.film_motion(v, backend='gpu')",
    "c63.film_motion(v, device=[0])",
    "c63.yuv_to_rgb(v, 'bt2020')",
    "len(c63.Encoder(16, 16))",
)


def test_types_are_checked(tmp_path):
    """mypy finds nothing in the package and in right calls, and an error in each wrong call."""
    pytest.importorskip("mypy")
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text("from typing import Any\nimport c63\nv: Any = 0\n" + "".join(f"{call}\n" for call in BAD))
    # Keywords that are options have their types by PEP 692, which mypy knew first as "incomplete".
    options = ["--strict", f"--cache-dir={tmp_path / 'cache'}", "--enable-incomplete-feature=Unpack"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, PACKAGES / "c63", "good.py", "bad.py"],
        env={**os.environ, "MYPYPATH": str(PACKAGES)}, cwd=tmp_path, text=True, capture_output=True,
    )
    errors = re.findall(r"^(.*): error", done.stdout, re.M)
    assert set(errors) == {f"bad.py:{line}" for line in range(4, 4 + len(BAD))}, done.stdout + done.stderr


FIELDS = {field.name: field for field in dataclasses.fields(c63.Settings)}


def test_names_are_those_of_the_command_line():
    program = pathlib.Path(os.environ.get("C63_BIN_DIR", "")) / "c63enc"
    if not program.is_file():
        pytest.skip("no c63enc (set C63_BIN_DIR)")
    text = subprocess.run([program, "--help-all"], check=True, capture_output=True, text=True).stdout
    options, group = {}, ""
    for line in text.splitlines():
        group = line[:-1] if line[:1].isalpha() and line.endswith(":") else group
        if line.startswith("  -"):
            names = re.match(r"  (-[-a-z0-9]+(, -[-a-z0-9]+)*)", line)[1].split(", ")
            options |= {name[2:].replace("-", "_"): group for name in names if name[:2] == "--"}
    only_here = {"keep_reconstruction", "keep_prediction", "keep_motion"}
    assert set(FIELDS) - set(options) == only_here
    files_and_programs = {"Input and output", "Segments", "General", "Measurement"}
    left_out = {"stats", "spool", "me_kernel", "entropy", "upload", "launch", "sync", "list_devices", "hwaccel"}
    of_encodes = {name for name, group in options.items() if group not in files_and_programs}
    assert {name for name in of_encodes if not name.startswith("no_")} - set(FIELDS) - left_out == set()


def test_all_settings_are_explained_and_shown():
    for name in FIELDS:
        assert f"\n    {name}: " in c63.Settings.__doc__, name
        for function in (c63.encode, c63.encode_with_statistics, c63.VideoEncoder):
            parameter = inspect.signature(function).parameters[name]
            assert parameter.kind == parameter.KEYWORD_ONLY and parameter.default == FIELDS[name].default
    assert set(FIELDS) - set(inspect.signature(c63.Encoder).parameters) == set(TARGETS)
    assert set(RENAMED.values()) <= set(FIELDS)


NO_NUMBERS = (-1, -(10**20), 10**20, 10**400, "7", True, [1], float("nan"))
WRONG_OPTIONS = (
    *({name: value} for name in ("qp", "keyint", "threads", "max_memory") for value in NO_NUMBERS),
    *({"preset": "good", name: value} for name in ("merange", "candidates", "chroma_lambda") for value in NO_NUMBERS),
    {"preset": "god"}, {"preset": 3}, {"keyint": 2.5}, {"merange": 128}, {"threads": 2**31}, {"max_memory": 2**64}, {"rdoq": "yes"},
    {"psnr": 1}, {"device": "0"}, {"device": -1}, {"device": [1.5]}, {"simd": "mmx"}, {"nonsense": 3}, {"presett": "fast"}, {"size": (352, 288)},
    {"size": "2M"}, {"bitrate": 1e6, "size": 9999}, {"bitrate": -5}, {"target_ssim": 1.5}, {"target_psnr": ("u", 38)}, {"fps": 0},
    {"input_res": 5}, {"input_res": (2**40, 1)}, {"input_res": (-2, 16)},
)  # fmt: skip


@pytest.mark.parametrize("options", WRONG_OPTIONS, ids=str)
def test_wrong_options_are_reported_in_one_line(video, options):
    with pytest.raises(c63.UsageError) as caught:
        c63.encode(video, **options)
    assert "\n" not in str(caught.value) and caught.value.kind == "usage" and caught.value.id
    assert list(options)[-1] in str(caught.value).replace("-", "_") or caught.value.id != "C63-SETTING" or len(options) > 1
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, TypeError)


def test_a_misspelled_option_is_told_its_name(video):
    for wrong, right in (("presett", "preset"), *RENAMED.items()):
        with pytest.raises(c63.UsageError, match=f"did you mean {right}?"):
            c63.encode(video, **{wrong: 3})


PLANE, BYTES = np.zeros((96, 112), np.uint8), np.zeros((2, 24, 16), np.uint8)
SQUARES = np.zeros((2, 16, 16), np.uint8)
#: Calls of a video v, by the id of their error.
WRONG_CALLS = {
    "C63-ARRAY-DTYPE": (
        lambda v: c63.encode(BYTES.astype(np.float32)),
        lambda v: c63.encode(BYTES.astype(">u2")),
        lambda v: c63.psnr(v, v / 2),
        lambda v: c63.estimate_motion(PLANE.astype(float), PLANE),
        lambda v: c63.estimate_motion(SQUARES, around=np.zeros((1, 2, 2, 2))),
        lambda v: c63.filters.convolve(np.zeros(9, np.float32), np.zeros(3)),
        lambda v: c63.filters.convolve_picture(np.zeros((4, 4)), np.ones((3, 3), np.int32)),
        lambda v: c63.filters.histogram(np.zeros(4, np.int8)),
        lambda v: c63.filters.sum(np.zeros(4, np.int64)),
        lambda v: c63.filters.inclusive_scan(np.zeros(4, np.uint8)),
        lambda v: c63.filters.multiply(np.zeros((2, 2)), np.zeros((2, 2))),
        lambda v: c63.filters.whiten(np.zeros((3, 4, 4), np.int16), 1),
    ),
    "C63-ARRAY-SHAPE": (
        lambda v: c63.encode(BYTES[0]),
        lambda v: c63.encode(np.zeros((2, 25, 16), np.uint8)),
        lambda v: c63.encode(BYTES[:, :0]),
        lambda v: c63.encode((SQUARES, SQUARES)),
        lambda v: c63.encode((SQUARES, SQUARES, SQUARES)),
        lambda v: c63.encode((SQUARES[:, 1:],) * 3),
        lambda v: c63.psnr(v, v[1:]),
        lambda v: c63.ssim(v, v[:, :, :64].copy()),
        lambda v: c63.planes(np.zeros((25, 16), np.uint8)),
        lambda v: c63.planes(17),
        lambda v: c63.luma(np.zeros(100, np.uint8), input_res=(16, 16)),
        lambda v: c63.join_planes(SQUARES, SQUARES, SQUARES),
        lambda v: c63.rgb_to_yuv(BYTES),
        lambda v: c63.estimate_motion(v[np.newaxis], v[np.newaxis]),
        lambda v: c63.estimate_motion(v, v[:1]),
        lambda v: c63.estimate_motion(SQUARES, around=np.zeros((2, 2, 2), np.int8)),
        lambda v: c63.bd_rate(np.zeros((4, 3)), np.zeros((4, 2))),
        lambda v: c63.filters.sum_of_squared_errors(PLANE, PLANE[1:]),
        lambda v: c63.filters.convolve_picture(PLANE, np.ones((3, 5), np.int32)),
    ),
    "C63-ARRAY-STRIDES": (
        lambda v: c63.encode(np.zeros((2, 48, 16), np.uint8)[:, ::2]),
        lambda v: c63.encode(np.asfortranarray(BYTES)),
        lambda v: c63.estimate_motion(PLANE[:, ::2], PLANE[:, ::2]),
        lambda v: c63.filters.sum(PLANE[:, ::2]),
    ),
    "C63-ARRAY-KIND": (
        lambda v: c63.encode(17),
        lambda v: c63.encode(None),
        lambda v: c63.encode(object()),
        lambda v: c63.estimate_motion(PLANE, "reference"),
        lambda v: c63.Encoder(16, 16).push(None),
        lambda v: c63.psnr(v, 3),
        lambda v: c63.Decoder(3),
        lambda v: c63.decode(3),
        lambda v: c63.filters.convolve(5, [1]),
        lambda v: c63.filters.sum("text"),
    ),
    "C63-SETTING": (
        *(lambda v, make=make, size=size: make(*size) for make in (c63.Encoder, c63.VideoEncoder)
          for size in (("16", 16), (10**20, 16), (16, 16.5), (None, 16))),
        lambda v: c63.Encoder(16, 16, backend="cuda", device=[1.5]),
        lambda v: c63.encode(v, {"qp": 3}),
        lambda v: c63.encode("video.yuv"),
        lambda v: c63.Encoder(16, 16, bitrate=1e5),
        lambda v: c63.Encoder(16, 16).summary,
        lambda v: c63.estimate_motion(PLANE),
        lambda v: c63.estimate_motion(PLANE, PLANE, "16"),
        lambda v: c63.estimate_motion(PLANE, PLANE, 2**40),
        lambda v: c63.estimate_motion(PLANE, PLANE, method="diamond"),
        lambda v: c63.estimate_motion(PLANE, PLANE, second=1),
        lambda v: c63.psnr(v, v, input_res="112x96"),
        lambda v: c63.luma(v, input_res="16x16"),
        lambda v: c63.join_planes(PLANE.astype(float), PLANE[:48, :56], PLANE[:48, :56]),
        lambda v: c63.yuv_to_rgb(BYTES, "bt2020"),
        lambda v: c63.bd_rate("a", [(1, 2)]),
        lambda v: c63.bd_rate([(1, 2), (3,)], [(1, 2)]),
        lambda v: c63.Decoder(b"", threads="2"),
        lambda v: c63.Decoder(b"", motion="yes"),
        lambda v: c63.decode(b"", threads=-1),
        lambda v: c63.open(3),
        lambda v: c63.open("x.yuv", input_res=(352, 288, 1)),
        lambda v: c63.open("x.yuv", format=3),
        lambda v: c63.open("x.yuv", format="avi"),
        lambda v: c63.open("x.yuv", strict=1),
        lambda v: c63.filters.mean_kernel("3"),
        lambda v: c63.filters.gauss_kernel(None),
        lambda v: c63.filters.mean_filter([1.0], 2**50),
        lambda v: c63.filters.whiten(v, "3"),
        lambda v: c63.filters.whiten(v, 2, 3),
        lambda v: c63.filters.whiten(v, 2, "other"),
        lambda v: c63.filters.convolve(np.zeros(5), ["a"]),
        lambda v: c63.filters.convolve(np.zeros(5), [[1], [2, 3]]),
        lambda v: c63.filters.convolve_picture(v[0], [[0.5]]),
        lambda v: c63.filters.inclusive_scan(3),
        *(lambda v, divisor=divisor: c63.filters.convolve_picture(PLANE, c63.filters.Kernel(np.ones((3, 3), np.int32), divisor))
          for divisor in (4.5, 0, -3, float("nan"), 1e10)),
    ),
    "": (  # errors of the library
        lambda v: c63.VideoEncoder(-16, 16),
        lambda v: c63.Encoder(0, 16),
        lambda v: c63.VideoEncoder(16, 16, qp=4),
        lambda v: c63.VideoEncoder(96, 112).encode(v),
        lambda v: c63.estimate_motion(PLANE, PLANE, -4),
        lambda v: c63.estimate_motion(PLANE, PLANE, 200),
        lambda v: c63.estimate_motion(PLANE[:-1], PLANE[:-1]),
        lambda v: c63.estimate_motion(PLANE, PLANE[:-8]),
        lambda v: c63.estimate_motion(SQUARES, zero_bias=-1),
        lambda v: c63.estimate_motion(SQUARES, zero_bias=16321),
        lambda v: c63.estimate_motion(SQUARES, second_distance=0),
        lambda v: c63.filters.convolve(np.zeros(9), np.zeros(4)),
        lambda v: c63.filters.multiply(np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32)),
        lambda v: c63.filters.whiten(v, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("id", WRONG_CALLS)
def test_wrong_arguments_are_reported_in_one_line(video, id):
    for number, call in enumerate(WRONG_CALLS[id]):
        with pytest.raises(c63.UsageError) as caught:
            call(video)
        assert "\n" not in str(caught.value), number
        assert caught.value.id == id if id else caught.value.id.startswith("C63-"), (number, str(caught.value))


def test_numbers_of_numpy_are_numbers(video):
    expected = c63.encode(video, qp=30, keyint=5, scenecut=True, threads=1)
    assert expected == c63.encode(
        video, qp=np.float32(30), keyint=np.int64(5), scenecut=np.bool_(True), threads=np.uint8(1), device=np.array([], int)
    )
    assert c63.Settings(qp=np.float32(30)) == c63.Settings(qp=30.0)
