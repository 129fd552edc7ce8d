"""A parser of numpydoc docstrings: sections and parameters."""

import inspect
import itertools
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Description:
    """The description of a parameter in a docstring."""

    name: str
    kind: str
    text: str


def sections(docstring: str) -> dict[str, list[str]]:
    """The lines of each section by its title; the part before the first one has the title ''."""
    lines = inspect.cleandoc(docstring).splitlines()
    found: dict[str, list[str]] = {"": []}
    title = ""
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and line.strip() and re.fullmatch(r"-{3,}", lines[i + 1].strip()):
            assert len(lines[i + 1].strip()) == len(line.strip()), f"{line!r} is not underlined"
            title = line.strip()
            assert title not in found, f"two sections {title!r}"
            found[title] = []
        elif not re.fullmatch(r"-{3,}", line.strip()):
            found[title].append(line)
    return found


def descriptions(lines: list[str]) -> list[Description]:
    """The entries of a section such as Parameters; ``a, b : kind`` gives two entries."""
    found: list[Description] = []
    heads = [i for i, line in enumerate(lines) if line.strip() and not line.startswith(" ")]
    for start, end in itertools.pairwise([*heads, len(lines)]):
        names, _, kind = lines[start].partition(" : ")
        text = " ".join(line.strip() for line in lines[start + 1 : end]).strip()
        found += [Description(name.strip(), kind.strip(), text) for name in names.split(",")]
    return found
