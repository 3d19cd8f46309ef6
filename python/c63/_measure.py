"""Quality, and motion."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, get_args

import numpy as np

from . import _c63
from ._arguments import choice, integer, picture_size, refuse, setting_error
from ._arrays import Motion, frame_size_of
from ._arrays import motion as motion_of
from ._device import estimate_motion as on_device
from ._device import is_device_array, stream_of
from ._planes import luma
from ._settings import SearchMethod
from ._video import Video


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


def _source(frames: Any) -> tuple[Any, int]:
    """Returns what the native module reads frames from, and the stream of device arrays."""
    if isinstance(frames, Video):
        return frames._reader, 0
    first = frames[0] if isinstance(frames, (tuple, list)) and frames else frames
    return frames, stream_of(first) if is_device_array(first) else 0


def psnr(a: Any, b: Any, *, input_res: Optional[tuple[int, int]] = None) -> Psnr:
    """PSNR of two videos, of the summed squared error of all frames.

    a, b: arrays, tuples of planes, or results of c63.open(), as for encode(). input_res: as for encode(). Raises UsageError for
    videos of two sizes or lengths, and Error (input) for videos without a frame.
    """
    return Psnr(*_c63.psnr(*_source(a), *_source(b), picture_size(input_res)))


def ssim(a: Any, b: Any, *, input_res: Optional[tuple[int, int]] = None) -> Ssim:
    """SSIM of two videos, the mean over frames, like FFmpeg and x264. Takes and raises the same as psnr()."""
    return Ssim(*_c63.ssim(*_source(a), *_source(b), picture_size(input_res)))


class BdRate(NamedTuple):
    """Distance of one rate-distortion curve from another; None if it cannot be computed."""

    rate_percent: Optional[float]  #: rate of the test at equal quality; negative: it needs less
    quality: Optional[float]  #: quality of the test at equal rate; positive: it is better
    why_not: str  #: why one of them is missing, such as "no overlap"


def bd_rate(anchor: Any, test: Any) -> BdRate:
    """Returns Bjontegaard's deltas of two curves. A curve has four or more points (rate, quality) in any order: (n, 2) or pairs.

    They are mean distances over the part that the curves share. Rates are on a logarithmic scale; the curves are monotone cubics
    (PCHIP). Raises UsageError for other shapes.
    """
    return BdRate(*_c63.bd_rate(_curve("anchor", anchor), _curve("test", test)))


def _curve(name: str, points: Any) -> Any:
    try:
        return np.asarray(points, np.float64, "C")
    except (TypeError, ValueError):
        refuse(name, "points (n, 2) of rate and quality", points)


def estimate_motion(
    current: Any,
    reference: Any,
    search_range: int = 16,
    *,
    method: SearchMethod = "full",
    out: Optional[tuple[Any, Any]] = None,
    stream: Any = None,
) -> Motion:
    """Searches every 8x8 block of `current` in `reference`, by the codec's own rules.

    current, reference: uint8 luma planes (height, width) of one size. Both sides are multiples of 8, and rows have no gaps. If c63
    made a whole frame (c63.open(), c63.decode(), Decoder, Encoder), its luma is searched. Any other array (height, width) is taken
    as a plane; c63.luma() returns that of a whole frame.
    search_range: 1 to 127. Candidates are -range to range-1 in both directions, if they keep the block inside the reference. The
    first minimum in raster order wins. Returns vectors int8 (rows, columns, 2) and SADs uint16 (rows, columns). Raises UsageError.

    Planes on a GPU are searched there, on `stream` or the current stream of torch or CuPy. The call returns at once, with arrays of
    the same library or with `out`, (vectors, sad). They are valid for later work on the stream. Raises Error (device) if the GPU
    cannot be used.
    """
    search_range = integer("search_range", search_range)
    choice("method", method, get_args(SearchMethod))
    current, reference = _plane("current", current), _plane("reference", reference)
    if is_device_array(current):
        if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2):
            refuse("out", "(vectors, sad)", out)
        return on_device(current, reference, search_range, out, stream)
    if out is not None or stream is not None:
        raise setting_error("out, stream: only for arrays on a GPU")
    found = motion_of(_c63.estimate_motion(current, reference, search_range, method))
    return Motion(found.vectors, found.sad)


def _plane(name: str, picture: Any) -> Any:
    """Returns the luma of `picture` if it is known to be a whole frame, else `picture` itself."""
    if frame_size_of(picture) is None:
        return picture
    plane = luma(picture)
    if plane.ndim != 2:
        raise setting_error(f"{name}: wanted a plane or one frame, got {plane.shape[0]} frames")
    return plane
