"""Built-in stream of the docstrings of the running interpreter's standard library.

Files are parsed with `ast`; nothing is imported. Each module, class, function or method with a
docstring is an item. Its labels are the module, the packages that contain it, and the kind of
object. The order is shuffled with a fixed seed, so that topics mix. The first item needs only a few
files.
"""

import ast
import os
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tagalong.learning.items import Item
from tagalong.streams.format import Format

__all__ = ["FORMAT", "read_pydocs"]

_EXCLUDED_FOLDERS = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"}
_BUFFER_SIZE = 2000
_FIRST_BUFFER_SIZE = 200
_SEED = 0


def read_pydocs() -> Iterator[Item]:
    """Yield the docstrings of the standard library.

    A shuffle buffer mixes the items: each yielded item is drawn at random from the buffer.
    """
    root = Path(sysconfig.get_path("stdlib"))
    files = _files(root)
    random = Random(_SEED)
    random.shuffle(files)
    buffer: list[Item] = []
    yielded = 0
    for file in files:
        buffer += _docstrings_of_file(root, file)
        # The buffer grows with the number of yielded items, so that the first items need few files.
        while len(buffer) > min(_BUFFER_SIZE, _FIRST_BUFFER_SIZE + yielded):
            yield _draw(buffer, random)
            yielded += 1
    while buffer:
        yield _draw(buffer, random)


def _draw(buffer: list[Item], random: Random) -> Item:
    index = random.randrange(len(buffer))
    buffer[index], buffer[-1] = buffer[-1], buffer[index]
    return buffer.pop()


def _files(root: Path) -> list[Path]:
    """Return the library's files relative to its folder, sorted by path."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in _EXCLUDED_FOLDERS and not name.startswith("lib-")
        ]
        found += [Path(folder, name).relative_to(root) for name in names if name.endswith(".py")]
    return sorted(found, key=lambda path: path.parts)


def _docstrings_of_file(root: Path, file: Path) -> list[Item]:
    """Return an item per docstring of a file; none if it cannot be read or parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse((root / file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    parts = [*file.parts[:-1], file.stem] if file.stem != "__init__" else list(file.parts[:-1])
    modules = tuple(".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    items: list[Item] = []

    def visit(node: ast.AST, path: str, kind: str) -> None:
        assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        text = ast.get_docstring(node)
        if text and _is_unicode(text):
            name = path.rpartition(".")[2]
            line = getattr(node, "lineno", 1)
            items.append(
                Item(
                    path,
                    f"{name}\n{text}" if kind != "module" else text,
                    {},
                    (*modules, f"kind:{kind}"),
                    1.0,
                    f"{root / file}:{line}",
                )
            )
        for child in node.body:
            if isinstance(child, ast.ClassDef):
                visit(child, f"{path}.{child.name}", "class")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = "method" if isinstance(node, ast.ClassDef) else "function"
                is_async = isinstance(child, ast.AsyncFunctionDef)
                visit(child, f"{path}.{child.name}", f"async {inside}" if is_async else inside)

    visit(tree, modules[-1] if modules else file.stem, "module")
    return items


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


FORMAT = Format(
    "pydocs",
    "docstrings of the Python standard library, labelled with module and kind of object",
    read_pydocs,
    takes="nothing",
)
