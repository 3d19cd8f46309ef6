"""Encoding."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, NamedTuple, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from . import _c63
from ._arrays import U8, Motion, kept
from ._arrays import motion as motion_of
from ._device import is_device_array, stream_of
from ._settings import Settings, merge
from ._video import Video

#: A row of `statistics`: index; bytes; sse and ssim of Y, U, V; luma_sad; shift_x, shift_y in samples; header_bits,
#: motion_bits, luma_bits, chroma_bits; read_ms, upload_ms, motion_ms, transform_ms, measure_ms, entropy_ms, download_ms,
#: write_ms, latency_ms; key; repeat.
STATISTICS = np.dtype(_c63.STATISTICS_FIELDS, align=True)


#: Where a stream can go.
Room = Union[bytearray, memoryview, npt.NDArray[np.uint8]]


class Encoded(NamedTuple):
    """What an encode made."""

    stream: bytes
    statistics: npt.NDArray[Any]  #: a row a frame, of dtype STATISTICS
    summary: dict[str, Any]  #: frames, key_frames, bytes, start_up_ms, elapsed_ms, lanes, backend, stopped


@dataclasses.dataclass(frozen=True, eq=False)
class CodedFrame:
    """A frame as it leaves an Encoder."""

    index: int
    key: bool
    repeat: bool  #: nothing is coded: the picture before is shown again
    data: bytes  #: the coded frame; all of them joined are the stream
    statistics: Any  #: a row of dtype STATISTICS
    reconstruction: Optional[U8] = None  #: where keep_reconstruction asks for it
    prediction: Optional[U8] = None  #: where keep_prediction asks for it
    motion: tuple[Motion, ...] = ()  #: of Y, U, V, where keep_motion asks for it; none in key frames


def encode_with_statistics(
    frames: Any,
    settings: Optional[Settings] = None,
    *,
    size: Optional[tuple[int, int]] = None,
    stream: Any = None,
    **options: Any,
) -> Encoded:
    """As encode(); also hands out statistics of each frame and a summary of the run."""
    chosen = merge(settings, options)
    handle = _stream_handle(frames, stream)
    if isinstance(frames, Video):
        coded, rows, summary = _c63.encode_video(frames._reader, chosen, chosen.backend, list(chosen.devices))
    else:
        coded, rows, summary = _c63.encode_arrays(frames, size, chosen, chosen.backend, list(chosen.devices), handle)
    return Encoded(coded, np.frombuffer(rows, STATISTICS), summary)


def encode(
    frames: Any,
    settings: Optional[Settings] = None,
    *,
    size: Optional[tuple[int, int]] = None,
    stream: Any = None,
    **options: Any,
) -> bytes:
    """Encodes a video and returns the stream, the same bytes as c63enc's.

    frames: uint8 (n, height*3/2, width), planes Y, U, V one below the other; or a tuple of planes (n, height, width) and
    twice (n, height/2, width/2); or (n, frame bytes) and size=(width, height), for odd heights; or what c63.open() gives.
    Arrays are taken by the buffer protocol or DLPack, without a copy: rows must lie without gaps, frames may have gaps
    between them (video[::2]).

    Arrays of a GPU (__cuda_array_interface__ or DLPack) are encoded on it, from where they lie: only coded bytes come down.
    The encode waits for what their stream was given before: `stream`, or the one on which torch or CuPy works at the moment.

    options: fields of Settings, in place of those of `settings`: encode(frames, qp=30, preset="good").

    Raises UsageError for arrays and settings that cannot be encoded, Error for everything else that goes wrong.
    """
    return encode_with_statistics(frames, settings, size=size, stream=stream, **options).stream


def _stream_handle(frames: Any, stream: Any) -> int:
    """The stream of device arrays; 0 for everything else."""
    if isinstance(frames, str):
        raise TypeError("frames: wanted arrays or c63.open(path), got a str")
    first = frames[0] if isinstance(frames, (tuple, list)) and frames else frames
    return stream_of(first, stream) if is_device_array(first) else 0


class VideoEncoder:
    """Encodes whole videos of one size, one after another, on devices that stay open with their memory.

    encoder = c63.VideoEncoder(1920, 1080, preset="fast")
    for clip in clips:
        file.write(encoder.encode(clip))

    encode() gives each video the bytes of c63.encode(); opening a GPU, some 0.1 s, is paid once. Of a GPU without a number in
    `devices` the first is taken: name the one that device arrays are on. One video at a time: calls of several threads wait for
    each other.
    """

    def __init__(self, width: int, height: int, settings: Optional[Settings] = None, **options: Any) -> None:
        chosen = merge(settings, options)
        self.settings = chosen
        self.statistics: npt.NDArray[Any] = np.empty(0, STATISTICS)  #: of the last video, a row a frame
        self.summary: dict[str, Any] = {}  #: of the last video, as Encoded.summary
        self._native = _c63.VideoEncoder(width, height, chosen, chosen.backend, list(chosen.devices))

    @overload
    def encode(
        self, frames: Any, *, size: Optional[tuple[int, int]] = None, stream: Any = None, out: None = None
    ) -> bytes: ...
    @overload
    def encode(
        self, frames: Any, *, size: Optional[tuple[int, int]] = None, stream: Any = None, out: Room
    ) -> memoryview: ...
    def encode(
        self, frames: Any, *, size: Optional[tuple[int, int]] = None, stream: Any = None, out: Optional[Room] = None
    ) -> Union[bytes, memoryview]:
        """Encodes a video as c63.encode() does.

        out: where the stream goes, a writable array of bytes (numpy, bytearray) that is used again and again: memory that is
        new to the process takes longer to get than to fill. Returned is the part of it that was written.

        Raises as c63.encode(), UsageError for another size, and Error of kind limit where `out` is too small.
        """
        handle = _stream_handle(frames, stream)
        if isinstance(frames, Video):
            coded, rows, self.summary = self._native.encode_video(frames._reader, out)
        else:
            coded, rows, self.summary = self._native.encode_arrays(frames, size, handle, out)
        self.statistics = np.frombuffer(rows, STATISTICS)
        room: Any = out  # numpy's arrays have the buffer protocol, whatever its stubs say
        return coded if out is None else memoryview(room).cast("B")[:coded]


class Encoder:
    """Encodes frames that come one after another.

    with c63.Encoder(352, 288, qp=25) as encoder:
        for frame in camera:
            encoder.push(frame)
            for coded in encoder.poll(): file.write(coded.data)
    for coded in encoder.poll(): file.write(coded.data)

    Leaving the block finishes the stream, or ends the encoder at once where an exception leaves it. push() and finish() are
    for one thread, poll() for the same or another one.
    """

    def __init__(self, width: int, height: int, settings: Optional[Settings] = None, **options: Any) -> None:
        chosen = merge(settings, options)
        self.width = width
        self.height = height
        self.settings = chosen
        self._rows: list[bytes] = []
        self._finished = False
        self._native = _c63.PushEncoder(width, height, chosen, chosen.backend, list(chosen.devices))

    def push(self, frame: Any) -> None:
        """Gives the next frame: uint8 (height*3/2, width) or (frame bytes,), which is copied.

        Waits where the encoder is behind by as many frames as may wait in memory. Raises UsageError for other arrays and after
        finish(), and what ended the encode, if that was an error.
        """
        self._native.push(frame)

    def poll(self) -> list[CodedFrame]:
        """The coded frames that are there, in order. After finish(), all that are left."""
        frames: list[CodedFrame] = []
        take = self._native.wait if self._finished else self._native.poll
        coded = take()
        while coded is not None:
            frames.append(self._hand_out(coded))
            coded = take()
        return frames

    def finish(self) -> None:
        """There are no more frames."""
        self._native.finish()
        self._finished = True

    @property
    def statistics(self) -> npt.NDArray[Any]:
        """A row for each frame that poll() gave, of dtype STATISTICS."""
        return np.frombuffer(b"".join(self._rows), STATISTICS)

    @property
    def summary(self) -> dict[str, Any]:
        """What the run was like, after finish(); waits for its end."""
        if not self._finished:
            raise ValueError("summary: wanted after finish()")
        return self._native.summary()

    def close(self) -> None:
        """Ends the encoder; frames that were not polled are lost."""
        self._native.close()

    def __enter__(self) -> Encoder:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Union[types.TracebackType, None],
    ) -> None:
        if kind is not None:
            self.close()
        elif not self._finished:
            self.finish()

    def _hand_out(self, coded: _c63.CodedFrame) -> CodedFrame:
        self._rows.append(coded.row)
        row = np.frombuffer(coded.row, STATISTICS)[0]
        return CodedFrame(
            int(row["index"]),
            bool(row["key"]),
            bool(row["repeat"]),
            coded.data,
            row,
            kept(coded.reconstruction, self.width, self.height),
            kept(coded.prediction, self.width, self.height),
            tuple(motion_of(plane) for plane in coded.motion),
        )
