"""Named features of a mail: sender, recipients, mailing list, types of attachments.

As text, an address is several words. A folder often depends on one exact sender or list, so each
address, domain, list and type is also one feature of its own.
"""

import re

from tagalong.mail.formats.mime import Mail

__all__ = ["mail_features"]

# Limits. Ordinary mail stays below each of them; what exceeds one is ignored.
RECIPIENTS = 20
VALUE_CHARACTERS = 200  # of an address or list

_QUOTED = re.compile(r'"[^"]*"')
_DELIMITERS = re.compile(r"[\s<>():]+")
_LIST_ID = re.compile(r"<([^<>]*)>\s*$")


def mail_features(mail: Mail) -> dict[str, float]:
    r"""Return the named features of a mail, each with the value 1.

    Parameters
    ----------
    mail : Mail
        Parsed mail.

    Returns
    -------
    dict of str to float
        ``"from=..."`` and ``"to=..."`` for addresses and their domains in lower case,
        ``"list=..."`` for the List-Id, ``"attachment=..."`` for types of attached files.

    Examples
    --------
    >>> from tagalong.mail.formats.mime import parse_mail
    >>> mail = parse_mail(b"From: Ann <Ann@Example.org>\nList-Id: Dev <dev.example.org>\n\n")
    >>> list(mail_features(mail))
    ['from=ann@example.org', 'from=example.org', 'list=dev.example.org']
    """
    headers = mail.headers
    recipients = f"{headers.get('to', '')},{headers.get('cc', '')}"
    values = {
        "from": _with_domains(_addresses(headers.get("from", ""))[-1:]),
        "to": _with_domains(_addresses(recipients)[:RECIPIENTS]),
        "list": _list_ids(headers.get("list-id", "")),
        "attachment": mail.attachment_types,
    }
    return {f"{name}={value}": 1.0 for name, found in values.items() for value in found}


def _addresses(header: str) -> list[str]:
    """Return the distinct addresses in a header, in lower case, without the names of people."""
    found: list[str] = []
    for mailbox in _QUOTED.sub(" ", header).replace(";", ",").split(","):
        # A name may contain an address too; that of the mailbox comes last.
        words = [word for word in _DELIMITERS.split(mailbox) if "@" in word.strip("@")]
        found += filter(_is_usable, words[-1:])
    return list(dict.fromkeys(address.lower() for address in found))


def _with_domains(addresses: list[str]) -> list[str]:
    return [*addresses, *dict.fromkeys(address.rpartition("@")[2] for address in addresses)]


def _list_ids(header: str) -> list[str]:
    found = _LIST_ID.search(header)
    name = (found[1] if found else header).strip().lower()
    return [name] if " " not in name and _is_usable(name) else []


def _is_usable(value: str) -> bool:
    return 0 < len(value) <= VALUE_CHARACTERS and value.isprintable()
