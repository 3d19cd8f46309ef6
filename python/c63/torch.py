"""Motion search as an operator of torch: torch.ops.c63.estimate_motion. Importing this module registers it.

torch.compile accepts it on the CPU and on a GPU. It has no gradient, because samples are integers.
"""

from __future__ import annotations

import importlib
from typing import Any, Optional

from . import _c63
from ._arguments import flag, integer, setting_error
from ._arrays import Motion
from ._device import empty_like, stream_of

_torch: Any = importlib.import_module("torch")

_SCHEMA = (
    "(Tensor current, Tensor reference, Tensor? around, int search_range, int zero_bias, int second_distance, "
    "bool second, bool quarters) -> (Tensor, Tensor, Tensor, Tensor)"
)


def _results(current: Any, second: bool, quarters: bool) -> tuple[Any, Any, Any, Any]:
    """Returns tensors for vectors, SADs, second SADs and SADs of quarters. Those that are not requested have no
    elements."""
    if current.dtype != _torch.uint8 or current.dim() not in (2, 3):
        raise setting_error(f"current: wanted uint8 (height, width) or (n, height, width), got {current.dtype} {tuple(current.shape)}")
    blocks = (*current.shape[:-2], current.shape[-2] // 8, current.shape[-1] // 8)
    return (
        empty_like(current, (*blocks, 2), "int8"),
        empty_like(current, blocks, "uint16"),
        empty_like(current, blocks if second else (0,), "uint16"),
        empty_like(current, (*blocks, 4) if quarters else (0,), "uint16"),
    )


def _search(
    current: Any,
    reference: Any,
    around: Any,
    search_range: int,
    zero_bias: int,
    second_distance: int,
    second: bool,
    quarters: bool,
) -> tuple[Any, Any, Any, Any]:
    results = _results(current, second, quarters)
    out = [array for array, is_wanted in zip(results, (True, True, second, quarters)) if is_wanted]
    options = (search_range, "full", zero_bias, second_distance, around, second, quarters)
    handle = stream_of(current) if current.is_cuda else 0
    _c63.estimate_motion(current, reference, *options, out, None, current.is_cuda, handle)
    return results


_operator = _torch.library.custom_op("c63::estimate_motion", _search, mutates_args=(), schema=_SCHEMA)


def _shapes(
    current: Any,
    reference: Any,
    around: Any,
    search_range: int,
    zero_bias: int,
    second_distance: int,
    second: bool,
    quarters: bool,
) -> tuple[Any, Any, Any, Any]:
    """Returns results without content for torch.compile, which only needs their shapes."""
    return _results(current, second, quarters)


_operator.register_fake(_shapes)


def estimate_motion(
    current: Any,
    reference: Any,
    search_range: int = 16,
    *,
    zero_bias: int = 0,
    around: Optional[Any] = None,
    second: bool = False,
    second_distance: int = 1,
    quarters: bool = False,
) -> Motion:
    """Does c63.estimate_motion() on tensors, as one operator of torch's graph. On a GPU it runs on torch's current
    stream."""
    search_range = integer("search_range", search_range)
    zero_bias, second_distance = integer("zero_bias", zero_bias), integer("second_distance", second_distance)
    second, quarters = flag("second", second), flag("quarters", quarters)
    vectors, sad, seconds, quarter_sads = _operator(
        current, reference, around, search_range, zero_bias, second_distance, second, quarters
    )
    return Motion(vectors, sad, second=seconds if second else None, quarters=quarter_sads if quarters else None)
