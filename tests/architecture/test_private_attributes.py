"""No module uses a private attribute that another module defines.

An access such as ``learner._labels`` is allowed only on ``self``, ``cls`` or ``super()``, or if the
same module defines the attribute, as when a method compares two objects of its own class.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tagalong"
OWN = ("self", "cls")


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def is_own(value: ast.expr) -> bool:
    """Return whether an expression is ``self``, ``cls``, or a call of ``super`` or ``type``."""
    if isinstance(value, ast.Name):
        return value.id in OWN
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("super", "type")
    )


def defined_names(tree: ast.Module) -> set[str]:
    """Return the private attributes that the classes of a module define."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if is_own(node.value):
                found.add(node.attr)
        elif isinstance(node, (ast.AnnAssign, ast.Assign)):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            found.update(target.id for target in targets if isinstance(target, ast.Name))
            for target in targets:  # __slots__ = ("_before", ...)
                if isinstance(target, ast.Name) and target.id == "__slots__":
                    found.update(ast.literal_eval(node.value))  # type: ignore[arg-type]
    return found


def foreign_accesses(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every access to another object's private attribute."""
    tree = ast.parse(source)
    defined = defined_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if not is_own(node.value) and node.attr not in defined:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and _is_access_by_name(node):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tagalong"):
            names = (alias.name for alias in node.names if alias.name != "_native")
            yield from ((node.lineno, name) for name in names if is_private(name))


def _is_access_by_name(call: ast.Call) -> bool:
    """Return whether a call is getattr, setattr or hasattr of another object's private name."""
    if not isinstance(call.func, ast.Name) or call.func.id not in ("getattr", "setattr", "hasattr"):
        return False
    name = call.args[1] if len(call.args) > 1 else None
    private = isinstance(name, ast.Constant) and is_private(str(name.value))
    return private and not is_own(call.args[0])


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_private_attribute_of_another_module_is_used(path: Path) -> None:
    found = [f"{path.name}:{line}: {text}" for line, text in foreign_accesses(path.read_text())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("learner._labels", ["learner._labels"]),
        ("a.b._labels.names", ["a.b._labels"]),
        ("def f(x):\n    x._native = 1", ["x._native"]),
        ("getattr(learner, '_native')", ["getattr(learner, '_native')"]),
        ("hasattr(learner, '_native')", ["hasattr(learner, '_native')"]),
        ("from tagalong.labels import _helper", ["_helper"]),
        ("self._labels", []),
        ("x.__dict__", []),
        ("super()._start()", []),
        ("from tagalong import _native", []),
        ("class A:\n    def f(self, other):\n        self._x = other._x", []),
    ],
)
def test_foreign_accesses_are_found(source: str, wrong: list[str]) -> None:
    assert [text for _, text in foreign_accesses(source)] == wrong
