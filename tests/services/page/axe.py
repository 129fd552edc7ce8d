"""Accessibility as far as a program can judge it: the rules of axe-core."""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@cache
def _source() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def axe(page: Page) -> list[str]:
    """Return the violations that axe finds in a page, each in readable lines.

    Parameters
    ----------
    page : Page
        The page as it is shown now.
    """
    # The page's policy refuses script elements, so the script comes as one that is evaluated.
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(f"() => {{ {_source()} }}")
    found = page.evaluate(
        "tags => window.axe.run(document, {runOnly: {type: 'tag', values: tags}})", list(TAGS)
    )
    assert found["passes"], "axe has checked nothing"
    return [_lines(violation) for violation in found["violations"]]


def _lines(violation: dict[str, Any]) -> str:
    places = [
        f"    {' '.join(map(str, node['target']))}: {node['html'][:200]}\n"
        f"      {' '.join((node['failureSummary'] or '').split())}"
        for node in violation["nodes"]
    ]
    return "\n".join([f"{violation['id']}: {violation['help']}", *places])


def assert_accessible(page: Page) -> None:
    """Fail with a list of what is wrong."""
    found = axe(page)
    assert not found, f"{page.url}\n" + "\n".join(found)
