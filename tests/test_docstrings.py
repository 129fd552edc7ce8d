"""The public names are all documented, and every docstring agrees with its signature."""

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
from tests.numpydoc import described, sections

CONTRACT = [
    "BlockProjection",
    "Certificate",
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
]


def is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).startswith("tagalong")


def public_methods(cls: type) -> Iterator[tuple[str, Any]]:
    """The methods and properties of a class that this project wrote, bases included."""
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
    """Every class, function and method of every module that has no underscore."""
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
    """Make one test of a check of a name: it goes through all names and lists every fault.

    Thousands of tests of their own would take most of their time to be collected and reported.
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
def test_it_has_a_docstring_that_begins_with_a_sentence(name: str) -> None:
    docstring = inspect.getdoc({**INTERNAL, **PUBLIC}[name]) or ""
    assert docstring, "no docstring"
    first = docstring.split("\n\n")[0]
    assert first[0].isupper() or not first[0].isalpha()
    assert first.rstrip().endswith((".", ":"))


@each({name: thing for name, thing in PUBLIC.items() if has_own_signature(thing)})
def test_its_parameters_are_those_of_its_signature(name: str) -> None:
    found = described(sections(inspect.getdoc(PUBLIC[name]) or "").get("Parameters", []))
    assert [parameter.name for parameter in found] == list(signature_of(PUBLIC[name]))


@each({name: thing for name, thing in INTERNAL.items() if has_own_signature(thing)})
def test_described_parameters_are_those_of_the_signature(name: str) -> None:
    """What is internal need not describe its parameters; where it does, it describes them all."""
    found = described(sections(inspect.getdoc(INTERNAL[name]) or "").get("Parameters", []))
    if found:
        assert [parameter.name for parameter in found] == list(signature_of(INTERNAL[name]))


@each(PUBLIC)
def test_every_parameter_has_a_sentence(name: str) -> None:
    for parameter in described(sections(inspect.getdoc(PUBLIC[name]) or "").get("Parameters", [])):
        assert parameter.kind, f"{parameter.name} has no type"
        assert parameter.text, f"{parameter.name} has no sentence"
        assert parameter.text[0].isupper() or not parameter.text[0].isalpha(), parameter
        assert parameter.text.endswith("."), parameter


@each({name: thing for name, thing in PUBLIC.items() if has_own_signature(thing)})
def test_the_defaults_are_those_of_the_signature(name: str) -> None:
    signature = signature_of(PUBLIC[name])
    for parameter in described(sections(inspect.getdoc(PUBLIC[name]) or "").get("Parameters", [])):
        default = signature[parameter.name].default
        _, given, text = parameter.kind.partition("default ")
        if given:
            assert ast.literal_eval(text) == default, parameter
        elif parameter.kind.endswith("optional"):
            assert default is None, parameter


@each({name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)})
def test_attributes_exist_and_have_a_sentence(name: str) -> None:
    for attribute in described(sections(inspect.getdoc(PUBLIC[name]) or "").get("Attributes", [])):
        assert attribute.kind, attribute
        assert attribute.text.endswith("."), attribute


def test_the_fitted_attributes_are_described() -> None:
    listed = described(sections(inspect.getdoc(tagalong.LabelRanker) or "")["Attributes"])
    names = {attribute.name for attribute in listed}
    properties = {
        name
        for name in dir(tagalong.LabelRanker)
        if name.endswith("_") and not name.startswith("_")
    }
    assert properties <= names
    assert names - properties == {"n_features_in_", "feature_names_in_"}


def test_the_sections_are_those_of_numpydoc() -> None:
    known = {"", "Parameters", "Attributes", "Returns", "Raises", "Notes", "References", "Examples"}
    for name, thing in PUBLIC.items():
        assert sections(inspect.getdoc(thing) or "").keys() <= known, name


def test_the_public_names_are_the_contract() -> None:
    assert sorted(tagalong.__all__) == sorted(CONTRACT)
    assert set(tagalong.__all__) <= set(dir(tagalong))
    assert "__version__" in dir(tagalong)
    for name in tagalong.__all__:
        assert getattr(tagalong, name).__name__ == name


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'tagalong' has no attribute 'Oracle'"):
        tagalong.Oracle  # noqa: B018


def test_importing_the_package_is_quick() -> None:
    program = (
        "import sys, tagalong\n"
        "dir(tagalong)\n"
        "heavy = {'sklearn', 'scipy', 'numpy', 'pandas', 'safetensors'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    run = [sys.executable, "-c", program]
    assert subprocess.check_output(run, text=True).strip() == "[]"


def test_the_reader_of_docstrings_reads() -> None:
    found = sections("One line.\n\n    Parameters\n    ----------\n    a, b : int\n        Two.\n")
    assert found[""] == ["One line.", ""]
    both = described(found["Parameters"])
    assert [(p.name, p.kind, p.text) for p in both] == [("a", "int", "Two."), ("b", "int", "Two.")]


def test_every_fault_is_listed() -> None:
    def check(name: str) -> None:
        assert name != "bad", "oh"
        assert name != "worse", "no"

    each({"good": 1})(check)()
    with pytest.raises(AssertionError, match=r"(?s)^bad: oh.*\n *worse: no") as found:
        each(dict.fromkeys(["bad", "good", "worse"]))(check)()
    assert "good:" not in str(found.value)
    with pytest.raises(AssertionError):
        each({})(check)()
