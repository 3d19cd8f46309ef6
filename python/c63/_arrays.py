"""Numpy arrays over memory that the library owns."""

from __future__ import annotations

import fractions
import warnings
from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]


class Frames(np.ndarray[Any, np.dtype[np.uint8]]):
    """Whole frames from c63: a numpy array that knows their width and height.

    One frame is (height*3/2, width), several are (n, height*3/2, width). With odd heights they are (frame bytes,) and
    (n, frame bytes). The shape alone does not tell a frame from a plane. c63.estimate_motion() and c63.luma() tell by
    this class. Parts of frames, such as frame[:height], are planes. numpy.asarray(frames) is an array without this
    knowledge.
    """

    size_of_pictures: Optional[tuple[int, int]]  #: width, height

    def __array_finalize__(self, source: Any) -> None:
        self.size_of_pictures = getattr(source, "size_of_pictures", None)

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, keywords: Any) -> Any:
        made = super().__array_function__(function, kinds, arguments, keywords)
        # numpy.stack and similar functions return a plain array, which does not know the size of pictures. If its shape
        # is that of whole frames, make it Frames again.
        if type(made) is np.ndarray and made.dtype == np.uint8 and self.size_of_pictures is not None:
            shape = frame_shape(*self.size_of_pictures)
            if made.shape[-len(shape) :] == shape:
                return as_frames(made, *self.size_of_pictures)
        return made

    def __array_wrap__(self, array: Any, *more: Any) -> Any:
        made = super().__array_wrap__(array, *more[:1])
        # Sums and means are numbers, which round() and json take. squeeze(), which has no `more`, must return an array.
        return made[()] if made.ndim == 0 and more else made

    def __reduce__(self) -> Any:  # pickles the size, too
        rebuild, arguments, state = super().__reduce__()  # type: ignore[misc]
        return rebuild, arguments, (state, self.size_of_pictures)

    def __setstate__(self, state: Any) -> None:
        array, self.size_of_pictures = state
        super().__setstate__(array)


def as_frames(array: Any, width: int, height: int) -> U8:
    """Returns the array as Frames: whole frames of this width and height."""
    frames: Frames = array.view(Frames)
    frames.size_of_pictures = (width, height)
    return frames


def frame_size_of(array: Any) -> Optional[tuple[int, int]]:
    """Returns (width, height) if `array` is Frames and still holds whole frames. Returns None for planes and other
    arrays."""
    size = array.size_of_pictures if isinstance(array, Frames) else None
    if size is None:
        return None
    shape = frame_shape(*size)
    return size if array.shape[-len(shape) :] == shape and array.ndim <= len(shape) + 1 else None


class Motion(NamedTuple):
    """Motion of a plane: a vector for each block of 8x8 samples. For n pairs of planes, each array has n as its first
    dimension."""

    #: int8 (rows, columns, 2): x (right) and y (down), in samples, from the block to where it is found in the reference.
    vectors: Any
    sad: Any  #: uint16 (rows, columns): sums of absolute differences; None: not requested
    inter: Any = None  #: bool (rows, columns): the block is predicted by its vector; None: all are
    second: Any = None  #: uint16 (rows, columns): smallest SAD of other candidates, 65535: none; None: not requested
    quarters: Any = None  #: uint16 (rows, columns, 4): SADs of the 4x4 quarters in raster order; None: not requested


def picture(row: Any, width: int, height: int) -> Any:
    """Returns a row of samples as a frame of shape (height*3/2, width), or flat if the height is odd. None stays None."""
    return None if row is None else as_frames(row.reshape(frame_shape(width, height)), width, height)


def frame_shape(width: int, height: int) -> tuple[int, ...]:
    """Returns the shape of a frame whose planes lie one after another."""
    if height % 2 == 0:
        return (height + height // 2, width)
    return (width * height + 2 * (width * height // 4),)


#: Width divided by height of most videos: 4:3, 16:9, CIF, and those of television.
_USUAL = {fractions.Fraction(width, height) for width, height in ((4, 3), (16, 9), (11, 9), (5, 4), (3, 2))}


def warn_if_ambiguous(array: Any, as_planes: bool) -> None:
    """Warns if an array (…, rows, width) is used as planes, but its shape is that of usual whole frames, or the other way
    round."""
    shape = tuple(getattr(array, "shape", ()))
    if isinstance(array, Frames) or len(shape) < 2 or shape[-2] % 3 or shape[-2] < 96:
        return
    rows, width = shape[-2:]
    plane, frame = fractions.Fraction(width, rows) in _USUAL, fractions.Fraction(width, rows // 3 * 2) in _USUAL
    if as_planes and frame and not plane:
        text = f"planes of {width}x{rows}; of whole frames of {width}x{rows // 3 * 2}, search c63.luma(frames)"
    elif not as_planes and plane and not frame:
        text = f"whole frames of {width}x{rows // 3 * 2}; give input_res=({width}, {rows}) for grey planes"
    else:
        return
    warnings.warn(f"an array {shape} is taken as {text}", stacklevel=5)
