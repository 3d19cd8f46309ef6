"""Errors of the package."""

from __future__ import annotations

from typing import Optional


class Error(RuntimeError):
    """What went wrong, in one line: place, cause, id.

    kind: "internal", "usage", "input", "limit", "output", "memory", "device" or "comparison".
    id: stable and greppable, such as "C63-SCAN-MARKER".
    message: the cause alone.
    file, frame (from 0), offset (bytes), block: where, as far as it is known, else None.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: str = "internal",
        id: str = "",
        message: str = "",
        file: Optional[str] = None,
        frame: Optional[int] = None,
        offset: Optional[int] = None,
        block: Optional[str] = None,
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.id = id
        self.message = message
        self.file = file
        self.frame = frame
        self.offset = offset
        self.block = block


class UsageError(Error, ValueError, TypeError):
    """Arguments that contradict each other, the format, or what an array has to be (kind "usage").

    A wrong value and a wrong type, so that who catches what Python's own functions raise catches this, too.
    """
