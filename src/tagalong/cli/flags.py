"""Messages of the library in terms of the command line: parameters become flags."""

import re
from collections.abc import Mapping

__all__ = ["keywords_as_flags", "parameters_as_flags"]


def keywords_as_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return a message with flags in place of keyword arguments.

    Parameters
    ----------
    message : str
        A message of the library, such as "give format= one of csv, jsonl" or "name the key with
        the option text".
    flags : mapping of str to str
        The flag of each parameter.

    Examples
    --------
    >>> keywords_as_flags("update='max' needs another id_key=", {"id_key": "--id-key"})
    "update='max' needs another --id-key"
    >>> keywords_as_flags("2 labels, but one_label=True", {"one_label": "--one-label"})
    '2 labels, but --one-label'
    >>> keywords_as_flags("name the key with the option id_key", {"id_key": "--id-key"})
    'name the key with the option --id-key'
    """
    message = _substituted(
        message, flags, r"(?<![\w.-])({names})(?:='([^']*)'|=True\b|=(?=[\s,;]|$))"
    )
    return _substituted(message, flags, r"(?<=\boption )({names})\b")


def parameters_as_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return a message about parameters with flags in place of all their names.

    Parameters
    ----------
    message : str
        A message of the library about a wrong parameter, such as "C must be positive".
    flags : mapping of str to str
        The flag of each parameter.

    Examples
    --------
    >>> parameters_as_flags("C must be positive, got -1", {"C": "-C"})
    '-C must be positive, got -1'
    >>> parameters_as_flags("csv has no option 'id_key'", {"id_key": "--id-key"})
    'csv has no option --id-key'
    """
    message = keywords_as_flags(message, flags)
    message = _substituted(message, flags, r"(?:(?<=: )|^)({names})(?= must | is one of )")
    message = _substituted(message, flags, r"(?<=option )'({names})'")
    start, listed, names = message.partition("; options of ")
    return start + listed + _substituted(names, flags, r"(?<= )({names})(?=,|$)")


def _substituted(message: str, flags: Mapping[str, str], pattern: str) -> str:
    """Return a message in which flags, with values if there are any, replace the matches."""
    if not flags:
        return message
    # The longest name first, as a name may begin with another.
    names = "|".join(re.escape(name) for name in sorted(flags, key=len, reverse=True))

    def flag(match: re.Match[str]) -> str:
        value = match[2] if match.re.groups > 1 else None
        return flags[match[1]] if value is None else f"{flags[match[1]]} {value}"

    return re.sub(pattern.replace("{names}", names), flag, message)
