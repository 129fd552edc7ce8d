"""Side files with names of features or labels, for formats that store only numbers."""

from collections.abc import Iterable
from pathlib import Path

from tagalong.readers.lines import Lines
from tagalong.streams.format import Target

__all__ = ["encode_names", "read_names"]


def read_names(path: str) -> list[str]:
    """Read names from a side file, one per line; return no names if the file does not exist."""
    if not Path(path).is_file():
        return []
    with open(path, "rb") as file:
        return [line.removesuffix("\n") for line in Lines(file, path)]


def encode_names(names: Iterable[str], target: Target) -> bytes:
    """Return the contents of a side file from which `read_names` reads these names."""
    if target.stream_only:
        raise ValueError(
            f"{target.name}: names that are not numbers go into a second file; write to the path "
            "of a file, not to standard output"
        )
    for name in names:
        if "\n" in name or "\r" in name:
            raise ValueError(f"{target.name}: the name {name!r} must not contain a line end")
    return "".join(f"{name}\n" for name in names).encode()
