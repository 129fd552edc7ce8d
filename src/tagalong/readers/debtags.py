"""Built-in stream of Debian packages and their tags, from the apt index of this machine.

``apt-cache dumpavail`` prints one paragraph per package. Each package with tags is an item. Its
text is the package's name and description. The order is shuffled with a fixed seed.
"""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from random import Random

from tagalong.learning.items import Item, ReadError
from tagalong.streams.format import Format, ItemOrError, Option

__all__ = ["FORMAT", "expand_tags", "parse_paragraphs", "read_debtags", "tagged_packages"]

_MIN_COUNT = 20
_SEED = 0
_HOW_TO_FIX = (
    "debtags: needs the package index of a Debian machine; run "
    "'apt-get -o Acquire::Languages=en update' as root, for example in a debian:bookworm container"
)
_NO_TAGS = f"the package index has no tags; {_HOW_TO_FIX}"
_APT_LISTS = Path("/var/lib/apt/lists")
_APT_HELPER = "/usr/lib/apt/apt-helper"
_FIELD = re.compile(r"([^\s:]+):\s?(.*)")
_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")


def read_debtags(*, min_count: int = _MIN_COUNT) -> Iterator[ItemOrError]:
    """Yield Debian packages, each in the first version that apt lists."""
    items = tagged_packages(parse_paragraphs(_dumpavail()))
    counts = Counter(tag for _, tags in items.values() for tag in tags)
    if not any(count >= min_count for count in counts.values()):
        raise ReadError(
            "debtags:",
            f"the package index has {len(items)} packages with tags, and no tag occurs on "
            f"{min_count} or more of them (option min_count); {_HOW_TO_FIX}",
        )
    names = sorted(items)
    Random(_SEED).shuffle(names)
    for number, name in enumerate(names, 1):
        text, tags = items[name]
        labels = tuple(sorted(tag for tag in tags if counts[tag] >= min_count))
        if labels:
            yield Item(name, text, {}, labels, 1.0, f"debtags:{number}")


def _dumpavail() -> Generator[str, None, None]:
    """Yield the lines of apt's descriptions of all packages it could install."""
    if shutil.which("apt-cache") is None:
        raise ReadError("debtags:", f"there is no apt-cache on this machine; {_HOW_TO_FIX}")
    with subprocess.Popen(
        ["apt-cache", "dumpavail"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield from process.stdout
        except GeneratorExit:
            process.kill()
            raise
        reason = process.stderr.read().strip()
    if process.returncode != 0:
        raise ReadError("debtags:", f"apt-cache dumpavail failed: {reason}; {_HOW_TO_FIX}")


def parse_paragraphs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the fields of each package; an indented line continues the field before it."""
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if line.isspace():
            if "Package" in fields:
                yield fields
            fields, name = {}, ""
        elif line[0].isspace():
            fields[name] = f"{fields.get(name, '')}\n{line.strip()}"
        elif found := _FIELD.match(line):
            name = found[1]
            fields[name] = found[2]
    if "Package" in fields:
        yield fields


def tagged_packages(packages: Iterable[dict[str, str]]) -> dict[str, tuple[str, set[str]]]:
    """Return text and tags of each package with tags, by name; the first of each name counts."""
    items: dict[str, tuple[str, set[str]]] = {}
    for fields in packages:
        name = fields["Package"]
        if "Tag" in fields and name not in items:
            longest = max(fields.get("Description", ""), fields.get("Description-en", ""), key=len)
            items[name] = (f"{name} {longest}", expand_tags(fields["Tag"]))
    return items


def expand_tags(tags: str) -> set[str]:
    r"""Return the tags of a Tag field.

    Examples
    --------
    >>> sorted(expand_tags("implemented-in::c, role::{program,\nshared-lib}"))
    ['implemented-in::c', 'role::program', 'role::shared-lib']
    """
    found = set()
    for tag in re.split(r",(?![^{]*\})", tags.replace("\n", " ")):
        braces = _BRACES.fullmatch(tag.strip())
        if braces is None:
            found.add(tag.strip())
        else:
            before, inside, after = braces.groups()
            found.update(f"{before}{part.strip()}{after}" for part in inside.split(","))
    return found - {""}


def _index_has_tags() -> bool:
    """Whether one of apt's package lists has tags; False if the lists cannot be read.

    This check is a shortcut: apt-cache reads all lists before its first output, which takes a
    second or more.
    """
    for found in sorted(_APT_LISTS.glob("*_Packages*")):
        try:
            with subprocess.Popen(
                [_APT_HELPER, "cat-file", found], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process:
                assert process.stdout is not None
                has_tags = any(line.startswith(b"Tag:") for line in process.stdout)
                process.kill()
        except OSError:
            return False
        if has_tags:
            return True
    return False


def _unavailable_reason() -> str:
    if shutil.which("apt-cache") is None:
        return "there is no apt-cache on this machine"
    if _index_has_tags():
        return ""
    lines = _dumpavail()
    try:
        return "" if any(line.startswith("Tag:") for line in lines) else _NO_TAGS
    except ReadError as error:
        return error.problem
    finally:
        lines.close()  # ends apt-cache: most of its output is unread


FORMAT = Format(
    "debtags",
    "Debian packages with their tags, from the package index of this machine",
    read_debtags,
    options=(Option("min_count", "Ignore tags that fewer packages have.", "integer", _MIN_COUNT),),
    takes="nothing",
    available=_unavailable_reason,
)
