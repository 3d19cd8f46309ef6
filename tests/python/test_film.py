"""The motion of films is that of c63mv, of FFmpeg's export and of estimate_motion()."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading

import numpy as np
import pytest
from conftest import error_of, make_video
from test_memory import resident_bytes

import c63

FILMS = {  # encoder, size, and further options of ffmpeg
    "b_frames.mkv": ("libx264", "176x112", ["-bf", "3", "-refs", "4", "-g", "20"]),
    "odd.mp4": ("mpeg4", "90x70", ["-bf", "2", "-q:v", "4"]),
    "old.mpg": ("mpeg2video", "176x112", ["-bf", "2", "-g", "12"]),
}


@pytest.fixture(scope="module")
def c63mv():
    program = pathlib.Path(os.environ.get("C63_BIN_DIR", "")) / "c63mv"
    if not program.is_file():
        pytest.skip("no c63mv (set C63_BIN_DIR)")
    return lambda *options: subprocess.run([program, "--quiet", "--backend", "cpu", *map(str, options)], check=True)


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Films with cuts, P and B frames, made by ffmpeg; raw video of an odd size is there without it."""
    folder = tmp_path_factory.mktemp("films")
    raw = np.concatenate([make_video(9, 70, 92, seed) for seed in (1, 2)])
    (folder / "raw_92x70.yuv").write_bytes(raw.tobytes())
    if shutil.which("ffmpeg"):
        for name, (codec, size, options) in FILMS.items():
            video = f"testsrc2=size={size}:rate=25:duration=0.6,split[a][b];[b]hue=h=90,hflip[c];[a][c]concat"
            subprocess.run(
                ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", video, "-pix_fmt", "yuv420p", "-c:v", codec, *options, folder / name],
                check=False,
            )
    return folder


def film(films, name):
    path = films / name
    if not path.is_file() or not path.stat().st_size:
        pytest.skip(f"no ffmpeg with {FILMS[name][0]}")
    try:
        c63.film_motion(path).close()
    except c63.Error as error:
        if error.id != "C63-NO-FFMPEG":
            raise
        pytest.skip("this build has no FFmpeg")
    return path


OPTIONS = {
    "plain": ({}, []),
    "all": ({"range": 7, "second": True, "quarters": True, "zero_bias": 5}, ["--merange", 7, "--second", "--quarters", "--zero-bias", 5]),
    "later": ({"distance": -2, "first": 3, "count": 9}, ["--distance", -2, "--seek", 3, "-f", 9]),
    "fine": (
        {"fraction": 32, "block": 16, "smooth": 4, "check": 2, "range": 200},
        ["--fraction", 32, "--block", 16, "--smooth", 4, "--check", 2, "--merange", 200],
    ),
    "codec": ({"codec_vectors": True}, ["--codec-vectors"]),
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["raw_92x70.yuv", *FILMS])
def test_the_motion_is_that_of_c63mv(films, c63mv, tmp_path, name, options):
    path = film(films, name)
    keywords, of_program = OPTIONS[options]
    c63mv(path, *of_program, "-o", tmp_path / "x.npz")
    expected = np.load(tmp_path / "x.npz")
    arrays = c63.film_motion(path, backend="cpu", **keywords).read()
    for field in c63.FilmArrays._fields:
        mine = getattr(arrays, field)
        if field in ("time", "kind"):
            assert len(mine) == len(arrays.frame)
            continue
        assert (mine is not None) == (field in expected.files), field
        if mine is not None:
            assert mine.dtype == expected[field].dtype and np.array_equal(mine, expected[field], equal_nan=mine.dtype.kind == "f"), field
    frames = list(c63.film_motion(path, backend="cpu", **keywords))
    assert [f.frame for f in frames] == list(range(frames[0].frame, frames[0].frame + len(frames)))
    frames = [f for f in frames if f.reference is not None]
    assert len(frames) == len(arrays.frame)
    for field in c63.FilmArrays._fields:
        if getattr(arrays, field) is not None:
            values = np.array([getattr(f, field) for f in frames])
            assert np.array_equal(values, getattr(arrays, field), equal_nan=values.dtype.kind == "f"), field


@pytest.mark.parametrize("name", FILMS)
def test_times_kinds_and_codec_vectors_are_those_of_ffmpeg(films, c63mv, tmp_path, name):
    path = film(films, name)
    probe = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=best_effort_timestamp_time,pict_type", "-of", "json", path]
    told = json.loads(subprocess.run(probe, check=True, capture_output=True, text=True).stdout)["frames"]
    frames = list(c63.film_motion(path, codec_vectors=True))
    assert [f.kind for f in frames] == [t["pict_type"] for t in told] and len({f.kind for f in frames}) == 3
    assert [f.time for f in frames] == pytest.approx([float(t["best_effort_timestamp_time"]) for t in told], abs=1e-5)
    c63mv(path, "--codec-list", tmp_path / "list.csv")
    exported = np.loadtxt(tmp_path / "list.csv", delimiter=",", skiprows=1, dtype=int)  # FFmpeg's own list
    compared = 0
    for motion in frames:
        expected = np.full((*np.shape(motion.sad), 2), np.nan) if motion.sad is not None else None
        rows = exported[(exported[:, 0] == motion.frame) & (exported[:, 1] < 0)]
        for width, height, x, y, motion_x, motion_y, scale in rows[:, [2, 3, 6, 7, 9, 10, 11]]:
            left, top = x - width // 2, y - height // 2
            inside = np.s_[max(0, (top + 3) // 8) : max(0, (top + height + 3) // 8), max(0, (left + 3) // 8) : max(0, (left + width + 3) // 8)]
            expected[inside] = np.rint(4 * motion_x / scale) / 4, np.rint(4 * motion_y / scale) / 4
        if expected is not None:
            compared += np.count_nonzero(~np.isnan(motion.codec_vectors[..., 0]))
            assert np.array_equal(motion.codec_vectors, expected, equal_nan=True), motion.frame
            assert ((motion.codec_sad == 65535) == np.isnan(expected[..., 0])).all()
    assert compared > 100


def test_pictures_are_searched_as_estimate_motion_does(films):
    with c63.open(films / "raw_92x70.yuv") as video:
        pictures = video.read()
    padded = np.pad(c63.luma(pictures), ((0, 0), (0, 2), (0, 4)), "edge")
    for motion in c63.film_motion(films / "raw_92x70.yuv", pictures=True):
        assert np.array_equal(motion.picture, pictures[motion.frame]) and motion.time == motion.frame / 25 and motion.kind == "?"
        if motion.reference is not None:
            expected = c63.estimate_motion(padded[motion.frame], padded[motion.reference])
            assert np.array_equal(motion.vectors, expected.vectors) and np.array_equal(motion.sad, expected.sad)


def test_the_pictures_of_a_c63_stream_are_searched(films, c63mv, tmp_path):
    with c63.open(films / "raw_92x70.yuv") as video:
        (tmp_path / "stream.c63").write_bytes(c63.encode(video, backend="cpu"))
    c63mv("--search", tmp_path / "stream.c63", "-o", tmp_path / "x.npz")
    assert np.array_equal(c63.film_motion(tmp_path / "stream.c63").read().vectors, np.load(tmp_path / "x.npz")["vectors"])


def test_damage_ends_a_film_after_the_frames_before_it(shared):
    path = shared("films/one_ts_packet_lost_128x96.ts")
    try:
        motion = c63.film_motion(path)
    except c63.Error as error:
        if error.id == "C63-NO-FFMPEG":
            pytest.skip("this build has no FFmpeg")
        raise
    seen = []
    error = error_of(lambda: [seen.append(m.frame) for m in motion])
    assert error.kind == "input" and seen == list(range(error.frame)) and seen
    tolerant = c63.film_motion(path, tolerant=True)
    assert len(tolerant.read().frame) > len(seen) and any("damaged" in line for line in tolerant.warnings)


def test_memory_is_flat(tmp_path):
    path = tmp_path / "long_176x144.yuv"
    with open(path, "wb") as file:
        file.truncate(4000 * 176 * 144 * 3 // 2)  # the vectors alone take 6 MB, the pictures 150 MB
    limit = 4 << 20
    assert error_of(c63.film_motion, path, max_memory=limit // 8).id == "C63-MAX-MEMORY"
    for motion in c63.film_motion(path, range=2, max_memory=limit, codec_vectors=False, pictures=True):
        if motion.frame == 400:
            before = resident_bytes()
    assert motion.frame == 3999 and resident_bytes() - before < limit


def test_progress_and_the_rest_of_a_loop(films):
    told = []
    with c63.film_motion(films / "raw_92x70.yuv", on_progress=lambda *args: told.append(args)) as motion:
        assert (motion.width, motion.height, motion.rate, motion.expected) == (92, 70, 25, 18)
        assert next(motion).reference is None and next(motion).reference == 0
        assert list(motion.read().frame) == list(range(2, 18)) and len(motion.read().frame) == 0
    assert told == [(i, 18) for i in range(1, 19)]
    assert error_of(next, motion).message.endswith("the film was closed") and error_of(motion.read).kind == "usage"
    with pytest.raises(ZeroDivisionError):
        c63.film_motion(films / "raw_92x70.yuv", on_progress=lambda *args: 1 / 0).read()


@pytest.fixture
def pipe(tmp_path):
    """A pipe for raw video of 16x16, which a writer keeps open."""
    path = tmp_path / "pipe_16x16.yuv"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    yield path, writer
    os.close(writer)


def test_closing_ends_a_loop_that_waits_for_a_pipe(pipe):
    path, writer = pipe
    os.write(writer, bytes(3 * 384))
    motion = c63.film_motion(path)
    assert next(motion).frame == 0
    threading.Timer(0.3, motion.close).start()
    with pytest.raises((StopIteration, c63.UsageError)):
        while True:
            next(motion)


@pytest.mark.parametrize("wait", [lambda film: list(film), lambda film: film.read(), None])
def test_ctrl_c_ends_a_wait(pipe, wait):
    path, writer = pipe
    if wait is not None:
        os.write(writer, bytes(3 * 384))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        (wait or list)(c63.film_motion(path))


@pytest.mark.parametrize(
    "keywords, kind, id",
    [
        ({"range": 0}, "usage", "C63-MERANGE-RANGE"),
        ({"range": "16"}, "usage", "C63-SETTING"),
        ({"distance": 0}, "usage", "C63-SETTING"),
        ({"distance": 2, "codec_vectors": True}, "usage", "C63-SETTING"),
        ({"range": 513}, "usage", "C63-MERANGE-RANGE"),
        ({"fraction": 3}, "usage", "C63-SETTING"),
        ({"smooth": 4, "second": True}, "usage", "C63-SETTING"),
        ({"zero_bias": -1}, "usage", "C63-SETTING"),
        ({"backend": "tpu"}, "usage", "C63-SETTING"),
        ({"hwaccel": "tpu"}, "usage", "C63-SETTING"),
        ({"backend": "cpu", "device": 0}, "usage", "C63-SETTING"),
        ({"on_progress": 3}, "usage", "C63-SETTING"),
        ({"count": -2}, "usage", "C63-SETTING"),
        ({"first": 40}, "input", "C63-NO-FRAMES"),
        ({"input_res": (90, 70)}, "input", "C63-RAW-PARTIAL"),
        ({"path": "absent.mp4"}, "input", "C63-INPUT-OPEN"),
        ({"path": 3}, "usage", "C63-SETTING"),
        ({"max_memory": 1000}, "limit", "C63-MAX-MEMORY"),
    ],
)
def test_errors(films, keywords, kind, id):
    arguments = {"path": films / "raw_92x70.yuv", "strict": True, **keywords}
    error = error_of(lambda: c63.film_motion(**arguments).read())
    assert (error.kind, error.id) == (kind, id) and "\n" not in str(error)
    assert isinstance(error, c63.FileError) == (id == "C63-INPUT-OPEN")
