"""All views of the page in their states. A view that is added here is checked by all tests."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.services.page.browser import NARROW, WIDE, Window
from tests.services.page.content import HOSTILE_LABELS
from tests.services.page.imports import job_path
from tests.services.page.site import Site

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@dataclass(frozen=True)
class View:
    """A view in one state.

    Parameters
    ----------
    name : str
        Its name, also of its pictures.
    path : str or callable
        Its path below that of the workspace; from the root of the server if it begins with "//".
        A function brings about what is shown, and returns the path.
    kind : str
        The kind of workspace; see content.py.
    act : callable, optional
        Brings the view into its state, once it is loaded.
    status : int
        The status of the answer.
    status_after : int
        The status of the answer that `act` leads to.
    logged_in : bool
        Whether the person has logged in.
    hostile : bool
        Whether it is also tested with a workspace of hostile items.
    """

    name: str
    path: str | Callable[[Site], str]
    kind: str = "office"
    act: Callable[[Page], None] | None = None
    status: int = 200
    status_after: int = 200
    logged_in: bool = True
    hostile: bool = True

    def __str__(self) -> str:
        return self.name

    def show(self, site: Site, window: Window) -> None:
        """Load the view, and bring it into its state.

        Parameters
        ----------
        site : Site
            A workspace of its kind.
        window : Window
            Where it is shown.
        """
        for status in {self.status, self.status_after} - {200}:
            window.notes.allow(f"status of {status}")
        path = self.path if isinstance(self.path, str) else self.path(site)
        url = site.server.url + path[2:] if path.startswith("//") else site.url(path)
        found = window.page.goto(url, wait_until="load")
        assert found is not None
        assert found.status == self.status, f"{url}: {found.status} {found.text()[:1000]}"
        if self.act is not None:
            self.act(window.page)


def open_reasons(page: Page) -> None:
    page.locator("summary", has_text="in numbers").click()


def open_help(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def open_label_search(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("contrcts")
    expect(page.get_by_role("option").first).to_be_visible()


def open_tables(page: Page) -> None:
    for summary in page.locator(".numbers summary").all():
        summary.click()


def save_wrong_settings(page: Page) -> None:
    page.get_by_label("How many have to be right").fill("all of them")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()


def label_path(label: str, path: str = "") -> str:
    return f"/labels/{quote(label, safe='')}{path}"


def forget_path(site: Site) -> str:
    """The path of the question before the first open item is deleted."""
    return f"/items/{quote(site.open_ids()[0], safe='')}/forget"


VIEWS = (
    View("filing", ""),
    View("filing-item", "/items/mail-0305?order=unsure", hostile=False),
    View("filing-why", "", act=open_reasons),
    View("filing-help", "", act=open_help),
    View("filing-search", "", act=open_label_search),
    View("filing-answered", "/items/note-00", hostile=False),
    View("filing-list-answered", "?state=answered"),
    View("filing-one-label", "", kind="one-label", hostile=False),
    View("filing-few", "", kind="few", hostile=False),
    View("filing-without-texts", "", kind="features", hostile=False),
    View("filing-no-match", "?q=nothing-has-this-word", hostile=False),
    View("filing-done", "", kind="done", hostile=False),
    View("filing-empty", "", kind="empty", hostile=False),
    View("filing-notice", "?seq=340"),
    View("filing-forget", forget_path),
    View("sure", "/sure"),
    View("sure-nothing", "/sure", kind="few", hostile=False),
    View("trust", "/trust"),
    View("trust-numbers", "/trust", act=open_tables, hostile=False),
    View("trust-one-label", "/trust", kind="one-label", hostile=False),
    View("trust-few", "/trust", kind="few", hostile=False),
    View("trust-empty", "/trust", kind="empty", hostile=False),
    View("labels", "/labels"),
    View("labels-found", "/labels?q=e&order=name"),
    View("labels-similar", "/labels?q=contrcts"),
    View("labels-none-found", "/labels?q=zzzzzzzz", hostile=False),
    View("labels-empty", "/labels", kind="empty", hostile=False),
    View("label", label_path("press")),
    View("label-hostile", label_path(HOSTILE_LABELS[0]), kind="hostile"),
    View("label-long", label_path(HOSTILE_LABELS[-1]), kind="hostile"),
    View("label-rename", label_path("press", "/rename?name=media")),
    View("label-merge", label_path("press", "/merge?into=newsletters")),
    View("label-rename-taken", label_path("press", "/rename?name=travel"), status=409),
    View("label-forget", label_path("press", "/forget")),
    View(
        "label-merge-hostile",
        label_path(HOSTILE_LABELS[3], f"/merge?into={quote(HOSTILE_LABELS[5])}"),
        kind="hostile",
    ),
    View("history", "/history"),
    View("history-filtered", "/history?kind=answers&who=ben"),
    View("history-nothing", "/history?who=nobody", hostile=False),
    View("settings", "/settings"),
    View("settings-wrong", "/settings", act=save_wrong_settings, status_after=422),
    View("start", "/start"),
    View("start-empty", "/start", kind="empty", hostile=False),
    View("job", job_path, kind="imported"),
    View("workspaces", "//workspaces"),
    View("login", "//login", logged_in=False),
    View("login-unsent", "//login?next=/w/default&unsent=1", logged_in=False),
    View("not-found", "/items/none", status=404),
)
"""The views. Their first states are in the documentation."""


def pictures(view: View, window: Window, folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Write pictures of a view that is shown, in both themes, at both sizes.

    Parameters
    ----------
    view : View
        The view.
    window : Window
        The window that shows it.
    folder : path
        Where the pictures go.

    Yields
    ------
    theme, size : str, tuple of int
        After each picture, while the view has this theme and size.
    """
    for size in (NARROW, WIDE):
        window.resize(size)
        for theme in THEMES:
            window.page.emulate_media(color_scheme=theme)
            path = folder / f"{view.name}-{theme}-{size[0]}.png"
            window.page.screenshot(path=path, full_page=True, animations="disabled")
            yield theme, size
