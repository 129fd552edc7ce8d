"""The end-to-end benchmark on a few items; a peer that is not installed is reported."""

from importlib.util import find_spec

import pytest

from benchmarks import endtoend
from tagalong.readers import Item


def test_every_method_has_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAGALONG_DATA", raising=False)
    endtoend.main(["--limit", "40", "--repeat", "1", "--no-quality"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "| " in line]
    found = {row[0].removeprefix("| "): row[1:] for row in rows}
    for name in endtoend.LEARNERS:
        assert float(found[name][0].replace(",", "")) > 0
    peer = found["VW, numbered words, no collisions"]
    if find_spec("vowpalwabbit") is None:
        assert "vowpalwabbit" in peer[0]
        assert found["tagalong learn"][2] == "–"
    else:
        assert peer[2] == "1.00 (1.00–1.00)"


def test_the_peer_gets_the_words_of_our_features() -> None:
    item = Item("a|b", "Käse-Theke: 3x,\nwell_known", labels=("x",))
    text = endtoend.normalise_words(item).text
    assert isinstance(text, str)
    assert text.split() == ["käse", "theke", "3x", "well", "known"]
    assert endtoend.normalise_words(item).id == ""
