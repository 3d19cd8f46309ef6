"""The native module. Only the rest of the package uses it; its functions check their arguments themselves."""

from typing import Any

def __getattr__(name: str) -> Any: ...
