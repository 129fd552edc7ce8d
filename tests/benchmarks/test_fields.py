"""The benchmark of fields, on a few made-up mails."""

import pytest

from benchmarks import fields
from benchmarks.markdown import parse_tables
from tagalong import Item

TOPICS = {"money": "invoice due bank pay", "travel": "flight airport plane hotel"}


def mails() -> list[Item]:
    found = []
    for i in range(40):
        label = sorted(TOPICS)[i % 2]
        text = {"from": f"sender{i}", "subject": TOPICS[label][:11], "body": f"{TOPICS[label]} the"}
        found.append(Item(text=text, labels=(label,)))
    return found


def test_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fields, "STREAMS", {"mails": mails})
    monkeypatch.setattr(fields, "SEGMENTS", {"first": (0, 20), "last": (20, None)})
    monkeypatch.setattr(fields, "LEARNT", 30)
    monkeypatch.setattr(fields, "TESTED", 10)
    monkeypatch.setattr("sys.argv", ["fields", "--orders", "2"])
    fields.main()
    progressive, other_forms = parse_tables(capsys.readouterr().out)
    assert [row["features"] for row in progressive] == list(fields.FEATURES)
    assert all(row["last"] == "1.000" for row in progressive)
    assert len(other_forms) == 3
    for row in other_forms:
        assert list(row.values())[3:] == ["1.000"] * 4  # all columns after "unmatched"
