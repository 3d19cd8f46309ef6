"""Memory of the library as numpy arrays."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from . import _c63

U8 = npt.NDArray[np.uint8]


class Frames(np.ndarray[Any, np.dtype[np.uint8]]):
    """Whole frames that c63 made: a numpy array that knows their size.

    One frame is (height*3/2, width), several are (n, height*3/2, width); with odd heights (frame bytes,) and (n, frame bytes).
    An array alone does not say whether it is a frame or a plane. So c63.estimate_motion() and c63.luma() ask this class. Parts of
    frames, such as frame[:height], are planes. numpy.asarray(frames) is an array that does not know its size.
    """

    size_of_pictures: Optional[tuple[int, int]]  #: width, height

    def __array_finalize__(self, source: Any) -> None:
        self.size_of_pictures = getattr(source, "size_of_pictures", None)

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, keywords: Any) -> Any:
        made = super().__array_function__(function, kinds, arguments, keywords)
        # numpy.stack and similar functions make arrays without the class.
        if type(made) is np.ndarray and made.dtype == np.uint8 and self.size_of_pictures is not None:
            shape = frame_shape(*self.size_of_pictures)
            if made.shape[-len(shape) :] == shape:
                return as_frames(made, *self.size_of_pictures)
        return made

    def __reduce__(self) -> Any:  # for pickle: the size is known in other processes, too
        rebuild, arguments, state = super().__reduce__()  # type: ignore[misc]
        return rebuild, arguments, (state, self.size_of_pictures)

    def __setstate__(self, state: Any) -> None:
        array, self.size_of_pictures = state
        super().__setstate__(array)


def as_frames(array: Any, width: int, height: int) -> U8:
    """Returns the array as one that knows that it holds whole frames."""
    frames: Frames = array.view(Frames)
    frames.size_of_pictures = (width, height)
    return frames


def frame_size_of(array: Any) -> Optional[tuple[int, int]]:
    """Returns (width, height) if `array` is known to be whole frames, else None: for planes and for arrays of others."""
    size = array.size_of_pictures if isinstance(array, Frames) else None
    if size is None:
        return None
    shape = frame_shape(*size)
    return size if array.shape[-len(shape) :] == shape and array.ndim <= len(shape) + 1 else None


class Motion(NamedTuple):
    """Motion of a plane: one vector for each block of 8x8 samples."""

    vectors: Any  #: int8 (rows, columns, 2): x to the right, y down, to where the prediction is
    sad: Any  #: uint16 (rows, columns): sums of absolute differences, or None where they were not asked for
    inter: Any = None  #: bool (rows, columns): whether a block is predicted; None: all are


def view(memory: Any, dtype: Any, shape: Any) -> npt.NDArray[Any]:
    """Returns an array over `memory`, which the array keeps alive."""
    return np.ndarray(shape, dtype, buffer=memory)


def picture(samples: Any, width: int, height: int) -> U8:
    """Returns (height*3/2, width) if chroma has whole rows in that layout, else the flat shape."""
    flat = view(samples, np.uint8, (memoryview(samples).nbytes,))
    return as_frames(flat.reshape(frame_shape(width, height)), width, height)


def frame_shape(width: int, height: int) -> tuple[int, ...]:
    """Returns the shape of a picture in linear layout."""
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
    """Returns a picture, or None if it was not kept."""
    return picture(samples, width, height) if memoryview(samples).nbytes else None
