"""The settings of an encode."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar

from . import _c63
from ._arguments import refuse, setting_error
from ._options import Options

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
        object.__setattr__(self, "device", _c63.check_settings(self))


_NAMES = tuple(field.name for field in dataclasses.fields(Settings))


def merge(settings: Optional[Settings], options: Mapping[str, Any]) -> Settings:
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
    """Makes help(), inspect and editors show the fields of Settings as keywords of a function with **options."""

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
