"""Test of the demo of the README: it runs and writes its files."""

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parent.parent / "examples" / "demo.py"


def test_demo(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, DEMO], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("tagger.explain(") == 3
    assert "average precision" in run.stdout
    assert (tmp_path / "build/demo/pydocs.tagalong").stat().st_size > 1_000_000
    assert (tmp_path / "build/demo/pydocs.png").read_bytes().startswith(b"\x89PNG")
