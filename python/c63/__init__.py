"""Codec63: encodes, decodes and measures video, and searches for motion.

Frames are 8-bit 4:2:0, planes Y, U, V one below the other: uint8 (height*3/2, width).
"""

import sys as _sys

try:
    import numpy as _numpy  # noqa: F401

    from . import _c63
except ModuleNotFoundError as _error:
    _hint = "c63 works with the Python that it was built for, on Debian /usr/bin/python3 (and its python3-numpy)"
    raise ModuleNotFoundError(f"{_error} for {_sys.executable}; {_hint}") from None

from . import filters
from ._arrays import Frames, Motion
from ._c63 import REVISION as __revision__
from ._c63 import VERSION as __version__
from ._c63 import keep_media_messages
from ._decode import DecodedFrame, Decoder, decode
from ._encode import STATISTICS, CodedFrame, Encoded, Encoder, VideoEncoder, encode, encode_with_statistics
from ._error import Error, FileError, TargetWarning, UsageError
from ._film import FilmArrays, FilmMotion, FrameMotion, film_motion
from ._measure import BdRate, Psnr, Ssim, bd_rate, estimate_motion, psnr, ssim
from ._planes import join_planes, luma, planes, rgb_to_yuv, yuv_to_rgb
from ._race import Race, Timing, race
from ._settings import Settings
from ._video import Video, open

__all__ = [
    "STATISTICS",
    "BdRate",
    "CodedFrame",
    "DecodedFrame",
    "Decoder",
    "Encoded",
    "Encoder",
    "Error",
    "FileError",
    "FilmArrays",
    "FilmMotion",
    "FrameMotion",
    "Frames",
    "Motion",
    "Psnr",
    "Race",
    "Settings",
    "Ssim",
    "TargetWarning",
    "Timing",
    "UsageError",
    "Video",
    "VideoEncoder",
    "__revision__",
    "__version__",
    "bd_rate",
    "decode",
    "encode",
    "encode_with_statistics",
    "estimate_motion",
    "film_motion",
    "filters",
    "join_planes",
    "keep_media_messages",
    "luma",
    "open",
    "planes",
    "psnr",
    "race",
    "rgb_to_yuv",
    "ssim",
    "yuv_to_rgb",
]
