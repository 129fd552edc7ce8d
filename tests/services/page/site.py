"""A server, a workspace of it, and how the tests reach both."""

import json
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlsplit

from tests.services.calls import Calls
from tests.services.page.browser import Chromium, Window
from tests.services.server_process import ServerProcess, run


@dataclass
class Site:
    """A workspace of a server that runs.

    Parameters
    ----------
    browser : Chromium
        Opens windows.
    server : ServerProcess
        The server.
    name : str
        The workspace.
    cookies : dict
        Cookies of its owner.
    """

    browser: Chromium
    server: ServerProcess
    name: str
    cookies: Any

    @property
    def host(self) -> str:
        return urlsplit(self.server.url).netloc

    def url(self, path: str = "") -> str:
        """The address of a page of the workspace."""
        return f"{self.server.url}w/{self.name}{path}"

    def item_url(self, id: str) -> str:
        return self.url(f"/items/{quote(id, safe='')}")

    @property
    def calls(self) -> Calls:
        """Requests to the API of the workspace, as a program makes them."""
        return Calls(self.server.url, self.server.token, self.name)

    def window(self, logged_in: bool = True, **options: Any) -> Window:
        """A new browser; the caller closes it."""
        return Window(self.browser, self.host, self.cookies if logged_in else None, **options)

    def colleague(self, name: str, *options: str) -> "Site":
        """The same workspace, as somebody with a token of their own sees it.

        Parameters
        ----------
        name : str
            Name of the token, which is made.
        options : str
            Options of its command.
        """
        made = run("token", "add", self.server.folder, name, "--json", *options)
        cookies = log_in(self.browser, self.server.url, json.loads(made)["token"])
        return replace(self, cookies=cookies)

    def item(self, id: str) -> Any:
        """An item, as the API tells it."""
        return self.calls.get(f"items/{quote(id, safe='')}").json

    def labels_of(self, id: str) -> list[str] | None:
        """The answer to an item."""
        return self.item(id)["labels"]

    def answers_to(self, id: str) -> list[list[str]]:
        """All answers to an item that were learnt, in their order, also those undone later."""
        return [each["labels"] for each in self.events("answer") if each["id"] == id]

    def events(self, kind: str) -> list[Any]:
        """The events of a kind, in their order."""
        found: list[Any] = []
        after: int | None = 0
        while after is not None:
            page = self.calls.get(f"events?type={kind}&after={after}&limit=1000").json
            found += page["events"]
            after = page["next"]
        return found

    def open_ids(self) -> list[str]:
        """The open items."""
        found = self.calls.get("items?state=open&limit=1000").json
        return [each["id"] for each in found["items"]]


def log_in(browser: Chromium, url: str, token: str) -> Any:
    """Log in with a token, as a person does, and return the cookies."""
    window = Window(browser, urlsplit(url).netloc)
    page = window.page
    try:
        page.goto(f"{url}login")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(lambda address: "/login" not in address)
        return window.context.storage_state()
    finally:
        window.shut()  # test_login looks for faults
