"""Items, labels and sources that try to break the page are shown as text, in every view."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.services.page.axe import assert_accessible
from tests.services.page.browser import SMALLEST, WIDE, Window
from tests.services.page.site import Site
from tests.services.page.views import VIEWS, View

# Characters that are not seen, or change the order of others: the page shows a sign in their place.
LOOK = r"""() => {
  const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
  const all = [...document.querySelectorAll('*')];
  const names = ['title', 'aria-label', 'alt', 'placeholder'];
  const attributes = all.flatMap(each => [...each.attributes].map(
    attribute => ({name: attribute.name, value: attribute.value, tag: each.localName})));
  const texts = [document.title, document.body.textContent,
    ...attributes.filter(each => names.includes(each.name)).map(each => each.value)];
  return {
    attacked: window.attacked ?? null,
    handlers: attributes.filter(each => each.name.startsWith('on') || each.name === 'style'
      || /^\s*javascript:/i.test(['href', 'src', 'action', 'formaction'].includes(each.name)
        ? each.value : '')),
    elements: all.filter(each => ['img', 'iframe', 'object', 'embed', 'style', 'base', 'b', 'i'
      ].includes(each.localName)).map(each => each.outerHTML.slice(0, 100)),
    scripts: all.filter(each => each.localName === 'script').map(each => each.src),
    headings: all.filter(each => each.localName === 'h1').length,
    unseen: texts.flatMap(text => text.split('\n')).filter(line => unseen.test(line)),
    far: [...document.querySelectorAll('a, form')].map(each => each.href || each.action)
      .filter(address => new URL(address).origin !== location.origin),
  };
}"""
HARMLESS: dict[str, Any] = {
    "attacked": None,
    "handlers": [],
    "elements": [],
    "headings": 1,
    "unseen": [],
    "far": [],
}


@pytest.fixture
def hostile_site(read_site: Callable[[str], Site]) -> Site:
    return read_site("hostile")


def look(window: Window) -> dict[str, Any]:
    window.settle()
    window.page.mouse.move(100, 100)
    found = window.page.evaluate(LOOK)
    scripts = found.pop("scripts")
    assert all(each.startswith(f"http://{window.notes.host}/static/") for each in scripts)
    return found


@pytest.mark.parametrize(
    "view", [view for view in VIEWS if view.hostile and view.logged_in], ids=str
)
def test_every_view_shows_text_as_text(
    view: View, hostile_site: Site, open_window: Callable[..., Window]
) -> None:
    window = open_window(hostile_site, size=SMALLEST)
    view.show(hostile_site, window)
    assert look(window) == HARMLESS
    assert window.policy_violations() == []
    for size in (SMALLEST, WIDE):
        window.resize(size)
        assert window.sideways() == [], size
    assert_accessible(window.page)
