"""Decoding."""

from __future__ import annotations

import dataclasses
import mmap
import os
from typing import Any, Iterator, Optional, Union

import numpy as np

from . import _c63
from ._arrays import U8, Motion, kept, picture
from ._arrays import motion as motion_of
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
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError):  # an empty file, or a pipe
            return file.read()


class Decoder:
    """A coded stream: a file's path, or bytes. Iterating over it decodes it, in order, on threads of its own.

    prediction, motion: whether frames come with them. Raises Error (input, limit) with frame and offset at the first fault,
    after every whole frame before it has been handed out.
    """

    def __init__(self, stream: Stream, *, prediction: bool = False, motion: bool = False, threads: int = 0) -> None:
        self._bytes = _bytes_of(stream)
        self._prediction = prediction
        self._motion = motion
        self._settings = Settings(threads=threads)

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
    pictures = [frame.picture for frame in Decoder(stream, threads=threads)]
    return np.stack(pictures) if pictures else np.empty((0, 0, 0), np.uint8)
