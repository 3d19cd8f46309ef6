"""Videos that the tools read: raw, Y4M, and whatever FFmpeg does."""

from __future__ import annotations

import fractions
import os
from typing import Iterator, Optional, Union

import numpy as np

from . import _c63
from ._arrays import U8, frame_shape


class Video:
    """A video file; iterating over it gives its frames, uint8 (height*3/2, width)."""

    def __init__(self, reader: _c63.VideoReader, path: str) -> None:
        self._reader = reader
        self._next = 0  # of a source that cannot seek
        self.path = path
        self.width: int = reader.width
        self.height: int = reader.height
        self.rate = fractions.Fraction(*reader.rate)  #: frames per second
        self.count: Optional[int] = reader.count  #: frames; None where only the end will tell
        self.seekable: bool = reader.seekable

    def __iter__(self) -> Iterator[U8]:
        index = 0 if self.seekable else self._next
        while True:
            frame = self._read(index, 1)
            if not len(frame):
                return
            yield frame[0]
            index += 1

    def read(self, count: Optional[int] = None) -> U8:
        """The first `count` frames, or the next ones of a source that cannot seek, as one array; None: all."""
        index = 0 if self.seekable else self._next
        if count is None:
            count = self.count
        if count is not None:
            return self._read(index, count)
        frames = list(self)
        return np.stack(frames) if frames else np.empty((0, *frame_shape(self.width, self.height)), np.uint8)

    @property
    def warnings(self) -> list[str]:
        """What was odd about the file so far."""
        return list(self._reader.warnings)

    def _read(self, index: int, count: int) -> U8:
        frames: U8 = np.empty((count, *frame_shape(self.width, self.height)), np.uint8)
        read = self._reader.read_into(index, frames)
        self._next = index + read
        return frames[:read]


def open(
    path: Union[str, "os.PathLike[str]"],
    *,
    size: Optional[tuple[int, int]] = None,
    format: str = "auto",
    strict: bool = False,
) -> Video:
    """Opens a video file for reading.

    size: (width, height) of raw video whose name does not tell it. format: "auto", "raw", "y4m" or "av" (FFmpeg).
    strict: a partial last frame is an error. Raises Error (input) for what cannot be read.
    """
    name = os.fspath(path)
    width, height = size or (0, 0)
    return Video(_c63.VideoReader(name, width, height, format, strict), name)
