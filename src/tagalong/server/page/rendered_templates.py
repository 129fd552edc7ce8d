"""The templates, and what they can do with values."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from tagalong.printable import printable
from tagalong.server.page.static_files import static_path
from tagalong.server.page.visible_text import visible, visible_line

__all__ = ["FILTERS", "render"]

_NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def percent(share: float | None) -> str:
    """Return a share as a percentage; only exactly none and exactly all are 0 % and 100 %.

    Parameters
    ----------
    share : float, optional
        The share; None if it is not known.
    """
    if share is None or share != share:
        return "–"
    rounded = round(100 * share)
    mark = ""
    if rounded == 100 and share < 1:
        rounded, mark = 99, ">"
    elif rounded == 0 and share > 0:
        rounded, mark = 1, "<"
    return f"{mark}{rounded}{_NARROW_SPACE}%"


def number(value: float) -> str:
    """Return a whole number with marks between thousands.

    Parameters
    ----------
    value : float
        The number.
    """
    return f"{value:,.0f}"


def signed(value: float) -> str:
    """Return what a word adds to a score.

    Parameters
    ----------
    value : float
        The number.
    """
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def moment(text: str) -> Markup:
    """Return a time as an element, which shows minutes.

    Parameters
    ----------
    text : str
        The time (RFC 3339); another text is shown as it is.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return escape(printable(text))
    shown = f"{time:%Y-%m-%d %H:%M}"
    return Markup('<time datetime="{}">{}</time>').format(text, shown)


def path(text: str) -> str:
    """Return an id or a label as a part of a path.

    Parameters
    ----------
    text : str
        Any text.
    """
    return quote(text, safe="", errors="surrogatepass")


FILTERS: dict[str, Callable[..., str]] = {
    "plain": printable,
    "visible": visible,
    "title_line": visible_line,
    "percent": percent,
    "number": number,
    "signed": signed,
    "moment": moment,
    "path": path,
}
"""The filters of the templates, by name."""


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= FILTERS
    found.globals["static"] = static_path
    return found


def render(template: str, **values: Any) -> str:
    """Return a page or a part of one.

    Parameters
    ----------
    template : str
        The name of the template.
    values : object
        Its values; every one that it uses must be there.
    """
    return _environment().get_template(template).render(values)
