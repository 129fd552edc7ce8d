"""Chromium without a window, and pages that note what must not happen in them."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE = (1440, 900)
NARROW = (375, 812)
SMALLEST = (320, 640)
LARGEST = (3840, 2160)
_NOTES = """
window.tagalongNotes = {shift: 0, unexpectedShift: 0, policy: []};
{
  const count = entries => {
    for (const entry of entries) {
      window.tagalongNotes.shift += entry.value;
      if (!entry.hadRecentInput) window.tagalongNotes.unexpectedShift += entry.value;
    }
  };
  const observer = new PerformanceObserver(list => count(list.getEntries()));
  observer.observe({type: 'layout-shift', buffered: true});
  window.tagalongNotes.look = () => count(observer.takeRecords());
}
document.addEventListener('securitypolicyviolation', event => {
  window.tagalongNotes.policy.push(event.violatedDirective + ' ' + event.blockedURI);
});
"""
_TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_SIDEWAYS = """() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const wide = [...document.body.querySelectorAll('*')].filter(
    each => each.getBoundingClientRect().right > root.clientWidth + 1
      || each.scrollWidth > root.clientWidth);
  const shown = wide.map(each => each.cloneNode(false).outerHTML.slice(0, 200));
  return [`${root.scrollWidth} > ${root.clientWidth}`, ...shown.slice(0, 10)];
}"""
PATIENCE = 120
"""Seconds after which nothing happens any more in a page, even on a busy machine."""
STEP = 50
LOOK_EVERY = 30
"""Milliseconds between two looks."""
SECONDS_TO_SETTLE = 5.0
QUIET = 200
"""Milliseconds without a request after which a page has got everything."""


class Chromium:
    """The Chromium of the system. One that has ended is started again for the next window.

    Parameters
    ----------
    start : callable
        Starts it.

    Attributes
    ----------
    starts : int
        How often it was started.
    """

    def __init__(self, start: Callable[[], Browser]):
        self._start = start
        self._browser = start()
        self.starts = 1

    def new_context(self, **options: Any) -> BrowserContext:
        """Return what a browser of its own has: cookies, a cache, windows."""
        try:
            return self._browser.new_context(**options)
        except Error:
            if self._browser.is_connected():
                raise
            self._browser = self._start()
            self.starts += 1
            return self._browser.new_context(**options)

    def close(self) -> None:
        """End it."""
        self._browser.close()


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start the Chromium of the system; the test is skipped if there is none."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed (Debian: chromium)")
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        launch = playwright.chromium.launch
        browser = Chromium(lambda: launch(executable_path=path, args=list(ARGUMENTS)))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Notes:
    """Errors, dialogs and foreign requests of a window: nobody has asked for them.

    Parameters
    ----------
    host : str
        Host and port that requests may go to.
    """

    host: str
    allowed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        page.on("pageerror", lambda error: self.errors.append(f"script: {error}"))
        page.on("console", self._console)
        page.on("dialog", self.dialog)
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            where = message.location.get("url", "")
            self.errors.append(f"{message.type}: {message.text} ({where})")

    def dialog(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != self.host:
            self.foreign.append(request.url)
        if request.resource_type != "eventsource":
            self.waiting.append(request)

    def _ended(self, request: Any) -> None:
        if request in self.waiting:
            self.waiting.remove(request)

    def allow(self, text: str) -> None:
        """Messages with this text are expected."""
        self.allowed.append(text)

    @property
    def faults(self) -> list[str]:
        unexpected = [
            error for error in self.errors if not any(text in error for text in self.allowed)
        ]
        return unexpected + [f"request to {url}" for url in self.foreign]


class Window:
    """A browser of its own, with its own cookies and an empty cache, and one page.

    Parameters
    ----------
    browser : Chromium
        The program.
    host : str
        Host and port that requests may go to.
    state : dict, optional
        Cookies of a person who has logged in.
    size : tuple of int
        Width and height.
    options
        Further options of the context, as `color_scheme` or `java_script_enabled`.
    """

    def __init__(
        self,
        browser: Chromium,
        host: str,
        state: Any = None,
        size: tuple[int, int] = WIDE,
        **options: Any,
    ):
        width, height = size
        self.context: BrowserContext = browser.new_context(
            viewport={"width": width, "height": height},
            storage_state=state,
            locale="en-GB",
            timezone_id="UTC",
            **options,
        )
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(_NOTES)
        self.notes = Notes(host)
        self.page: Page = self.context.new_page()
        self.notes.watch(self.page)

    def layout_shift(self) -> float:
        """Layout shift since the page was loaded that no key or click brought about."""
        return float(self._noted("unexpectedShift"))

    def all_layout_shift(self) -> float:
        """Layout shift since the page was loaded, right after keys and clicks too."""
        return float(self._noted("shift"))

    def policy_violations(self) -> list[str]:
        """Everything that the content security policy has stopped since the page was loaded."""
        return list(self._noted("policy"))

    def _noted(self, name: str) -> Any:
        # Shifts are told after the frame in which they happen.
        self.page.evaluate(_TWO_FRAMES)
        return self.page.evaluate(
            f"() => {{ window.tagalongNotes.look(); return window.tagalongNotes.{name} }}"
        )

    def resize(self, size: tuple[int, int]) -> None:
        """Change the size, and wait until the page is drawn at it."""
        width, height = size
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate(_TWO_FRAMES)

    def wait_until(self, is_so: Callable[[], object], otherwise: Callable[[], str]) -> None:
        """Look again and again until something is so, while the page goes on.

        Parameters
        ----------
        is_so : callable
            Looks.
        otherwise : callable
            Returns the message if it is never so.
        """
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, otherwise()
            self.page.wait_for_timeout(LOOK_EVERY)

    def settle(self) -> None:
        """Wait until all requests are answered, but for those whose answers never end."""
        open_requests = self._settle(QUIET, PATIENCE)
        assert not open_requests, f"no answer for {PATIENCE} s: {', '.join(open_requests)}"

    def _settle(self, quiet_milliseconds: int, seconds: float) -> list[str]:
        """Wait until there was no request for a while; return those that are still open."""
        quiet, end = 0, time.monotonic() + seconds
        while quiet < quiet_milliseconds:
            if time.monotonic() > end:
                return [f"{request.method} {request.url}" for request in self.notes.waiting]
            self.page.wait_for_timeout(STEP)
            quiet = 0 if self.notes.waiting else quiet + STEP
        return []

    def sideways(self) -> list[str]:
        """Elements that make the page wider than the window; none if it is not."""
        return list(self.page.evaluate(_SIDEWAYS))

    def shut(self) -> None:
        """Close the browser. Chromium hangs if that happens while it goes from page to page."""
        if not self.page.is_closed():
            self._settle(STEP, SECONDS_TO_SETTLE)
        self.context.close()

    def close(self) -> None:
        """Close the browser; faults that it noted fail the test."""
        self.shut()
        assert not self.notes.faults, "\n".join(self.notes.faults)


class Transfer:
    """Counts the bytes that a page gets over the network, head and body as they are sent.

    Parameters
    ----------
    page : Page
        The page, before it loads anything.
    """

    def __init__(self, page: Page):
        self.files: dict[str, int] = {}
        self._urls: dict[str, str] = {}
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._sent)
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")

    def _sent(self, event: dict[str, Any]) -> None:
        self._urls[event["requestId"]] = event["request"]["url"]

    def _finished(self, event: dict[str, Any]) -> None:
        url = self._urls.get(event["requestId"], "?")
        self.files[url] = self.files.get(url, 0) + int(event["encodedDataLength"])

    @property
    def total(self) -> int:
        return sum(self.files.values())

    def __str__(self) -> str:
        lines = [f"{size:8,} {urlsplit(url).path}" for url, size in self.files.items()]
        return "\n".join([*lines, f"{self.total:8,} bytes"])
