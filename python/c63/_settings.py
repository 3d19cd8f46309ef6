"""What an encode depends on."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of an encoder. None leaves a choice to the preset. The defaults give the course encoder's bytes."""

    qp: float = 25  #: quality, 5 to 50, from 1 with flat tables; more is better
    preset: str = "reference"  #: "reference", "fast", "good" or "best"
    key_interval: int = 100  #: a key frame every that many frames, from 1
    scene_cuts: bool = False  #: key frames at scene cuts too
    search_range: Optional[int] = None  #: 1 to 127 samples of luma, half of it for chroma; None: what goes with the preset
    method: str = "full"  #: "full", "full-brute", "full-eliminate" or "zero"

    tables: Optional[str] = None  #: quantization tables: "course" or "flat"
    headers: Optional[str] = None  #: "full" in every frame, or "compact"
    choose_levels: Optional[bool] = None  #: levels of coefficients by their bits
    candidates: Optional[int] = None  #: so many of the search's best vectors are tried, 0 to 7
    beam: Optional[int] = None  #: ways to code a row that are kept, 1 to 8
    unpredicted: Optional[bool] = None  #: blocks of inter frames may do without prediction
    repeats: Optional[bool] = None  #: frames may repeat the picture before them
    adaptive_reference: Optional[bool] = None  #: frames may be predicted from the picture that the frame before was
    temporal_filter: Optional[bool] = None  #: frames are averaged with those around them before they are coded
    propagated_weights: Optional[bool] = None  #: error counts more where frames to come are predicted from it
    chroma_lambda: Optional[float] = None  #: what a bit of chroma is worth, in bits of luma; 0.25 to 4
    tune: Optional[str] = None  #: what decisions by rate are to be best by: "psnr" (as None) or "ssim"
    lambda_scale: float = 1  #: more: fewer bits, worse pictures; 0.05 to 4

    backend: str = "auto"  #: "auto", "cpu", "cuda" or "cuda,cpu"; auto takes a GPU where one can be used
    devices: Sequence[int] = ()  #: GPUs by CUDA's index; empty: the first that can be used
    threads: int = 0  #: of the CPU; 0: as many as it has
    lanes: int = 0  #: groups of pictures encoded at the same time; 0: chosen
    simd: Optional[str] = None  #: instruction set; None: the best there is
    max_memory: Optional[int] = None  #: bytes that pictures and buffers may take

    psnr: bool = True  #: fills `sse` of the statistics
    ssim: bool = False  #: fills `ssim` of the statistics
    global_motion: bool = False  #: fills `shift_x` and `shift_y` of the statistics
    keep_reconstruction: bool = False  #: Encoder hands out what a decoder will show
    keep_prediction: bool = False  #: Encoder hands out the prediction
    keep_motion: bool = False  #: Encoder hands out the vectors


def merge(settings: Optional[Settings], options: dict[str, Any]) -> Settings:
    """`settings` with `options` in place of its fields. Raises TypeError for an unknown name."""
    return dataclasses.replace(settings or Settings(), **options)
