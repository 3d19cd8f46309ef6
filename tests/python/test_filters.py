"""Compares c63.filters with numpy, and tests what it takes. tests/filters has the filters themselves."""

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
    for j, i in np.ndindex(*np.shape(taps)):
        y, x = 2 * reach - j, 2 * reach - i
        out += taps[j][i] * padded[y : y + picture.shape[0], x : x + picture.shape[1]]
    return out


def test_convolution():
    signal, kernel = rng.normal(size=1000), rng.normal(size=5)
    assert filters.convolve(signal, kernel) == pytest.approx(np.convolve(signal, kernel, "same"), abs=1e-12)
    assert filters.mean_filter(signal, 5) == pytest.approx(filters.convolve(signal, [0.2] * 5), abs=0)
    assert filters.convolve([1, 2, 3], (0, 1, 0)).tolist() == [1, 2, 3]
    assert np.array_equal(filters.convolve(DlpackOnly(signal), [1]), signal)
    picture = rng.integers(0, 256, (74, 106), dtype=np.uint8)[3:40, 5:58]  # with gaps between rows
    taps = rng.integers(-3, 9, (5, 5), dtype=np.int32)
    expected = np.clip(np.floor(same_convolution(picture, taps) / 50 + 0.5), 0, 255)
    for kernel in (filters.Kernel(taps, 50), filters.Kernel(taps.tolist(), 50)):
        assert np.array_equal(filters.convolve_picture(picture, kernel), expected)
    assert np.array_equal(filters.convolve_picture(picture, [[1]]), picture)
    rows = filters.Kernel([[1, 2, 1], [2, 4, 2], [1, 2, 1]], 16, [1, 2, 1], [1, 2, 1])
    assert np.array_equal(filters.convolve_picture(picture, rows), filters.convolve_picture(picture, rows._replace(row=None, column=None)))
    gauss = filters.gauss_kernel(1.2)
    assert gauss.taps.shape[0] % 2 == 1 and gauss.taps.sum() == pytest.approx(gauss.divisor, rel=1e-3)
    assert (filters.mean_kernel(3).taps.tolist(), filters.mean_kernel(3).divisor) == ([[1] * 3] * 3, 9)
    floats = rng.normal(size=(20, 31)).astype(np.float32)
    assert filters.convolve_picture(floats, np.ones((3, 3), np.float32)) == pytest.approx(same_convolution(floats, np.ones((3, 3))), abs=1e-4)


def test_histogram():
    values = rng.integers(0, 256, (3, 100, 70), dtype=np.uint8)
    assert np.array_equal(filters.histogram(values), np.bincount(values.ravel(), minlength=256))
    bins = (np.arange(256) // 32).astype(np.uint8)
    for table in (bins, bins.tolist()):
        assert np.array_equal(filters.histogram(DlpackOnly(values), table), np.bincount(values.ravel() // 32, minlength=8))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64])
def test_reductions(dtype):
    values = (rng.normal(size=(13, 77)) * 50 + 100).clip(0, 255).astype(dtype)
    assert filters.sum(values) == pytest.approx(values.sum(dtype=np.float64), rel=1e-12)
    found = [getattr(filters, name)(values) for name in ("minimum", "maximum", "argmin", "argmax")]
    assert found == [values.min(), values.max(), values.argmin(), values.argmax()]
    assert filters.sum(values[:0]) == 0
    with pytest.raises(c63.Error):
        filters.minimum(values[:0])
    if dtype == np.uint8:
        assert filters.sum_of_squared_errors(values, values[::-1].copy()) == ((values.astype(int) - values[::-1]) ** 2).sum()


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float64])
def test_scans(dtype):
    values = rng.integers(0, 1 << 31, 1007).astype(dtype)
    inclusive = np.cumsum(values, dtype=dtype)  # which wraps
    assert filters.inclusive_scan(values) == pytest.approx(inclusive, rel=1e-12)
    assert filters.exclusive_scan(values) == pytest.approx(np.concatenate(([0], inclusive[:-1])).astype(dtype), rel=1e-12)
    assert len(filters.inclusive_scan(values[:0])) == 0


def test_matrix_product():
    a, b = rng.normal(size=(37, 19)).astype(np.float32), rng.normal(size=(19, 50)).astype(np.float32)
    assert filters.multiply(a, b) == pytest.approx(a @ b, abs=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_shift_and_whitening(dtype):
    y, x = np.mgrid[:64, :80]

    def frame(dx):
        return (120 + 60 * np.sin((x + dx) / 6) * np.cos(y / 7) + 30 * np.sin(y / 5 + (x + dx) / 9)).astype(dtype)

    assert filters.estimate_shift(frame(0), frame(0.3)) == pytest.approx((0.3, 0), abs=0.05)
    assert filters.estimate_shift(np.zeros((9, 9), dtype), np.zeros((9, 9), dtype)) is None
    frames = np.stack([frame(0.2 * np.sin(i)) for i in range(12)])
    for method in ("shift", "correlation"):
        rest = filters.whiten(frames, 5, method)
        assert rest.shape == (7, 64, 80) and rest.dtype == np.float32 and abs(rest).mean() < 2
    assert filters.whiten(frames, 20).shape == (0, 64, 80)
