"""Decoding."""

from __future__ import annotations

import dataclasses
import operator
import os
import stat
from typing import Any, Iterator, Optional, Union, overload

import numpy as np

from . import _c63
from ._arrays import U8, Motion, frame_shape, kept, picture
from ._arrays import motion as motion_of
from ._error import Error
from ._settings import Settings

Stream = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, "np.ndarray[Any, Any]"]


@dataclasses.dataclass(frozen=True, eq=False)
class DecodedFrame:
    """A decoded frame."""

    index: int
    key: bool
    repeat: bool  #: nothing is coded: the picture before is shown again
    picture: U8  #: (height*3/2, width), or flat for odd heights
    prediction: Optional[U8]  #: likewise, where it was asked for
    motion: tuple[Motion, ...]  #: of Y, U, V, where it was asked for; none in key frames and repeats
    offset: int  #: of the coded frame in the stream, in bytes
    coded_bytes: int
    width: int
    height: int


def _bytes_of(stream: Stream) -> Any:
    if not isinstance(stream, (str, os.PathLike)):
        return stream
    with open(stream, "rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return _c63.StreamFile(file.fileno())
        return file.read()  # a pipe


class Decoder:
    """A coded stream: a file's path, or bytes.

    Iterating over it decodes it in order, on threads of its own, and raises Error (input, limit) with frame and offset at the
    first fault, after every whole frame before it has been handed out. len(decoder), decoder[17], decoder[-1] and
    decoder[0:100:10] decode from the key frame before, or from the frame decoded last; they know the frames before the first
    place that is none.

    prediction, motion: whether frames come with them.
    """

    def __init__(self, stream: Stream, *, prediction: bool = False, motion: bool = False, threads: int = 0) -> None:
        self._bytes = _bytes_of(stream)
        self._prediction = prediction
        self._motion = motion
        self._settings = Settings(threads=threads)
        self._seekable = _c63.SeekableStream(self._bytes, self._settings, prediction, motion)

    @property
    def width(self) -> int:
        """In samples; 0 for an empty stream. Raises Error where the first frame has a fault, as height."""
        return self._seekable.size()[0]

    @property
    def height(self) -> int:
        return self._seekable.size()[1]

    def __len__(self) -> int:
        return self._seekable.count()

    @overload
    def __getitem__(self, index: int) -> DecodedFrame: ...

    @overload
    def __getitem__(self, index: slice) -> list[DecodedFrame]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[DecodedFrame, list[DecodedFrame]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = operator.index(index)
        if number < 0:
            number += len(self)
        if number < 0:
            raise IndexError(f"frame {index} of {len(self)}")
        try:
            return _hand_out(self._seekable.frame(number))
        except Error as error:
            if error.id != "C63-SEEK-RANGE":
                raise
            raise IndexError(f"frame {index} of {len(self)}") from None

    def __iter__(self) -> Iterator[DecodedFrame]:
        frames = _c63.DecodeStream(self._bytes, self._settings, self._prediction, self._motion, 0, -1)
        try:
            decoded = frames.next()
            while decoded is not None:
                yield _hand_out(decoded)
                decoded = frames.next()
        finally:
            frames.close()


def _hand_out(frame: _c63.Picture) -> DecodedFrame:
    width, height = frame.width, frame.height
    return DecodedFrame(
        frame.index,
        frame.key,
        frame.repeat,
        picture(frame.samples, width, height),
        kept(frame.prediction, width, height),
        tuple(motion_of(plane) for plane in frame.motion),
        frame.offset,
        frame.coded_bytes,
        width,
        height,
    )


def decode(stream: Stream, *, threads: int = 0) -> U8:
    """All pictures of a stream as one array, (n, height*3/2, width). Raises as Decoder."""
    frames = _c63.SeekableStream(_bytes_of(stream), Settings(threads=threads), False, False)
    count = frames.count()
    pictures: U8 = np.empty((count, *frame_shape(*frames.size())), np.uint8)
    if count:
        frames.decode_into(pictures)
    return pictures
