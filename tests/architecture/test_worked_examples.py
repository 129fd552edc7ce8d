"""CONTRIBUTING's worked examples list all files that name a rule, a reader or a learner.

If a name occurs in one more file of ``src/`` or ``cpp/``, the next rule, reader or learner needs a
change in one more file. Comments, docstrings and tests do not count.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tagalong import LabelRanker
from tagalong.cli import arguments
from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES, PREDTRON_UPDATES
from tagalong.online.blocks import BlockProjection
from tagalong.online.blocks.projection import BLOCK_UPDATES
from tagalong.online.label_ranker.learner import UPDATES
from tagalong.readers.registry import FORMATS

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LABEL_RANKER_PAGE = (ROOT / "docs" / "label-ranker.md").read_text(encoding="utf-8")

# For each section of CONTRIBUTING, the name of its example in the code.
EXAMPLES = {
    "Add an update rule": "conproj",
    "Add a reader": "tsv",
    "Add a learner": "SharedLabelRanker",
}
CPP_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def python_code(text: str) -> str:
    """Return a module without its comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                first.value.value = ""
    return ast.unparse(tree)


def cpp_code(text: str) -> str:
    """Return a C++ file without its comments."""
    return CPP_COMMENT_OR_STRING.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)


def code_files() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield str(path.relative_to(ROOT)), python_code(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "cpp").rglob("*")):
        name = path.relative_to(ROOT)
        if path.suffix in (".hpp", ".cpp", ".inc") and name.parts[1] not in ("tests", "workloads"):
            yield str(name), cpp_code(path.read_text(encoding="utf-8"))


@cache
def code() -> dict[str, str]:
    return dict(code_files())


def files_with(name: str) -> set[str]:
    """Return the files whose code contains a name, alone or as a part such as ``kConProj``."""
    return {path for path, text in code().items() if name.lower() in text.lower()}


def listed(title: str, kind: str) -> list[str]:
    """Return the files of one kind in the table of a section of CONTRIBUTING."""
    section = CONTRIBUTING.split(f"\n### {title}\n")[1].split("\n#")[0]
    return re.findall(rf"^\| `([^`]+)` \| {kind} \|", section, flags=re.MULTILINE)


@pytest.mark.parametrize("title", EXAMPLES)
def test_listed_code_files_are_those_with_the_name(title: str) -> None:
    assert set(listed(title, "code")) == files_with(EXAMPLES[title])


@pytest.mark.parametrize("kind", ["test", "documentation"])
@pytest.mark.parametrize("title", EXAMPLES)
def test_listed_tests_and_documentation_have_the_name(title: str, kind: str) -> None:
    files = listed(title, kind)
    assert files
    for name in files:
        assert EXAMPLES[title].lower() in (ROOT / name).read_text(encoding="utf-8").lower(), name


@pytest.mark.parametrize("rule", ["simperc", "conproj", "simproj", "simopt"])
def test_other_rules_occur_in_the_same_files_as_the_example(rule: str) -> None:
    defaults = {"src/tagalong/online/blocks/projection.py", "src/tagalong/online/blocks/ordinal.py"}
    defaults |= {"src/tagalong/online/shared_ranker/learner.py", "cpp/blocks/block_learner.hpp"}
    defaults.add("src/tagalong/online/grades/learner.py")
    files = files_with(rule) - (defaults if rule == "simproj" else set())
    assert files == set(listed("Add an update rule", "code"))


def test_a_name_in_a_comment_or_a_docstring_is_not_code() -> None:
    assert "conproj" not in python_code('"""conproj"""\ndef f():\n    "conproj"  # conproj\n')
    assert "conproj" in python_code('"""No."""\nupdate = "conproj"\n')
    assert "conproj" not in cpp_code("// conproj\n/* conproj\n */ int x;")
    assert "conproj" in cpp_code('f("//conproj");')


def test_the_updates_of_learners_and_options_are_those_of_the_rule_tables() -> None:
    assert UPDATES == arguments.UPDATES == tuple(LABEL_RULES)
    assert tuple(BLOCK_RULES) == BLOCK_UPDATES
    assert set(arguments.ALL_UPDATES) == {*LABEL_RULES, *BLOCK_RULES, *PREDTRON_UPDATES}
    assert len(set(arguments.ALL_UPDATES)) == len(arguments.ALL_UPDATES)
    for name in arguments.ALL_UPDATES:
        assert f"{name} " in arguments.UPDATES_IN_WORDS


def test_the_page_has_a_row_for_every_rule_with_its_bound() -> None:
    section = LABEL_RANKER_PAGE.split("\n## Updates, by paper\n")[1].split("\n## ")[0]
    rows = re.findall(r'^\| `"(\w+)"` \|.*\| (.*) \|$', section, flags=re.MULTILINE)
    assert [name for name, _ in rows] == list(LABEL_RULES)
    words = {"step given": "while C < γ/B", "step chosen": "always", "none": "none"}
    for name, bound in rows:
        assert bound.startswith(words[LABEL_RULES[name].bound]), name


@pytest.mark.parametrize(
    ("learner", "rules"), [(LabelRanker, LABEL_RULES), (BlockProjection, BLOCK_RULES)]
)
def test_the_docstring_names_every_rule(learner: type, rules: dict[str, object]) -> None:
    text = (learner.__doc__ or "").split("update : str")[1].split("geometry : str")[0]
    assert set(re.findall(r'``"(\w+)"``', text)) == set(rules)


def test_every_format_is_in_the_list_of_formats() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert all(f"`{name}" in page for name in FORMATS)
