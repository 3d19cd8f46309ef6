"""Errors of the package."""

from __future__ import annotations

from typing import Optional


class Error(RuntimeError):
    """An error of c63. Its text is one line: place, cause, id.

    kind: "internal", "usage", "input", "limit", "output", "memory", "device" or "comparison".
    id: does not change between versions, such as "C63-SCAN-MARKER".
    message: only the cause.
    file, frame (from 0), offset (bytes), block: where it happened; None if unknown.
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


class FileError(Error, OSError):
    """A file that cannot be opened (kind "input"). It is also an OSError, like the errors of Python's open()."""


class TargetWarning(UserWarning):
    """An encode that does not meet its target. The text says what was reached, and which options come closer."""


class UsageError(Error, ValueError, TypeError):
    """Wrong arguments: a wrong value or type, or values that contradict each other (kind "usage").

    It is also a ValueError and a TypeError, so that code which catches these catches it.
    """
