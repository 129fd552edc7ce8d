"""Forms of the page as bodies of requests, checked by the same types as JSON."""

from typing import Any
from urllib.parse import parse_qsl

from tagalong.server.api.schemas import ListOf, Record
from tagalong.server.problems import Problem

__all__ = ["FORM", "KEY_FIELD", "checked_form"]

FORM = "application/x-www-form-urlencoded"
KEY_FIELD = "key"
"""The field with the idempotency key, so that a form that is sent twice counts once."""
MAX_FIELDS = 2000


def checked_form(record: Record, body: bytes) -> dict[str, Any]:
    """Return the values of a form. Empty fields count as left out.

    Parameters
    ----------
    record : Record
        The fields. Those of type `ListOf` may be there several times, and are always in the
        result.
    body : bytes
        The form, percent-encoded.
    """
    try:
        pairs = parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise Problem(
            400,
            "bad-form",
            f"the form is not percent-encoded UTF-8, or has over {MAX_FIELDS} fields",
        ) from None
    types = {**record.required, **record.optional}
    values: dict[str, Any] = {name: [] for name, type in types.items() if isinstance(type, ListOf)}
    key = {}
    for name, text in pairs:
        value = text.replace("\r\n", "\n")  # browsers send line ends like that
        type = types.get(name)
        if isinstance(type, ListOf):
            values[name].append(type.item.parse(value, name))
        elif name in values or name in key:
            raise Problem(
                422, "not-valid", f"the field {name[:60]} is there twice", place=name[:60]
            )
        elif name == KEY_FIELD:
            key[name] = value
        else:
            values[name] = value if type is None else type.parse(value, name)
    return record.check(values) | key
