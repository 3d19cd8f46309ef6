"""Compares c63.filters with numpy."""

import numpy as np
import pytest
from conftest import DlpackOnly

import c63
from c63 import filters

rng = np.random.default_rng(5)


def same_convolution(picture, taps):
    """The convolution as defined: samples outside are zero, taps are reversed."""
    reach = len(taps) // 2
    padded = np.pad(picture.astype(np.float64), reach)
    out = np.zeros(picture.shape)
    for j in range(len(taps)):
        for i in range(len(taps)):
            y, x = 2 * reach - j, 2 * reach - i
            out += taps[j, i] * padded[y : y + picture.shape[0], x : x + picture.shape[1]]
    return out


@pytest.mark.parametrize("length, taps", [(1, 1), (7, 3), (1000, 5), (3, 9), (4097, 63)])
def test_convolution_of_signals(length, taps):
    signal, kernel = rng.normal(size=length), rng.normal(size=taps)
    expected = np.convolve(signal, kernel, "same") if length >= taps else np.convolve(signal, kernel)[taps // 2 :][:length]
    assert filters.convolve(signal, kernel) == pytest.approx(expected, abs=1e-12)
    assert filters.mean_filter(signal, taps) == pytest.approx(filters.convolve(signal, np.full(taps, 1 / taps)), abs=0)


def test_convolution_of_pictures():
    picture = rng.integers(0, 256, (37, 53), dtype=np.uint8)
    taps = rng.integers(-3, 9, (5, 5), dtype=np.int32)
    divisor = int(abs(taps).sum())
    expected = np.clip(np.floor(same_convolution(picture, taps) / divisor + 0.5), 0, 255)
    assert np.array_equal(filters.convolve_picture(picture, filters.Kernel(taps, divisor)), expected)
    part = np.tile(picture, (2, 2))[3:40, 5:58]
    assert np.array_equal(
        filters.convolve_picture(part, filters.mean_kernel(3)), filters.convolve_picture(part.copy(), filters.mean_kernel(3))
    )
    gauss = filters.gauss_kernel(1.2)
    assert gauss.taps.shape[0] % 2 == 1 and gauss.taps.sum() == pytest.approx(gauss.divisor, rel=1e-3)
    floats = rng.normal(size=(20, 31)).astype(np.float32)
    ones = np.ones((3, 3), np.float32)
    assert filters.convolve_picture(floats, ones) == pytest.approx(same_convolution(floats, ones), abs=1e-4)


def test_histogram():
    values = rng.integers(0, 256, (3, 100, 70), dtype=np.uint8)
    assert np.array_equal(filters.histogram(values), np.bincount(values.ravel(), minlength=256))
    bins = (np.arange(256) // 32).astype(np.uint8)
    assert np.array_equal(filters.histogram(DlpackOnly(values), bins), np.bincount(values.ravel() // 32, minlength=8))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64])
def test_reductions(dtype):
    values = (rng.normal(size=(13, 77)) * 50 + 100).clip(0, 255).astype(dtype)
    assert filters.sum(values) == pytest.approx(values.sum(dtype=np.float64), rel=1e-12)
    assert filters.minimum(values) == values.min()
    assert filters.maximum(values) == values.max()
    assert filters.argmin(values) == values.argmin()
    assert filters.argmax(values) == values.argmax()
    assert filters.sum(values[:0]) == 0
    with pytest.raises(c63.Error):
        filters.minimum(values[:0])


def test_squared_errors():
    a, b = rng.integers(0, 256, (2, 33, 65), dtype=np.uint8)
    assert filters.sum_of_squared_errors(a, b) == ((a.astype(int) - b) ** 2).sum()
    with pytest.raises(c63.UsageError, match=r"b: wanted \(33, 65\), got uint8 \(32, 65\)"):
        filters.sum_of_squared_errors(a, b[1:])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float64])
def test_scans(dtype):
    values = rng.integers(0, 1 << 31, 10_007).astype(dtype)
    inclusive = np.cumsum(values, dtype=dtype)  # which wraps
    assert filters.inclusive_scan(values) == pytest.approx(inclusive, rel=1e-12)
    assert filters.exclusive_scan(values) == pytest.approx(np.concatenate(([0], inclusive[:-1])).astype(dtype), rel=1e-12)
    assert len(filters.inclusive_scan(values[:0])) == 0


def test_matrix_product():
    a, b = rng.normal(size=(37, 19)).astype(np.float32), rng.normal(size=(19, 50)).astype(np.float32)
    assert filters.multiply(a, b) == pytest.approx(a @ b, abs=1e-4)
    with pytest.raises(c63.UsageError, match="the left matrix has 37 rows and 18 columns"):
        filters.multiply(a[:, :18], b)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_shift_and_whitening(dtype):
    y, x = np.mgrid[:64, :80]

    def frame(dx):
        return (120 + 60 * np.sin((x + dx) / 6) * np.cos(y / 7) + 30 * np.sin(y / 5 + (x + dx) / 9)).astype(dtype)

    dx, dy = filters.estimate_shift(frame(0), frame(0.3))
    assert dx == pytest.approx(0.3, abs=0.05) and dy == pytest.approx(0, abs=0.05)
    assert filters.estimate_shift(np.zeros((9, 9), dtype), np.zeros((9, 9), dtype)) is None
    frames = np.stack([frame(0.2 * np.sin(i)) for i in range(12)])
    for method in ("shift", "correlation"):
        rest = filters.whiten(frames, 5, method)
        assert rest.shape == (7, 64, 80) and rest.dtype == np.float32
        assert abs(rest).mean() < 2
    assert filters.whiten(frames, 20).shape == (0, 64, 80)
    with pytest.raises(c63.UsageError, match="wanted shift or correlation"):
        filters.whiten(frames, 5, "other")
    with pytest.raises(c63.UsageError):
        filters.whiten(frames, 0)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: filters.convolve(np.zeros(9), np.zeros(4)), "taps"),
        (lambda: filters.convolve(np.zeros(9, np.float32), np.zeros(3)), "signal: wanted float64, got float32"),
        (lambda: filters.convolve_picture(np.zeros((4, 4)), np.ones((3, 3), np.int32)), "wanted"),
        (lambda: filters.convolve_picture(np.zeros((4, 4), np.uint8), np.ones((3, 5), np.int32)), "a square kernel"),
        (lambda: filters.histogram(np.zeros(4, np.int8)), "values: wanted uint8, got int8"),
        (lambda: filters.sum(np.zeros(4, np.int64)), "wanted uint8, int32, float32 or float64"),
        (lambda: filters.sum(np.zeros((4, 4), np.uint8)[:, ::2]), "C-contiguous"),
        (lambda: filters.inclusive_scan(np.zeros(4, np.uint8)), "wanted int32, uint32 or float64"),
        (lambda: filters.multiply(np.zeros((2, 2)), np.zeros((2, 2))), "wanted float32"),
        (lambda: filters.whiten(np.zeros((3, 4, 4), np.int16), 1), "wanted uint8 or float32"),
    ],
)
def test_wrong_arrays_are_reported(call, says):
    with pytest.raises(c63.UsageError, match=says):
        call()


@pytest.mark.parametrize("divisor", [4.5, 0, -3, float("nan"), 1e10])
def test_a_kernel_of_bytes_has_a_whole_divisor(divisor):
    with pytest.raises(c63.UsageError, match="whole number"):
        filters.convolve_picture(np.full((8, 8), 40, np.uint8), filters.Kernel(np.ones((3, 3), np.int32), divisor))


def test_taps_may_be_lists():
    signal = rng.normal(size=50)
    assert np.array_equal(filters.convolve(signal, [1, 2.5, 1]), filters.convolve(signal, np.array([1, 2.5, 1])))
    assert filters.convolve([1, 2, 3], (0, 1, 0)).tolist() == [1, 2, 3]
    assert filters.mean_filter([3.0, 3, 3], 3).tolist() == [2, 3, 2]
    picture = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    taps = [[0, 1, 0], [1, 4, 1], [0, 1, 0]]
    expected = filters.convolve_picture(picture, filters.Kernel(np.array(taps, np.int32), 8))
    assert np.array_equal(filters.convolve_picture(picture, filters.Kernel(taps, 8)), expected)
    assert np.array_equal(filters.convolve_picture(picture, [[1]]), picture)
    rows = filters.Kernel([[1, 2, 1], [2, 4, 2], [1, 2, 1]], 16, [1, 2, 1], [1, 2, 1])
    assert np.array_equal(filters.convolve_picture(picture, rows), filters.convolve_picture(picture, rows._replace(row=None, column=None)))
    floats = picture.astype(np.float32)
    assert np.array_equal(filters.convolve_picture(floats, taps), filters.convolve_picture(floats, np.array(taps, np.float32)))
    assert np.array_equal(filters.histogram(picture, [0] * 128 + [1] * 128), np.bincount(picture.ravel() // 128))
    assert np.array_equal(filters.convolve(DlpackOnly(signal), [1]), signal)
