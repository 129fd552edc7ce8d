"""settings.toml: how a workspace is operated. It decides nothing about learning."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.errors import RefusedError
from tagalong.journal.settings import Settings

__all__ = ["Limits", "read_limits"]

NAME = "settings.toml"
MAX_SNAPSHOTS = 20
MAX_SNAPSHOT_BYTES = 2_000_000_000


Problem: TypeAlias = Callable[[object], str | None]
"""Returns why a value is not valid; None if it is."""


def _number(of: str, least: int = 0) -> dict[str, Problem]:
    """Return the check of a setting that is a whole number of something."""

    def problem(value: object) -> str | None:
        if type(value) is int and value >= least:
            return None
        return f"must be a number of {of}, at least {least}, got {value!r}"

    return {"problem": problem}


def _texts(example: str) -> dict[str, Problem]:
    """Return the check of a setting that is a list of texts."""

    def problem(value: object) -> str | None:
        if isinstance(value, list) and all(isinstance(each, str) and each for each in value):
            return None
        return f'must be a list of texts, such as ["{example}"], got {value!r}'

    return {"problem": problem}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a workspace, and of a service for workspaces.

    Parameters
    ----------
    snapshot_bytes : int or None
        Number of bytes that all snapshots may take; by default 20 times the newest one, at most
        2 GB.
    spare_bytes : int
        Number of bytes of weights up to which a second copy of the model is in memory, from which
        recent answers are undone at once; 0 for none.
    filed_per_day : int or None
        Number of items that may be filed without asking on one day (UTC); by default any number.
    memory_bytes : int
        Number of bytes of models in memory above which a service closes workspaces that nobody
        uses.
    workspaces : int
        Number of open workspaces above which it closes them likewise.
    body_bytes : int
        Number of bytes that a request may have.
    item_bytes : int
        Number of bytes that an item may have.
    page_items : int
        Number of items that a page may have.
    connections : int
        Number of connections that may be open at the same time.
    requests : int
        Number of requests that may be at work at the same time.
    lease_seconds : int
        Number of seconds after which other servers take over the workspaces of one that shows no
        sign of life, if they share their journals.
    allow_hosts : list of str
        Names by which a service may be called, beside those of this machine.
    """

    snapshot_bytes: int | None = field(default=None, metadata=_number("bytes"))
    spare_bytes: int = field(default=500_000_000, metadata=_number("bytes"))
    filed_per_day: int | None = field(default=None, metadata=_number("items"))
    memory_bytes: int = field(default=2_000_000_000, metadata=_number("bytes"))
    workspaces: int = field(default=50, metadata=_number("workspaces", 1))
    body_bytes: int = field(default=64_000_000, metadata=_number("bytes", 1))
    item_bytes: int = field(default=1_000_000, metadata=_number("bytes", 1))
    page_items: int = field(default=1000, metadata=_number("items", 1))
    connections: int = field(default=256, metadata=_number("connections", 1))
    requests: int = field(default=64, metadata=_number("requests", 1))
    lease_seconds: int = field(default=15, metadata=_number("seconds", 1))
    allow_hosts: list[str] = field(default_factory=list, metadata=_texts("example.org"))

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


def read_limits(folder: Path, settings: Settings | None = None) -> Limits:
    """Return the limits in the file settings.toml of a folder, or the defaults.

    Parameters
    ----------
    folder : path
        A workspace, or the folder of a service.
    settings : Settings, optional
        The present settings of the journal. RefusedError if the file says otherwise: what decides
        learning is changed by an event, never by a file. Without them such settings are not looked
        at.
    """
    path = folder / NAME
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Limits()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(f"{unicode_path(path)}: not valid TOML: {error}") from error
    present = (settings or Settings()).to_json()
    for name in [name for name in given if name in present]:
        if given.pop(name) != present[name] and settings is not None:
            raise RefusedError(
                f"{unicode_path(path)}: {name} differs from the setting of the journal, "
                f"{present[name]!r}: it decides learning, so change it with "
                f"'tagalong journal set {unicode_path(folder)} {name}=VALUE', and remove it here"
            )
    _check(given, path)
    return Limits(**given)


def _check(given: dict[str, Any], path: Path) -> None:
    problems: dict[str, Problem] = {each.name: each.metadata["problem"] for each in fields(Limits)}
    for name, value in given.items():
        place = f"{unicode_path(path)}: {name}"
        if name not in problems:
            *others, last = problems
            known = f"{', '.join(others)} and {last}"
            raise RefusedError(f"{place}: there is no such setting; {known} are settings")
        if (problem := problems[name](value)) is not None:
            raise RefusedError(f"{place}: {problem}")
