"""Texts that a machine has without network."""

import subprocess

import pytest

from benchmarks import machine_texts, streams


def test_source_pieces_are_filed_under_their_packages() -> None:
    items = machine_texts.source_items()
    assert 1000 < len(items) <= machine_texts.MOST_ITEMS
    labels = {label for item in items for label in item.labels or ()}
    assert {"asyncio", "email"} <= labels
    assert "site-packages" not in labels


def test_sections_have_short_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "".join(
        f"Package: p{i}\nDescription: a tool\n and more\nSection: contrib/{'ab'[i < 3]}\n\n"
        for i in range(machine_texts.LEAST_PER_LABEL + 3)
    )
    done = subprocess.CompletedProcess(["apt-cache"], 0, stdout=page)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    items = machine_texts.section_items()
    assert {item.labels for item in items} == {("a",)}
    assert {item.text for item in items} == {f"p{i} a tool" for i in range(3, len(items) + 3)}


def test_a_machine_without_apt_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(streams.NoData, match="need the apt index of a Debian machine"):
        streams.load("sections")
