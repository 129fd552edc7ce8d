"""Options of formats that are given as texts, as on a command line or in a form."""

from collections.abc import Iterable, Mapping

from tagalong.readers.registry import FORMATS
from tagalong.streams.format import Format, Option, OptionValue

__all__ = ["options_from_texts"]


def options_from_texts(
    texts: Mapping[str, str], formats: Iterable[Format], *, writing: bool = False
) -> dict[str, OptionValue]:
    """Return the values of format options that are given as texts.

    Parameters
    ----------
    texts : mapping of str to str
        The texts, by name of the option.
    formats : iterable of Format
        The formats whose definition of an option has priority. The reader checks later whether
        its format has the option at all.
    writing : bool
        Whether these are options for writing.
    """
    found: dict[str, Option] = {}
    for each in (*formats, *FORMATS.values()):
        for option in each.write_options if writing else each.options:
            found.setdefault(option.name, option)
    return {name: found[name].parse(text) for name, text in texts.items()}
