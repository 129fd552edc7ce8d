"""Types of JSON values: each checks values and describes itself for the OpenAPI document.

One definition does both, so that the document cannot promise anything else than what is accepted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

from tagalong.server.api.simple_schemas import (
    MAX_SHOWN,
    Choice,
    File,
    Flag,
    Moment,
    Nothing,
    Number,
    Text,
    Whole,
    described,
    refusal,
)
from tagalong.server.problems import Problem

__all__ = [
    "AnyOf",
    "Choice",
    "File",
    "Flag",
    "ListOf",
    "MapOf",
    "Moment",
    "Nothing",
    "Number",
    "Record",
    "Text",
    "Type",
    "Whole",
    "nullable",
]


class Type(Protocol):
    """A type of JSON values."""

    def check(self, value: Any, place: str) -> Any:
        """Return a value of this type; a Problem that names the place if it is none."""

    def parse(self, text: str, place: str) -> Any:
        """Return the value of a parameter in a URL."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema; records are references to components."""

    def records(self) -> Iterator["Record"]:
        """Return the records in this type, to be listed as components."""


@dataclass(frozen=True)
class AnyOf:
    """A value of one of several types.

    Parameters
    ----------
    types : tuple of Type
        The types.
    wanted : str
        The types in words, for messages.
    """

    types: tuple[Type, ...]
    wanted: str

    def check(self, value: Any, place: str) -> Any:
        """Return a value of the first type that fits."""
        for each in self.types:
            try:
                return each.check(value, place)
            except Problem as problem:
                if problem.facts.get("place") != place:  # the right type, with a wrong part
                    raise
        raise refusal(place, self.wanted, value)

    def parse(self, text: str, place: str) -> Any:
        """Return the value of a parameter in a URL."""
        return self.check(text, place)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"anyOf": [each.schema() for each in self.types]}

    def records(self) -> Iterator["Record"]:
        """Return the records in the types."""
        for each in self.types:
            yield from each.records()


def nullable(type: Type, wanted: str) -> AnyOf:
    """Return the type of values that may be null.

    Parameters
    ----------
    type : Type
        The type of other values.
    wanted : str
        Both in words, for messages.
    """
    return AnyOf((type, Nothing()), wanted)


@dataclass(frozen=True)
class ListOf:
    """A list.

    Parameters
    ----------
    item : Type
        The type of its values.
    most : int
        Maximum number of values.
    """

    item: Type
    most: int = 10_000

    def check(self, value: Any, place: str) -> list[Any]:
        """Return a list whose values have the right type."""
        if not isinstance(value, list):
            raise refusal(place, "a list", value)
        if len(value) > self.most:
            raise refusal(place, f"a list of at most {self.most} values", value)
        return [self.item.check(each, f"{place}/{i}") for i, each in enumerate(value)]

    def parse(self, text: str, place: str) -> Any:
        """Refuse: no parameter in a URL is a list."""
        raise refusal(place, "a list", text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"type": "array", "items": self.item.schema(), "maxItems": self.most}

    def records(self) -> Iterator["Record"]:
        """Return the records in the list."""
        return self.item.records()


@dataclass(frozen=True)
class MapOf:
    """An object with names of the user's own.

    Parameters
    ----------
    value : Type
        The type of its values.
    meaning : str
        Its meaning, for the document.
    """

    value: Type
    meaning: str = ""

    def check(self, value: Any, place: str) -> dict[str, Any]:
        """Return a mapping whose values have the right type."""
        if not isinstance(value, dict):
            raise refusal(place, "an object", value)
        name = Text()
        return {
            name.check(key, f"a name in {place}"): self.value.check(each, f"{place}/{key}")
            for key, each in value.items()
        }

    def parse(self, text: str, place: str) -> Any:
        """Refuse: no parameter in a URL is an object."""
        raise refusal(place, "an object", text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        values = self.value.schema()
        return {"type": "object", "additionalProperties": values, **described(self.meaning)}

    def records(self) -> Iterator["Record"]:
        """Return the records in the values."""
        return self.value.records()


@dataclass(frozen=True)
class Record:
    """An object with known members.

    Parameters
    ----------
    name : str
        Its name in the document.
    required, optional : mapping of str to Type
        The members that must be there, and those that may be.
    one_of : tuple of str
        Of these members at least one must be there.
    alone : tuple of str
        Of these members at most one may be there.
    is_open : bool
        Whether further members may be there, as in answers, to which members can be added later.
    """

    name: str
    required: Mapping[str, Type] = field(default_factory=dict)
    optional: Mapping[str, Type] = field(default_factory=dict)
    one_of: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    is_open: bool = False

    def check(self, value: Any, place: str = "") -> dict[str, Any]:
        """Return an object whose members have the right types."""
        if not isinstance(value, dict):
            raise refusal(place or "the body", "an object", value)
        for name in value:
            if not self.is_open and name not in self.required and name not in self.optional:
                known = ", ".join((*self.required, *self.optional)) or "none"
                where = f"{place}/{name[:MAX_SHOWN]}"
                problem = f"{where}: there is no such member; the members are: {known}"
                raise Problem(422, "not-valid", problem, place=where)
        for name in self.required:
            if name not in value:
                raise _missing(place, f"/{name} is missing")
        if self.one_of and not any(name in value for name in self.one_of):
            raise _missing(place, f"one of {', '.join(self.one_of)} must be there")
        given = [name for name in self.alone if name in value]
        if len(given) > 1:
            several = " and ".join(f"{place}/{name}" for name in given)
            problem = f"{several} cannot be there together: send one of them"
            raise Problem(422, "not-valid", problem, place=f"{place}/{given[1]}")
        found = {}
        for name, each in value.items():
            type = self.required.get(name) or self.optional.get(name)
            if type is not None:
                found[name] = type.check(each, f"{place}/{name}")
        return found

    def parse(self, text: str, place: str) -> Any:
        """Refuse: no parameter in a URL is an object."""
        raise refusal(place, "an object", text)

    def schema(self) -> dict[str, Any]:
        """Return a reference to the component."""
        return {"$ref": f"#/components/schemas/{self.name}"}

    def component(self) -> dict[str, Any]:
        """Return the JSON schema itself."""
        members = {**self.required, **self.optional}
        found: dict[str, Any] = {
            "type": "object",
            "properties": {name: each.schema() for name, each in members.items()},
        }
        if self.required:
            found["required"] = list(self.required)
        if self.one_of:
            found["anyOf"] = [{"required": [name]} for name in self.one_of]
        if self.alone:
            pairs = [{"required": list(pair)} for pair in combinations(self.alone, 2)]
            found["not"] = {"anyOf": pairs} if len(pairs) > 1 else pairs[0]
        if not self.is_open:
            found["additionalProperties"] = False
        return found

    def records(self) -> Iterator["Record"]:
        """Return this record and those in its members."""
        yield self
        for each in (*self.required.values(), *self.optional.values()):
            yield from each.records()


def _missing(place: str, problem: str) -> Problem:
    where = f"{place}: " if place and not problem.startswith("/") else place
    return Problem(422, "not-valid", f"{where}{problem}", place=place or "/")
