"""Quality metrics, and motion search."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _c63
from ._arguments import refuse, setting_error
from ._arrays import Motion, frame_size_of, warn_if_ambiguous
from ._device import empty_like, is_device_array, stream_of
from ._planes import luma
from ._options import SearchMethod
from ._video import native


class Psnr(NamedTuple):
    """Peak signal-to-noise ratios in dB; infinite for equal planes."""

    y: float
    u: float
    v: float
    all: float  #: of all samples together


class Ssim(NamedTuple):
    """Mean structural similarity; NaN for planes smaller than 8x8, and for chroma of odd sizes."""

    y: float
    u: float
    v: float


def psnr(a: Any, b: Any, *, input_res: Optional[tuple[int, int]] = None) -> Psnr:
    """Returns the PSNR of two videos, from the squared error summed over all frames.

    a, b: arrays, tuples of planes, or results of c63.open(), as for encode(). input_res: as for encode(). Raises
    UsageError if the videos differ in size or length, and Error (input) if they have no frames.
    """
    return Psnr(*_c63.psnr(*native(a, input_res), *native(b, input_res)))


def ssim(a: Any, b: Any, *, input_res: Optional[tuple[int, int]] = None) -> Ssim:
    """Returns the SSIM of two videos: the mean over all frames, like FFmpeg and x264. Arguments and errors are those of
    psnr()."""
    return Ssim(*_c63.ssim(*native(a, input_res), *native(b, input_res)))


class BdRate(NamedTuple):
    """Bjøntegaard deltas between two rate-distortion curves; None for one that cannot be computed."""

    rate_percent: Optional[float]  #: change of rate at equal quality; negative: the test needs fewer bits
    quality: Optional[float]  #: change of quality at equal rate; positive: the test is better
    why_not: str  #: the reason if one of the two is None, such as "no overlap"


def bd_rate(anchor: Any, test: Any) -> BdRate:
    """Returns the Bjøntegaard deltas of two curves. A curve is four or more points (rate, quality) in any order, as an
    array (n, 2) or as pairs.

    The deltas are mean distances over the range that both curves cover. Rates are on a logarithmic scale. Curves are
    interpolated by monotone cubics (PCHIP). Raises UsageError for other shapes.
    """
    return BdRate(*_c63.bd_rate(_curve("anchor", anchor), _curve("test", test)))


def _curve(name: str, points: Any) -> Any:
    try:
        return np.asarray(points, np.float64, "C")
    except (TypeError, ValueError):
        refuse(name, "points (n, 2) of rate and quality", points)


def estimate_motion(
    current: Any,
    reference: Any = None,
    search_range: int = 16,
    *,
    method: SearchMethod = "full",
    zero_bias: int = 0,
    around: Any = None,
    second: bool = False,
    second_distance: int = 1,
    quarters: bool = False,
    out: Optional[tuple[Any, ...]] = None,
    stream: Any = None,
) -> Motion:
    """Searches every 8x8 block of `current` in `reference`, by the rules of the codec.

    current, reference: uint8 luma planes (height, width) of one size, or n pairs of them, (n, height, width). Height
    and width are multiples of 8, and rows have no gaps. Without `reference`, `current` is a sequence of n planes, and
    each is searched in the plane before it: n-1 pairs. If c63 made whole frames (c63.open(), c63.decode(), Decoder, Encoder), their luma is searched.
    Any other array is taken as planes; c63.luma() gets them from whole frames.
    search_range: 1 to 127. Candidates are -range to range-1 in both directions, if they keep the block inside the
    reference. Of equal SADs, the first in raster order wins. Returns vectors int8 (rows, columns, 2) and SADs uint16
    (rows, columns), for n pairs (n, …). Raises UsageError.

    zero_bias: 0 to 16320. From 1 on, the zero vector is chosen if its SAD is below the smallest SAD plus zero_bias.
    around: int8 (rows, columns, 2). The center of each block's candidates, in place of the zero vector. Vectors stay in
    -128 to 127.
    second: also find the smallest SAD among candidates that are at least `second_distance` samples from the best one on
    one axis. The nearer it is to the best SAD, the less certain the vector is.
    quarters: also find the SADs of the four 4x4 quarters of each block.

    Planes on a GPU are searched there in place, on `stream` or else on the current stream of torch or CuPy. The call
    returns at once, with arrays of the same library or with `out`: (vectors, sad), then second and quarters if
    requested. Their content is valid for later work on the same stream. Raises Error (device) if the GPU cannot be
    used.
    """
    current, reference = _pairs(current, reference)
    on_device = is_device_array(current)
    if not on_device and (out is not None or stream is not None):
        raise setting_error("out, stream: only for arrays on a GPU")
    make = functools.partial(empty_like, current) if on_device else np.empty
    handle = stream_of(current, stream) if on_device else 0
    options = (search_range, method, zero_bias, second_distance, around, second, quarters)
    return Motion(*_c63.estimate_motion(current, reference, *options, out, make, on_device, handle))


def _pairs(current: Any, reference: Any) -> tuple[Any, Any]:
    """Returns the planes to search, and the planes to search in."""
    current = _planes(current)
    if reference is not None:
        return current, _planes(reference)
    if len(getattr(current, "shape", ())) != 3:
        raise setting_error("reference: wanted a plane, or without it a sequence (n, height, width) for current")
    return current[1:], current[:-1]


def _planes(pictures: Any) -> Any:
    """Returns the luma if `pictures` are Frames, else `pictures` itself, as an array with a shape."""
    if frame_size_of(pictures) is not None:
        return luma(pictures)
    warn_if_ambiguous(pictures, as_planes=True)
    if not hasattr(pictures, "shape") and hasattr(pictures, "__dlpack__") and not is_device_array(pictures):
        return np.from_dlpack(pictures)
    return pictures
