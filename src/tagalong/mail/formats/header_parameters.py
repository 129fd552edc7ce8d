"""Parser of the Content- headers of a MIME part: value, parameters, name and types of a file."""

import re
from urllib.parse import unquote_to_bytes

from tagalong.mail.formats.text import decode_bytes, decode_header

__all__ = ["file_name", "file_types", "parse_structure"]

# Limits. Ordinary mail stays far below each of them.
STRUCTURE_BYTES = 4_000  # of a Content- header
NAME_CHARACTERS = 200  # of an attachment's name

_TYPE = re.compile(r"[a-z0-9]{1,12}")
_PARAMETER = re.compile(r';\s*([^\s=;"]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^;"\s]*))', re.S)


def parse_structure(value: bytes) -> tuple[str, dict[str, str]]:
    """Return the value of a Content- header in lower case, and its parameters, not decoded."""
    text = value[:STRUCTURE_BYTES].decode("latin-1")
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(text):
        parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) if quoted else bare)
    return text.partition(";")[0].strip().lower(), parameters


def file_name(parameters: dict[str, str], key: str) -> str:
    """Return the file name in header parameters, plain or split as in RFC 2231."""
    if f"{key}*" in parameters:
        name = _percent_decoded([parameters[f"{key}*"]])
    elif f"{key}*0" in parameters or f"{key}*0*" in parameters:
        pieces: list[str] = []
        while (number := f"{key}*{len(pieces)}") in parameters or f"{number}*" in parameters:
            pieces.append(parameters.get(f"{number}*", "") or parameters.get(number, ""))
        name = _percent_decoded(pieces)
    else:
        name = decode_header(parameters.get(key, "").encode("latin-1"))
    return " ".join(name.split())[:NAME_CHARACTERS]


def file_types(kind: str, name: str) -> list[str]:
    """Return the types of an attached file in lower case: its extension, and its MIME subtype.

    Only short ones of letters and digits count: no "octet-stream" and no "vnd.ms-excel".

    Examples
    --------
    >>> file_types("application/pdf", "Invoice.PDF"), file_types("text/calendar", "")
    (['pdf'], ['calendar'])
    """
    found = (name.rpartition(".")[2].lower() if "." in name else "", kind.partition("/")[2])
    return [each for each in dict.fromkeys(found) if _TYPE.fullmatch(each)]


def _percent_decoded(pieces: list[str]) -> str:
    charset, *rest = "".join(pieces).split("'", 2)
    text = rest[1] if len(rest) == 2 else "".join(pieces)
    return decode_bytes(unquote_to_bytes(text.encode("latin-1")), charset if rest else "")
