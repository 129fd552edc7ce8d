"""What the counts of instructions are compared by."""

import json

from tools.count_instructions import FILE, TOLERANCE, compare, table


def test_counts_within_the_tolerance_pass():
    near = round(1000 * (1 + 0.9 * TOLERANCE))
    assert compare({"work": near}, {"work": 1000}) == []
    assert compare({"work": 1000}, {"work": near}) == []


def test_growth_shrinking_and_strange_names_are_told():
    now = {"slow": 1100, "fast": 900, "new": 5}
    wrong = compare(now, {"slow": 1000, "fast": 1000, "old": 5})
    assert [line.partition(":")[0] for line in wrong] == ["fast", "new", "old", "slow"]
    assert "1,100 instructions an item, 1,000 on file" in wrong[-1]
    assert "| slow | 1,100 | 1,000 | +10.0% |" in table(now, {"slow": 1000})


def test_every_workload_is_on_file():
    filed = json.loads(FILE.read_text(encoding="utf-8"))
    assert filed["compiler"].startswith("GNU ")
    source = (FILE.parents[1] / "cpp" / "workloads" / "workloads.cpp").read_text(encoding="utf-8")
    source = " ".join(source.split())  # clang-format breaks long lines
    assert filed["instructions"]
    for name, count in filed["instructions"].items():
        assert f'{{"{name}", []' in source
        assert count > 0
