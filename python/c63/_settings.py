"""The settings of an encode."""

from __future__ import annotations

import dataclasses
import difflib
import fractions
import inspect
import typing
from typing import Any, Callable, Literal, Optional, Sequence, TypeVar, Union

from ._arguments import INT32, UINT64, by_type, integer, number, refuse, setting_error

Preset = Literal["reference", "fast", "good", "best"]
SearchMethod = Literal["full", "full-brute", "full-eliminate", "zero"]
Tables = Literal["course", "flat"]
Headers = Literal["full", "compact"]
Tune = Literal["psnr", "ssim"]
Backend = Literal["auto", "cpu", "cuda", "cuda,cpu", "cpu,cuda"]
Simd = Literal["scalar", "sse4", "avx2", "avx512", "neon"]
Planes = Literal["y", "all"]

#: Options that set the size or the quality of the stream.
TARGETS = ("bitrate", "size", "target_psnr", "target_ssim")

#: Earlier names of options.
RENAMED = {
    "key_interval": "keyint",
    "scene_cuts": "scenecut",
    "search_range": "merange",
    "method": "me",
    "choose_levels": "rdoq",
    "devices": "device",
}


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of an encoder, named as the options of c63enc. The defaults give the course encoder's bytes.

    Each value is checked here, and what values mean together when an encode starts. UsageError says what is wrong. Where None is
    the default, the preset chooses.

    What is coded:
    qp: quality, 5 to 50, from 1 with flat tables; more is better. Fractions count.
    preset: "reference" (the course encoder's decisions), "fast", "good" or "best".
    keyint: a key frame every that many frames, from 1; with scenecut at least.
    scenecut: key frames at scene cuts too, found by luma histograms.
    merange: search range of luma vectors, 1 to 127 samples, half of it for chroma. None: 16, or 32 with preset best.
    me: how vectors are searched: "full", "full-brute", "full-eliminate" or "zero".

    Decisions; None leaves them to the preset:
    tables: quantization tables, "course" or "flat".
    headers: headers of frames, "full" or "compact" (what a decoder has to be told).
    rdoq: levels of coefficients are chosen by their bits.
    candidates: how many of the search's best vectors are tried in each block, 0 to 7.
    beam: ways to code a row that are kept, 1 to 8.
    unpredicted: blocks of inter frames may be coded without prediction.
    repeats: frames may repeat the previous picture.
    adaptive_reference: frames may be predicted from the reference of the previous frame, if looking ahead says that it pays.
    temporal_filter: frames are averaged with their neighbours, along motion, before they are coded.
    propagated_weights: error counts more if later frames are predicted from it.
    chroma_lambda: what a bit of chroma is worth, in bits of luma; 0.25 to 4.
    tune: what decisions are best by, "psnr" or "ssim".
    lambda_scale: what a bit is worth, 0.05 to 4; more: fewer bits, worse pictures.

    Targets, of which one can be set. The encode makes passes over the whole video until one meets it; qp is where it begins:
    bitrate: bits per second to stay below, nearly.
    size: bytes to stay below, nearly.
    target_psnr: PSNR in dB to reach, of luma (38) or of all planes (("all", 38)).
    target_ssim: SSIM of luma to reach, such as 0.97.
    gop_cap: with bitrate: no group of pictures takes more than that many times what the rate gives for its duration; from 1.
    fps: frames per second that bitrate is of. None: the file's own rate, or 25.

    Where it runs; no byte depends on it:
    backend: "auto", "cpu", "cuda" or "cuda,cpu"; auto begins on the CPU, and a GPU joins if the work that is left is worth starting it.
    device: GPUs by CUDA's index, such as 0 or [0, 1]; empty: the first that can be used.
    threads: of the CPU; 0: as many as it has.
    lanes: groups of pictures encoded at the same time; 0: chosen.
    simd: instruction set, "scalar", "sse4", "avx2", "avx512" or "neon". None: the best there is.
    max_memory: bytes that pictures and buffers may take. None: 8 GiB.
    max_pixels: pixels that a picture may have. None: what the format holds.

    What is reported:
    psnr: fills sse of the statistics.
    ssim: fills ssim of the statistics.
    global_motion: fills shift_x and shift_y of the statistics.
    keep_reconstruction: Encoder hands out what a decoder will show.
    keep_prediction: Encoder hands out the prediction.
    keep_motion: Encoder hands out the vectors.
    """

    qp: float = 25
    preset: Preset = "reference"
    keyint: int = 100
    scenecut: bool = False
    merange: Optional[int] = None
    me: SearchMethod = "full"

    tables: Optional[Tables] = None
    headers: Optional[Headers] = None
    rdoq: Optional[bool] = None
    candidates: Optional[int] = None
    beam: Optional[int] = None
    unpredicted: Optional[bool] = None
    repeats: Optional[bool] = None
    adaptive_reference: Optional[bool] = None
    temporal_filter: Optional[bool] = None
    propagated_weights: Optional[bool] = None
    chroma_lambda: Optional[float] = None
    tune: Tune = "psnr"
    lambda_scale: float = 1

    bitrate: Optional[float] = None
    size: Optional[int] = None
    target_psnr: Union[float, tuple[Planes, float], None] = None
    target_ssim: Optional[float] = None
    gop_cap: Optional[float] = None
    fps: Union[float, fractions.Fraction, None] = None

    backend: Backend = "auto"
    device: Union[int, Sequence[int]] = ()
    threads: int = 0
    lanes: int = 0
    simd: Optional[Simd] = None
    max_memory: Optional[int] = None
    max_pixels: Optional[int] = None

    psnr: bool = True
    ssim: bool = False
    global_motion: bool = False
    keep_reconstruction: bool = False
    keep_prediction: bool = False
    keep_motion: bool = False

    def __post_init__(self) -> None:
        for field, wanted in _types().items():
            value = getattr(self, field)
            check = _CHECKS.get(field)
            checked = check(field, value) if check else by_type(field, value, wanted)
            object.__setattr__(self, field, checked)
        given = [target for target in TARGETS if getattr(self, target) is not None]
        if len(given) > 1:
            raise setting_error(f"{given[0]}, {given[1]}: a stream has one target")
        if self.gop_cap is not None and self.bitrate is None:
            raise setting_error("gop_cap: it goes with bitrate")

    @property
    def has_target(self) -> bool:
        """True if the stream's size or quality is given, so that passes over the video find qp."""
        return any(getattr(self, target) is not None for target in TARGETS)


_resolved: dict[str, Any] = {}


def _types() -> dict[str, Any]:
    """Returns the types of the fields, resolved once."""
    if not _resolved:
        _resolved.update(typing.get_type_hints(Settings))
    return _resolved


def _size(name: str, value: Any) -> Optional[int]:
    if isinstance(value, (tuple, list)):
        refuse(name, "bytes of the stream (the size of pictures is input_res=(width, height))", value)
    return None if value is None else integer(name, value, 0, UINT64)


def _limit(name: str, value: Any) -> Optional[int]:
    return None if value is None else integer(name, value, 0, UINT64)


def _target_psnr(name: str, value: Any) -> Union[float, tuple[str, float], None]:
    if value is None:
        return None
    if not isinstance(value, (tuple, list)):
        return number(name, value)
    if len(value) != 2 or value[0] not in typing.get_args(Planes):
        refuse(name, 'dB, ("y", dB) or ("all", dB)', value)
    return value[0], number(name, value[1])


def _fps(name: str, value: Any) -> Optional[float]:
    if value is None:
        return None
    rate = number(name, value)
    if not 0 < rate < float("inf"):
        refuse(name, "a number above 0", value)
    return rate


def _device(name: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, str):
        refuse(name, "GPUs by CUDA's index, such as 0 or [0, 1]", value)
    try:
        indices = tuple(value)
    except TypeError:
        indices = (value,)
    return tuple(integer(name, index, 0, INT32) for index in indices)


_CHECKS = {
    "size": _size,
    "target_psnr": _target_psnr,
    "fps": _fps,
    "device": _device,
    "max_memory": _limit,
    "max_pixels": _limit,
}

_NAMES = tuple(field.name for field in dataclasses.fields(Settings))


def merge(settings: Optional[Settings], options: dict[str, Any]) -> Settings:
    """Returns `settings` with `options` in place of its fields. Raises UsageError for an unknown name."""
    if settings is not None and not isinstance(settings, Settings):
        refuse("settings", "c63.Settings", settings)
    for name in options:
        if name in _NAMES:
            continue
        near = [RENAMED[name]] if name in RENAMED else difflib.get_close_matches(name, _NAMES, 1)
        raise setting_error(f"{name}: there is no such option" + (f"; did you mean {near[0]}?" if near else "; see help(c63.Settings)"))
    return dataclasses.replace(settings or Settings(), **options)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def takes_options(without: Sequence[str] = ()) -> Callable[[_Function], _Function]:
    """Shows the fields of Settings as keywords of a function with **options: to help(), inspect and editors.

    Type checkers read them from _encode.pyi, which python/make_stub.py makes.
    """

    def show(function: _Function) -> _Function:
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters += [
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
            for field in dataclasses.fields(Settings)
            if field.name not in without
        ]
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return show
