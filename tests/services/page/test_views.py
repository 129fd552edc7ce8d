"""Promises of every view: accessible, small, no sideways scrolling, no shifts, no other host."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.page.axe import assert_accessible
from tests.services.page.browser import LARGEST, NARROW, SMALLEST, WIDE, Transfer, Window
from tests.services.page.site import Site
from tests.services.page.views import VIEWS, View, pictures

SIZES = (SMALLEST, NARROW, WIDE, LARGEST)
TALL = 4000
MOST_SHIFT = 0.01
MOST_BYTES = 60_000

each_view = pytest.mark.parametrize("view", VIEWS, ids=str)


@each_view
@pytest.mark.parametrize(
    "checked",
    [
        {("light", WIDE), ("dark", NARROW)},
        pytest.param({("dark", WIDE), ("light", NARROW)}, marks=pytest.mark.long),
    ],
    ids=["light wide, dark narrow", "dark wide, light narrow"],
)
def test_accessible_in_both_themes_and_sizes(
    view: View,
    checked: set[tuple[str, tuple[int, int]]],
    read_site: Callable[[str], Site],
    open_window: Callable[..., Window],
    pictures_folder: Path,
) -> None:
    site = read_site(view.kind)
    window = shown(view, site, open_window)
    for theme, size in pictures(view, window, pictures_folder):
        if (theme, size) not in checked:
            continue
        checked = checked - {(theme, size)}
        assert window.page.evaluate(f"matchMedia('(prefers-color-scheme: {theme})').matches")
        assert window.page.viewport_size == {"width": size[0], "height": size[1]}
        # The bar at the bottom of a narrow window hides targets until one scrolls.
        window.resize((size[0], TALL))
        assert_accessible(window.page)
        window.resize(size)
    assert not checked


@each_view
def test_fits_into_every_width_and_nothing_shifts(
    view: View, read_site: Callable[[str], Site], open_window: Callable[..., Window]
) -> None:
    window = shown(view, read_site(view.kind), open_window, size=NARROW)
    window.settle()
    assert window.layout_shift() < MOST_SHIFT
    assert window.policy_violations() == []
    for size in SIZES:
        window.resize(size)
        assert window.sideways() == [], size


@each_view
def test_small_and_nothing_shifts(
    view: View, read_site: Callable[[str], Site], open_window: Callable[..., Window]
) -> None:
    site = read_site(view.kind)
    window = open_window(site, logged_in=view.logged_in)
    transfer = Transfer(window.page)
    view.show(site, window)
    window.settle()
    assert window.layout_shift() < MOST_SHIFT
    assert window.policy_violations() == []
    assert transfer.total > 1000
    assert transfer.total < MOST_BYTES, str(transfer)


def shown(
    view: View, site: Site, open_window: Callable[..., Window], size: tuple[int, int] = WIDE
) -> Window:
    window = open_window(site, logged_in=view.logged_in, size=size)
    view.show(site, window)
    return window
