"""Arrays on GPUs: their CUDA streams, and new arrays of the same library."""

from __future__ import annotations

import sys
from typing import Any


def maker_of(array: Any) -> str:
    """Returns which library made the array: "torch", "cupy" or "numpy"."""
    return type(array).__module__.partition(".")[0]


def is_device_array(array: Any) -> bool:
    """Returns True if the array is on a CUDA device."""
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


def empty_like(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Returns a new array of the same library and on the same device as `like`."""
    maker = maker_of(like)
    if maker == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if maker == "cupy":
        cupy = sys.modules["cupy"]
        with like.device:
            return cupy.empty(shape, dtype)
    raise TypeError(f"out: wanted (vectors, sad) for device arrays of {maker}, got None")
