"""The settings of an encode."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import typing
from typing import Any, Callable, Optional, Sequence, TypeVar, Union

from ._arguments import INT32, UINT64, by_type, integer, number, refuse, setting_error
from ._options import TARGETS, Options, Planes

#: Earlier names of options, and their present names.
RENAMED = {
    "key_interval": "keyint",
    "scene_cuts": "scenecut",
    "search_range": "merange",
    "method": "me",
    "choose_levels": "rdoq",
    "devices": "device",
}


@dataclasses.dataclass(frozen=True)
class Settings(Options):
    __doc__ = Options.__doc__

    def __post_init__(self) -> None:
        for field, wanted in _types().items():
            value = getattr(self, field)
            check = _CHECKS.get(field)
            checked = check(field, value) if check else by_type(field, value, wanted)
            object.__setattr__(self, field, checked)
        given = [target for target in TARGETS if getattr(self, target) is not None]
        if len(given) > 1:
            raise setting_error(f"{given[0]}, {given[1]}: give only one target")
        if self.gop_cap is not None and self.bitrate is None:
            raise setting_error("gop_cap: it needs bitrate")

    @property
    def has_target(self) -> bool:
        """True if a size or quality of the stream is given. qp is then found by several passes over the video."""
        return any(getattr(self, target) is not None for target in TARGETS)


_resolved: dict[str, Any] = {}


def _types() -> dict[str, Any]:
    """Returns the type of each field."""
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
    """Returns `settings` with the fields in `options` replaced. Raises UsageError for an unknown name."""
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
    """Makes help(), inspect and editors show the fields of Settings as keywords of a function with **options.

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
