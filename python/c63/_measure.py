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
from ._options import SearchMethod
from ._video import Video


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


def _source(frames: Any) -> tuple[Any, int]:
    """What the native module reads frames from, and the stream of device arrays."""
    if isinstance(frames, Video):
        return frames._reader, 0
    first = frames[0] if isinstance(frames, (tuple, list)) and frames else frames
    return frames, stream_of(first) if is_device_array(first) else 0


def psnr(a: Any, b: Any, *, input_res: Optional[tuple[int, int]] = None) -> Psnr:
    """PSNR of two videos, of the summed squared error of all frames.

    a, b: what encode() takes: arrays, tuples of planes, what c63.open() gives. input_res: as for encode(). Raises UsageError for
    videos of two sizes or lengths, and Error (input) for those without a frame.
    """
    return Psnr(*_c63.psnr(*_source(a), *_source(b), picture_size(input_res)))


def ssim(a: Any, b: Any, *, input_res: Optional[tuple[int, int]] = None) -> Ssim:
    """SSIM of two videos, the mean over frames, as FFmpeg's and x264's. Takes and raises what psnr() does."""
    return Ssim(*_c63.ssim(*_source(a), *_source(b), picture_size(input_res)))


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

    current, reference: uint8 planes (height, width) of one size, both sides multiples of 8, rows without gaps inside. The luma is
    searched of a whole frame that c63 made: of c63.open(), c63.decode(), Decoder, Encoder. Any other array (height, width) is taken
    for a plane; c63.luma() gives that of a whole frame.
    search_range: 1 to 127; candidates from -range to range-1 that keep the block inside the reference, the first minimum in
    raster order. Returns vectors int8 (rows, columns, 2) and SADs uint16 (rows, columns). Raises UsageError.

    Planes of a GPU are searched there, on `stream` or the stream on which torch or CuPy works at the moment; the call returns
    at once, with arrays of the same maker or with `out`, (vectors, sad), filled when the stream comes past. Raises Error
    (device) where the GPU cannot be used.
    """
    search_range = integer("search_range", search_range)
    choice("method", method, get_args(SearchMethod))
    current, reference = _plane("current", current), _plane("reference", reference)
    if is_device_array(current):
        if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2):
            refuse("out", "(vectors, sad)", out)
        return on_device(current, reference, search_range, out, stream)
    if out is not None or stream is not None:
        raise setting_error("out, stream: they are for arrays of a GPU alone")
    found = motion_of(_c63.estimate_motion(current, reference, search_range, method))
    return Motion(found.vectors, found.sad)


def _plane(name: str, picture: Any) -> Any:
    """The luma of a frame that is known to be one; else `picture`."""
    if frame_size_of(picture) is None:
        return picture
    plane = luma(picture)
    if plane.ndim != 2:
        raise setting_error(f"{name}: wanted a plane or one frame, got {plane.shape[0]} frames")
    return plane
