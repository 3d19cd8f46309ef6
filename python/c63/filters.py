"""Filters and scans of arrays in host memory. All raise UsageError for arrays of wrong types and shapes."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _c63
from ._arguments import refuse

Array = npt.NDArray[Any]


class Kernel(NamedTuple):
    """A square convolution kernel of odd side for pictures: int32 taps for bytes, float32 taps for floats; or lists.

    taps: (k, k). divisor: the sum is divided by it. row, column: (k,) each, with taps[y, x] = column[y] * row[x], or
    None.
    """

    taps: Any
    divisor: float = 1
    row: Optional[Any] = None
    column: Optional[Any] = None


def _array(name: str, values: Any, dtype: Any) -> Any:
    """Turns lists, and arrays that support only DLPack, into numpy arrays. Returns other arrays unchanged."""
    if isinstance(values, (list, tuple)):
        try:
            array = np.asarray(values)
            if array.dtype.kind not in "biuf" and array.size:
                raise TypeError
            with np.errstate(invalid="ignore"):
                converted = array.astype(dtype)
        except (TypeError, ValueError, OverflowError):
            refuse(name, "numbers", values)
        if np.dtype(dtype).kind in "iu" and not np.array_equal(converted, array):
            refuse(name, f"whole numbers of {np.dtype(dtype)}", values)
        return converted
    return values if hasattr(values, "shape") or not hasattr(values, "__dlpack__") else np.from_dlpack(values)


def mean_kernel(size: int) -> Kernel:
    """Returns a kernel of size x size equal taps, for pictures of bytes."""
    return Kernel(*_c63.mean_kernel(size))


def gauss_kernel(sigma: float) -> Kernel:
    """Returns a Gaussian kernel for pictures of bytes. `sigma`, its standard deviation, is at most 5 samples."""
    return Kernel(*_c63.gauss_kernel(sigma))


def convolve(signal: Any, taps: Any) -> Array:
    """Returns numpy.convolve(signal, taps, "same") of float64 (n,). The number of taps is odd and at most 1023.

    The result has the same bits on every machine. Both arguments may be lists of numbers.
    """
    return _c63.convolve_signal(_array("signal", signal, np.float64), _array("taps", taps, np.float64))


def mean_filter(signal: Any, width: int) -> Array:
    """Returns the moving mean of float64 (n,) or a list. `width` is odd. Values outside the signal count as zero."""
    return convolve(signal, np.array(_c63.mean_taps(width), np.float64))


def convolve_picture(picture: Any, kernel: Union[Kernel, Any]) -> Array:
    """Convolves a picture (height, width); samples outside count as zero. Returns float32 for floats. For bytes returns
    uint8: the sum is divided, rounded half up and clipped to 0..255.

    kernel: a Kernel, or its taps: an array (k, k), or a list of rows.
    """
    if not isinstance(kernel, Kernel):
        kernel = Kernel(kernel)
    picture = _array("picture", picture, np.float32)
    of_taps = np.float32 if getattr(picture, "dtype", None) == np.float32 else np.int32
    taps, row, column = (_array(name, getattr(kernel, name), of_taps) for name in ("taps", "row", "column"))
    return _c63.convolve_picture(picture, taps, row, column, kernel.divisor)


def histogram(values: Any, bins: Optional[Any] = None) -> Array:
    """Returns how often each value occurs, uint64 (256,). `values` is uint8 of any shape. With `bins`, uint8 (256,) or
    a list, value v is counted in bins[v].
    """
    return _c63.histogram(values, None if bins is None else _array("bins", bins, np.uint8))


def sum(values: Any) -> Union[int, float]:
    """Returns the sum. int32 is summed exactly, float32 and float64 as doubles, and uint8 is allowed, too. 0 for an
    empty array."""
    return _c63.reduce(values, "sum")


def minimum(values: Any) -> Union[int, float]:
    """Returns the smallest value. Raises for an empty array."""
    return _c63.reduce(values, "minimum")


def maximum(values: Any) -> Union[int, float]:
    """Returns the largest value. Raises for an empty array."""
    return _c63.reduce(values, "maximum")


def argmin(values: Any) -> int:
    """Returns the index of the first smallest value in C order. Raises for an empty array."""
    return int(_c63.reduce(values, "argmin"))


def argmax(values: Any) -> int:
    """Returns the index of the first largest value in C order. Raises for an empty array."""
    return int(_c63.reduce(values, "argmax"))


def sum_of_squared_errors(a: Any, b: Any) -> int:
    """Returns the sum of squared differences of two uint8 arrays of one shape."""
    return _c63.sum_of_squared_errors(a, b)


def inclusive_scan(values: Any) -> Array:
    """Returns out[i] = values[0] + … + values[i], of float64, int32 or uint32 (n,). Integers wrap around on
    overflow."""
    return _scan(values, False)


def exclusive_scan(values: Any) -> Array:
    """Returns out[i] = values[0] + … + values[i-1], with out[0] = 0. Types are those of inclusive_scan()."""
    return _scan(values, True)


def _scan(values: Any, exclusive: bool) -> Array:
    values = _array("values", values, np.float64)
    if not hasattr(values, "shape"):
        refuse("values", "an array (n,) of int32, uint32 or float64", values)
    return _c63.scan(values, exclusive)


def multiply(a: Any, b: Any) -> Array:
    """Returns the matrix product of float32 (n, k) and (k, m)."""
    return _c63.multiply(_array("a", a, np.float32), _array("b", b, np.float32))


def estimate_shift(reference: Any, frame: Any) -> Optional[tuple[float, float]]:
    """Returns (dx, dy) in samples, with frame(x, y) = reference(x + dx, y + dy). Shifts up to about half a sample are
    measured.

    Both are uint8 or float32 (height, width). Returns None if the reference has no texture, or texture in one direction
    only."""
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
    """Subtracts from each frame what the `memory` frames before it predict. Returns float32 (n - memory, height,
    width).

    frames: uint8 or float32 (n, height, width). method: whether the weights of the frames before come from their
    "shift" or their "correlation". degree: highest degree of the monomials of shifts. epsilon: added to the diagonal of
    singular systems, as a share of its mean. reject: samples of earlier frames that differ by this many robust standard
    deviations are replaced as outliers. Raises Error (input) for frames without texture.
    """
    return _c63.whiten(frames, memory, method, degree, epsilon, reject)
