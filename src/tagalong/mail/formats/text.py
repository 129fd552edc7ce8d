"""Text of mail: decoding of bytes and headers, HTML to plain text, separation of quotations.

The running time of each function is linear in its input, even for hostile input. The standard
library's `html.parser` does not guarantee that: 100 kB of open tags keep it busy for a minute.
"""

import binascii
import re
from encodings import normalize_encoding
from encodings.aliases import aliases
from functools import lru_cache
from html import unescape
from typing import NamedTuple

__all__ = [
    "Reply",
    "decode_base64",
    "decode_bytes",
    "decode_header",
    "html_to_text",
    "split_reply",
]

_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64))

# Only the codecs of this table are used. A lookup by the interpreter would try an import for every
# unknown name, and would find codecs that are not charsets: compression, escapes, and punycode,
# which is quadratic.
_NOT_CHARSETS = {
    *("base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "uu_codec"),
    *("zlib_codec", "mbcs"),
}
_CODECS = {*aliases.values(), "koi8_u", "koi8_t", "cp720", "cp737", "cp874"} - _NOT_CHARSETS
# Mail often declares a charset but uses a superset of it. The table maps one to the other.
_INTENDED_CHARSETS = {
    "ascii": "utf_8",
    "latin_1": "cp1252",
    "iso8859_9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "tis_620": "cp874",
}

# A tag with few, simple attributes is matched up to its end, any other tag up to its name.
_MARKUP = re.compile(
    r"<(?:(/?)([a-zA-Z][a-zA-Z0-9:-]*)((?:[^<>\"'=]*=\"[^<>\"]*\"){0,20}[^<>\"'=]*>)?|[!?/])"
)
_TAG_END_OR_QUOTE = re.compile(r">|=\s*([\"'])")
_LONG_NUMBER = re.compile(r"&#[0-9]{8,};?")  # no valid character, possibly too long for int()
_BLOCK_NAMES = (
    "address article aside blockquote br center dd div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody tfoot thead tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_CELLS = {"td", "th", "option", "button"}
_HIDDEN_ELEMENTS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.I)
    for name in ("script", "style", "title", "iframe", "noembed", "noframes")
}

_LONGEST_INTRODUCTION = 300
_SIGNATURE_LINES = 40
_SIGNATURE = re.compile(r"-- ?|_{40,60}")  # line above a signature, or above a list footer
_DEVICE = re.compile(
    r"(Sent (from|with|via) |Get Outlook for |Von meine[mr] .*gesendet|Gesendet (von|mit) "
    r"|Envoyé (de|depuis) |Enviado (desde|do|da) |Inviato da |Verzonden (vanaf|met) )"
)
_FORWARD = re.compile(
    r"\s*(?:[-_]{2,} ?(?:original message|forwarded message|ursprüngliche nachricht"
    r"|originalnachricht|weitergeleitete nachricht|message d'origine|message original"
    r"|message transféré|mensaje original|mensaje reenviado|messaggio originale"
    r"|messaggio inoltrato|oorspronkelijk bericht|doorgestuurd bericht|mensagem original"
    r"|mensagem encaminhada|ursprungligt meddelande|oprindelig meddelelse|исходное сообщение"
    r"|пересылаемое сообщение|原始邮件|元のメッセージ)[^\n]{0,80}?[-_]{2,}"
    r"|begin forwarded message:|anfang der weitergeleiteten nachricht:"
    r"|début du message réexpédié :|inicio del mensaje reenviado:)\s*",
    re.I,
)
_FROM_LINE = re.compile(
    r"\s{0,9}\*?(?:From|Von|De|Da|Van|Från|Fra|От|发件人|差出人)\s?[:：]\*?\s", re.I
)
_DATE_LINE = re.compile(
    r"\s{0,9}\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Fecha|Inviato|Data|Verzonden|Skickat"
    r"|Sendt|Отправлено|Дата|发送时间|送信日時)( le| el| em)?\s?[:：]",
    re.I,
)
_ON_DATE = re.compile(r"\s{0,9}(?:On|Am|Le|El|Il|Op|Em|Den|W dniu|Dnia|Dne|В)\s", re.I)
_TIME_OR_ADDRESS = re.compile(r"\d[:.h]\d\d|\S@\S")
_WROTE = re.compile(
    r"(?:\b(?:wrote|writes|schrieb|écrit|escribió|scritto|schreef|escreveu|skrev|pisze"
    r"|napisał(?:\(a\))?|napsal(?:\(a\))?|kirjoitti|yazdı|пишет|написала?|писала?)"
    r"(?: [^\n:]{0,100})?\s?|写道|書きました|さんのメール)[:：]\s*$",
    re.I,
)


def decode_base64(content: bytes) -> bytes:
    """Decode base64; if it is malformed, decode as many valid digits as possible."""
    try:
        return binascii.a2b_base64(content + b"==")
    except binascii.Error:
        digits = content.translate(None, _NOT_BASE64)
        return binascii.a2b_base64(digits[: len(digits) // 4 * 4])


def decode_header(value: bytes) -> str:
    r"""Return the value of a header as one line of text, with encoded words decoded.

    Parameters
    ----------
    value : bytes
        Raw value, which may be folded over several lines.

    Examples
    --------
    >>> decode_header(b"=?iso-8859-1?q?Caf=E9?= =?utf-8?b?w6k=?= at\r\n noon")
    'Caféé at noon'
    """
    text = decode_bytes(value)
    if "=?" in text:
        text = _decode_words(text)
    return " ".join(text.split())


def _decode_words(text: str) -> str:
    pieces: list[str] = []
    charset, run = "", bytearray()
    end = 0
    for word in _ENCODED_WORD.finditer(text):
        gap = text[end : word.start()]
        is_adjacent = end > 0 and not gap.strip()
        # Adjacent encoded words may split a character, so their bytes are joined before decoding.
        if not is_adjacent or word[1].lower() != charset:
            pieces.append(decode_bytes(bytes(run), charset))
            run.clear()
        if not is_adjacent:
            pieces.append(gap)
        charset = word[1].lower()
        content = word[3].encode()
        run += decode_base64(content) if word[2] in "bB" else binascii.a2b_qp(content, header=True)
        end = word.end()
    return "".join([*pieces, decode_bytes(bytes(run), charset), text[end:]])


def decode_bytes(data: bytes, charset: str = "") -> str:
    """Decode bytes in the declared charset, else in UTF-8, else in Windows-1252.

    Parameters
    ----------
    data : bytes
        Bytes to decode.
    charset : str
        Charset that the mail declares, which may be wrong or unknown.

    Examples
    --------
    >>> decode_bytes("né".encode("latin-1"), "utf-8"), decode_bytes("né".encode(), "x-what")
    ('né', 'né')
    """
    codec = _codec(charset)
    for attempt in dict.fromkeys((codec, "utf_8")):
        try:
            return _without_surrogates(data.decode(attempt))
        except (UnicodeError, ValueError):
            continue
    # A few invalid bytes in a long text do not mean that the charset is wrong.
    text = data.decode(codec, "replace")
    if text.count("\ufffd") * 200 > len(text):
        text = data.decode("cp1252", "replace")
    return _without_surrogates(text)


@lru_cache(maxsize=256)
def _codec(charset: str) -> str:
    name = normalize_encoding(charset.partition("*")[0].strip().lower().removeprefix("x-"))
    codec = aliases.get(name, name)
    return _INTENDED_CHARSETS.get(codec, codec) if codec in _CODECS else "utf_8"


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:  # UTF-7 can encode lone surrogates
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def html_to_text(html: str) -> str:
    r"""Return the visible text of HTML, one line per block; quoted lines start with ">".

    Parameters
    ----------
    html : str
        A document or a fragment, well-formed or not.

    Examples
    --------
    >>> html_to_text("<style>p {}</style><p>Fish &amp; <b>chips</b><blockquote>Tea?</blockquote>")
    'Fish & chips\n> Tea?'
    """
    html = html.replace("\n", " ").replace("\0", "")
    pieces: list[str] = []
    quotes = end = 0
    while found := _MARKUP.search(html, end):
        pieces.append(html[end : found.start()])
        is_end, name = found[1], (found[2] or "").lower()
        if found[3]:
            end = found.end()
        elif name:
            end = _end_of_tag(html, found.end())
        else:
            end = _end_of_markup(html, found.start())
        if name == "blockquote":
            quotes = max(0, quotes - 1) if is_end else quotes + 1
        if name in _BLOCKS:
            pieces.append("\n\0" if quotes else "\n")  # NUL marks a quoted line
        elif name in _CELLS:
            pieces.append(" ")
        elif name in _HIDDEN_ELEMENTS and not is_end:
            close = _HIDDEN_ELEMENTS[name].search(html, end)
            end = close.start() if close else len(html)
    pieces.append(html[end:])
    text = unescape(_LONG_NUMBER.sub("\ufffd", "".join(pieces)))
    lines = (
        (line.startswith("\0"), " ".join(line.strip("\0").split())) for line in text.split("\n")
    )
    return "\n".join(f"> {line}" if is_quoted else line for is_quoted, line in lines if line)


def _end_of_markup(html: str, start: int) -> int:
    """Return the end of a comment or declaration."""
    close = "-->" if html.startswith("<!--", start) else ">"
    end = html.find(close, start + 2)
    return end + len(close) if end >= 0 else len(html)


def _end_of_tag(html: str, at: int) -> int:
    """Return the end of a tag whose name ends at `at`: after the first ">" outside of quotes."""
    while found := _TAG_END_OR_QUOTE.search(html, at):
        at = found.end()
        if found[1] is None:
            return at
        close = html.find(found[1], at)
        # An unclosed quote is an ordinary character. Each of the two kinds can be unclosed only
        # once, since no quote of that kind follows: the search stays linear.
        at = close + 1 if close >= 0 else at
    return len(html)


class Reply(NamedTuple):
    """Text of a mail in three parts: body, quoted or forwarded text, and signature."""

    body: str
    quoted: str
    signature: str


def split_reply(text: str) -> Reply:
    r"""Split the text of a mail into body, quoted text and signature.

    Parameters
    ----------
    text : str
        Plain text. These lines are quoted: lines that start with ">", the line that introduces them
        ("On Monday, Ann wrote:"), and a line such as "-----Original Message-----" with all lines
        after it.

    Examples
    --------
    >>> split_reply("Yes.\n-- \nAnn\n\nOn 3 May, Bob wrote:\n> Lunch?\n")
    Reply(body='Yes.', quoted='On 3 May, Bob wrote:\nLunch?', signature='Ann')
    """
    lines = text.split("\n")
    body: list[str] = []
    quoted: list[str] = []
    signature: list[str] = []
    own_lines: list[str] = []  # lines of the sender since the last quotation
    at = 0
    while at < len(lines):
        count = _quoted_lines(lines, at)
        if count == 0:
            own_lines.append(lines[at])
            at += 1
            continue
        _split_signature(own_lines, body, signature)
        quoted += [line.lstrip("> ") for line in lines[at : at + count]]
        at += count
    _split_signature(own_lines, body, signature)
    return Reply(*("\n".join(part).strip() for part in (body, quoted, signature)))


def _quoted_lines(lines: list[str], at: int) -> int:
    """Return the number of lines, starting at line `at`, that are certainly quoted."""
    line = lines[at]
    if line.startswith((">", " >")):
        return 1
    if not line or len(line) > _LONGEST_INTRODUCTION:
        return 0
    if (":" in line or line.lstrip().startswith(("-", "_"))) and (
        _FORWARD.fullmatch(line)
        or (_FROM_LINE.match(line) and any(map(_DATE_LINE.match, lines[at + 1 : at + 5])))
    ):
        return len(lines) - at
    # An introduction ("On Monday, Ann wrote:") may be wrapped over up to three lines.
    for length in (1, 2, 3) if _ON_DATE.match(line) else (1,):
        if lines[at + length - 1 : at + length] and _ends_with_colon(lines[at + length - 1]):
            joined = " ".join(lines[at : at + length])
            if len(joined) > _LONGEST_INTRODUCTION or not _WROTE.search(joined):
                return 0
            if _is_quote_next(lines, at + length):
                return length
            return len(lines) - at if _TIME_OR_ADDRESS.search(joined) else 0
    return 0


def _ends_with_colon(line: str) -> bool:
    return line.rstrip().endswith((":", "："))


def _is_quote_next(lines: list[str], at: int) -> bool:
    """Whether the first nonblank line of the next three is quoted."""
    for line in lines[at : at + 3]:
        if line.strip():
            return line.startswith((">", " >"))
    return False


def _split_signature(own_lines: list[str], body: list[str], signature: list[str]) -> None:
    """Move the sender's lines to body and signature."""
    while own_lines and not own_lines[-1].strip():
        own_lines.pop()
    first = max(0, len(own_lines) - 1 - _SIGNATURE_LINES)
    for at in range(first, len(own_lines)):
        if _SIGNATURE.fullmatch(own_lines[at]):
            signature += own_lines[at + 1 :]
            del own_lines[at:]
            break
    else:
        if own_lines and _DEVICE.match(own_lines[-1]):
            signature.append(own_lines.pop())
    body += own_lines
    own_lines.clear()
