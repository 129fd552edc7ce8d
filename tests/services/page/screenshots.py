"""Pictures of all views to look at: ``python -m tests.services.page.screenshots OUT``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.services.page.browser import chromium
from tests.services.page.content import KINDS, make_workspace
from tests.services.page.site import Site, log_in
from tests.services.page.views import VIEWS, View, pictures
from tests.services.server_process import serving


def take(views: Sequence[View], folder: Path) -> None:
    """Write the pictures of some views.

    Parameters
    ----------
    views : sequence of View
        The views.
    folder : path
        Where the pictures go, as NAME-THEME-WIDTH.png.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        served = Path(name) / "w"
        for kind in KINDS:
            make_workspace(served / "workspaces" / kind, kind)
        with chromium() as browser, serving(served) as server:
            cookies = log_in(browser, server.url, server.token)
            for view in views:
                _take(view, Site(browser, server, view.kind, cookies), folder)


def _take(view: View, site: Site, folder: Path) -> None:
    window = site.window(logged_in=view.logged_in)
    view.show(site, window)
    window.settle()
    for theme, (width, _) in pictures(view, window, folder):
        print(f"{view.name}, {theme}, {width} px", file=sys.stderr)
    window.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Write pictures of the views of the page.")
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("names", nargs="*", help="names of views (default: all)")
    args = parser.parse_args()
    known = {view.name for view in VIEWS}
    for name in args.names:
        if name not in known:
            parser.error(f"there is no view {name!r}; there are {', '.join(sorted(known))}")
    take([view for view in VIEWS if not args.names or view.name in args.names], args.out)


if __name__ == "__main__":
    main()
