"""settings.toml: how a workspace is operated. It decides nothing about learning."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.errors import RefusedError
from tagalong.journal.settings import Settings

__all__ = ["Limits", "read_limits"]

NAME = "settings.toml"
MAX_SNAPSHOTS = 20
MAX_SNAPSHOT_BYTES = 2_000_000_000
MAX_SPARE_BYTES = 500_000_000
_NAMES = ("snapshot_bytes", "spare_bytes")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a workspace.

    Parameters
    ----------
    snapshot_bytes : int or None
        Number of bytes that all snapshots may take; by default 20 times the newest one, at most
        2 GB.
    spare_bytes : int
        Number of bytes of weights up to which a second copy of the model is in memory, from which
        recent answers are undone at once; 0 for none.
    """

    snapshot_bytes: int | None = None
    spare_bytes: int = MAX_SPARE_BYTES

    def snapshot_budget(self, newest: int) -> int:
        """Return how many bytes all snapshots may take.

        Parameters
        ----------
        newest : int
            Size of the newest one.
        """
        if self.snapshot_bytes is not None:
            return self.snapshot_bytes
        return min(MAX_SNAPSHOTS * newest, MAX_SNAPSHOT_BYTES)


def read_limits(folder: Path, settings: Settings) -> Limits:
    """Return the limits in the file settings.toml of a workspace, or the defaults.

    Parameters
    ----------
    folder : path
        The workspace.
    settings : Settings
        The present settings of the journal. RefusedError if the file says otherwise: what decides
        learning is changed by an event, never by a file.
    """
    path = folder / NAME
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Limits()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(f"{unicode_path(path)}: not valid TOML: {error}") from error
    present = settings.to_json()
    for name in [name for name in given if name in present]:
        if given.pop(name) != present[name]:
            raise RefusedError(
                f"{unicode_path(path)}: {name} differs from the setting of the journal, "
                f"{present[name]!r}: it decides learning, so change it with "
                f"'tagalong journal set {unicode_path(folder)} {name}=VALUE', and remove it here"
            )
    return Limits(**_checked(given, path))


def _checked(given: dict[str, Any], path: Path) -> dict[str, Any]:
    for name, value in given.items():
        place = f"{unicode_path(path)}: {name}"
        if name not in _NAMES:
            known = " and ".join(_NAMES)
            raise RefusedError(f"{place}: there is no such setting; {known} are settings")
        if type(value) is not int or value < 0:
            raise RefusedError(f"{place}: must be a number of bytes, at least 0, got {value!r}")
    return given
