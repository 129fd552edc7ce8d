"""Tests of deferred imports: they affect only imports within the block."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tagalong.cli.late_imports import UNUSED_BY_COMMANDS, late_imports


@pytest.fixture(autouse=True)
def slow_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "slowly_made.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("slowly_made", "not_made_at_all"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    sys.modules.pop("slowly_made", None)


def test_module_is_loaded_at_first_use() -> None:
    with late_imports("slowly_made", "not_made_at_all"):
        assert "not_made_at_all" not in sys.modules
        import slowly_made  # type: ignore[import-not-found]

        assert type(slowly_made) is not ModuleType
        assert slowly_made.answer == 42
        assert type(sys.modules["slowly_made"]) is ModuleType
        with late_imports("slowly_made"):
            assert type(sys.modules["slowly_made"]) is ModuleType
    assert type(sys.modules["slowly_made"]) is ModuleType
    with pytest.raises(AttributeError):
        slowly_made.question  # noqa: B018


def test_later_imports_get_the_module_itself() -> None:
    with late_imports("slowly_made"):
        import slowly_made as late
    assert "slowly_made" not in sys.modules
    import slowly_made

    assert type(slowly_made) is ModuleType
    assert late.answer == 42
    assert sys.modules["slowly_made"] is slowly_made


def test_placeholder_is_removed_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), late_imports("slowly_made"):
        raise ZeroDivisionError
    assert "slowly_made" not in sys.modules


def after_learning(stream: Path, code: str) -> str:
    """Return the last line that code prints in a process that has run ``tagalong learn``."""
    program = (
        "import sys; from types import ModuleType; from tagalong.cli.main import main; "
        f"main(['learn', {str(stream)!r}, '-q']); {code}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_learn_does_not_load_scipy_stats_or_pandas(stream: Path) -> None:
    code = "print([name for name in sys.modules if name.startswith(('scipy.stats.', 'pandas.'))])"
    assert after_learning(stream, code) == "[]"


def test_command_leaves_no_placeholder(stream: Path) -> None:
    code = (
        f"print([name for name in {UNUSED_BY_COMMANDS!r} "
        "if type(sys.modules.get(name)) not in (ModuleType, type(None))])"
    )
    assert after_learning(stream, code) == "[]"


def test_deferred_module_works_in_scikit_learn(stream: Path) -> None:
    code = (
        "from sklearn.impute import SimpleImputer; "
        "print(SimpleImputer(strategy='most_frequent').fit([[1], [2], [2]]).statistics_)"
    )
    assert after_learning(stream, code) == "[2.]"
