"""Checks of arguments. Each returns the value as a plain Python type, or raises UsageError with one line."""

from __future__ import annotations

import operator
from typing import Any, NoReturn, Optional, Sequence

import numpy as np

from ._error import UsageError

INT32 = 2**31 - 1


def refuse(name: str, wanted: str, got: Any) -> NoReturn:
    """Raises UsageError: "NAME: wanted WANTED, got GOT"."""
    text = repr(got).splitlines() or [""]
    shown = text[0] if len(text) == 1 and len(text[0]) <= 80 else type(got).__name__
    raise setting_error(f"{name}: wanted {wanted}, got {shown}")


def setting_error(message: str) -> UsageError:
    return UsageError(f"{message} [C63-SETTING]", kind="usage", id="C63-SETTING", message=message)


def integer(name: str, value: Any, least: int = -INT32 - 1, most: int = INT32) -> int:
    """Returns `value` as an int from `least` to `most`. Refuses bools and floats."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        refuse(name, "an int", value)
    if not least <= number <= most:
        # `least` and `most` are mostly the limits of the library's type. Whether a setting is in its own range, the
        # library itself checks in most cases.
        bounds = f"of {least} or more" if number < least and least >= 0 else f"from {least} to {most}"
        refuse(name, f"an int {bounds}", value)
    return number


def number(name: str, value: Any) -> float:
    """Returns `value` as a float. Refuses what is not a real number."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or not hasattr(value, "__float__") or np.ndim(value) != 0:
        refuse(name, "a number", value)
    try:
        return float(value)
    except OverflowError:
        refuse(name, "a number that a float holds", value)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        refuse(name, "True or False", value)
    return bool(value)


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
