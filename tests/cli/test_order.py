"""Order of the items on the command line: by date for mail, shuffled, resumed."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tagalong
from tagalong.cli.learn import loop
from tagalong.cli.parser import make_parser
from tests.cli.conftest import Run, interrupt_at, items
from tests.cli.test_resume import contents

FROM = "From ann@example.org\n"


def write_mbox(name: str, days: list[int]) -> None:
    """Write a mailbox; the id of a message is its day."""
    text = "".join(
        f"{FROM}Message-ID: <{day}>\nDate: {day} Jan 2024 10:00:00 +0000\n\nday {day}\n\n"
        for day in days
    )
    Path(name).write_text(text)


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the items in the order in which they are learnt."""
    ids: list[str] = []
    together, watch = tagalong.Tagger.watch_together, tagalong.Tagger.watch

    def watching_together(self: tagalong.Tagger, given: Any, *args: Any, **more: Any) -> Any:
        ids.extend(item.id for item in given)
        return together(self, given, *args, **more)

    def watching(self: tagalong.Tagger, item: Any, *args: Any, **more: Any) -> Any:
        ids.append(item.id)
        return watch(self, item, *args, **more)

    monkeypatch.setattr(tagalong.Tagger, "watch_together", watching_together)
    monkeypatch.setattr(tagalong.Tagger, "watch", watching)
    return ids


def test_mail_is_learnt_by_date_across_files(run: Run, learnt: list[str]) -> None:
    write_mbox("Work.mbox", [5, 1, 9])
    write_mbox("Home.mbox", [2, 8, 3])
    for flags, wanted in (
        ((), "1 2 3 5 8 9"),
        (("--order", "date"), "1 2 3 5 8 9"),
        (("--order", "file"), "5 1 9 2 8 3"),
        (("--limit", "2"), "1 2"),
        (("--passes", "2"), "1 2 3 5 8 9 1 2 3 5 8 9"),
    ):
        learnt.clear()
        assert run("learn", "Work.mbox", "Home.mbox", *flags).code == 0
        assert " ".join(learnt) == wanted


def test_a_table_is_learnt_by_date_if_the_column_is_named(run: Run, learnt: list[str]) -> None:
    Path("t.csv").write_text("id,text,label,at\n0,x,a,2024-01-03\n1,y,b,2024-01-01\n2,z,a,\n")
    for flags, wanted in (((), "012"), (("--date", "at"), "120")):
        learnt.clear()
        assert run("learn", "t.csv", *flags).code == 0
        assert "".join(learnt) == wanted
    done = run("learn", "t.csv", "--order", "date")
    assert done.code == 2
    assert "none of them has a date; name the column or key of the date with the option --date" in (
        done.err
    )
    Path("t.csv").write_text("id,text,label,at\n0,x,a,soon\n")
    done = run("learn", "t.csv", "--date", "at")
    assert done.code == 1
    assert "t.csv:2: column 'at' must hold a date" in done.err


def test_shuffle_has_a_seed(run: Run, stream: Path, learnt: list[str]) -> None:
    orders = []
    for flags in (("--shuffle",), ("--shuffle", "0"), ("--shuffle", "1"), ()):
        learnt.clear()
        assert run("learn", "items.jsonl", *flags).code == 0
        orders.append(list(learnt))
    assert orders[0] == orders[1] != orders[2]
    assert orders[3] == [item["id"] for item in items() if "labels" in item]
    assert all(sorted(order) == sorted(orders[3]) for order in orders)


def test_shuffle_before_a_source_takes_no_seed(run: Run, stream: Path) -> None:
    assert run("learn", "--shuffle", "items.jsonl", "-m", "m.tagalong").code == 0
    saved = tagalong.load("m.tagalong").notes["learn"]["reading"]
    assert (saved["order"], saved["seed"]) == ("shuffle", 0)
    assert run("learn", "--shuffle", "7", "items.jsonl", "-m", "m.tagalong", "--force").code == 0
    assert tagalong.load("m.tagalong").notes["learn"]["reading"]["seed"] == 7
    done = run("learn", "items.jsonl", "--shuffle=x")
    assert done.code == 2
    assert "--shuffle" in done.err
    parsed = make_parser("learn").parse_args(["learn", "a", "--shuffle", "-m", "x"])
    assert (parsed.shuffle, parsed.model) == (0, "x")


def test_limit_is_a_sample_of_shuffled_items(run: Run, stream: Path, learnt: list[str]) -> None:
    assert run("learn", "items.jsonl", "--shuffle", "--limit", "10").code == 0
    assert learnt != [item["id"] for item in items()][:10]
    assert len(learnt) <= 10


@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
@given(stops=st.lists(st.integers(1, 40), min_size=1, max_size=3), seed=st.integers(0, 99))
def test_a_resumed_run_has_the_same_bits(
    run: Run, stream: Path, stops: list[int], seed: int
) -> None:
    for name in ("straight.tagalong", "m.tagalong"):  # left by an earlier example
        Path(name).unlink(missing_ok=True)
    flags = ("items.jsonl", "--shuffle", str(seed), "--passes", "2")
    assert run("learn", *flags, "-m", "straight.tagalong").code == 0
    argv: tuple[str, ...] = flags
    for count in stops:
        with pytest.MonkeyPatch.context() as monkeypatch:
            interrupt_at(monkeypatch, count)
            if run("learn", "-m", "m.tagalong", *argv).code == 0:
                break
        argv = ("--resume",)
    else:
        assert run("learn", "-m", "m.tagalong", "--resume").code == 0
    assert contents("m.tagalong") == contents("straight.tagalong")


def test_a_resumed_run_by_date(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mbox("Work.mbox", [5, 1, 9, 20])
    write_mbox("Home.mbox", [2, 8, 3, 11])
    assert run("learn", "Work.mbox", "Home.mbox", "-m", "straight.tagalong").code == 0
    with pytest.MonkeyPatch.context() as patch:
        interrupt_at(patch, 3)
        assert run("learn", "Work.mbox", "Home.mbox", "-m", "m.tagalong").code == 130
    write_mbox("Home.mbox", [2, 8, 3, 11])
    assert run("learn", "-m", "m.tagalong", "--resume").code == 0
    assert contents("m.tagalong") == contents("straight.tagalong")


def test_resume_refuses_another_order(run: Run, stream: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        interrupt_at(patch, 3)
        assert run("learn", "items.jsonl", "--shuffle", "3", "-m", "m.tagalong").code == 130
    for flags, described in (
        (("--shuffle", "4"), "reads with --shuffle 3, not with --shuffle 4"),
        (("--order", "file"), "reads with --shuffle 3, not with --order file"),
    ):
        done = run("learn", "-m", "m.tagalong", "--resume", *flags)
        assert done.code == 2
        assert described in done.err
    assert run("learn", "-m", "m.tagalong", "--resume", "--shuffle", "3").code == 0


def test_pipes_have_no_order(run: Run, learnt: list[str]) -> None:
    os.mkfifo("pipe.mbox")
    for flags in (("--shuffle",), ("--order", "date")):
        done = run("learn", "pipe.mbox", *flags)
        assert done.code == 2
        assert f"{' '.join(flags)}: pipe.mbox is a pipe, whose items are used as they" in done.err


def test_compare_and_convert_have_orders(run: Run, stream: Path) -> None:
    write_mbox("Work.mbox", [5, 1, 9])
    assert run("convert", "Work.mbox", "a.jsonl").code == 0
    assert run("convert", "Work.mbox", "b.jsonl", "--order", "date").code == 0
    ids = [
        [json.loads(line)["id"] for line in Path(name).read_text().splitlines()]
        for name in ("a.jsonl", "b.jsonl")
    ]
    assert ids == [["5", "1", "9"], ["1", "5", "9"]]
    done = run("convert", "Work.mbox", "c.ft")
    assert "dates are omitted" in done.err
    assert run("compare", "items.jsonl", "--updates", "single", "--shuffle", "1").code == 0


# The warning about runs of labels.


@pytest.mark.parametrize(
    "argv, advice",
    [
        (
            ("items.jsonl", "--model", "my model"),
            "Learn them in another order: tagalong learn items.jsonl --model 'my model' --shuffle "
            "--force\n",
        ),
        (("items.jsonl",), "tagalong learn items.jsonl --shuffle\n"),
        (
            ("--order", "file", "Work.mbox"),
            "Learn them in another order: tagalong learn Work.mbox --order date\n",
        ),
        (("Work.mbox",), "tagalong learn Work.mbox --shuffle\n"),
    ],
)
def test_the_warning_shows_the_command(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], advice: str
) -> None:
    write_mbox("Work.mbox", [5, 1, 9])
    monkeypatch.setattr(loop, "_labels_come_in_runs", lambda tagger: True)
    done = run("learn", *argv)
    assert done.code == 0
    assert done.err.count("labels come in runs") == 1
    assert advice in done.err
    assert "runs" not in run("learn", "items.jsonl", "-q").err


def test_reading_is_shown_while_items_are_sorted(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--shuffle", "--every", "0.000001")
    assert "read, to be sorted: 60 items" in done.err
    assert "to be sorted" not in run("learn", "items.jsonl", "--every", "0.000001").err


def test_no_warning_without_runs(run: Run, stream: Path) -> None:
    assert "runs" not in run("learn", "items.jsonl").err


def test_optional_values_leave_other_options_alone() -> None:
    parser = make_parser("learn")
    parsed: argparse.Namespace = parser.parse_args(["learn", "--shuffle", "--quiet", "a", "b"])
    assert (parsed.shuffle, parsed.sources) == (0, ["a", "b"])
    assert parser.parse_args(["learn", "a"]).shuffle is None
