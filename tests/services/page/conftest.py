"""Fixtures of the tests with a browser: one Chromium and one server for many tests."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.services.page.browser import Chromium, Window, chromium
from tests.services.page.content import copy_workspace, make_workspace
from tests.services.page.site import Site, log_in
from tests.services.server_process import ServerProcess, serving


@pytest.fixture(scope="package")
def browser() -> Iterator[Chromium]:
    """Chromium. It ends with the tests of this folder: other tests need their own event loops."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Workspaces to copy, made once for each kind."""
    made: dict[str, Path] = {}

    def template(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind) / "w"
            make_workspace(made[kind], kind)
        return made[kind]

    return template


@pytest.fixture(scope="package")
def server(browser: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server for many tests; each of them has a workspace of its own."""
    with serving(tmp_path_factory.mktemp("served") / "w") as found:
        yield found


@pytest.fixture(scope="package")
def cookies(browser: Chromium, server: ServerProcess) -> Any:
    """Cookies of the owner."""
    return log_in(browser, server.url, server.token)


_numbers = iter(range(1, 1_000_000))


@pytest.fixture(scope="package")
def new_site(
    browser: Chromium, server: ServerProcess, cookies: Any, templates: Callable[[str], Path]
) -> Callable[..., Site]:
    """Makes workspaces of the kinds in content.py."""

    def new(kind: str = "office") -> Site:
        name = f"{kind}-{next(_numbers)}"
        copy_workspace(templates(kind), server.folder / "workspaces" / name)
        return Site(browser, server, name, cookies)

    return new


@pytest.fixture(scope="package")
def read_site(new_site: Callable[..., Site]) -> Callable[[str], Site]:
    """Workspaces that tests only look at, one of each kind."""
    made: dict[str, Site] = {}

    def found(kind: str) -> Site:
        if kind not in made:
            made[kind] = new_site(kind)
        return made[kind]

    return found


@pytest.fixture
def site(new_site: Callable[..., Site]) -> Site:
    """A workspace for one test, with learnt and open items."""
    return new_site()


@pytest.fixture
def own_site(browser: Chromium, templates: Callable[[str], Path], tmp_path: Path) -> Iterator[Site]:
    """A workspace with a server of its own, which the test may kill."""
    copy_workspace(templates("office"), tmp_path / "w")
    with serving(tmp_path / "w") as found:
        yield Site(browser, found, "default", log_in(browser, found.url, found.token))


@pytest.fixture
def open_window() -> Iterator[Callable[..., Window]]:
    """Opens browsers at a site; faults that they noted fail the test."""
    opened: list[Window] = []

    def new(site: Site, **options: Any) -> Window:
        opened.append(site.window(**options))
        return opened[-1]

    yield new
    faults: list[str] = []
    for window in opened:  # all of them are closed, also if that fails for one
        try:
            window.shut()
        except Exception as error:
            faults.append(f"a window cannot be closed: {error}")
    for window in opened:
        faults += window.notes.faults
    assert not faults, "\n".join(faults)


@pytest.fixture
def new_window(site: Site, open_window: Callable[..., Window]) -> Callable[..., Window]:
    """Opens browsers at the workspace of the test."""
    return partial(open_window, site)


@pytest.fixture
def window(new_window: Callable[..., Window]) -> Window:
    """A browser of a person who has logged in."""
    return new_window()


@pytest.fixture
def pictures_folder(tmp_path: Path) -> Path:
    """The folder for pictures of pages: TAGALONG_SCREENSHOTS, or one of the test."""
    folder = Path(os.environ.get("TAGALONG_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
