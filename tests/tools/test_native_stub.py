"""The committed type stub matches the installed module."""

import difflib

from tools.make_native_stub import STUB, stub_of_module


def test_the_committed_stub_is_up_to_date() -> None:
    committed, generated = STUB.read_text(encoding="utf-8"), stub_of_module()
    difference = "".join(
        difflib.unified_diff(committed.splitlines(True), generated.splitlines(True))
    )
    assert not difference, f"run: make stub\n{difference}"


def test_arguments_have_names_and_types() -> None:
    text = STUB.read_text(encoding="utf-8")
    for missing in ("arg0", "arg:", "-> object", "-> dict:", "-> tuple:", "-> list:", ": object"):
        assert missing not in text, missing
