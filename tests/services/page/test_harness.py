"""The checks of the other tests do find what they look for."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.services.page.axe import axe
from tests.services.page.browser import Chromium, Transfer, Window
from tests.services.page.other_site import other_site

BAD = """<!doctype html><html><head><title>Bad</title></head><body><main>
<img src="data:," width="1" height="1"><p style="color:#bbb;background:#fff">too faint</p>
<input><h1>Bad</h1></main></body></html>"""
GOOD = """<!doctype html><html lang="en"><head><title>Good</title></head>
<body><main><h1>Good</h1><p>Text</p></main></body></html>"""


ADDRESS = "http://page.example/"


@pytest.fixture
def bare(browser: Chromium) -> Iterator[Window]:
    """A browser for pages that no server has."""
    window = Window(browser, "page.example")
    yield window
    window.shut()


def show(window: Window, html: str) -> None:
    window.page.route(ADDRESS, lambda route: route.fulfill(body=html, content_type="text/html"))
    window.page.goto(ADDRESS)


def test_a_browser_that_has_ended_is_started_again(bare: Window, browser: Chromium) -> None:
    starts = browser.starts
    show(bare, GOOD)
    browser.close()
    again = Window(browser, "page.example")
    show(again, GOOD)
    again.close()
    assert browser.starts == starts + 1


def test_axe_finds_what_is_wrong(bare: Window) -> None:
    show(bare, BAD)
    found = {line.partition(":")[0] for line in axe(bare.page)}
    assert {"html-has-lang", "color-contrast", "image-alt", "label"} <= found
    show(bare, GOOD)
    assert axe(bare.page) == []
    bare.close()


def test_a_shift_of_the_layout_is_measured(bare: Window) -> None:
    show(bare, GOOD)
    assert bare.layout_shift() == 0
    bare.page.evaluate(
        "() => { const box = document.createElement('div'); box.style.height = '300px';"
        " document.querySelector('main').prepend(box); }"
    )
    assert bare.layout_shift() > 0.01
    bare.close()


@pytest.mark.parametrize(
    "act",
    [
        "() => { setTimeout(() => { throw new Error('x') }) }",
        "() => console.error('x')",
        "() => { setTimeout(() => alert('x')) }",
        "() => { fetch('http://127.0.0.1:9/').catch(() => 0) }",
    ],
)
def test_faults_of_a_page_are_noted(bare: Window, act: str) -> None:
    show(bare, GOOD)
    assert bare.notes.faults == []
    bare.page.evaluate(act)
    bare.wait_until(lambda: bare.notes.faults, lambda: "no fault was noted")
    with pytest.raises(AssertionError):
        bare.close()


def test_a_violation_of_the_policy_is_noted(bare: Window) -> None:
    policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"
    show(bare, GOOD.replace("<title>", policy + "<title>"))
    bare.page.evaluate(
        "() => document.body.appendChild(Object.assign(document.createElement('script'),"
        " {textContent: 'window.attacked = 1'}))"
    )
    assert bare.policy_violations()
    assert bare.page.evaluate("window.attacked") is None


def test_sideways_scrolling_is_seen(bare: Window) -> None:
    show(bare, GOOD)
    assert bare.sideways() == []
    show(bare, GOOD.replace("Text", "x" * 3000))
    assert "<p></p>" in bare.sideways()
    bare.close()


def test_bytes_are_counted(bare: Window) -> None:
    pages = {"/": GOOD.replace("Text", "<img src=image alt=x>" + "x " * 5000), "/image": "y" * 7000}
    with other_site(pages) as address:
        bare.notes.host = urlsplit(address).netloc
        bare.notes.allow("favicon.ico")
        transfer = Transfer(bare.page)
        bare.page.goto(address)
        bare.close()
    sizes = {urlsplit(url).path: size for url, size in transfer.files.items()}
    assert 10_000 < sizes["/"] < 11_000
    assert 7_000 <= sizes["/image"] < 7_500
    assert transfer.total == sum(sizes.values())
