"""Tests psnr(), ssim(), estimate_motion() and open()."""

import fractions
import os
import threading

import numpy as np
import pytest
from conftest import DlpackOnly, assert_same_motion, error_of, make_video, open_or_skip

import c63


def test_psnr_is_its_definition(video):
    noisy = np.clip(video.astype(int) + np.random.default_rng(3).integers(-9, 10, video.shape), 0, 255).astype(np.uint8)
    errors = (noisy.astype(np.int64) - video) ** 2

    def db(part):
        return 10 * np.log10(255**2 / part.mean())

    chroma = errors[:, 96:].reshape(12, 2, -1)
    found = c63.psnr(video, noisy)
    assert found == pytest.approx((db(errors[:, :96]), db(chroma[:, 0]), db(chroma[:, 1]), db(errors)), rel=1e-12)
    assert c63.psnr(video[::2], DlpackOnly(noisy[::2])).y == pytest.approx(db(errors[::2, :96]), rel=1e-12)
    assert c63.psnr(video, video).all == np.inf


def test_ssim_of_a_video_with_itself_is_one(video):
    assert c63.ssim(video, video) == (1, 1, 1)
    assert c63.ssim(video, video[::-1]).y < 0.9
    tiny = np.zeros((1, 6, 4), np.uint8)
    assert all(np.isnan(c63.ssim(tiny, tiny)))


def test_odd_sides_count_without_the_repeated_samples(tmp_path, video):
    luma, chroma = video[:4, :47, :63], video[:4, 48:72]
    path = tmp_path / "odd.y4m"
    planes = [luma[i].tobytes() + chroma[i].tobytes()[: 2 * 24 * 32] for i in range(4)]
    path.write_bytes(b"YUV4MPEG2 W63 H47 F25:1 C420jpeg\n" + b"".join(b"FRAME\n" + plane for plane in planes))
    coded = c63.encode_with_statistics(c63.open(path), backend="cpu", target_psnr=30)
    decoded = c63.decode(coded.stream)
    error = (luma.astype(np.int64) - decoded[:, :47, :63]) ** 2
    expected = 10 * np.log10(255**2 / error.mean())
    assert coded.summary["target"]["passes"][-1]["psnr_y"] == pytest.approx(expected, rel=1e-12)
    assert c63.VideoEncoder(64, 48, backend="cpu", target_psnr=30).encode(c63.open(path)) == coded.stream
    for videos in ((c63.open(path), decoded), (decoded, c63.open(path))):
        assert c63.psnr(*videos).y == pytest.approx(expected, rel=1e-12)


def full_search(current, reference, search_range, zero_bias=0, around=None, second_distance=1):
    """Searches as defined, block by block. Returns vectors, SADs, second SADs, and SADs of quarters."""
    height, width = current.shape
    rows, columns = height // 8, width // 8
    vectors, sads = np.zeros((rows, columns, 2), np.int8), np.zeros((rows, columns), np.uint16)
    seconds, quarters = np.full((rows, columns), 65535, np.uint16), np.zeros((rows, columns, 4), np.uint16)
    for row, column in np.ndindex(rows, columns):
        x, y = 8 * column, 8 * row
        block = current[y : y + 8, x : x + 8].astype(int)
        differences = lambda vx, vy: abs(block - reference[y + vy : y + vy + 8, x + vx : x + vx + 8])  # noqa: E731
        vx, vy = (0, 0) if around is None else map(int, around[row, column])
        found = [
            (int(differences(dx, dy).sum()), dx, dy)
            for dy in range(max(vy - search_range, -y, -128), min(vy + search_range, height - 8 - y, 128))
            for dx in range(max(vx - search_range, -x, -128), min(vx + search_range, width - 8 - x, 128))
        ]
        zero = (int(differences(0, 0).sum()), 0, 0)
        best = min(found, key=lambda each: each[0], default=zero)
        if zero_bias and zero[0] < best[0] + zero_bias:
            best = zero
        sads[row, column], vectors[row, column] = best[0], best[1:]
        others = [s for s, dx, dy in found if max(abs(dx - best[1]), abs(dy - best[2])) >= second_distance]
        seconds[row, column] = min(others, default=65535)
        quarters[row, column] = differences(*best[1:]).reshape(2, 4, 2, 4).sum(axis=(1, 3)).reshape(4)
    return vectors, sads, seconds, quarters


@pytest.mark.parametrize("method", ["full", "full-brute", "full-eliminate"])
def test_motion_is_that_of_the_definition(method):
    rng = np.random.default_rng(8)
    for height, width, search_range in ((32, 40, 5), (8, 8, 16)):
        reference = rng.integers(0, 4, (height, width), dtype=np.uint8) * 85
        current = np.roll(reference, (2, -1), (0, 1))
        found = c63.estimate_motion(current, reference, search_range, method=method)
        for values, expected in zip((found.vectors, found.sad), full_search(current, reference, search_range)):
            assert np.array_equal(values, expected) and values.dtype == expected.dtype


def test_motion_takes_planes_of_larger_pictures():
    frames = make_video(2, 64, 64)
    current, reference = frames[1, :64, 8:56], frames[0, :64, 8:56]
    expected = c63.estimate_motion(current.copy(), reference.copy(), 8)
    assert_same_motion(c63.estimate_motion(current, DlpackOnly(reference), 8), expected)


@pytest.mark.parametrize("zero_bias, second_distance, with_around", [(0, 1, False), (1, 2, False), (300, 3, True), (0, 1, True)])
def test_options_of_motion_are_those_of_the_definition(zero_bias, second_distance, with_around):
    rng = np.random.default_rng(18)
    frames = rng.integers(0, 4, (4, 32, 40), dtype=np.uint8) * 60
    frames[1] = np.roll(frames[0], (2, -3), (0, 1))
    around = rng.integers(-9, 10, (3, 4, 5, 2), dtype=np.int8) if with_around else None
    found = c63.estimate_motion(
        frames, search_range=4, zero_bias=zero_bias, around=around, second=True, second_distance=second_distance, quarters=True
    )
    assert found.vectors.shape == (3, 4, 5, 2)
    for i in range(3):
        initial = None if around is None else around[i]
        expected = full_search(frames[i + 1], frames[i], 4, zero_bias, initial, second_distance)
        for name, values in zip(("vectors", "sad", "second", "quarters"), expected):
            assert np.array_equal(getattr(found, name)[i], values), f"pair {i}, {name}"


def test_the_operator_of_torch_finds_the_same():
    torch = pytest.importorskip("torch")
    import c63.torch as operators

    frames = make_video(4, 64, 96)[:, :64]
    expected = c63.estimate_motion(frames, second=True, quarters=True, zero_bias=2)
    tensors = torch.from_numpy(frames.copy())
    search = lambda t: operators.estimate_motion(t[1:], t[:-1], second=True, quarters=True, zero_bias=2)  # noqa: E731
    for call in (search, torch.compile(search, fullgraph=True)):
        assert_same_motion(call(tensors), expected)
    error_of(operators.estimate_motion, tensors[0].float().requires_grad_(), tensors[1])


def test_open_reads_what_the_tools_read(video, clip, tmp_path):
    raw = clip
    y4m = tmp_path / "clip.y4m"
    y4m.write_bytes(b"YUV4MPEG2 W112 H96 F30000:1001 C420jpeg\n" + b"".join(b"FRAME\n" + f.tobytes() for f in video))
    for path, rate in ((raw, 25), (str(y4m), fractions.Fraction(30000, 1001))):
        clip = c63.open(path)
        assert (clip.width, clip.height, clip.rate, clip.count, clip.seekable) == (112, 96, rate, 12, True)
        assert np.array_equal(clip.read(), video)
        assert np.array_equal(clip.read(3), video[:3])
        assert np.array_equal(np.stack(list(clip)), video)
        assert c63.encode(clip, preset="fast") == c63.encode(video, preset="fast")
    assert c63.open(raw, input_res=(56, 96)).count == 24
    for name in ("none_16x16.yuv", "none.y4m", "none.mp4", "."):
        error = error_of(c63.open, tmp_path / name)
        assert isinstance(error, c63.FileError) and isinstance(error, OSError) and error.kind == "input" and error.file


def test_names_that_are_not_utf8(video, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xe9_112x96.yuv"
    error = error_of(c63.open, path)
    assert error.file == os.fsdecode(path) and error.kind == "input"
    with open(path, "wb") as file:
        file.write(video.tobytes() + b"x")
    for name in (path, os.fsdecode(path)):
        clip = c63.open(name)
        assert c63.encode(clip) == c63.encode(video) and len(clip.warnings) == 1


def test_a_damaged_film_can_be_read_on(shared):
    film = shared("films/damaged_element_128x96.webm")  # FFmpeg only logs this damage
    assert len(open_or_skip(film, tolerant=True).read()) == 14
    assert error_of(lambda: c63.open(film).read()).id == "C63-AV-DECODE"


def test_a_film_with_sound_prints_nothing(shared, capfd):
    film = open_or_skip(shared("films/with_aac_64x48.mp4"))
    assert len(film.read()) == 5
    assert capfd.readouterr() == ("", "")


def test_a_partial_frame_is_a_warning(video, clip):
    clip.write_bytes(video.tobytes()[:-1])
    opened = c63.open(clip)
    assert (len(opened.read()), len(opened.warnings)) == (11, 1)
    error_of(lambda: c63.open(clip, strict=True).read())


def test_bd_rate():
    anchor = [(1000, 30), (2000, 33), (4000, 36), (8000, 39)]
    dearer = np.array([(1.25 * rate, quality) for rate, quality in reversed(anchor)])
    found = c63.bd_rate(anchor, dearer)
    assert found.rate_percent == pytest.approx(25)
    assert found.quality < 0 and found.why_not == ""
    assert c63.bd_rate(anchor[:3], anchor)[:2] == (None, None)


def test_threads_that_read_one_file_take_turns(tmp_path):
    path = tmp_path / "clip.ppm"
    path.write_bytes(b"".join(b"P6\n16 16\n255\n" + bytes([i]) * 768 for i in range(200)))
    clip = open_or_skip(path)
    read = []

    def take():
        while len(frames := clip.read(1)):
            read.append(int(frames[0, 0, 0]))

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert len(read) == 200 and len(set(read)) > 150  # each frame once; luma has fewer levels than the samples of RGB
