"""Tests of docstrings: every name has one, and it agrees with the signature."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tagalong
from tests.numpydoc import descriptions, sections

PUBLIC_NAMES = [
    "BlockProjection",
    "Certificate",
    "GradeRanker",
    "Item",
    "LabelRanker",
    "M3LClassifier",
    "ModelFileError",
    "NoBoundWarning",
    "OrdinalRanker",
    "PartialFeedbackRanker",
    "Predtron",
    "SharedLabelRanker",
    "Tagger",
    "ZeroShot",
    "attribute_prior",
    "load",
    "mix",
    "model_hash",
]


def is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).startswith("tagalong")


def public_methods(cls: type) -> Iterator[tuple[str, Any]]:
    """The methods and properties of a class and its bases that this project defines."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        found = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(found) and is_ours(found):
            yield f"{cls.__name__}.{name}", found


def public() -> dict[str, Any]:
    """Every public class, function, method and property, by name."""
    found: dict[str, Any] = {}
    for name in tagalong.__all__:
        found[name] = getattr(tagalong, name)
        if inspect.isclass(found[name]):
            found |= dict(public_methods(found[name]))
    return found


def internal() -> dict[str, Any]:
    """Every class, function and method without underscore, of every module without underscore."""
    found: dict[str, Any] = {}
    for module in pkgutil.walk_packages(tagalong.__path__, "tagalong."):
        if "._" in module.name:
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.name:
                continue
            if inspect.isclass(thing):
                found[f"{module.name}.{name}"] = thing
                found |= {f"{module.name}.{method}": f for method, f in public_methods(thing)}
            elif inspect.isfunction(thing):
                found[f"{module.name}.{name}"] = thing
    return found


PUBLIC, INTERNAL = public(), internal()


def has_own_signature(thing: Any) -> bool:
    return not (inspect.isclass(thing) and issubclass(thing, Exception))


def signature_of(thing: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(thing).parameters
    return {name: p for name, p in parameters.items() if name not in ("self", "cls")}


def each(things: dict[str, Any]) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """Make one test that runs a check for all names and lists all faults.

    Thousands of parametrized tests would take most of their time for collection and reporting.
    """

    def test_of(check: Callable[[str], None]) -> Callable[[], None]:
        def test() -> None:
            assert things
            faults = []
            for name in things:
                try:
                    check(name)
                except Exception as error:
                    faults.append(f"{name}: {error}")
            assert not faults, "\n".join(faults)

        return test

    return test_of


@each({**INTERNAL, **PUBLIC})
def test_docstring_starts_with_a_sentence(name: str) -> None:
    docstring = inspect.getdoc({**INTERNAL, **PUBLIC}[name]) or ""
    assert docstring, "no docstring"
    first = docstring.split("\n\n")[0]
    assert first[0].isupper() or not first[0].isalpha()
    assert first.rstrip().endswith((".", ":"))


@each({name: thing for name, thing in PUBLIC.items() if has_own_signature(thing)})
def test_parameters_of_public_names_agree_with_the_signature(name: str) -> None:
    found = descriptions(sections(inspect.getdoc(PUBLIC[name]) or "").get("Parameters", []))
    assert [parameter.name for parameter in found] == list(signature_of(PUBLIC[name]))


@each({name: thing for name, thing in INTERNAL.items() if has_own_signature(thing)})
def test_parameters_of_internal_names_agree_with_the_signature(name: str) -> None:
    """An internal docstring has no section Parameters, or one with all parameters."""
    found = descriptions(sections(inspect.getdoc(INTERNAL[name]) or "").get("Parameters", []))
    if found:
        assert [parameter.name for parameter in found] == list(signature_of(INTERNAL[name]))


@each(PUBLIC)
def test_every_parameter_has_a_description(name: str) -> None:
    for parameter in descriptions(
        sections(inspect.getdoc(PUBLIC[name]) or "").get("Parameters", [])
    ):
        assert parameter.kind, f"{parameter.name} has no type"
        assert parameter.text, f"{parameter.name} has no description"
        assert parameter.text[0].isupper() or not parameter.text[0].isalpha(), parameter
        assert parameter.text.endswith("."), parameter


@each({name: thing for name, thing in PUBLIC.items() if has_own_signature(thing)})
def test_defaults_agree_with_the_signature(name: str) -> None:
    signature = signature_of(PUBLIC[name])
    for parameter in descriptions(
        sections(inspect.getdoc(PUBLIC[name]) or "").get("Parameters", [])
    ):
        default = signature[parameter.name].default
        _, given, text = parameter.kind.partition("default ")
        if given:
            assert ast.literal_eval(text) == default, parameter
        elif parameter.kind.endswith("optional"):
            assert default is None, parameter


@each({name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)})
def test_every_attribute_has_a_description(name: str) -> None:
    for attribute in descriptions(
        sections(inspect.getdoc(PUBLIC[name]) or "").get("Attributes", [])
    ):
        assert attribute.kind, attribute
        assert attribute.text.endswith("."), attribute


def test_fitted_attributes_are_described() -> None:
    listed = descriptions(sections(inspect.getdoc(tagalong.LabelRanker) or "")["Attributes"])
    names = {attribute.name for attribute in listed}
    properties = {
        name
        for name in dir(tagalong.LabelRanker)
        if name.endswith("_") and not name.startswith("_")
    }
    assert properties <= names
    assert names - properties == {"n_features_in_", "feature_names_in_"}


def test_sections_are_those_of_numpydoc() -> None:
    known = {"", "Parameters", "Attributes", "Returns", "Raises", "Notes", "References", "Examples"}
    for name, thing in PUBLIC.items():
        assert sections(inspect.getdoc(thing) or "").keys() <= known, name


def test_public_names() -> None:
    assert sorted(tagalong.__all__) == sorted(PUBLIC_NAMES)
    assert set(tagalong.__all__) <= set(dir(tagalong))
    assert "__version__" in dir(tagalong)
    for name in tagalong.__all__:
        assert getattr(tagalong, name).__name__ == name


def test_missing_name_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'tagalong' has no attribute 'Oracle'"):
        tagalong.Oracle  # noqa: B018


def test_import_loads_no_large_packages() -> None:
    program = (
        "import sys, tagalong\n"
        "dir(tagalong)\n"
        "heavy = {'sklearn', 'scipy', 'numpy', 'pandas', 'safetensors'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    run = [sys.executable, "-c", program]
    assert subprocess.check_output(run, text=True).strip() == "[]"


def test_docstring_parser() -> None:
    found = sections("One line.\n\n    Parameters\n    ----------\n    a, b : int\n        Two.\n")
    assert found[""] == ["One line.", ""]
    both = descriptions(found["Parameters"])
    assert [(p.name, p.kind, p.text) for p in both] == [("a", "int", "Two."), ("b", "int", "Two.")]


def test_all_faults_are_listed() -> None:
    def check(name: str) -> None:
        assert name != "bad", "oh"
        assert name != "worse", "no"

    each({"good": 1})(check)()
    with pytest.raises(AssertionError, match=r"(?s)^bad: oh.*\n *worse: no") as found:
        each(dict.fromkeys(["bad", "good", "worse"]))(check)()
    assert "good:" not in str(found.value)
    with pytest.raises(AssertionError):
        each({})(check)()
