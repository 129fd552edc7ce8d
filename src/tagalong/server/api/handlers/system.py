"""Health, metrics and the description of the API."""

from starlette.responses import Response

from tagalong.server.api.calls import Call, json_answer
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Choice, Record
from tagalong.server.http.metrics import CONTENT_TYPE

__all__ = ["OPERATIONS"]

HEALTH = Record("Health", {"status": Choice(("ok",))}, is_open=True)


async def get_health(call: Call) -> Response:
    """Say that requests are answered."""
    return json_answer({"status": "ok"})


async def get_metrics(call: Call) -> Response:
    """Return the figures for operators."""
    text = await call.run(call.service.metrics.render)
    return Response(text, headers={"Content-Type": CONTENT_TYPE})


async def get_openapi(call: Call) -> Response:
    """Return the description of the API."""
    return json_answer(call.document)


OPERATIONS = (
    Operation(
        "getHealth",
        "GET",
        "/healthz",
        "Say that requests are answered.",
        get_health,
        answers={200: HEALTH},
        is_change=False,
        is_public=True,
    ),
    Operation(
        "getMetrics",
        "GET",
        "/metrics",
        "Return the figures for operators, in the text format of Prometheus.",
        get_metrics,
        answers={200: "text/plain"},
        is_change=False,
    ),
    Operation(
        "getOpenapi",
        "GET",
        "/openapi.json",
        "Return this document.",
        get_openapi,
        answers={200: Record("OpenApi", is_open=True)},
        is_change=False,
    ),
)
