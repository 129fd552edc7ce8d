"""Names in a file beside another one, for formats that hold numbers only."""

from collections.abc import Iterable
from pathlib import Path

from tagalong.readers.lines import Lines
from tagalong.streams.format import Target

__all__ = ["encode_names", "read_names"]


def read_names(path: str) -> list[str]:
    """Return the names in a file, one a line; none if there is no such file."""
    if not Path(path).is_file():
        return []
    with open(path, "rb") as file:
        return [line.removesuffix("\n") for line in Lines(file, path)]


def encode_names(names: Iterable[str], target: Target) -> bytes:
    """Return what to write beside a target so that `read_names` gives these names."""
    if target.stream_only:
        raise ValueError(
            f"{target.name}: names that are no numbers go into a file beside; give the path of a "
            "file, not standard output"
        )
    for name in names:
        if "\n" in name or "\r" in name:
            raise ValueError(f"{target.name}: the name {name!r} has a line end in it")
    return "".join(f"{name}\n" for name in names).encode()
