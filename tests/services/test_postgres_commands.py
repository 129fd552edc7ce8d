"""The commands of a workspace with a URL in place of a folder."""

import json
from pathlib import Path

import pytest

from tagalong.cli.main import main

MAIL = [
    {"id": "1", "text": "the invoice is due", "labels": ["money"]},
    {"id": "2", "text": "the flight to Lisbon", "labels": ["travel"]},
    {"id": "3", "text": "another invoice", "labels": ["money"]},
]


@pytest.fixture
def url(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("mail.jsonl").write_text("".join(json.dumps(each) + "\n" for each in MAIL))
    url = postgres_url.replace("tagalong@", "tagalong:geheim@") + "&workspace=mail"
    assert main(["learn", "mail.jsonl", "--workspace", url]) == 0
    return url


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    code = main([*arguments])
    found = capsys.readouterr()
    assert code == 0, found.err
    assert "geheim" not in found.out + found.err
    return found.out


def test_commands(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "3 items (3 answered), 2 labels, 4 events" in run(capsys, "journal", "show", url)
    assert "no problems" in run(capsys, "journal", "verify", url)
    assert "takes it back" in run(capsys, "journal", "answer", url, "3", "travel")
    run(capsys, "journal", "undo", url, "5")
    run(capsys, "journal", "forget", url, "2")
    run(capsys, "journal", "compact", url)
    exported = run(capsys, "journal", "export", url, "--out", "-")
    assert [json.loads(line)["id"] for line in exported.splitlines()] == ["1", "3"]
    Path("new.jsonl").write_text(json.dumps({"text": "an invoice"}) + "\n")
    suggested = run(capsys, "suggest", "--workspace", url, "new.jsonl", "-k", "1")
    assert json.loads(suggested)["suggestions"][0]["label"] == "money"


def test_backup_and_restore(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "journal", "backup", url, "--out", "copy")
    other = url.replace("workspace=mail", "workspace=other")
    found = json.loads(run(capsys, "journal", "restore", "copy", "--to", other, "--json"))
    assert found["events"] == 4
    assert found["to"].endswith("workspace=other")
    hashes = {
        json.loads(run(capsys, "journal", "verify", place, "--json"))["hash"]
        for place in (url, "copy", other)
    }
    assert len(hashes) == 1
    assert main(["journal", "restore", "copy", "--to", other]) == 1
    assert "there is a workspace here" in capsys.readouterr().err
