"""Encoding."""

from __future__ import annotations

import dataclasses
import types
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from . import _c63
from ._arguments import setting_error
from ._arrays import U8, Motion
from ._options import TARGETS
from ._settings import Settings, merge, takes_options
from ._video import native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import EncoderOptions, VideoOptions

#: The fields of a row of `statistics`: index; bytes; sse and ssim of Y, U, V; luma_sad;
#: header_bits, motion_bits, luma_bits, chroma_bits; read_ms, upload_ms, motion_ms, transform_ms, measure_ms,
#: entropy_ms, download_ms, write_ms, latency_ms, lookahead_ms, filter_ms; key; repeat.
ROW: np.dtype[Any] = _c63.no_statistics().dtype
#: The names of its columns
STATISTICS: list[str] = list(ROW.names or ())

#: The types of `out`, the caller's memory for a stream.
Room = Union[bytearray, memoryview, npt.NDArray[np.uint8]]


class Encoded(NamedTuple):
    """The result of an encode."""

    stream: bytes
    statistics: npt.NDArray[Any]  #: one row per frame, with the columns STATISTICS
    summary: dict[str, Any]  #: frames, key_frames, bytes, start_up_ms, elapsed_ms, lanes, backend, stopped, target

    def __repr__(self) -> str:
        return f"<c63.Encoded: {self.summary['frames']} frames, {len(self.stream)} bytes>"


@dataclasses.dataclass(frozen=True, eq=False)
class CodedFrame:
    """A coded frame from an Encoder."""

    index: int
    key: bool
    repeat: bool  #: the frame codes nothing and shows the previous picture again
    data: bytes = dataclasses.field(repr=False)  #: the coded frame; the stream is all of them joined
    statistics: Any = dataclasses.field(repr=False)  #: a row with the columns STATISTICS
    reconstruction: Optional[U8] = dataclasses.field(default=None, repr=False)  #: None without keep_reconstruction
    prediction: Optional[U8] = dataclasses.field(default=None, repr=False)  #: None without keep_prediction
    #: The motion of Y, U and V. Empty in key frames and repeats, and without keep_motion.
    motion: tuple[Motion, ...] = dataclasses.field(default=(), repr=False)


@takes_options()
def encode_with_statistics(
    frames: Any,
    settings: Optional[Settings] = None,
    *,
    input_res: Optional[tuple[int, int]] = None,
    stream: Any = None,
    **options: Unpack[VideoOptions],
) -> Encoded:
    """Encodes like encode(). Also returns statistics of each frame and a summary of the run.

    summary["target"] is None, or a dict with "met", "distance" (a share for sizes and rates, dB for qualities) and
    "passes". Each pass is a dict with qp, lambda_scale, bytes, psnr_y, psnr_all, ssim_y.
    """
    chosen = merge(settings, options)
    video, size, handle = native(frames, input_res, stream)
    return Encoded(*_c63.encode(video, size, chosen, handle))


@takes_options()
def encode(
    frames: Any,
    settings: Optional[Settings] = None,
    *,
    input_res: Optional[tuple[int, int]] = None,
    stream: Any = None,
    **options: Unpack[VideoOptions],
) -> bytes:
    """Encodes a video and returns the stream, with the same bytes as c63enc.

    frames: uint8 (n, height*3/2, width) with the planes Y, U, V one below the other; or a tuple of three arrays, (n,
    height, width) and twice (n, height/2, width/2); or the result of c63.open(). With input_res=(width, height) also (n,
    frame bytes), for odd heights, and grey planes (n, height, width) in host memory. Arrays are read in place, by the buffer protocol or DLPack. Rows must have no
    gaps. Gaps between frames are allowed (video[::2]).

    Arrays on a GPU (__cuda_array_interface__ or DLPack) are encoded on that GPU, in place. Only coded bytes are copied
    to the host. The encode waits for earlier work on a CUDA stream: `stream`, or else the current stream of torch or
    CuPy.

    Keywords are the fields of Settings (see help(c63.Settings)). They override those of `settings`:
    encode(frames, qp=30, preset="good"). With bitrate, size, target_psnr or target_ssim, the video is encoded several
    times, until one stream meets the target. If none does, the nearest is returned, with a TargetWarning.

    Raises UsageError for arrays and settings that cannot be encoded, Error (input, C63-NO-FRAMES) for a video without
    frames, and Error for all other problems.
    """
    return encode_with_statistics(frames, settings, input_res=input_res, stream=stream, **options).stream


class VideoEncoder:
    """Encodes several videos of one size. Its devices stay open and keep their memory from one video to the next.

    encoder = c63.VideoEncoder(1920, 1080, preset="fast")
    for clip in clips:
        file.write(encoder.encode(clip))

    encode() gives the bytes of c63.encode(). A GPU is opened only once, which takes about 0.1 s. Without `device` it is
    the first GPU, so pass the number of the GPU that holds your arrays. If several threads call encode(), they wait for
    each other. With a target (bitrate, size, …) each pass opens the devices again.

    Keywords are the fields of Settings.
    """

    width: int
    height: int
    settings: Settings
    statistics: npt.NDArray[Any]  #: of the last video, one row per frame
    summary: dict[str, Any]  #: of the last video, like Encoded.summary

    @takes_options()
    def __init__(self, width: int, height: int, settings: Optional[Settings] = None, **options: Unpack[VideoOptions]) -> None:
        self.settings = merge(settings, options)
        self.statistics = np.empty(0, ROW)
        self.summary = {}
        self._native = _c63.VideoEncoder(width, height, self.settings)
        self.width, self.height = int(width), int(height)

    def __repr__(self) -> str:
        return f"<c63.VideoEncoder {self.width}x{self.height}>"

    @overload
    def encode(
        self, frames: Any, *, input_res: Optional[tuple[int, int]] = None, stream: Any = None, out: None = None
    ) -> bytes: ...
    @overload
    def encode(
        self, frames: Any, *, input_res: Optional[tuple[int, int]] = None, stream: Any = None, out: Room
    ) -> memoryview: ...
    def encode(
        self, frames: Any, *, input_res: Optional[tuple[int, int]] = None, stream: Any = None, out: Optional[Room] = None
    ) -> Union[bytes, memoryview]:
        """Encodes a video like c63.encode().

        out: a writable array of bytes (numpy, bytearray) that receives the stream. Reuse it for each video, because new
        memory takes a process longer to get than to fill. The call returns the part that was written.

        Raises like c63.encode(), UsageError for another size, and Error of kind limit if `out` is too small.
        """
        coded, self.statistics, self.summary = self._native.encode(*native(frames, input_res, stream), out)
        room: Any = out  # numpy arrays have the buffer protocol, although numpy's stubs do not say so
        return coded if out is None else memoryview(room).cast("B")[:coded]


class Encoder:
    """Encodes frames that arrive one by one."""

    width: int
    height: int
    settings: Settings

    @takes_options(without=TARGETS)
    def __init__(self, width: int, height: int, settings: Optional[Settings] = None, **options: Unpack[EncoderOptions]) -> None:
        self.settings = merge(settings, options)
        self._rows: list[Any] = []
        self._finished = False
        self._native = _c63.PushEncoder(width, height, self.settings)
        self.width, self.height = int(width), int(height)

    def __repr__(self) -> str:
        return f"<c63.Encoder {self.width}x{self.height}, {len(self._rows)} frames polled{', finished' if self._finished else ''}>"

    def push(self, frame: Any) -> None:
        """Adds the next frame: uint8 (height*3/2, width) or (frame bytes,). It is copied.

        If the memory for waiting frames is full, waits until the encoder takes one. Raises UsageError for other arrays
        and after finish(). If an error has ended the encode, raises that error.
        """
        self._native.push(frame)

    def poll(self) -> list[CodedFrame]:
        """Returns the coded frames that are finished, in order. After finish(), waits for all that are left and returns
        them."""
        frames: list[CodedFrame] = list(iter(self._native.wait if self._finished else self._native.poll, None))
        self._rows += [frame.statistics for frame in frames]
        return frames

    def finish(self) -> None:
        """Tells the encoder that there are no more frames."""
        self._native.finish()
        self._finished = True

    @property
    def statistics(self) -> npt.NDArray[Any]:
        """One row for each frame that poll() has returned, with the columns STATISTICS."""
        return np.array(self._rows, ROW)

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of the run. Call finish() before. Waits until the encode ends."""
        if not self._finished:
            raise setting_error("summary: it is available after finish()")
        summary: dict[str, Any] = self._native.summary()
        return summary

    def close(self) -> None:
        """Ends the encoder. Frames that poll() has not returned are lost."""
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
