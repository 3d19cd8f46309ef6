"""Quality, and motion."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from . import _c63
from ._arrays import Motion
from ._arrays import motion as motion_of
from ._device import estimate_motion as on_device
from ._device import is_device_array


class Psnr(NamedTuple):
    """Peak signal-to-noise ratios in dB; infinite where nothing differs."""

    y: float
    u: float
    v: float
    all: float  #: of all samples together


class Ssim(NamedTuple):
    """Mean structural similarity; NaN for planes smaller than 8x8, and for chroma of odd sizes."""

    y: float
    u: float
    v: float


def psnr(a: Any, b: Any, *, size: Optional[tuple[int, int]] = None) -> Psnr:
    """PSNR of two videos, of the summed squared error of all frames. Frames as for encode(). Raises UsageError."""
    return Psnr(*_c63.psnr(a, b, size))


def ssim(a: Any, b: Any, *, size: Optional[tuple[int, int]] = None) -> Ssim:
    """SSIM of two videos, the mean over frames, as FFmpeg's and x264's. Frames as for encode(). Raises UsageError."""
    return Ssim(*_c63.ssim(a, b, size))


class BdRate(NamedTuple):
    """How far one rate-distortion curve lies from another; None where it cannot be told."""

    rate_percent: Optional[float]  #: rate of the test at equal quality; negative: it needs less
    quality: Optional[float]  #: quality of the test at equal rate; positive: it is better
    why_not: str  #: why one of them is missing, such as "no overlap"


def bd_rate(anchor: Any, test: Any) -> BdRate:
    """Bjontegaard's deltas of two curves, each four or more points (rate, quality) in any order: (n, 2), or a list of pairs.

    Mean distance over the part that the curves share, rates on a logarithmic scale, monotone cubics (PCHIP). Raises
    UsageError for other shapes.
    """
    return BdRate(*_c63.bd_rate(np.asarray(anchor, np.float64, "C"), np.asarray(test, np.float64, "C")))


def estimate_motion(
    current: Any,
    reference: Any,
    search_range: int = 16,
    *,
    method: str = "full",
    out: Optional[tuple[Any, Any]] = None,
    stream: Any = None,
) -> Motion:
    """Searches every 8x8 block of `current` in `reference`, by the codec's own rules.

    current, reference: uint8 planes (height, width) of one size, both sides multiples of 8, rows without gaps inside.
    search_range: 1 to 127; candidates from -range to range-1 that keep the block inside the reference, the first minimum in
    raster order. Returns vectors int8 (rows, columns, 2) and SADs uint16 (rows, columns). Raises UsageError.

    Planes of a GPU are searched there, on `stream` or the stream on which torch or CuPy works at the moment; the call returns
    at once, with arrays of the same maker or with `out`, (vectors, sad), filled when the stream comes past. Raises Error
    (device) where the GPU cannot be used.
    """
    if is_device_array(current):
        return on_device(current, reference, search_range, out, stream)
    if out is not None or stream is not None:
        raise TypeError("out, stream: wanted for arrays of a GPU alone")
    found = motion_of(_c63.estimate_motion(current, reference, search_range, method))
    return Motion(found.vectors, found.sad)
