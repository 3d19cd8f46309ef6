"""Made of _encode.py and _settings.py by python/make_stub.py; do not edit."""

import dataclasses
import os
import types
from typing import Any, NamedTuple, Optional, Union, overload
import numpy as np
import numpy.typing as npt
from . import _c63
from ._arguments import integer, picture_size, refuse, setting_error
from ._arrays import U8, Motion, kept
from ._arrays import motion as motion_of
from ._device import is_device_array, stream_of
from ._settings import Settings, merge, takes_options
from ._video import Video
import fractions
from typing import Sequence
from ._settings import Preset, SearchMethod, Tables, Headers, Tune, Backend, Simd, Planes

STATISTICS: np.dtype[np.void]

Room = Union[bytearray, memoryview, npt.NDArray[np.uint8]]

class Encoded(NamedTuple):
    stream: bytes
    statistics: npt.NDArray[Any]
    summary: dict[str, Any]
    def __repr__(self) -> str: ...

@dataclasses.dataclass(frozen=True, eq=False)
class CodedFrame:
    index: int
    key: bool
    repeat: bool
    data: bytes
    statistics: Any
    reconstruction: Optional[U8] = ...
    prediction: Optional[U8] = ...
    motion: tuple[Motion, ...] = ...

def encode_with_statistics(
    frames: Any,
    settings: Optional[Settings] = None,
    *,
    input_res: Optional[tuple[int, int]] = None,
    stream: Any = None,
    qp: float = 25,
    preset: Preset = 'reference',
    keyint: int = 100,
    scenecut: bool = False,
    merange: Optional[int] = None,
    me: SearchMethod = 'full',
    tables: Optional[Tables] = None,
    headers: Optional[Headers] = None,
    rdoq: Optional[bool] = None,
    candidates: Optional[int] = None,
    beam: Optional[int] = None,
    unpredicted: Optional[bool] = None,
    repeats: Optional[bool] = None,
    adaptive_reference: Optional[bool] = None,
    temporal_filter: Optional[bool] = None,
    propagated_weights: Optional[bool] = None,
    chroma_lambda: Optional[float] = None,
    tune: Tune = 'psnr',
    lambda_scale: float = 1,
    bitrate: Optional[float] = None,
    size: Optional[int] = None,
    target_psnr: Union[float, tuple[Planes, float], None] = None,
    target_ssim: Optional[float] = None,
    gop_cap: Optional[float] = None,
    fps: Union[float, fractions.Fraction, None] = None,
    backend: Backend = 'auto',
    device: Union[int, Sequence[int]] = (),
    threads: int = 0,
    lanes: int = 0,
    simd: Optional[Simd] = None,
    max_memory: Optional[int] = None,
    max_pixels: Optional[int] = None,
    psnr: bool = True,
    ssim: bool = False,
    global_motion: bool = False,
    keep_reconstruction: bool = False,
    keep_prediction: bool = False,
    keep_motion: bool = False,
) -> Encoded: ...

def encode(
    frames: Any,
    settings: Optional[Settings] = None,
    *,
    input_res: Optional[tuple[int, int]] = None,
    stream: Any = None,
    qp: float = 25,
    preset: Preset = 'reference',
    keyint: int = 100,
    scenecut: bool = False,
    merange: Optional[int] = None,
    me: SearchMethod = 'full',
    tables: Optional[Tables] = None,
    headers: Optional[Headers] = None,
    rdoq: Optional[bool] = None,
    candidates: Optional[int] = None,
    beam: Optional[int] = None,
    unpredicted: Optional[bool] = None,
    repeats: Optional[bool] = None,
    adaptive_reference: Optional[bool] = None,
    temporal_filter: Optional[bool] = None,
    propagated_weights: Optional[bool] = None,
    chroma_lambda: Optional[float] = None,
    tune: Tune = 'psnr',
    lambda_scale: float = 1,
    bitrate: Optional[float] = None,
    size: Optional[int] = None,
    target_psnr: Union[float, tuple[Planes, float], None] = None,
    target_ssim: Optional[float] = None,
    gop_cap: Optional[float] = None,
    fps: Union[float, fractions.Fraction, None] = None,
    backend: Backend = 'auto',
    device: Union[int, Sequence[int]] = (),
    threads: int = 0,
    lanes: int = 0,
    simd: Optional[Simd] = None,
    max_memory: Optional[int] = None,
    max_pixels: Optional[int] = None,
    psnr: bool = True,
    ssim: bool = False,
    global_motion: bool = False,
    keep_reconstruction: bool = False,
    keep_prediction: bool = False,
    keep_motion: bool = False,
) -> bytes: ...

class VideoEncoder:
    width: int
    height: int
    settings: Settings
    statistics: npt.NDArray[Any]
    summary: dict[str, Any]
    def __init__(
        self,
        width: int,
        height: int,
        settings: Optional[Settings] = None,
        *,
        qp: float = 25,
        preset: Preset = 'reference',
        keyint: int = 100,
        scenecut: bool = False,
        merange: Optional[int] = None,
        me: SearchMethod = 'full',
        tables: Optional[Tables] = None,
        headers: Optional[Headers] = None,
        rdoq: Optional[bool] = None,
        candidates: Optional[int] = None,
        beam: Optional[int] = None,
        unpredicted: Optional[bool] = None,
        repeats: Optional[bool] = None,
        adaptive_reference: Optional[bool] = None,
        temporal_filter: Optional[bool] = None,
        propagated_weights: Optional[bool] = None,
        chroma_lambda: Optional[float] = None,
        tune: Tune = 'psnr',
        lambda_scale: float = 1,
        bitrate: Optional[float] = None,
        size: Optional[int] = None,
        target_psnr: Union[float, tuple[Planes, float], None] = None,
        target_ssim: Optional[float] = None,
        gop_cap: Optional[float] = None,
        fps: Union[float, fractions.Fraction, None] = None,
        backend: Backend = 'auto',
        device: Union[int, Sequence[int]] = (),
        threads: int = 0,
        lanes: int = 0,
        simd: Optional[Simd] = None,
        max_memory: Optional[int] = None,
        max_pixels: Optional[int] = None,
        psnr: bool = True,
        ssim: bool = False,
        global_motion: bool = False,
        keep_reconstruction: bool = False,
        keep_prediction: bool = False,
        keep_motion: bool = False,
    ) -> None: ...
    def __repr__(self) -> str: ...
    @overload
    def encode(
        self,
        frames: Any,
        *,
        input_res: Optional[tuple[int, int]] = None,
        stream: Any = None,
        out: None = None,
    ) -> bytes: ...
    @overload
    def encode(
        self,
        frames: Any,
        *,
        input_res: Optional[tuple[int, int]] = None,
        stream: Any = None,
        out: Room,
    ) -> memoryview: ...

class Encoder:
    width: int
    height: int
    settings: Settings
    def __init__(
        self,
        width: int,
        height: int,
        settings: Optional[Settings] = None,
        *,
        qp: float = 25,
        preset: Preset = 'reference',
        keyint: int = 100,
        scenecut: bool = False,
        merange: Optional[int] = None,
        me: SearchMethod = 'full',
        tables: Optional[Tables] = None,
        headers: Optional[Headers] = None,
        rdoq: Optional[bool] = None,
        candidates: Optional[int] = None,
        beam: Optional[int] = None,
        unpredicted: Optional[bool] = None,
        repeats: Optional[bool] = None,
        adaptive_reference: Optional[bool] = None,
        temporal_filter: Optional[bool] = None,
        propagated_weights: Optional[bool] = None,
        chroma_lambda: Optional[float] = None,
        tune: Tune = 'psnr',
        lambda_scale: float = 1,
        backend: Backend = 'auto',
        device: Union[int, Sequence[int]] = (),
        threads: int = 0,
        lanes: int = 0,
        simd: Optional[Simd] = None,
        max_memory: Optional[int] = None,
        max_pixels: Optional[int] = None,
        psnr: bool = True,
        ssim: bool = False,
        global_motion: bool = False,
        keep_reconstruction: bool = False,
        keep_prediction: bool = False,
        keep_motion: bool = False,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def push(self, frame: Any) -> None: ...
    def poll(self) -> list[CodedFrame]: ...
    def finish(self) -> None: ...
    @property
    def statistics(self) -> npt.NDArray[Any]: ...
    @property
    def summary(self) -> dict[str, Any]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Encoder: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Union[types.TracebackType, None],
    ) -> None: ...
