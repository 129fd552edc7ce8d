"""Write the types of the native core, src/tagalong/_native.pyi, as the compiled module has them.

    python tools/make_native_stub.py

It needs the module installed, nanobind, whose generator makes the stub, and ruff, which formats it.
Of arrays the stub says what they hold, not their shape and order, which no type checker looks at.
"""

import re
import subprocess
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

from tagalong import _native

STUB = Path(__file__).parent.parent / "src" / "tagalong" / "_native.pyi"
TITLE = '"""Types of the native core, made by tools/make_native_stub.py."""\n\n'


def stub_of_module() -> str:
    """The stub of the module that is installed."""
    generator = StubGen(_native, include_docstrings=False)
    generator.put(_native)
    text = re.sub(r"Annotated\[(NDArray(?:\[[\w.]+\])?), dict\([^]]*\)\]", r"\1", generator.get())
    text = text.replace("numpy.typing.NDArray", "NDArray")
    # An array that may hold any numbers has no type argument, which a strict checker wants.
    text = re.sub(r"\bNDArray\b(?![\[\n])", "NDArray[Any]", text)
    for command in (["check", "--fix-only", "--quiet", "--select=I,F401"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"]
        done = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True)
        text = done.stdout
    return TITLE + text


if __name__ == "__main__":
    STUB.write_text(stub_of_module(), encoding="utf-8")
    print(f"wrote {STUB}")
