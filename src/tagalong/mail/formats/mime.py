"""Parser of mail into headers, text parts and names of attachments, within fixed limits.

The standard library's parser recurses into nested parts and is quadratic in places: a small hostile
mail keeps it busy for minutes. This parser uses an explicit stack and reads each byte a bounded
number of times. When it reaches a limit, it keeps the parts read so far and ignores the rest. It
raises no exception for any input.
"""

import binascii
import re
from dataclasses import dataclass, field

from tagalong.mail.formats.header_parameters import file_name, file_types, parse_structure
from tagalong.mail.formats.text import decode_base64, decode_bytes, decode_header

__all__ = ["Mail", "TextPart", "parse_mail"]

# Limits. Ordinary mail stays far below each of them.
HEADER_BYTES = 256_000  # of all headers of a message or part
VALUE_BYTES = 32_000  # of one header
PARTS = 1_000  # in total, over all levels
DEPTH = 16  # of nested parts
SCANNED_BYTES = 30_000_000  # searched for part boundaries, over all levels
TEXT_BYTES = 500_000  # of text before decoding, in all parts
ATTACHMENTS = 100  # with names that are kept
ATTACHMENT_TYPES = 20  # that are kept

_USED_HEADERS = {
    *(b"subject", b"from", b"to", b"cc", b"message-id", b"list-id", b"date", b"received"),
    *(b"content-type", b"content-transfer-encoding", b"content-disposition"),
    *(b"x-gmail-labels", b"x-mozilla-keys", b"x-mozilla-status"),
}
_ENVELOPE = re.compile(rb"(?:>?From [^\n]*\n)+")
_HEADER = re.compile(rb"([!-9;-~]++)[ \t]*:([^\n]*+(?:\n[ \t][^\n]*+)*+)\n?")
_BLANK_LINE = re.compile(rb"\n\r?\n")
_META_CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?([\w-]{1,40})", re.I)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text part of a mail.

    Parameters
    ----------
    text : str
        Decoded text with LF line ends.
    is_html : bool
        Whether the text is HTML; otherwise it is plain text.
    is_forwarded : bool
        Whether the part belongs to an embedded message.
    alternatives : tuple of int
        Numbers of the multipart/alternative groups that contain the part.
    """

    text: str
    is_html: bool = False
    is_forwarded: bool = False
    alternatives: tuple[int, ...] = ()


@dataclass(slots=True)
class Mail:
    """Parsed mail.

    Parameters
    ----------
    headers : dict of str to str
        Decoded headers that Tagalong uses, by lower-case name; the first of each name counts.
    texts : list of TextPart
        Text parts in the order of the mail.
    attachments : list of str
        Names of attached files, including those in embedded messages.
    attachment_types : list of str
        Distinct types of these files and of other parts that are not text, such as "pdf".
    """

    headers: dict[str, str] = field(default_factory=dict)
    texts: list[TextPart] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    attachment_types: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Region:
    """Message or part to parse: the bytes of `data` from `start` to `end`."""

    data: bytes
    start: int
    end: int
    depth: int = 0
    default_kind: str = "text/plain"
    is_message: bool = False
    is_forwarded: bool = False
    alternatives: tuple[int, ...] = ()


def parse_mail(data: bytes) -> Mail:
    r"""Parse a message.

    Parameters
    ----------
    data : bytes
        Message with its headers; line ends are LF or CRLF.

    Examples
    --------
    >>> mail = parse_mail(b"Subject: =?utf-8?q?caf=C3=A9?=\n\nAt noon?\n")
    >>> mail.headers["subject"], mail.texts[0].text
    ('café', 'At noon?\n')
    """
    parser = _Parser(data)
    parser.run()
    return parser.mail


class _Parser:
    def __init__(self, data: bytes):
        envelope = _ENVELOPE.match(data)
        start = envelope.end() if envelope else 0
        self.mail = Mail()
        self._waiting = [_Region(data, start, len(data), is_message=True)]
        self._parts_left = PARTS
        self._text_left = TEXT_BYTES
        self._scans_left = SCANNED_BYTES
        self._groups = 0

    def run(self) -> None:
        """Parse all parts depth-first, in the order of the message."""
        while self._waiting and self._parts_left > 0:
            self._parts_left -= 1
            region = self._waiting.pop()
            headers, body = _headers(region)
            if region.is_message:
                self._message(region, headers)
            kind, parameters = parse_structure(headers.get("content-type", b""))
            kind = kind if "/" in kind else region.default_kind
            if kind.startswith("multipart/"):
                self._multipart(region, body, kind, parameters)
            else:
                self._leaf(region, headers, body, kind, parameters)

    def _message(self, region: _Region, headers: dict[str, bytes]) -> None:
        decoded = {
            name: decode_header(value)
            for name, value in headers.items()
            if not name.startswith("content-")
        }
        if not region.is_forwarded:
            self.mail.headers = decoded
            return
        lines = [decoded[name] for name in ("subject", "from") if decoded.get(name)]
        self.mail.texts.append(TextPart("\n".join(lines), is_forwarded=True))

    def _multipart(self, region: _Region, body: int, kind: str, parameters: dict[str, str]) -> None:
        self._scans_left -= region.end - body
        if region.depth >= DEPTH or self._scans_left < 0:
            return
        boundary = parameters.get("boundary", "").rstrip().encode("latin-1")
        spans = _split(region, body, boundary, self._parts_left)
        if not spans:  # No boundary was found: keep the whole body as text.
            self._text(region, body, b"", "", is_html=False)
            return
        alternatives = region.alternatives
        if kind == "multipart/alternative":
            self._groups += 1
            alternatives = (*alternatives, self._groups)
        default = "message/rfc822" if kind == "multipart/digest" else "text/plain"
        self._waiting += [
            _Region(
                data=region.data,
                start=start,
                end=end,
                depth=region.depth + 1,
                default_kind=default,
                is_forwarded=region.is_forwarded,
                alternatives=alternatives,
            )
            for start, end in reversed(spans)
        ]

    def _leaf(
        self,
        region: _Region,
        headers: dict[str, bytes],
        body: int,
        kind: str,
        parameters: dict[str, str],
    ) -> None:
        disposition, disposition_parameters = parse_structure(
            headers.get("content-disposition", b"")
        )
        name = file_name(disposition_parameters, "filename") or file_name(parameters, "name")
        is_text = kind in ("text/plain", "text/html")
        # Some programs give the body a file name: the first text part is an attachment only if its
        # disposition says so.
        if disposition == "attachment" or (name and (self.mail.texts or not is_text)):
            if name and len(self.mail.attachments) < ATTACHMENTS:
                self.mail.attachments.append(name)
            is_text = False
        if not is_text and kind != "message/rfc822":
            self._add_types(file_types(kind, name))
        encoding = headers.get("content-transfer-encoding", b"").strip().lower()
        if kind == "message/rfc822" and region.depth < DEPTH:
            self._waiting.append(_inner_message(region, body, encoding))
        elif is_text:
            self._text(region, body, encoding, parameters.get("charset", ""), kind == "text/html")

    def _add_types(self, types: list[str]) -> None:
        known = self.mail.attachment_types
        known += [each for each in types if each not in known]
        del known[ATTACHMENT_TYPES:]

    def _text(
        self, region: _Region, body: int, encoding: bytes, charset: str, is_html: bool
    ) -> None:
        content = region.data[body : min(region.end, body + self._text_left)]
        self._text_left -= len(content)
        content = _decode_transfer(content, encoding)
        if is_html and not charset:
            meta = _META_CHARSET.search(content, 0, 2_000)
            charset = meta[1].decode("ascii") if meta else ""
        text = decode_bytes(content, charset).replace("\r\n", "\n").replace("\r", "\n")
        if text:
            part = TextPart(text, is_html, region.is_forwarded, region.alternatives)
            self.mail.texts.append(part)


def _headers(region: _Region) -> tuple[dict[str, bytes], int]:
    """Return the used headers of a region, not decoded, and the start of its body."""
    data, at, end = region.data, region.start, region.end
    last = min(end, at + HEADER_BYTES)
    found: dict[str, bytes] = {}
    while header := _HEADER.match(data, at, last):
        name = header[1].lower()
        if name in _USED_HEADERS:
            start = header.start(2)
            value = data[start : min(header.end(2), start + VALUE_BYTES)]
            found.setdefault(name.decode("ascii"), value)
        at = header.end()
    if at >= last < end:  # Too many headers: ignore the rest.
        blank = _BLANK_LINE.search(data, last - 1, end)
        return found, blank.end() if blank else end
    if data.startswith((b"\n", b"\r\n"), at, end):
        at = data.index(b"\n", at) + 1
    return found, min(at, end)


def _split(region: _Region, body: int, boundary: bytes, most: int) -> list[tuple[int, int]]:
    """Return start and end of each part of a multipart body."""
    if not boundary:
        return []
    delimiter = re.compile(rb"\n--" + re.escape(boundary) + rb"(--)?[ \t]*\r?(?:\n|\Z)")
    spans: list[tuple[int, int]] = []
    start = -1
    # The line end before a delimiter is part of it. The line end after a delimiter may also be the
    # line end before the next one.
    at = max(body - 1, 0)
    while len(spans) < most and (found := delimiter.search(region.data, at, region.end)):
        if start >= 0:
            spans.append((start, max(start, found.start())))
        start = -1 if found[1] else found.end()
        if found[1]:
            break
        at = found.end() - 1
    if start >= 0 and len(spans) < most:
        spans.append((start, region.end))
    return spans


def _inner_message(region: _Region, body: int, encoding: bytes) -> _Region:
    data, start, end = region.data, body, region.end
    if encoding in (b"base64", b"quoted-printable"):
        data = _decode_transfer(data[start : min(end, start + TEXT_BYTES)], encoding)
        start, end = 0, len(data)
    return _Region(
        data=data,
        start=start,
        end=end,
        depth=region.depth + 1,
        is_message=True,
        is_forwarded=True,
        alternatives=region.alternatives,
    )


def _decode_transfer(content: bytes, encoding: bytes) -> bytes:
    if encoding == b"base64":
        return decode_base64(content)
    if encoding == b"quoted-printable":
        return binascii.a2b_qp(content)
    return content
