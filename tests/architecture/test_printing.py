"""Commands print through one layer, which escapes text from outside: cli/output.py, cli/screen.py.

Other modules neither print nor write to a standard stream, so that no text gets past the layer.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tagalong"
LAYER = {"cli/output.py", "cli/screen.py"}
# Accesses with a reason of their own.
ALLOWED = {
    # Messages pass a screen before they reach the display, which needs escape sequences.
    "cli/live.py": {"sys.stderr"},
    # Whether results go to a terminal, and the end of a broken pipe.
    "cli/suggest.py": {"sys.stdout"},
    "cli/convert.py": {"sys.stdout"},
    "cli/main.py": {"sys.stdout"},
    # Data for other programs, as bytes, which a screen shows escaped on a terminal.
    "readers/writing.py": {"sys.stdout"},
    # A program whose output is read through a pipe.
    "readers/debtags.py": {"subprocess.Popen"},
    # Progress of a solver, in numbers only.
    "batch/m3l/training.py": {"print", "sys.stderr"},
}
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}
CALLS = {"print", "os.system", "subprocess.run", "subprocess.Popen"}
CALLS |= {
    "os.write(1)",
    "os.write(2)",
    "logging.StreamHandler",
    "traceback.print_exc",
    "warnings.showwarning",
}


def accesses(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of everything that can write to a terminal."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in STREAMS:
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and called(node) in CALLS:
            yield node.lineno, called(node)
        elif isinstance(node, ast.ImportFrom) and node.module in ("sys", "os", "subprocess"):
            names = {f"{node.module}.{one.name}" for one in node.names} & (STREAMS | CALLS)
            yield from ((node.lineno, name) for name in sorted(names))
        elif isinstance(node, ast.Constant) and node.value in ("/dev/tty", "/dev/stdout"):
            yield node.lineno, str(node.value)


def called(node: ast.Call) -> str:
    """Return the name of a called function; of ``os.write`` with the descriptor."""
    name = ast.unparse(node.func)
    return f"os.write({ast.unparse(node.args[0])})" if name == "os.write" else name


MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_only_the_layer_prints(name: str) -> None:
    if name in LAYER:
        return
    found = list(accesses((PACKAGE / name).read_text()))
    allowed = ALLOWED.get(name, set())
    assert [(line, what) for line, what in found if what not in allowed] == []
    assert {what for _, what in found} == allowed, "an exception that is not needed any more"


@pytest.mark.parametrize(
    "source",
    [
        "print(1)",
        "sys.stdout.write('')",
        "write = sys.stderr.write",
        "from sys import stdout",
        "os.write(1, b'')",
        "open('/dev/tty', 'w')",
        "sys.__stdout__.flush()",
    ],
)
def test_ways_to_print_are_found(source: str) -> None:
    assert len(list(accesses(source))) == 1
