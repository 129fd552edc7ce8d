"""The filing view, as the tests of its flows use it."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.services.page.browser import Window
from tests.services.page.site import Site


class FilingPage:
    """The filing view of a workspace in a window.

    Parameters
    ----------
    site : Site
        The workspace.
    window : Window
        The window.
    path : str
        What to open, below the path of the workspace.
    """

    def __init__(self, site: Site, window: Window, path: str = ""):
        self.site = site
        self.window = window
        self.page: Page = window.page
        self.page.goto(site.url(path))

    @property
    def id(self) -> str:
        """The item that is shown."""
        return self.page.locator("[data-item]").get_attribute("data-item") or ""

    @property
    def title(self) -> str:
        return self.page.locator(".item-title").inner_text()

    @property
    def rows(self) -> list[str]:
        """The ids in the list."""
        found = self.page.locator(".item-row").evaluate_all(
            "rows => rows.map(row => row.dataset.id)"
        )
        return [str(each) for each in found]

    @property
    def labels(self) -> list[str]:
        """The labels that can be chosen, in their order."""
        return self._values("[name=labels]")

    @property
    def chosen(self) -> list[str]:
        return self._values("[name=labels]:checked")

    def _values(self, selector: str) -> list[str]:
        boxes = self.page.locator(f"[data-chips] {selector}")
        return [str(each) for each in boxes.evaluate_all("all => all.map(each => each.value)")]

    @property
    def messages(self) -> Locator:
        """The notices after changes."""
        return self.page.locator("[data-toasts]")

    @property
    def connection(self) -> Locator:
        """The notice about the connection."""
        return self.page.locator("[data-connection]")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name)

    def expect_shown(self, id: str) -> None:
        """Wait until an item is shown."""
        expect(self.page.locator("[data-item]")).to_have_attribute("data-item", id)

    def expect_answer(self, id: str, labels: list[str] | None) -> None:
        """Wait until the server has an answer, with labels in any order; None if it is open."""
        self.wait_until(lambda: _in_order(self.site.labels_of(id)), _in_order(labels))

    def wait_until(self, look: Callable[[], Any], wanted: Any) -> None:
        """Look again and again until something is as wanted, while the page goes on."""
        self.window.wait_until(lambda: look() == wanted, lambda: f"{look()!r}, not {wanted!r}")

    def choose_only(self, label: str) -> None:
        """Choose one label with the digit keys, and no other one."""
        self.expect_steady()
        for number, each in enumerate(self.labels, 1):
            if (each == label) != (each in self.chosen):
                self.press(str(number))
        assert self.chosen == [label]

    def expect_steady(self) -> None:
        """Wait until the page has got all that it asked for."""
        self.window.settle()


def _in_order(labels: list[str] | None) -> list[str] | None:
    return None if labels is None else sorted(labels)
