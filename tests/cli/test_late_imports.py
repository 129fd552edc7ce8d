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


def test_learn_loads_none_of_the_deferred_modules(stream: Path) -> None:
    names = tuple(f"{name.partition(':')[0]}." for name in UNUSED_BY_COMMANDS)
    code = f"print([name for name in sys.modules if f'{{name}}.'.startswith({names!r})])"
    assert after_learning(stream, code) == "[]"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("import numpy; print(numpy.ma.array([1, 2], mask=[0, 1]).sum())", "1"),
        ("import numpy; print(numpy.testing.assert_equal.__name__)", "assert_equal"),
        (
            "import scipy.sparse as sp; print(sp.linalg.norm(sp.csr_array([[3.0, 4.0]])))",
            "5.0",
        ),
        ("import scipy.linalg; print(scipy.linalg.norm([3, 4]))", "5.0"),
        ("import narwhals.stable.v2 as nw; print(nw.Int64.__name__)", "Int64"),
        ("from sklearn.utils import validation; print(validation.joblib.hash.__name__)", "hash"),
        ("from sklearn.utils.parallel import Parallel; print(Parallel.__name__)", "Parallel"),
        (
            "from sklearn.utils import fixes; import numpy; "
            "print(fixes.laplacian(numpy.array([[0, 1], [1, 0]]))[0])",
            "[ 1 -1]",
        ),
        (
            "from sklearn.utils.fixes import _sparse_linalg_cg as cg; "
            "import numpy; print(cg(numpy.eye(2), numpy.ones(2))[0])",
            "[1. 1.]",
        ),
        (
            "from sklearn.linear_model import LogisticRegression as M; "
            "print(M().fit([[0], [1]], [0, 1]).predict([[2]]))",
            "[1]",
        ),
    ],
)
def test_deferred_modules_work_after_a_command(stream: Path, code: str, shown: str) -> None:
    assert after_learning(stream, code) == shown


def test_function_is_a_stand_in_until_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "slowly_made.py").write_text("def double(x):\n    return 2 * x\n")
    with late_imports("slowly_made:double"):
        from slowly_made import double

        assert type(sys.modules["slowly_made"]) is not ModuleType
        assert double(21) == 42
        assert type(sys.modules["slowly_made"]) is ModuleType


def test_placeholder_is_an_attribute_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("packed", "packed.inner", "packed.inner.core"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    inner = tmp_path / "packed" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "packed" / "__init__.py").write_text("")
    (inner / "__init__.py").write_text("answer = 41\n")
    (inner / "core.py").write_text("answer = 42\n")
    with late_imports("packed.inner", "packed.inner.core"):
        import packed  # type: ignore[import-not-found]
        import packed.inner.core as core  # type: ignore[import-not-found]

        assert packed.__spec__.loader is packed.__loader__
        assert type(packed.__loader__).__name__ == "SourceFileLoader"
        assert type(packed.inner) is not ModuleType
        assert "packed.inner" in sys.modules
    assert not any(name.startswith("packed.") for name in sys.modules)
    assert (core.answer, packed.inner.answer) == (42, 41)
    assert type(packed.inner) is ModuleType


def test_command_leaves_no_placeholder(stream: Path) -> None:
    code = (
        f"print([name for name in {[name.partition(':')[0] for name in UNUSED_BY_COMMANDS]!r} "
        "if type(sys.modules.get(name)) not in (ModuleType, type(None))])"
    )
    assert after_learning(stream, code) == "[]"


def test_deferred_module_works_in_scikit_learn(stream: Path) -> None:
    code = (
        "from sklearn.impute import SimpleImputer; "
        "print(SimpleImputer(strategy='most_frequent').fit([[1], [2], [2]]).statistics_)"
    )
    assert after_learning(stream, code) == "[2.]"
