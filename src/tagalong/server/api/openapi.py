"""The OpenAPI 3.1 document, made from the table of operations."""

import re
from collections.abc import Iterable
from typing import Any

from tagalong.server.api.calls import KEY
from tagalong.server.api.operations import COMMON_PROBLEMS, JSON, Answer, Operation
from tagalong.server.api.schemas import Record, Text, Type, Whole
from tagalong.server.problems import MEDIA_TYPE

__all__ = ["document"]

PROBLEM = Record(
    "Problem",
    {
        "type": Text(meaning="names the kind of problem, for programs"),
        "title": Text(),
        "status": Whole(400, 599),
        "detail": Text(meaning="the reason, for people"),
    },
    is_open=True,
)
PARAMETERS = {
    "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,62}$"},
    "id": {"type": "string", "minLength": 1, "maxLength": 512},
    "label": {"type": "string", "minLength": 1, "maxLength": 512},
    "job": {"type": "string", "minLength": 1, "maxLength": 64},
}
KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same request with the same key has no further effect, for seven days.",
    "schema": {"type": "string", "pattern": f"^{KEY.pattern}$"},
}


def document(operations: Iterable[Operation], version: str, page_items: int) -> dict[str, Any]:
    """Return the document.

    Parameters
    ----------
    operations : iterable of Operation
        The operations.
    version : str
        The version of Tagalong.
    page_items : int
        The largest page of this server, which bounds the parameter ``limit``.
    """
    paths: dict[str, dict[str, Any]] = {}
    records: dict[str, Record] = {PROBLEM.name: PROBLEM}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(
            operation, page_items
        )
        for type in _types(operation):
            for record in type.records():
                assert records.setdefault(record.name, record) is record, record.name
    components = {name: record.component() for name, record in sorted(records.items())}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tagalong", "version": version},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _types(operation: Operation) -> Iterable[Type]:
    if operation.body is not None:
        yield operation.body
    for answer in operation.answers.values():
        yield from (each for each in _each(answer) if not isinstance(each, str))


def _each(answer: Answer | tuple[Answer, ...]) -> tuple[Answer, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _described(operation: Operation, page_items: int) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", operation.path)
    parameters = [
        *(
            {"name": name, "in": "path", "required": True, "schema": PARAMETERS[name]}
            for name in names
        ),
        *(
            {"name": name, "in": "query", "schema": _bounded(name, type.schema(), page_items)}
            for name, type in operation.query.items()
        ),
        *([KEY_HEADER] if operation.has_key else []),
    ]
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            **{str(status): _answer(each) for status, each in operation.answers.items()},
            **{
                str(status): {
                    "description": "problem",
                    "content": {MEDIA_TYPE: {"schema": PROBLEM.schema()}},
                }
                for status in sorted({*COMMON_PROBLEMS, *operation.problems})
            },
        },
    }
    if parameters:
        found["parameters"] = parameters
    if operation.is_public:
        found["security"] = []
    if operation.body is not None:
        content = {operation.body_media: {"schema": operation.body.schema()}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _bounded(name: str, schema: dict[str, Any], page_items: int) -> dict[str, Any]:
    if name != "limit":
        return schema
    return {**schema, "maximum": min(schema["maximum"], page_items)}


def _answer(answer: Answer | tuple[Answer, ...]) -> dict[str, Any]:
    content = {
        each if isinstance(each, str) else JSON: {
            "schema": {"type": "string"} if isinstance(each, str) else each.schema()
        }
        for each in _each(answer)
        if each != ""
    }
    return {"description": "done", **({"content": content} if content else {})}
