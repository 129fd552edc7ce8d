"""Write the type stub of the native core, src/tagalong/_native.pyi, from the compiled module.

    python tools/make_native_stub.py

The script needs the installed module, nanobind to generate the stub, and ruff to format it. The
stub gives the element type of arrays, but not their shape and order, which type checkers ignore.
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
    """Return the stub of the installed module."""
    generator = StubGen(_native, include_docstrings=False)
    generator.put(_native)
    text = re.sub(r"Annotated\[(NDArray(?:\[[\w.]+\])?), dict\([^]]*\)\]", r"\1", generator.get())
    text = text.replace("numpy.typing.NDArray", "NDArray")
    # An array of any element type has no type argument, but strict checking requires one.
    text = re.sub(r"\bNDArray\b(?![\[\n])", "NDArray[Any]", text)
    for command in (["check", "--fix-only", "--quiet", "--select=I,F401"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"]
        done = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True)
        text = done.stdout
    return TITLE + text


if __name__ == "__main__":
    STUB.write_text(stub_of_module(), encoding="utf-8")
    print(f"wrote {STUB}")
