"""Text fields of a mail: body, subject, addresses, quotations, signature, attachments."""

import re

from tagalong.mail.formats.mime import Mail, TextPart
from tagalong.mail.formats.text import html_to_text, split_reply

__all__ = ["mail_fields"]


def mail_fields(mail: Mail) -> dict[str, str]:
    """Return the text of a mail by field, without empty fields.

    Parameters
    ----------
    mail : Mail
        Parsed mail.

    Returns
    -------
    dict of str to str
        The body under "", and "subject", "from", "to", "list", "quoted", "signature",
        "attachments". If a part has plain text and HTML alternatives, the plain text is used
        unless it is blank.
    """
    groups_with_plain_text = {
        group for part in mail.texts if _is_nonblank_plain_text(part) for group in part.alternatives
    }
    body: list[str] = []
    quoted: list[str] = []
    signature: list[str] = []
    for part in mail.texts:
        if part.is_html and not groups_with_plain_text.isdisjoint(part.alternatives):
            continue
        text = html_to_text(part.text) if part.is_html else part.text
        if part.is_forwarded:
            quoted.append(text.strip())
            continue
        reply = split_reply(text)
        body.append(reply.body)
        quoted.append(reply.quoted)
        signature.append(reply.signature)
    headers = mail.headers
    fields = {
        "": "\n".join(filter(None, body)),
        "subject": headers.get("subject", ""),
        "from": headers.get("from", ""),
        "to": _addresses(f"{headers.get('to', '')},{headers.get('cc', '')}"),
        "list": headers.get("list-id", ""),
        "quoted": "\n".join(filter(None, quoted)),
        "signature": "\n".join(filter(None, signature)),
        "attachments": "\n".join(mail.attachments),
    }
    return {name: text for name, text in fields.items() if text}


def _is_nonblank_plain_text(part: TextPart) -> bool:
    return not part.is_html and not part.text.isspace()


def _addresses(text: str) -> str:
    """Return the distinct addresses in a header, without the names of people."""
    words = re.split(r'[\s<>(),;:"]+', text)
    addresses = (word.lower() for word in words if "@" in word.strip("@"))
    return " ".join(dict.fromkeys(addresses))
