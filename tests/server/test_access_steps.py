"""Access control looks at the tokens once per step of the event loop, and again in the next one."""

import asyncio
from pathlib import Path
from typing import Any

from starlette.types import Message

from tagalong.server.access.control import AccessControl
from tagalong.server.access.sessions import Sessions
from tagalong.server.access.tokens import FileTokens
from tagalong.server.access.who import Who
from tests.server.access_calls import Inner, make_scope


class CountingTokens(FileTokens):
    """Tokens that note how often somebody looks at them."""

    looks = 0

    def identify(self, token: str) -> Who | None:
        self.looks += 1
        return super().identify(token)


async def status(app: AccessControl, token: str) -> int:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = ("Host: 127.0.0.1:8420", f"Authorization: Bearer {token}")
    await app(make_scope("GET /api/v1/workspaces", headers), receive, send)
    found: int = sent[0]["status"]
    return found


def test_requests_in_the_same_step_look_once_and_the_next_step_looks_again(tmp_path: Path) -> None:
    tokens = CountingTokens(tmp_path)
    app = AccessControl(Inner(), tokens, Sessions(tokens))
    first, second = tokens.add("first"), tokens.add("second")

    async def main() -> list[Any]:
        together = [await status(app, first) for _ in range(3)]  # nothing here waits
        looks = tokens.looks
        other = await status(app, second)
        FileTokens(tmp_path).remove("first")  # as another process does
        await asyncio.sleep(0)
        return [together, looks, other, await status(app, first), await status(app, second)]

    assert asyncio.run(main()) == [[200] * 3, 1, 200, 401, 200]
    assert tokens.looks == 4
