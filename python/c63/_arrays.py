"""Numpy arrays over memory that the library owns."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from . import _c63

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

    vectors: Any  #: int8 (rows, columns, 2): x (right) and y (down) from the block to its prediction
    sad: Any  #: uint16 (rows, columns): sums of absolute differences; None: not requested
    inter: Any = None  #: bool (rows, columns): the block is predicted by its vector; None: all are
    second: Any = None  #: uint16 (rows, columns): smallest SAD of other candidates, 65535: none; None: not requested
    quarters: Any = None  #: uint16 (rows, columns, 4): SADs of the 4x4 quarters in raster order; None: not requested


def view(memory: Any, dtype: Any, shape: Any) -> npt.NDArray[Any]:
    """Returns an array over `memory`. The array keeps `memory` alive."""
    return np.ndarray(shape, dtype, buffer=memory)


def picture(samples: Any, width: int, height: int) -> U8:
    """Returns a frame of shape (height*3/2, width), or flat if the height is odd."""
    flat = view(samples, np.uint8, (memoryview(samples).nbytes,))
    return as_frames(flat.reshape(frame_shape(width, height)), width, height)


def frame_shape(width: int, height: int) -> tuple[int, ...]:
    """Returns the shape of a frame whose planes lie one after another."""
    if height % 2 == 0:
        return (height + height // 2, width)
    return (width * height + 2 * (width * height // 4),)


def motion(plane: _c63.PlaneMotion) -> Motion:
    shape = (plane.rows, plane.columns)
    sads, inter = plane.sads, plane.inter
    return Motion(
        view(plane.vectors, np.int8, (*shape, 2)),
        view(sads, np.uint16, shape) if memoryview(sads).nbytes else None,
        view(inter, np.bool_, shape) if memoryview(inter).nbytes else None,
    )


def kept(samples: Any, width: int, height: int) -> Optional[U8]:
    """Returns a frame like picture(), or None if the encoder or decoder did not keep it."""
    return picture(samples, width, height) if memoryview(samples).nbytes else None
