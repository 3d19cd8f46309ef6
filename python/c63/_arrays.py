"""Memory of the library as arrays of numpy."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from . import _c63

U8 = npt.NDArray[np.uint8]


class Motion(NamedTuple):
    """Motion of a plane, one vector a block of 8x8 samples."""

    vectors: Any  #: int8 (rows, columns, 2): x to the right, y down, to where the prediction is
    sad: Any  #: uint16 (rows, columns): sums of absolute differences, or None where they were not asked for
    inter: Any = None  #: bool (rows, columns): whether a block is predicted; None: all are


def view(memory: Any, dtype: Any, shape: Any) -> npt.NDArray[Any]:
    """An array over `memory`, which it keeps."""
    return np.ndarray(shape, dtype, buffer=memory)


def picture(samples: Any, width: int, height: int) -> U8:
    """(height*3/2, width) where chroma has whole rows in that layout, else flat."""
    shape = (height + height // 2, width) if height % 2 == 0 else (-1,)
    return view(samples, np.uint8, (memoryview(samples).nbytes,)).reshape(shape)


def frame_shape(width: int, height: int) -> tuple[int, ...]:
    """The shape of a picture in linear layout."""
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
    """A picture that may not have been kept."""
    return picture(samples, width, height) if memoryview(samples).nbytes else None
