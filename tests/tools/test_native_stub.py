"""The types on file are those of the module that is installed."""

import difflib

from tools.make_native_stub import STUB, stub_of_module


def test_the_stub_on_file_is_that_of_the_module() -> None:
    on_file, made = STUB.read_text(encoding="utf-8"), stub_of_module()
    difference = "".join(difflib.unified_diff(on_file.splitlines(True), made.splitlines(True)))
    assert not difference, f"run: make stub\n{difference}"


def test_no_argument_is_nameless_and_no_type_is_lost() -> None:
    text = STUB.read_text(encoding="utf-8")
    for lost in ("arg0", "arg:", "-> object", "-> dict:", "-> tuple:", "-> list:", ": object"):
        assert lost not in text, lost
