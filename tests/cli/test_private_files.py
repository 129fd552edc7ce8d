"""Files made from mail are readable by their owner only."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run

NAMES = {"invoice": "Bank", "flight": "Travel"}


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    root = tmp_path / "Mail"
    for number in range(40):
        word = list(NAMES)[number % 2]
        for state in ("cur", "new", "tmp"):
            (root / f".{NAMES[word]}" / state).mkdir(parents=True, exist_ok=True)
            (root / state).mkdir(exist_ok=True)
        message = root / f".{NAMES[word]}" / "cur" / f"{1700000000 + number}.M1.host:2,S"
        message.write_text(f"Subject: {word} {number}\n\nbody\n")
    return root


def mbox() -> str:
    return "".join(
        f"From a@b Mon Jan  1 00:00:{number:02} 2024\nSubject: {list(NAMES)[number % 2]}\n"
        f"X-Gmail-Labels: {list(NAMES.values())[number % 2]}\n\nbody\n\n"
        for number in range(40)
    )


def modes(*names: str) -> set[int]:
    return {stat.S_IMODE(os.stat(name).st_mode) for name in names}


def test_files_made_from_a_maildir(run: Run, maildir: Path) -> None:
    files = ("--report", "r.json", "--plot", "p.svg")
    done = run("learn", "Mail", "-m", "m", "--predictions", "p.csv", *files)
    assert done.code == 0, done.err
    assert run("fit", "Mail", "-m", "f", "--report", "f.json", "-q").code == 0
    assert run("convert", "Mail", "c.jsonl").code == 0
    assert run("suggest", "Mail", "-m", "m", "--out", "s.csv").code == 0
    assert run("evaluate", "Mail", "-m", "m", "--report", "e.json").code == 0
    assert run("file", "Mail", "--apply").code == 0
    assert run("export", "m", "--compact", "--out", "x").code == 0
    made = ("m", "x", "p.csv", "r.json", "p.svg", "f", "f.json", "c.jsonl")
    assert modes(*made, "s.csv", "e.json", "Mail/model.tagalong") == {0o600}


def test_files_made_from_predictions_as_parquet(run: Run, maildir: Path) -> None:
    pytest.importorskip("pyarrow")
    assert run("learn", "Mail", "--predictions", "p.parquet", "-q").code == 0
    assert modes("p.parquet") == {0o600}


def test_mail_from_standard_input_is_recognised(run: Run) -> None:
    done = run("learn", "-", "-m", "m", "--predictions", "p.csv", "-q", stdin=mbox())
    assert done.code == 0, done.err
    assert run("convert", "-", "c.jsonl", stdin=mbox()).code == 0
    assert run("suggest", "-", "-m", "m", "--out", "s.jsonl", stdin=mbox()).code == 0
    assert modes("m", "p.csv", "c.jsonl", "s.jsonl") == {0o600}


def test_files_made_from_other_items_follow_the_umask(run: Run, stream: Path) -> None:
    assert run("learn", "items.jsonl", "-m", "m", "--predictions", "p.csv", "-q").code == 0
    assert run("convert", "items.jsonl", "c.jsonl").code == 0
    assert modes("m", "p.csv", "c.jsonl") == {0o644}


def test_a_file_that_exists_keeps_its_mode_and_its_link(run: Run, maildir: Path) -> None:
    Path("real.jsonl").touch(0o640)
    Path("out.jsonl").symlink_to("real.jsonl")
    Path("m").touch(0o644)
    assert run("convert", "Mail", "out.jsonl").code == 0
    assert run("learn", "Mail", "-m", "m", "--force", "-q").code == 0
    assert Path("out.jsonl").is_symlink()
    assert Path("real.jsonl").stat().st_size > 0
    assert (modes("real.jsonl"), modes("m")) == ({0o640}, {0o644})


def test_a_maildir_of_links_has_nothing_to_learn(run: Run, tmp_path: Path) -> None:
    for part in ("cur", "new"):
        Path("Mail", part).mkdir(parents=True)
    Path("Mail/cur/1.link").symlink_to("nowhere")
    done = run("learn", "Mail")
    assert (done.code, done.err) == (
        1,
        "tagalong: Mail: nothing to learn: there are no items; symbolic links are not followed: "
        "Mail/cur/1.link\n",
    )


def test_links_in_a_maildir_are_reported(run: Run, maildir: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("Subject: secret\n\nsecret\n")
    (maildir / ".Bank" / "cur" / "1.link").symlink_to(secret)
    done = run("learn", "Mail", "-m", "m")
    assert done.code == 0
    assert "symbolic links are not followed: Mail/.Bank/cur/1.link\n" in done.err
    assert "skipped" not in done.err
    for argv in (
        ("learn", "Mail", "-m", "m", "--continue", "--json"),
        ("convert", "Mail", "mail.jsonl", "--json"),
        ("compare", "Mail", "--json"),
        ("evaluate", "Mail", "-m", "m", "--json"),
        ("suggest", "Mail", "-m", "m", "--out", "s.jsonl", "--json"),
    ):
        done = run(*argv)
        assert (done.code, done.json["skipped"]) == (0, 0), done.err
        assert done.json["links"] == ["Mail/.Bank/cur/1.link"]
    done = run("file", "Mail")
    assert (done.code, "symbolic links are not followed: Mail/.Bank/cur/1.link" in done.out) == (
        0,
        True,
    )
    assert run("file", "Mail", "--json").json["links"] == ["Mail/.Bank/cur/1.link"]
