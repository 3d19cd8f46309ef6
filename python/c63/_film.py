"""The motion of films."""

from __future__ import annotations

import dataclasses
import fractions
import os
from typing import Any, Callable, Iterator, Literal, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _c63
from ._arguments import picture_size, refuse, setting_error
from ._arrays import U8
from ._options import Format

U16 = npt.NDArray[np.uint16]


@dataclasses.dataclass(frozen=True, eq=False)
class FrameMotion:
    """The motion of a frame, and what the film says of it. The arrays are None if there is no reference, or if they are not
    requested."""

    frame: int  #: its number
    time: float  #: presentation time in seconds, as the container gives it
    kind: str  #: how the film's codec has coded it: "I", "P", "B"; "?": unknown
    reference: Optional[int]  #: number of the frame that was searched; None: there is none
    #: int8, for true motion float32 (rows, columns, 2): x (right) and y (down), in samples, from each 8x8 block to where
    #: it is in the reference
    vectors: Any = dataclasses.field(repr=False)
    sad: Optional[U16] = dataclasses.field(repr=False)  #: (rows, columns): sums of absolute differences
    second: Optional[U16] = dataclasses.field(repr=False)  #: (rows, columns): smallest SAD of other candidates; 65535: none
    quarters: Optional[U16] = dataclasses.field(repr=False)  #: (rows, columns, 4): SADs of the 4x4 quarters
    agrees: Optional[U8] = dataclasses.field(repr=False)  #: (rows, columns): 1: the motion back to the frame agrees
    #: float32 (rows, columns, 2): the vectors of the film's own codec, in samples; NaN: the block has none
    codec_vectors: Any = dataclasses.field(repr=False)
    codec_sad: Optional[U16] = dataclasses.field(repr=False)  #: (rows, columns): their SADs; 65535: the block has no vector
    picture: Optional[U8] = dataclasses.field(repr=False)  #: the whole frame, uint8 (height*3/2, width)


class FilmArrays(NamedTuple):
    """The motion of all frames that have a reference, as `c63mv -o motion.npz` writes it, and their times and kinds. The
    fields of FrameMotion, with a first dimension more."""

    frame: npt.NDArray[np.int64]
    time: npt.NDArray[np.float64]
    kind: npt.NDArray[np.str_]
    reference: npt.NDArray[np.int64]
    vectors: Any
    sad: U16
    second: Optional[U16]
    quarters: Optional[U16]
    agrees: Optional[U8]
    codec_vectors: Any
    codec_sad: Optional[U16]


class FilmMotion:
    """The motion of a film, from c63.film_motion(). A loop over it gives FrameMotion of each frame, once, in order.

    Its memory does not grow with the film. It can be used in a with block, which closes the film.
    """

    def __init__(self, reader: _c63.MotionReader, path: str, on_progress: Optional[Callable[[int, Optional[int]], object]]) -> None:
        self._reader = reader
        self._on_progress = on_progress
        self._frames = 0
        self.path = path
        self.width: int
        self.height: int
        self.expected: Optional[int]  #: number of frames that the film's header gives; None: unknown
        self.width, self.height, *rate, self.expected = reader.about()
        self.rate = fractions.Fraction(*rate)  #: frames per second

    def __iter__(self) -> Iterator[FrameMotion]:
        return self

    def __next__(self) -> FrameMotion:
        found = self._reader.next()
        if found is None:
            raise StopIteration
        motion = FrameMotion(*found)
        self._tell()
        return motion

    def read(self) -> FilmArrays:
        """Returns the motion of all frames, or of those that a loop has left, as arrays."""
        frame, time, kind, reference, fields = self._reader.read(self._tell if self._on_progress else None)
        return FilmArrays(frame, time, kind.astype("U1"), reference, *fields)

    @property
    def warnings(self) -> list[str]:
        """The warnings about the film up to now."""
        return list(self._reader.warnings)

    def close(self) -> None:
        """Closes the film. A loop in another thread ends."""
        self._reader.close()

    def __enter__(self) -> FilmMotion:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<c63.FilmMotion {self.path!r}: {self.width}x{self.height}, {float(self.rate):.6g} frames/s>"

    def _tell(self) -> None:
        self._frames += 1
        if self._on_progress is not None:
            self._on_progress(self._frames, self.expected)


def film_motion(
    path: Union[str, "os.PathLike[str]"],
    range: int = 16,
    *,
    fraction: Literal[1, 2, 4, 32] = 1,
    block: Literal[8, 16, 32] = 8,
    smooth: int = 0,
    check: Optional[int] = None,
    distance: int = 1,
    zero_bias: int = 0,
    second: bool = False,
    second_distance: int = 1,
    quarters: bool = False,
    codec_vectors: bool = False,
    pictures: bool = False,
    first: int = 0,
    count: Optional[int] = None,
    backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None,
    hwaccel: Literal["none", "cuda"] = "none",
    threads: int = 0,
    max_memory: Optional[int] = None,
    on_progress: Optional[Callable[[int, Optional[int]], object]] = None,
    input_res: Optional[tuple[int, int]] = None,
    format: Format = "auto",
    strict: bool = False,
    tolerant: bool = False,
) -> FilmMotion:
    """Searches the motion of a film: raw, Y4M, whatever FFmpeg reads, or the pictures of a c63 stream. Decoding and
    search run on their own threads, without Python's lock, ahead of the caller.

    for motion in c63.film_motion("film.mp4"):
        print(motion.frame, motion.time, motion.vectors)

    c63.film_motion(path).read() returns arrays of the whole film. The search is that of c63.estimate_motion(), and the
    results are those of c63mv. If a side is not a multiple of 8, the last column or row is repeated.

    range: 1 to 512. Vectors have components from -range to range-1.
    fraction, block, smooth, check: search true motion instead of the least difference. Vectors are float32 then, in samples.
    fraction: vectors are multiples of 1/fraction. block: sides of the searched blocks; results are still those of 8x8
    blocks. smooth: 0 to 1000, what a sample of distance to the neighbours' vectors adds to the SAD. check: also search the
    motion back; `agrees` is 1 where both differ by at most `check` quarters of a sample.
    distance: each frame is searched in the frame `distance` before it; negative: in a later frame. Frames without such
    a frame have no vectors.
    zero_bias, second, second_distance, quarters: as in estimate_motion().
    codec_vectors: also return the vectors of the film's own codec. Each frame is then searched in that one of the eight
    frames before it that fits these vectors best.
    pictures: also return the frames themselves.
    first, count: search only `count` frames from `first` on.
    backend, device: where to search; "auto" uses a GPU for a long film. device: the number of a GPU.
    hwaccel: "cuda": the GPU decodes the film and searches it, if it decodes this kind of film to the same pictures. Not tested on a GPU yet: compare
        with "none".
    threads: for the search on the CPU; 0: all. max_memory: bytes that pictures and buffers may take; None: 8 GiB.
    on_progress: called after each frame with the number of frames so far, and the expected number or None.
    input_res, format, strict, tolerant: as in c63.open().

    Raises UsageError, and Error (input, limit, device). If the film is damaged, all frames before the damage come first.
    """
    try:
        name, encoded = os.fsdecode(path), os.fsencode(path)
    except TypeError:
        refuse("path", "a file's name", path)
    if on_progress is not None and not callable(on_progress):
        refuse("on_progress", "a function", on_progress)
    if count is not None and count < 0:
        raise setting_error(f"count: wanted 0 or more, got {count}")
    width, height = picture_size(input_res) or (0, 0)
    arguments = {
        "range": range, "fraction": fraction, "block": block, "smooth": smooth, "check": check, "distance": distance,
        "zero_bias": zero_bias, "second": second, "second_distance": second_distance, "quarters": quarters,
        "codec_vectors": codec_vectors, "pictures": pictures, "first": first, "count": count, "backend": backend,
        "device": device, "hwaccel": hwaccel, "threads": threads, "max_memory": max_memory, "width": width, "height": height,
        "format": format, "strict": strict, "tolerant": tolerant,
    }
    return FilmMotion(_c63.MotionReader(encoded, arguments), name, on_progress)
