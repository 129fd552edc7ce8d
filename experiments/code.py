"""The code that a cell's result depends on, as digests that can be checked.

A result stays valid as long as the same work would be done again. Two things decide that:

- `digest`: the definitions that the cell's function reaches, from name to name, in ``experiments``
  and ``benchmarks``; without comments and docstrings. So a new text on the page, or a verdict,
  invalidates nothing.
- `golden`: the answers of those learners that the function reaches, in the golden runs of
  ``tests/golden/digests.json``. They pin every bit that a learner computes. So faster code that
  computes the same invalidates nothing, a changed algorithm does, and a new golden run does not.

What neither sees: the data; what the library has beside its learners, such as readers and measures;
other libraries; and code that is looked up by a text at run time. ``--again`` is for these.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GOLDEN_DIGESTS = ROOT / "tests" / "golden" / "digests.json"

FOLDERS = {
    "experiments": ROOT / "experiments",
    "benchmarks": ROOT / "benchmarks",
    "tests": ROOT / "tests",
}
"""Where the packages are whose definitions are followed."""

GOLDEN_RUNS = {
    "LabelRanker": "label-ranker/",
    "SharedLabelRanker": "shared/",
    "BlockProjection": "blocks/",
    "PartialFeedbackRanker": "partial/",
    "M3LClassifier": "m3l/",
    "Predtron": "predtron/",
}
"""The golden runs of a learner; they also pin its features, problems and losses."""

UNFOLLOWED = ("benchmarks.data_check", "experiments.experiment")
"""Modules that do not decide a result: warnings, and the classes of cells."""

DIGITS = 12

Name = tuple[str, str]
"""A module and a name in it; an empty name means the module itself."""


def digest(run: str) -> str:
    """Return the digest of the code that a cell's function ("module:function") reaches."""
    module, _, name = run.partition(":")
    definitions, _ = _reached(module, name)
    return _short("\n".join(sorted(definitions)))


def golden(run: str) -> dict[str, str]:
    """Return a digest per golden run of the learners that a cell's function reaches."""
    module, _, name = run.partition(":")
    _, learners = _reached(module, name)
    prefixes = tuple(GOLDEN_RUNS[learner] for learner in learners)
    return {own: value for own, value in _golden_answers().items() if own.startswith(prefixes)}


@cache
def _golden_answers() -> dict[str, str]:
    """Return a digest of the answers at all vector widths, by name of the golden run."""
    widths: dict[str, Any] = json.loads(GOLDEN_DIGESTS.read_text(encoding="utf-8"))
    names = sorted(
        {name for runs in widths.values() for name, run in runs.items() if "answers" in run}
    )
    return {
        name: _short(json.dumps([widths[width][name]["answers"] for width in sorted(widths)]))[:8]
        for name in names
    }


@dataclass(frozen=True)
class _Module:
    """The definitions of a module by name, and what its imported names mean."""

    name: str
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Name] = field(default_factory=dict)


@cache
def _reached(module: str, name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the texts of all definitions that a name reaches, and the learners."""
    texts: set[str] = set()
    learners: set[str] = set()
    waiting: list[Name] = [(module, name)]
    seen: set[Name] = set()
    while waiting:
        own = waiting.pop()
        if own in seen or own[0].startswith(UNFOLLOWED):
            continue
        seen.add(own)
        if own[0].split(".")[0] == "tagalong" and own[1] in GOLDEN_RUNS:
            learners.add(own[1])
            continue
        found = _module(own[0])
        if own[1] in found.imports:
            waiting.append(found.imports[own[1]])
            continue
        for statement in found.definitions.get(own[1], []):
            texts.add(f"{own[0]}.{own[1]} {_canonical(statement)}")
            waiting += _names(statement, found)
    return frozenset(texts), frozenset(learners)


def _names(statement: ast.stmt, module: _Module) -> Iterator[Name]:
    """Return what the names in a definition mean: definitions here or in imported modules."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            target = module.imports.get(node.value.id)
            if target is not None and target[1] == "":
                yield target[0], node.attr
        elif isinstance(node, ast.Name) and (
            node.id in module.definitions or module.imports.get(node.id, ("", ""))[1]
        ):
            yield module.name, node.id


@cache
def _module(name: str) -> _Module:
    """Return the definitions and imports of a module; of an unknown module, nothing."""
    path = _path(name)
    if path is None:
        return _Module(name)
    found = _Module(name)
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                found.imports[alias.asname or alias.name] = (alias.name, "")
        elif isinstance(statement, ast.ImportFrom):
            source = _absolute(name, path, statement)
            for alias in statement.names:
                inner = f"{source}.{alias.name}"
                meaning = (source, alias.name) if _path(inner) is None else (inner, "")
                found.imports[alias.asname or alias.name] = meaning
        else:
            for defined in _defined(statement):
                found.definitions.setdefault(defined, []).append(statement)
    return found


def _path(module: str) -> Path | None:
    """Return the file of a module of the packages that are followed; None for other modules."""
    package, *rest = module.split(".")
    if package not in FOLDERS:
        return None
    place = FOLDERS[package].joinpath(*rest)
    files = [place / "__init__.py", place.with_name(f"{place.name}.py")]
    return next((file for file in files if file.is_file()), None)


def _absolute(name: str, path: Path, statement: ast.ImportFrom) -> str:
    """Return the module that a statement imports from."""
    if not statement.level:
        return statement.module or ""
    parts = name.split(".")
    above = statement.level - (path.name == "__init__.py")
    base = parts[: len(parts) - above]
    return ".".join([*base, *([statement.module] if statement.module else [])])


def _defined(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at module level defines or changes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    stored = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
        # The variables of a comprehension are its own.
        if not isinstance(node, ast.comprehension):
            waiting += ast.iter_child_nodes(node)
    return stored


def _canonical(value: Any) -> Any:
    """Return a definition as nested lists, without docstrings; the same in all Python versions."""
    if isinstance(value, ast.AST):
        fields = {name: child for name, child in ast.iter_fields(value) if name != "type_comment"}
        if isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            body = value.body
            fields["body"] = body[1:] if ast.get_docstring(value, clean=False) else body
        return [
            type(value).__name__,
            *(
                [name, _canonical(child)]
                for name, child in fields.items()
                if child not in (None, [])
            ),
        ]
    if isinstance(value, list):
        return [_canonical(child) for child in value]
    return repr(value)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
