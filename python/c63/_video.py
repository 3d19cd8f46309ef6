"""Video files: raw, Y4M, c63 streams, and all that FFmpeg reads."""

from __future__ import annotations

import fractions
import itertools
import operator
import os
from typing import Any, Iterator, Optional, Union, overload

import numpy as np

from . import _c63
from ._arguments import integer, picture_size, refuse, setting_error
from ._arrays import U8, as_frames, frame_shape, warn_if_ambiguous
from ._device import is_device_array, stream_of
from ._options import Format


class Video:
    """A video file. A loop over it gives its frames, uint8 (height*3/2, width).

    Raw video and Y4M files also have len(video), video[17], video[-1] and video[0:100:10]. A slice is one array (n,
    height*3/2, width). Pipes, c63 streams and videos that FFmpeg reads give each frame once, in order: by a loop or
    read(). c63.Decoder gives any frame of a stream.

    A video can be used in a with block, which closes the file.
    """

    def __init__(self, reader: _c63.VideoReader, path: str) -> None:
        self._opened: Optional[_c63.VideoReader] = reader
        self.path = path
        self.width: int
        self.height: int
        self.count: Optional[int]  #: number of frames; None: not known before the end
        self.seekable: bool  #: any frame can be read
        self.width, self.height, *rate, self.count, self.seekable = reader.about()
        self.rate = fractions.Fraction(*rate)  #: frames per second

    def __iter__(self) -> Iterator[U8]:
        for index in itertools.count():
            frame = self._read(index, 1)
            if not len(frame):
                return
            yield frame[0]

    def __len__(self) -> int:
        if self.count is None:
            raise setting_error(f"{self.path}: its number of frames is unknown until it has been read; use len(video.read())")
        return self.count

    def __bool__(self) -> bool:
        return True  # also if the number of frames is unknown

    @overload
    def __getitem__(self, index: int) -> U8: ...

    @overload
    def __getitem__(self, index: slice) -> U8: ...

    def __getitem__(self, index: Union[int, slice]) -> U8:
        if not self.seekable or self.count is None:
            raise setting_error(f"{self.path}: its frames can be read only once and in order; iterate over it, or use read()")
        if isinstance(index, slice):
            return self._read_all(range(*index.indices(self.count)))
        try:
            number = operator.index(index)
        except TypeError:
            refuse("index", "an int or a slice", index)
        if not -self.count <= number < self.count:
            raise IndexError(f"frame {index} of {self.count}")
        frame: U8 = self._read_all(range(number % self.count, number % self.count + 1))[0]
        return frame

    def read(self, count: Optional[int] = None) -> U8:
        """Returns the first `count` frames as one array; from a source that is not seekable, the next ones. None: all
        frames."""
        if count is not None:
            count = integer("count", count, 0)
        if self.count is not None:
            count = self.count if count is None else min(count, self.count)
        if count is not None:
            return self._read(0, count)
        frames = list(self)
        return self._whole(np.stack(frames) if frames else np.empty((0, *frame_shape(self.width, self.height)), np.uint8))

    @property
    def warnings(self) -> list[str]:
        """The warnings about the file up to now."""
        return list(self._reader.warnings)

    def close(self) -> None:
        """Closes the file."""
        self._opened = None

    def __enter__(self) -> Video:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        frames = "" if self.count is None else f", {self.count} frames"
        closed = ", closed" if self._opened is None else ""
        return f"<c63.Video {self.path!r}: {self.width}x{self.height}{frames}, {float(self.rate):.6g} frames/s{closed}>"

    @property
    def _reader(self) -> _c63.VideoReader:
        if self._opened is None:
            raise setting_error(f"{self.path}: the video was closed")
        return self._opened

    def _whole(self, frames: Any) -> U8:
        return as_frames(frames, self.width, self.height)

    def _read(self, index: int, count: int) -> U8:
        """Returns frames from `index` on; from a source that is not seekable, the next ones."""
        frames: U8 = np.empty((count, *frame_shape(self.width, self.height)), np.uint8)
        return self._whole(frames[: self._reader.read_into(index, frames)])

    def _read_all(self, indices: range) -> U8:
        if indices.step == 1:
            return self._read(indices.start, len(indices))
        parts = [self._read(index, 1) for index in indices]
        return self._whole(np.concatenate(parts)) if parts else self._read(0, 0)


def native(frames: Any, input_res: Any, stream: Any = None) -> tuple[Any, Any, int]:
    """Returns what the native module takes for a video: arrays or a reader, their size or None, and a CUDA stream as an int."""
    size = picture_size(input_res)
    if isinstance(frames, Video):
        return frames._reader, size, 0
    if isinstance(frames, (str, bytes, os.PathLike)):
        refuse("frames", "arrays or c63.open(path)", frames)
    if size is None:
        warn_if_ambiguous(frames, as_planes=False)
    first = frames[0] if isinstance(frames, (tuple, list)) and frames else frames
    return frames, size, stream_of(first, stream) if is_device_array(first) else 0


def open(
    path: Union[str, "os.PathLike[str]"],
    *,
    input_res: Optional[tuple[int, int]] = None,
    format: Format = "auto",
    strict: bool = False,
    tolerant: bool = False,
) -> Video:
    """Opens a video file for reading.

    input_res: (width, height) of raw video, unless its name contains them. format: "auto", "raw", "y4m" or "av"
    (FFmpeg).
    strict: treat a partial last frame as an error. tolerant: read on after damage that FFmpeg reports, and put it into
    `warnings`. Raises Error (input) if the file cannot be read.
    """
    try:
        name, encoded = os.fsdecode(path), os.fsencode(path)
    except TypeError:
        refuse("path", "a file's name", path)
    width, height = picture_size(input_res) or (0, 0)
    return Video(_c63.VideoReader(encoded, width, height, format, strict, tolerant), name)
