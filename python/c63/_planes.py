"""Planes of frames, and conversion to and from RGB."""

from __future__ import annotations

from typing import Any, Literal, NoReturn, Optional

import numpy as np

from ._arguments import choice, flag, picture_size, refuse
from ._arrays import U8, as_frames, frame_shape, frame_size_of
from ._error import UsageError

Matrix = Literal["bt601", "bt709"]

#: Weights of red and blue in luma, from ITU-R BT.601-7 and BT.709-6.
_SHARES = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722)}


def _shape_error(message: str) -> UsageError:
    return UsageError(f"{message} [C63-ARRAY-SHAPE]", kind="usage", id="C63-ARRAY-SHAPE", message=message)


def _refuse(frames: Any, wanted: str) -> NoReturn:
    known = hasattr(frames, "shape")
    got = f"{getattr(frames, 'dtype', '')} {tuple(frames.shape)}".strip() if known else type(frames).__name__
    raise _shape_error(f"frames: wanted {wanted}, got {got}")


def _layout(frames: Any, input_res: Optional[tuple[int, int]]) -> tuple[int, int, bool]:
    """Returns width, height, and whether the frames are flat arrays."""
    size = picture_size(input_res) or frame_size_of(frames)
    shape = tuple(getattr(frames, "shape", ()))
    if size is not None:
        width, height = size
        flat = (width * height + 2 * (width * height // 4),)
        rows = (height + height // 2, width)
        if height % 2 == 0 and shape[-2:] == rows:
            return width, height, False
        if shape[-1:] == flat:
            return width, height, True
        _refuse(frames, f"(…, {flat[0]}) for input_res={size}")
    if len(shape) < 2 or shape[-2] % 3 != 0 or shape[-2] == 0 or shape[-1] == 0:
        _refuse(frames, "whole frames (…, height*3/2, width), or flat ones and input_res=(width, height)")
    return int(shape[-1]), int(shape[-2]) // 3 * 2, False


def luma(frames: Any, *, input_res: Optional[tuple[int, int]] = None) -> Any:
    """Returns the luma of whole frames (…, height*3/2, width) as a view (…, height, width). Works for arrays on a GPU,
    too.

    input_res: (width, height) of flat frames (…, frame bytes), unless c63 made them. Raises UsageError.
    """
    width, height, flat = _layout(frames, input_res)
    if not flat:
        return frames[..., :height, :]
    return frames[..., : width * height].reshape((*frames.shape[:-1], height, width))


def planes(frames: Any, *, input_res: Optional[tuple[int, int]] = None) -> tuple[Any, Any, Any]:
    """Returns the planes of whole frames with even sides: Y (…, height, width), U and V (…, height/2, width/2). They
    are views, also on a GPU.

    encode(), psnr() and ssim() accept such a tuple. Raises UsageError.
    """
    width, height, flat = _layout(frames, input_res)
    if width % 2 != 0 or height % 2 != 0:
        _refuse(frames, "frames with even sides, whose chroma has rows")
    y = luma(frames, input_res=(width, height))
    chroma = frames[..., width * height :] if flat else frames[..., height:, :]
    chroma = chroma.reshape((*y.shape[:-2], 2, height // 2, width // 2))
    return y, chroma[..., 0, :, :], chroma[..., 1, :, :]


def join_planes(y: Any, u: Any, v: Any) -> U8:
    """Joins three numpy planes into whole frames (…, height*3/2, width). It undoes planes(). Raises UsageError."""
    y, u, v = (np.asarray(plane) for plane in (y, u, v))
    height, width = y.shape[-2:] if y.ndim >= 2 else (0, 0)
    small = (*y.shape[:-2], height // 2, width // 2)
    if y.ndim < 2 or height % 2 != 0 or width % 2 != 0 or u.shape != small or v.shape != small:
        wanted = "planes (…, height, width) with even sides and two of half the sides"
        raise _shape_error(f"wanted {wanted}, got {y.shape}, {u.shape}, {v.shape}")
    for name, plane in (("y", y), ("u", u), ("v", v)):
        if plane.dtype != np.uint8:
            refuse(name, "uint8", plane.dtype)
    frames = np.empty((*y.shape[:-2], *frame_shape(width, height)), np.uint8)
    for plane, part in zip((y, u, v), planes(frames)):
        part[...] = plane
    return as_frames(frames, width, height)


def yuv_to_rgb(
    frames: Any, matrix: Matrix = "bt601", *, full_range: bool = False, input_res: Optional[tuple[int, int]] = None
) -> U8:
    """Converts whole frames with even sides to RGB, uint8 (…, height, width, 3).

    matrix: "bt601" (usual for small pictures such as CIF) or "bt709" (usual for HD). full_range: luma and chroma use 0
    to 255, as in JPEG; otherwise luma is 16 to 235 and chroma 16 to 240, as in television. A raw video file says
    neither. Each chroma sample is used for four pixels. Raises UsageError.
    """
    scale, offset, red, blue = _scales(matrix, full_range)
    y, u, v = planes(_numpy(frames), input_res=input_res)
    rgb = np.empty((*y.shape, 3), np.uint8)
    for index in np.ndindex(*y.shape[:-2]):  # frame by frame, because floats take four times the memory
        lightness = (np.asarray(y[index], np.float32) - offset) * scale[0]
        cb, cr = ((np.asarray(plane[index], np.float32) - 128) * scale[1] for plane in (u, v))
        cb, cr = (plane.repeat(2, axis=0).repeat(2, axis=1) for plane in (cb, cr))
        r = lightness + 2 * (1 - red) * cr
        b = lightness + 2 * (1 - blue) * cb
        g = (lightness - red * r - blue * b) / (1 - red - blue)
        rgb[index] = _bytes(np.stack((r, g, b), axis=-1))
    return rgb


def rgb_to_yuv(rgb: Any, matrix: Matrix = "bt601", *, full_range: bool = False) -> U8:
    """Converts RGB, uint8 (…, height, width, 3) with even sides, to whole frames (…, height*3/2, width).

    matrix, full_range: as for yuv_to_rgb(). A chroma sample is the mean of its four pixels. Raises UsageError.
    """
    scale, offset, red, blue = _scales(matrix, full_range)
    pixels = np.asarray(rgb)
    if pixels.dtype != np.uint8 or pixels.ndim < 3 or pixels.shape[-1] != 3 or any(side % 2 or not side for side in pixels.shape[-3:-1]):
        raise _shape_error(f"rgb: wanted uint8 (…, height, width, 3) with even sides, got {pixels.dtype} {pixels.shape}")
    height, width = pixels.shape[-3:-1]
    frames = np.empty((*pixels.shape[:-3], *frame_shape(width, height)), np.uint8)
    y, u, v = planes(frames)
    for index in np.ndindex(*pixels.shape[:-3]):
        r, g, b = np.moveaxis(pixels[index].astype(np.float32), -1, 0)
        lightness = red * r + (1 - red - blue) * g + blue * b
        y[index] = _bytes(lightness / scale[0] + offset)
        for plane, colour, share in ((u, b, blue), (v, r, red)):
            difference = (colour - lightness) / (2 * (1 - share))
            mean = difference.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))
            plane[index] = _bytes(mean / scale[1] + 128)
    return as_frames(frames, width, height)


def _scales(matrix: Any, full_range: Any) -> tuple[tuple[float, float], float, float, float]:
    """Returns (factor of luma, factor of chroma), the luma of black, and the weights of red and blue in luma."""
    red, blue = _SHARES[choice("matrix", matrix, tuple(_SHARES))]
    if flag("full_range", full_range):
        return (1.0, 1.0), 0.0, red, blue
    return (255 / 219, 255 / 224), 16.0, red, blue


def _numpy(frames: Any) -> Any:
    """Returns frames as a numpy array that keeps their known size."""
    return frames if isinstance(frames, np.ndarray) else np.asarray(frames)


def _bytes(values: Any) -> U8:
    """Rounds halves up, and clips to 0..255."""
    bounded: U8 = np.clip(np.floor(values + 0.5), 0, 255).astype(np.uint8)
    return bounded
