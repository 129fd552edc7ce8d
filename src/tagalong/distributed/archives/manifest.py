"""The manifest of an output folder: which run the folder belongs to."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from tagalong.distributed.archives.inputs import Input
from tagalong.distributed.archives.settings import Settings
from tagalong.distributed.archives.shards import Shard
from tagalong.version import __version__

__all__ = ["ManifestError", "differences", "digest_of", "make_manifest"]


class ManifestError(ValueError):
    """An output folder that belongs to another run, or to none."""


def make_manifest(
    model: str, settings: Settings, inputs: Sequence[Input], shards: Sequence[Shard]
) -> bytes:
    """Return the text of a manifest.

    Parameters
    ----------
    model : str
        The hash of the model.
    settings : Settings
        The options.
    inputs : sequence of Input
        The inputs.
    shards : sequence of Shard
        The shards, which follow from inputs and options.
    """
    contents = {
        "tagalong": __version__,
        "model": model,
        "options": settings.to_json(),
        "inputs": [each.to_json() for each in inputs],
        "shards": [each.to_json() for each in shards],
    }
    return (json.dumps(contents, indent=1) + "\n").encode()


def digest_of(manifest: bytes) -> str:
    """Return the digest by which workers recognise a manifest.

    Parameters
    ----------
    manifest : bytes
        The text of a manifest.
    """
    return hashlib.sha256(manifest).hexdigest()


def differences(before: bytes, now: bytes) -> str:
    """Return how a manifest differs from the one of the present run, in words.

    Parameters
    ----------
    before : bytes
        The text of the manifest in a folder. Anybody can have written it.
    now : bytes
        The text of the manifest of the present run.
    """
    try:
        found = "; ".join(_differences(json.loads(before), json.loads(now)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = ""
    return found or "its manifest is damaged"


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    if before["tagalong"] != now["tagalong"]:
        yield f"it was begun by Tagalong {before['tagalong']}, and this is {now['tagalong']}"
    if before["model"] != now["model"]:
        yield (f"the model was another one (hash {before['model'][:12]}, now {now['model'][:12]})")
    yield from _changed_options(before["options"], now["options"])
    yield from _changed_inputs(before["inputs"], now["inputs"])


def _changed_options(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    old = {**before, **before["reading"]}
    new = {**now, **now["reading"]}
    for name in dict.fromkeys([*old, *new]):
        if name != "reading" and old.get(name) != new.get(name):
            yield f"the option {name} was {_shown(old.get(name))}, now {_shown(new.get(name))}"


def _changed_inputs(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[str]:
    names, names_now = ([one["source"] for one in inputs] for inputs in (before, now))
    for name in names:
        if name not in names_now:
            yield f"{name} is no longer among the sources"
    for name in names_now:
        if name not in names:
            yield f"{name} was not among the sources"
    if sorted(names) == sorted(names_now) and names != names_now:
        yield "the sources were given in another order"
    old = {one["source"]: one for one in before}
    for one in now:
        found = old.get(one["source"])
        if found is not None and found != one:
            yield f"{one['source']} has changed since: {_change(found, one)}"


def _change(old: dict[str, Any], new: dict[str, Any]) -> str:
    if old["size"] != new["size"]:
        return f"it had {old['size']:,} bytes, now {new['size']:,}"
    if old["modified"] != new["modified"]:
        return f"it was modified at {_time(old['modified'])}, now at {_time(new['modified'])}"
    return "its contents are others"


def _time(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def _shown(value: object) -> str:
    if value is None or value is False:
        return "not given"
    if value is True:
        return "given"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
