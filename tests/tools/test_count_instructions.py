"""Comparison of instruction counts with the recorded ones."""

import json
import re

from tools.count_instructions import FILE, TOLERANCE, compare, table


def test_counts_within_the_tolerance_pass():
    near = round(1000 * (1 + 0.9 * TOLERANCE))
    assert compare({"work": near}, {"work": 1000}) == []
    assert compare({"work": 1000}, {"work": near}) == []


def test_growth_shrinkage_and_unmatched_names_are_reported():
    now = {"slow": 1100, "fast": 900, "new": 5}
    differences = compare(now, {"slow": 1000, "fast": 1000, "old": 5})
    assert [line.partition(":")[0] for line in differences] == ["fast", "new", "old", "slow"]
    assert "1,100 instructions per item, 1,000 recorded" in differences[-1]
    assert "| slow | 1,100 | 1,000 | +10.0% |" in table(now, {"slow": 1000})


def test_every_recorded_workload_exists():
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    assert recorded["compiler"].startswith("GNU ")
    source = (FILE.parents[1] / "cpp" / "workloads" / "workloads.cpp").read_text(encoding="utf-8")
    assert recorded["instructions"]
    for name, count in recorded["instructions"].items():
        assert re.search(rf'{{"{re.escape(name)}",\s*\[\]', source), name
        assert count > 0
