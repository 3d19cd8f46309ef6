"""The native module, for the rest of the package alone."""

from typing import Any, Optional, Sequence

VERSION: str
REVISION: str
STATISTICS_FIELDS: list[Any]

class Samples:
    """Memory of the library; has the buffer protocol."""

    def __buffer__(self, flags: int) -> memoryview: ...

class PlaneMotion:
    rows: int
    columns: int
    vectors: Any
    sads: Any
    inter: Any

class VideoReader:
    def __init__(self, path: str, width: int, height: int, format: str, strict: bool) -> None: ...
    width: int
    height: int
    rate: tuple[int, int]
    count: Optional[int]
    seekable: bool
    warnings: list[str]
    def read_into(self, first: int, out: Any) -> int: ...

class CodedFrame:
    data: bytes
    row: bytes
    reconstruction: Any
    prediction: Any
    motion: list[PlaneMotion]

class PushEncoder:
    def __init__(self, width: int, height: int, settings: Any, backend: str, devices: Sequence[int]) -> None: ...
    def push(self, frame: Any) -> None: ...
    def poll(self) -> Optional[CodedFrame]: ...
    def wait(self) -> Optional[CodedFrame]: ...
    def finish(self) -> None: ...
    def summary(self) -> dict[str, Any]: ...
    def close(self) -> None: ...

class Picture:
    index: int
    key: bool
    repeat: bool
    width: int
    height: int
    offset: int
    coded_bytes: int
    samples: Any
    prediction: Any
    motion: list[PlaneMotion]

class DecodeStream:
    def __init__(
        self, stream: Any, execution: Any, prediction: bool, motion: bool, first: int, count: int
    ) -> None: ...
    def next(self) -> Optional[Picture]: ...
    def close(self) -> None: ...

def encode_arrays(
    frames: Any, size: Optional[tuple[int, int]], settings: Any, backend: str, devices: Sequence[int], stream: int
) -> tuple[bytes, bytes, dict[str, Any]]: ...
def encode_video(
    reader: VideoReader, settings: Any, backend: str, devices: Sequence[int]
) -> tuple[bytes, bytes, dict[str, Any]]: ...
def gpu_obstacle() -> str: ...
def estimate_motion(current: Any, reference: Any, search_range: int, method: str) -> PlaneMotion: ...
def estimate_motion_on_device(
    current: Any, reference: Any, vectors: Any, sads: Any, search_range: int, stream: int
) -> None: ...
def psnr(a: Any, b: Any, size: Optional[tuple[int, int]]) -> tuple[float, float, float, float]: ...
def ssim(a: Any, b: Any, size: Optional[tuple[int, int]]) -> tuple[float, float, float]: ...
