"""Decoding."""

from __future__ import annotations

import dataclasses
import operator
import os
import stat
from typing import Any, Iterator, Optional, Union, overload

import numpy as np

from . import _c63
from ._arguments import flag, integer, refuse, setting_error
from ._arrays import U8, Motion, as_frames, frame_shape
from ._error import Error, FileError
from ._settings import Settings

Stream = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, "np.ndarray[Any, Any]"]


@dataclasses.dataclass(frozen=True, eq=False)
class DecodedFrame:
    """A decoded frame."""

    index: int
    key: bool
    repeat: bool  #: the frame codes nothing and shows the previous picture again
    picture: U8 = dataclasses.field(repr=False)  #: (height*3/2, width), or flat for odd heights
    prediction: Optional[U8] = dataclasses.field(repr=False)  #: of the same shape; None: not requested
    motion: tuple[Motion, ...] = dataclasses.field(repr=False)  #: of Y, U, V; empty: not requested, key or repeat
    offset: int  #: where the coded frame begins in the stream, in bytes
    coded_bytes: int
    width: int
    height: int


def _bytes_of(stream: Stream) -> Any:
    if not isinstance(stream, (str, os.PathLike)):
        return stream
    try:
        with open(stream, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return _c63.StreamFile(os.path.abspath(os.fsencode(stream))) if is_file else file.read()
    except OSError as error:
        name, cause = os.fsdecode(stream), f"cannot open for reading: {error.strerror}"
        raise FileError(f"{name}: {cause} [C63-INPUT-OPEN]", kind="input", id="C63-INPUT-OPEN", message=cause, file=name) from error


class Decoder:
    """A coded stream: a file's path, or bytes.

    A loop over it decodes the frames in order, on threads of its own. If the stream has an error, all frames before it
    come first, then Error (input, limit) is raised with frame and offset. decoder[17], decoder[-1] and
    decoder[0:100:10] decode any frames, beginning at the key frame before them or at the last decoded frame. For these
    and for len(decoder), the stream ends at its first error.

    prediction, motion: True if frames shall have them.

    A decoder can be used in a with block, which closes it.
    """

    def __init__(self, stream: Stream, *, prediction: bool = False, motion: bool = False, threads: int = 0) -> None:
        self._bytes = _bytes_of(stream)
        self._prediction = flag("prediction", prediction)
        self._motion = flag("motion", motion)
        self._settings = Settings(threads=integer("threads", threads, 0))
        self._opened: Optional[_c63.SeekableStream] = _c63.SeekableStream(
            self._bytes, self._settings, self._prediction, self._motion
        )
        if isinstance(stream, (str, os.PathLike)):
            self._name = repr(os.fspath(stream))
        else:
            self._name = f"of {memoryview(self._bytes).nbytes} bytes"

    @property
    def _seekable(self) -> _c63.SeekableStream:
        if self._opened is None:
            raise setting_error("the decoder was closed")
        return self._opened

    @property
    def width(self) -> int:
        """Width in samples; 0 for an empty stream. Like height, raises Error if the first frame is damaged."""
        return self._seekable.size()[0]

    @property
    def height(self) -> int:
        return self._seekable.size()[1]

    def close(self) -> None:
        """Closes the stream. Loops that have begun can still finish."""
        self._opened = None
        self._bytes = None

    def __enter__(self) -> Decoder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<c63.Decoder {self._name}{', closed' if self._opened is None else ''}>"

    def __len__(self) -> int:
        return self._seekable.count()

    @overload
    def __getitem__(self, index: int) -> DecodedFrame: ...

    @overload
    def __getitem__(self, index: slice) -> list[DecodedFrame]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[DecodedFrame, list[DecodedFrame]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        try:
            number = operator.index(index)
        except TypeError:
            refuse("index", "an int or a slice", index)
        if number < 0:
            number += len(self)
        if number < 0:
            raise IndexError(f"frame {index} of {len(self)}")
        try:
            frame: DecodedFrame = self._seekable.frame(number)
            return frame
        except Error as error:
            if error.id != "C63-SEEK-RANGE":
                raise
            raise IndexError(f"frame {index} of {len(self)}") from None

    def __iter__(self) -> Iterator[DecodedFrame]:
        self._seekable  # raises if closed
        frames = _c63.DecodeStream(self._bytes, self._settings, self._prediction, self._motion)
        try:
            yield from iter(frames.next, None)
        finally:
            frames.close()


def decode(stream: Stream, *, threads: int = 0) -> U8:
    """Returns all frames of a stream as one array (n, height*3/2, width). Raises Error like Decoder, and for an empty
    stream (input, C63-STREAM-EMPTY)."""
    frames = _c63.SeekableStream(_bytes_of(stream), Settings(threads=integer("threads", threads, 0)), False, False)
    count = frames.count()
    width, height = frames.size()
    if not count:
        cause = "the stream is empty"
        raise Error(f"{cause} [C63-STREAM-EMPTY]", kind="input", id="C63-STREAM-EMPTY", message=cause)
    pictures: U8 = np.empty((count, *frame_shape(width, height)), np.uint8)
    frames.decode_into(pictures)
    return as_frames(pictures, width, height)
