"""Filters and scans on arrays of the host. All raise UsageError for arrays of other types and shapes."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _c63

__all__ = [
    "Kernel",
    "argmax",
    "argmin",
    "convolve",
    "convolve_picture",
    "estimate_shift",
    "exclusive_scan",
    "gauss_kernel",
    "histogram",
    "inclusive_scan",
    "maximum",
    "mean_filter",
    "mean_kernel",
    "minimum",
    "multiply",
    "sum",
    "sum_of_squared_errors",
    "whiten",
]

Array = npt.NDArray[Any]


class Kernel(NamedTuple):
    """A square kernel of odd side for pictures: int32 taps for bytes, float32 taps for floats."""

    taps: Array  #: (k, k)
    divisor: float = 1  #: sums are divided by it
    row: Optional[Array] = None  #: with column, (k,) each: taps[y, x] = column[y] * row[x]
    column: Optional[Array] = None


def _kernel(parts: tuple[int, list[int], list[int], list[int], int]) -> Kernel:
    size, taps, row, column, divisor = parts
    square = np.array(taps, np.int32).reshape(size, size)
    return Kernel(square, divisor, np.array(row, np.int32) if row else None, np.array(column, np.int32) if column else None)


def mean_kernel(size: int) -> Kernel:
    """Equal taps, size x size, for pictures of bytes."""
    return _kernel(_c63.mean_kernel(size))


def gauss_kernel(sigma: float) -> Kernel:
    """A Gaussian of standard deviation `sigma`, up to 5, for pictures of bytes."""
    return _kernel(_c63.gauss_kernel(sigma))


def convolve(signal: Any, taps: Any) -> Array:
    """numpy.convolve(signal, taps, "same") of float64 (n,), an odd number of taps up to 1023; to the bit the same anywhere."""
    out = np.empty(len(signal), np.float64)
    _c63.convolve_signal(signal, taps, out)
    return out


def mean_filter(signal: Any, width: int) -> Array:
    """The moving mean of `width`, odd, of float64 (n,); zero outside."""
    return convolve(signal, np.array(_c63.mean_taps(width), np.float64))


def convolve_picture(picture: Any, kernel: Union[Kernel, Any]) -> Array:
    """A picture (height, width) convolved, zero outside. uint8: divided, rounded half up and cut to 0..255; or float32."""
    if not isinstance(kernel, Kernel):
        kernel = Kernel(kernel)
    out = np.empty(np.shape(picture), np.uint8 if kernel.taps.dtype == np.int32 else np.float32)
    _c63.convolve_picture(picture, kernel.taps, kernel.row, kernel.column, kernel.divisor, out)
    return out


def histogram(values: Any, bins: Optional[Any] = None) -> Array:
    """Counts of uint8 of any shape, uint64 (256,); or of bins[value], uint8 (256,), as many as there are bins."""
    out = np.empty(256 if bins is None else int(np.max(bins, initial=0)) + 1, np.uint64)
    _c63.histogram(values, bins, out)
    return out


def sum(values: Any) -> Union[int, float]:
    """Of uint8, int32 (exactly), float32 or float64 (in double); 0 of nothing."""
    return _c63.reduce(values, "sum")


def minimum(values: Any) -> Union[int, float]:
    """The smallest value; raises for none."""
    return _c63.reduce(values, "minimum")


def maximum(values: Any) -> Union[int, float]:
    """The largest value; raises for none."""
    return _c63.reduce(values, "maximum")


def argmin(values: Any) -> int:
    """Index of the first smallest value in C order; raises for none."""
    return int(_c63.reduce(values, "argmin"))


def argmax(values: Any) -> int:
    """Index of the first largest value in C order; raises for none."""
    return int(_c63.reduce(values, "argmax"))


def sum_of_squared_errors(a: Any, b: Any) -> int:
    """Of two uint8 arrays of one shape."""
    return _c63.sum_of_squared_errors(a, b)


def inclusive_scan(values: Any) -> Array:
    """out[i] = values[0] + … + values[i] of int32, uint32 (which wrap) or float64 (n,)."""
    return _scan(values, False)


def exclusive_scan(values: Any) -> Array:
    """out[i] = values[0] + … + values[i-1], out[0] = 0, as inclusive_scan()."""
    return _scan(values, True)


def _scan(values: Any, exclusive: bool) -> Array:
    out = np.empty_like(np.asarray(values))
    _c63.scan(values, exclusive, out)
    return out


def multiply(a: Any, b: Any) -> Array:
    """The matrix product of float32 (n, k) and (k, m)."""
    out = np.empty((np.shape(a)[0], np.shape(b)[-1]), np.float32)
    _c63.multiply(a, b, out)
    return out


def estimate_shift(reference: Any, frame: Any) -> Optional[tuple[float, float]]:
    """(dx, dy) in samples with frame(x, y) = reference(x + dx, y + dy), up to about half a sample; uint8 or float32
    (height, width). None for a reference without texture, or with texture along one direction only."""
    return _c63.estimate_shift(reference, frame)


def whiten(
    frames: Any,
    memory: int = 20,
    method: str = "shift",
    *,
    degree: int = 2,
    epsilon: float = 1e-6,
    reject: Optional[float] = None,
) -> Array:
    """Takes out of each frame what the `memory` frames before it explain; float32 (n - memory, height, width).

    frames: uint8 or float32 (n, height, width). method: weights from the frames' "shift" or from their "correlation".
    degree: of the monomials of shifts. epsilon: for singular systems, of the diagonal's mean. reject: robust deviations from
    which on samples of the history are outliers. Raises Error (input) for frames without texture.
    """
    shape = np.shape(frames)
    out = np.empty((max(0, shape[0] - memory) if shape else 0, *shape[1:]), np.float32)
    _c63.whiten(frames, memory, method, degree, epsilon, reject, out)
    return out
