"""The build that computes: its results have the same bits as those of the same build only."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from tagalong import _native as core

__all__ = ["MIXED", "current_build"]

MIXED = "mixed"
"""The build of a state that several builds have computed."""


@cache
def current_build() -> str:
    """Return the version, a digest of the native core, and the width of its vectors."""
    digest = hashlib.blake2b(Path(core.__file__).read_bytes(), digest_size=8).hexdigest()
    return f"{version('tagalong')} {digest} {core.vector_width()}"
