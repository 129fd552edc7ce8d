"""The benchmark of the page: kinds of requests, tables and verdicts."""

import sys

import pytest

from benchmarks import page
from benchmarks.markdown import parse_tables
from benchmarks.page_browser import kind_of
from benchmarks.verdicts import Verdict


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/w/default", "HTML"),
        ("/w/default/parts/items/a.svg.txt", "items fetched ahead"),
        ("/w/default/parts/list", "HTML"),
        ("/static/1a2b/tagalong.css", "style sheet"),
        ("/static/1a2b/tagalong.js", "script"),
        ("/static/1a2b/icon.svg", "icon"),
        ("/api/v1/workspaces/default/events", "API"),
    ],
)
def test_requests_are_told_apart(path, kind):
    assert kind_of(path) == kind


def test_times_are_compared_with_the_empty_page():
    found = {
        page.EMPTY: [[20.0] * 20] * 2,
        page.READING: [[25.0] * 20, [25.0] * 19 + [400.0]],
        page.HURRYING: [[30.0] * 20, [30.0] * 10 + [51.0] * 10],
    }
    head, text, *verdicts = page.latencies(found)
    assert "Enter" in str(head)
    (rows,) = parse_tables(str(text))
    assert [row["p50"] for row in rows] == ["20.0", "25.0", "30.0"]
    assert [row["p50 × empty page"] for row in rows] == ["1.00", "1.25", "1.50"]
    assert (rows[1]["keys"], rows[1]["max"]) == ("40", "400.0")
    assert [row["p95"] for row in rows[::2]] == ["20.0 (20.0 to 20.0)", "51.0 (30.0 to 51.0)"]
    assert [each.reached for each in verdicts if isinstance(each, Verdict)] == [True, False]


@pytest.mark.parametrize("size, is_reached", [(59_000, True), (59_001, False)])
def test_all_bytes_of_the_first_view_count(size, is_reached):
    requests, sizes = {"HTML": 1, "icon": 2}, {"HTML": size, "icon": 999}
    *texts, verdict = page.first_view(requests, sizes, [(100.0, 90.0), (300.0, 190.0)])
    transfer, times = parse_tables("\n\n".join(str(text) for text in texts))
    assert transfer[-1] == {"transfer": "all", "requests": "3", "bytes": f"{size + 999:,}"}
    assert [(row["p50"], row["max"]) for row in times] == [("200", "300"), ("140", "190")]
    assert isinstance(verdict, Verdict)
    assert verdict.reached == is_reached


def test_without_a_browser_the_benchmark_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(page, "what_is_missing", lambda: "Chromium")
    monkeypatch.setattr(sys, "argv", ["page"])
    page.main()
    assert capsys.readouterr().out == "Left out, because Chromium is not installed.\n"
