"""Chromium without a window: milliseconds from a key to a painted frame, bytes, loading times."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WIDTH, HEIGHT = 1440, 900
QUIET_MILLISECONDS = 2000
"""After this time without a key, a page has fetched everything that it fetches by itself."""

STOPWATCH = """
addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const shown = () => document.querySelector("[data-item]")?.dataset.item;
  const before = shown();
  window.framed = new Promise((resolve, reject) => {
    const end = () => resolve(performance.now() - event.timeStamp);
    const paint = () => requestAnimationFrame(() => requestAnimationFrame(end));
    if (before === undefined) return paint();
    setTimeout(() => reject(new Error("Enter has not shown another item in 10 s")), 10_000);
    new MutationObserver((changes, observer) => {
      if (shown() === before) return;
      observer.disconnect();
      paint();
    }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["data-item"] });
  });
}, true);
"""
"""Measures from the time at which the browser got the key, before the page hears of it.

The callback of the second frame runs after the first frame, which has the change, was painted.
A page without items is not waited for.
"""

LOADING = """() => {
  const [navigation] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return [paint?.startTime ?? NaN, navigation.loadEventEnd];
}"""
FETCH_ICON = "() => fetch(document.querySelector('link[rel=icon]').href).then(icon => icon.text())"


def what_is_missing() -> str:
    """The program or package that is not installed; empty if everything is there."""
    if find_spec("playwright") is None:
        return "Playwright"
    return "" if shutil.which("chromium") else "Chromium"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of the system."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def log_in(browser: Browser, url: str, token: str) -> Any:
    """Log in with a token and return the cookies."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}/login")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda address: "/login" not in address)
    cookies = context.storage_state()
    context.close()
    return cookies


def new_context(browser: Browser, cookies: Any = None) -> BrowserContext:
    """A browser with an empty cache, whose pages have the stopwatch."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, storage_state=cookies
    )
    context.add_init_script(STOPWATCH)
    return context


def press_enter(page: Page) -> float:
    """Press Enter; return the milliseconds until another item, if there are any, is painted."""
    page.keyboard.press("Enter")
    return float(page.evaluate("() => window.framed"))


def has_choice(page: Page) -> bool:
    """Whether labels of the item that is shown are chosen, so that Enter answers it."""
    return bool(page.locator("[data-chips] [name=labels]:checked").count())


def loading_times(page: Page) -> tuple[float, float]:
    """Milliseconds from opening the address to the first paint of content and to the load event."""
    first_paint, load = page.evaluate(LOADING)
    return float(first_paint), float(load)


class Transfer:
    """Counts the bytes that a page gets over the network, heads and bodies as they are sent."""

    def __init__(self, page: Page):
        self._kinds: dict[str, str] = {}
        self._bytes: dict[str, int] = {}
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._sent)
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")

    def _sent(self, event: dict[str, Any]) -> None:
        self._kinds[event["requestId"]] = kind_of(urlsplit(event["request"]["url"]).path)

    def _received(self, event: dict[str, Any]) -> None:
        self._bytes[event["requestId"]] = int(event["response"]["encodedDataLength"])

    def _finished(self, event: dict[str, Any]) -> None:
        self._bytes[event["requestId"]] = int(event["encodedDataLength"])

    @property
    def requests(self) -> Counter[str]:
        """How many requests were answered, by kind."""
        return Counter(self._kinds[each] for each in self._bytes)

    @property
    def bytes(self) -> Counter[str]:
        """The bytes of their answers, by kind; of those that have no end, of their heads."""
        found: Counter[str] = Counter()
        for each, size in self._bytes.items():
            found[self._kinds[each]] += size
        return found


def kind_of(path: str) -> str:
    """The purpose of a request, by the path of its URL."""
    ends = {".css": "style sheet", ".js": "script", ".svg": "icon"}
    for end, kind in ends.items():
        if path.endswith(end):
            return kind
    if "/parts/items/" in path:
        return "items fetched ahead"
    return "API" if path.startswith("/api/") else "HTML"
