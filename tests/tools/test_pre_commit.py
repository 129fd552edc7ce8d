"""The pre-commit hooks run the linters of `make lint`, no more and no fewer."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_linter_is_a_hook():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    linters = re.search(r"^LINTERS := (.*)$", makefile, re.MULTILINE)
    assert linters is not None
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    called = re.findall(r"entry: make --no-print-directory (\S+)", hooks)
    assert sorted(called) == sorted(linters[1].split())
    assert "repo: local" in hooks
    assert "https://" not in hooks, "hooks would be cloned"
