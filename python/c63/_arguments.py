"""Checks of arguments. Each returns the value as a plain Python type, or raises UsageError with one line."""

from __future__ import annotations

from typing import Any, NoReturn, Optional, Sequence

from ._c63 import flag as flag
from ._c63 import integer as integer
from ._error import UsageError


def refuse(name: str, wanted: str, got: Any) -> NoReturn:
    """Raises UsageError: "NAME: wanted WANTED, got GOT"."""
    text = repr(got).splitlines() or [""]
    shown = text[0] if len(text) == 1 and len(text[0]) <= 80 else type(got).__name__
    raise setting_error(f"{name}: wanted {wanted}, got {shown}")


def setting_error(message: str) -> UsageError:
    return UsageError(f"{message} [C63-SETTING]", kind="usage", id="C63-SETTING", message=message)


def choice(name: str, value: Any, names: Sequence[str]) -> str:
    """Returns `value` if it is one of `names`."""
    if not isinstance(value, str) or value not in names:
        refuse(name, "one of " + ", ".join(names), value)
    return str(value)


def picture_size(value: Any, name: str = "input_res") -> Optional[tuple[int, int]]:
    """Returns a size as (width, height), or None if it is None."""
    if value is None:
        return None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        refuse(name, "(width, height)", value)
    return integer(name, value[0], 0), integer(name, value[1], 0)
