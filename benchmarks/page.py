"""The page in a browser, on the demo workspace: ``python -m benchmarks.page``.

Headless Chromium opens the filing view of ``tagalong serve --demo`` and files items with Enter. The
time until the next item is painted is measured beside that of a key on an empty page, which is what
the browser itself needs: two frames. Items are filed at the pace of somebody who reads them, and as
fast as they appear, which leaves little time to fetch the next ones. The bytes of the first view
are counted as they come over the network, compressed and with their heads, into an empty cache.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.markdown import table
from benchmarks.page_browser import (
    FETCH_ICON,
    QUIET_MILLISECONDS,
    Transfer,
    chromium,
    has_choice,
    loading_times,
    log_in,
    new_context,
    press_enter,
    what_is_missing,
)
from benchmarks.service_servers import ServerProcess
from benchmarks.turns import with_range
from benchmarks.verdicts import Verdict

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_MILLISECONDS = 50.0
"""Goal: from Enter to the next item, painted."""

MOST_BYTES = 60_000
"""Goal: transfer of the first view."""

EMPTY, READING, HURRYING = "a key on an empty page", "Enter while reading", "Enter at once"
FILING = "/w/default"
BETWEEN_KEYS = 100


@contextmanager
def demo_server() -> Iterator[ServerProcess]:
    """A server with the demo workspace, as it is at first."""
    options = ["--demo", "--port", "0", "--json", "--no-browser", "--access-log", "none"]
    server = ServerProcess(["tagalong", "serve", *options], FILING)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def filing_view(browser: Browser) -> Iterator[Page]:
    """The filing view of a new demo workspace, with everything that it fetches by itself."""
    with demo_server() as server:
        url, cookies = _logged_in(browser, server)
        context = new_context(browser, cookies)
        page = context.new_page()
        page.goto(url)
        page.wait_for_timeout(QUIET_MILLISECONDS)
        yield page
        context.close()


def file_items(page: Page, count: int, pause: int) -> list[float]:
    """File items with Enter; return the milliseconds until the next ones are painted."""
    found = []
    for _ in range(count):
        if not has_choice(page):
            page.keyboard.press("1")
        found.append(press_enter(page))
        page.wait_for_timeout(pause)
    return found


def press_on_empty_page(browser: Browser, count: int) -> list[float]:
    """Press a key on an empty page; return the milliseconds until two frames have begun."""
    context = new_context(browser)
    page = context.new_page()
    page.goto("about:blank")
    page.wait_for_timeout(QUIET_MILLISECONDS)
    found = []
    for _ in range(count):
        page.wait_for_timeout(BETWEEN_KEYS)  # keys do not come in time with the frames
        found.append(press_enter(page))
    context.close()
    return found


def open_view(browser: Browser, url: str, cookies: Any, count: int) -> list[tuple[float, float]]:
    """Open the filing view again and again with an empty cache; return its loading times."""
    found = []
    for _ in range(count):
        context = new_context(browser, cookies)
        page = context.new_page()
        page.goto(url, wait_until="load")
        page.wait_for_timeout(QUIET_MILLISECONDS)
        found.append(loading_times(page))
        context.close()
    return found


def first_transfer(browser: Browser, url: str, cookies: Any) -> Transfer:
    """Open the filing view with an empty cache and wait until it has fetched everything."""
    context = new_context(browser, cookies)
    page = context.new_page()
    transfer = Transfer(page)
    page.goto(url)
    page.wait_for_timeout(QUIET_MILLISECONDS)
    if not transfer.requests["icon"]:  # without a window, Chromium does not show icons
        page.evaluate(FETCH_ICON)
        page.wait_for_timeout(QUIET_MILLISECONDS)
    context.close()
    return transfer


def latencies(found: Mapping[str, Sequence[Sequence[float]]]) -> Iterator[str | Verdict]:
    """From a key to the painted frame; the times of each turn."""
    pooled = {name: [each for turn in turns for each in turn] for name, turns in found.items()}
    floor = percentile(pooled[EMPTY], 50)
    p95 = {name: percentile(times, 95) for name, times in pooled.items()}
    rows = []
    for name, times in pooled.items():
        p50 = percentile(times, 50)
        by_turn = [percentile(turn, 95) for turn in found[name]]
        cells = [f"{p50:.1f}", with_range(p95[name], by_turn, ".1f"), f"{max(times):.1f}"]
        rows.append([name, f"{len(times)}", *cells, f"{p50 / floor:.2f}"])
    yield "## From Enter to the next item, painted"
    yield table(["ms", "keys", "p50", "p95", "max", "p50 × empty page"], rows)
    for name in (READING, HURRYING):
        yield Verdict(
            f"{name}: the next item within {MOST_MILLISECONDS:g} ms, p95",
            p95[name] <= MOST_MILLISECONDS,
            f"{p95[name]:.1f} ms",
        )


def first_view(
    requests: Mapping[str, int], sizes: Mapping[str, int], loaded: Sequence[tuple[float, float]]
) -> Iterator[str | Verdict]:
    """Cost of the first view: requests and bytes by kind, and time."""
    rows = [[kind, f"{requests[kind]}", f"{size:,}"] for kind, size in sizes.items()]
    total = sum(sizes.values())
    rows.append(["all", f"{sum(requests.values())}", f"{total:,}"])
    yield "## The first view"
    yield table(["transfer", "requests", "bytes"], rows)
    paints, loads = zip(*loaded, strict=True)
    names = {"first paint of content": paints, "load event": loads}
    cells = [
        [name, f"{percentile(times, 50):.0f}", f"{max(times):.0f}"] for name, times in names.items()
    ]
    yield table([f"ms since the address was opened, {len(loaded)} times", "p50", "max"], cells)
    yield Verdict(f"first view below {MOST_BYTES:,} bytes", total < MOST_BYTES, f"{total:,} bytes")


def percentile(times: Sequence[float], percent: float) -> float:
    """A percentile of times."""
    return float(np.percentile(times, percent))


def _logged_in(browser: Browser, server: ServerProcess) -> tuple[str, Any]:
    host, port = server.address
    url = f"http://{host}:{port}"
    token = server.headers["Authorization"].removeprefix("Bearer ")
    return url + FILING, log_in(browser, url, token)


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _report(*parts: Iterator[str | Verdict]) -> None:
    verdicts = []
    for part in parts:
        for each in part:
            if isinstance(each, Verdict):
                verdicts.append(each)
            else:
                print(each, end="\n\n", flush=True)
    print("## Goals", "", *verdicts, sep="\n", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=45, help="items to file at either pace")
    parser.add_argument("--pause", type=int, default=1000, help="ms of reading between two items")
    parser.add_argument("--opened", type=int, default=10, help="how often the page is opened")
    parser.add_argument("--repeat", type=int, default=3, help="turns of the paces")
    args = parser.parse_args()
    if missing := what_is_missing():
        print(f"Left out, because {missing} is not installed.")
        return
    with chromium() as browser:
        with demo_server() as server:
            _note("opening the page")
            url, cookies = _logged_in(browser, server)
            transfer = first_transfer(browser, url, cookies)
            loaded = open_view(browser, url, cookies, args.opened)
        found: dict[str, list[list[float]]] = {EMPTY: [], READING: [], HURRYING: []}
        for turn in range(args.repeat):
            found[EMPTY].append(press_on_empty_page(browser, args.items))
            for name, pause in {READING: args.pause, HURRYING: 0}.items():
                _note(f"turn {turn + 1}, filing {args.items} items: {name}")
                with filing_view(browser) as page:
                    found[name].append(file_items(page, args.items, pause))
    _report(latencies(found), first_view(transfer.requests, transfer.bytes, loaded))


if __name__ == "__main__":
    main()
