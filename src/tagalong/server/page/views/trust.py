"""The trust view: how often suggestions were right, and how much can be filed without asking."""

from starlette.responses import Response

from tagalong.server.api.calls import Call
from tagalong.server.api.operations import Operation
from tagalong.server.page.rendering import NOTICE, P, page
from tagalong.server.page.trust import trust_facts
from tagalong.server.page.trust.headline import precision_text

__all__ = ["OPERATIONS"]


async def show(call: Call) -> Response:
    """Show the figures."""
    async with call.workspace() as workspace:
        facts = await call.run(trust_facts, workspace)
        return await page(
            call, workspace, "trust.html", view="trust", facts=facts, precision_text=precision_text
        )


OPERATIONS = (
    Operation(
        "trustPage",
        "GET",
        f"{P}/trust",
        "Show how far the suggestions can be trusted.",
        show,
        query=NOTICE,
        is_change=False,
    ),
)
