"""Arrays on GPUs: their streams, and result arrays of the same library."""

from __future__ import annotations

import sys
from typing import Any, Optional

from . import _c63
from ._arrays import Motion


def maker_of(array: Any) -> str:
    """Returns the library of the array: "torch", "cupy", "numpy"."""
    return type(array).__module__.partition(".")[0]


def is_device_array(array: Any) -> bool:
    """Returns True if the array says that it is on a CUDA device."""
    if maker_of(array) == "torch":
        return bool(array.is_cuda)
    if hasattr(array, "__cuda_array_interface__"):
        return True
    place = getattr(array, "__dlpack_device__", None)
    return place is not None and place()[0] in (2, 13)  # DLPack's numbers for CUDA memory and managed memory


def stream_of(array: Any, stream: Any = None) -> int:
    """Returns the handle of `stream`, or of the current stream of the array's library; 0: the default stream.

    stream: an int, or a stream of torch, CuPy or anything with __cuda_stream__.
    """
    if stream is not None:
        for name in ("cuda_stream", "ptr"):
            handle = getattr(stream, name, None)
            if handle is not None:
                return int(handle)
        if hasattr(stream, "__cuda_stream__"):
            return int(stream.__cuda_stream__()[1])
        return int(stream)
    if maker_of(array) == "torch":
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream)
    interface = getattr(array, "__cuda_array_interface__", None)
    return int((interface.get("stream") if interface else None) or 0)


def estimate_motion(
    current: Any, reference: Any, search_range: int, out: Optional[tuple[Any, Any]], stream: Any
) -> Motion:
    """estimate_motion() of planes on a GPU. Queues the work and does not wait for it."""
    handle = stream_of(current, stream)
    if out is None:
        height, width = current.shape if len(current.shape) == 2 else (0, 0)
        out = _results(current, height // 8, width // 8)
    _c63.estimate_motion_on_device(current, reference, out[0], out[1], search_range, handle)
    return Motion(out[0], out[1])


def _results(like: Any, rows: int, columns: int) -> tuple[Any, Any]:
    maker = maker_of(like)
    if maker == "torch":
        torch = sys.modules["torch"]
        return (
            torch.empty((rows, columns, 2), dtype=torch.int8, device=like.device),
            torch.empty((rows, columns), dtype=torch.uint16, device=like.device),
        )
    if maker == "cupy":
        cupy = sys.modules["cupy"]
        with like.device:
            return cupy.empty((rows, columns, 2), cupy.int8), cupy.empty((rows, columns), cupy.uint16)
    raise TypeError(f"out: wanted (vectors, sad) for device arrays of {maker}, got None")
