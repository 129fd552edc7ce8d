"""Targets of fuzzing: functions of any bytes that must end without an undocumented error.

A reader yields valid items and errors that name file and line. The functions below it, which parse
mail, headers and dates, raise nothing at all.
"""

import bz2
import gzip
import io
import lzma
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from tagalong.mail.formats.dates import envelope_date, parse_mail_date
from tagalong.mail.formats.folders import decode_imap_utf7, mail_item
from tagalong.mail.formats.header_parameters import file_name, parse_structure
from tagalong.mail.formats.maildir import delivery_time
from tagalong.mail.formats.mbox import read_mbox
from tagalong.mail.formats.mime import parse_mail
from tagalong.mail.formats.text import decode_bytes, decode_header, html_to_text, split_reply
from tagalong.readers import Item, ReadError
from tagalong.readers.dates import parse_date_or_none
from tests.readers.in_memory import found, written

__all__ = ["FILES", "HEADER", "OPTIONS", "PIECES", "TARGETS", "Target", "check_file", "check_item"]

HEADER = (
    b"@relation 'x: -C 2'\n@attribute a {0,1}\n@attribute 'b c' {1,0}\n@attribute n numeric\n"
    b"@attribute c {red,'dark blue'}\n@attribute s string\n@data\n"
)
PARQUET = written([Item("i", "text", {"n": 1.0}, ("a",)), Item("j", "more", {}, None)], "parquet")
FILES: dict[str, bytes] = {
    "jsonl": b'{"id": 1, "text": {"a": "b"}, "labels": ["x"], "features": {"n": 1.5, "c": "\\u00e4"'
    b', "l": ["m"]}, "weight": 2}\n{"text": "\xc3\xa4", "labels": null}\n',
    "csv": b'id,text,labels,n\n1,"a ""b""\nc","x,y",3\n2,plain,,red\n',
    "tsv": b'id\ttext\tlabels\tn\n1\ta\tx,y\t3\n2\t"b\tc"\t\t\n',
    "svmlight": b"1,5 3:0.5 7:1e3 # doc\n 2:1\n4:2\n\n# nothing\nx 1:-1\n",
    "vw": b"a,b 2.0 'tag |ns:2 x y:3 |t z\n| x\n1 | a:1 b\n",
    "fasttext": b"__label__a __label__b text\nmore text\n__label__c\n",
    "arff": HEADER + b"1,0,2.5,red,'a, \\'b'\n{0 1, 3 'dark blue'}, {2}\n?,1,?,red,\"x\"\n",
    "parquet": PARQUET[0],
}
OPTIONS: dict[str, dict[str, Any]] = {"csv": {"features": "n"}, "tsv": {"features": "n"}}
ARRAY = b'[{"text": "a", "labels": ["x"]},\n {"text": "b\\u0041", "date": "2024-01-01"}]\n'
DATED = b"text,labels,date\na,x,2024-01-05T10:30:00+01:00\nb,y,5 Jan 2024\nc,z,1700000000\n"
MESSAGE = (
    b"From: =?utf-8?q?Ann_=C3=84?= <ann@example.org>\r\nTo: bob@example.org, c@d\r\n"
    b"Subject: =?utf-8?b?w6TDtg==?= =?iso-8859-1?q?=E9?=\r\n re: lunch\r\n"
    b"Date: Fri, 5 Jan 2024 10:30:00 +0100\r\nMessage-ID: <1@here>\r\nList-Id: <l.example.org>\r\n"
    b'X-Gmail-Labels: Inbox,"a, b",Work\r\nX-Mozilla-Keys: $label1 Entw&APw-rfe\r\n'
    b'Content-Type: multipart/mixed; boundary="b1"\r\n\r\npreamble\r\n--b1\r\n'
    b"Content-Type: multipart/alternative; boundary=b2\r\n\r\n--b2\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n"
    b"\r\nYes =C3=A4.\r\n-- \r\nAnn\r\n\r\nOn 3 May, Bob wrote:\r\n> Lunch?\r\n--b2\r\n"
    b"Content-Type: text/html; charset=latin-1\r\n\r\n<p>Yes &amp; <b>no</b><blockquote>Tea?\r\n"
    b"--b2--\r\n--b1\r\nContent-Type: application/pdf; name*0*=utf-8''a%20; name*1=b.pdf\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--b1\r\n"
    b"Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ntext\r\n--b1--\r\n"
)
MBOX = (
    b"From ann@example.org Mon Jan  1 10:00:00 2024\n" + MESSAGE.replace(b"\r\n", b"\n") + b"\n"
    b"From bob Tue Jan  2 10:00:00 2024\nSubject: two\nX-Mozilla-Status: 0009\n\n>From here\n\n"
    b"From c@d Wed Jan  3 10:00:00 2024\nSubject: three\n\nend\n"
)
COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd")
PLACE = re.compile(r"f:\d+: ", re.DOTALL)
PIECES = [b"\n", b"\r", b'"', b"'", b",", b":", b"|", b"{", b"}", b"[", b"#", b"\\", b"\0", b" "]
PIECES += [b"\xff", b"\xe2\x82", b"\xef\xbb\xbf", b"nan", b"1e999", b"9" * 30, b"?", b"@data", b"-"]
PIECES += [b"\\ud800", b"\xf0\x9f\xa7\x80", b"\xff\xfe", b"=?utf-8?b?", b"?=", b"--b1", b";", b"="]
PIECES += [b"&#1114112;", b"<!--", b"&AP", b"\nFrom ", b"-999999999", b"99:99:99", b"%ff", b"''"]


@dataclass(frozen=True)
class Target:
    """A function of bytes, and valid bytes to begin with.

    Parameters
    ----------
    seed : bytes
        Valid input.
    check : callable
        Function that raises AssertionError, or lets an undocumented error through, at a fault.
    """

    seed: bytes
    check: Callable[[bytes], None]


def check_file(data: bytes, format: str, **options: Any) -> None:
    """Check what the reader of a format makes of a file, and that it never loses its place."""
    last = 0
    for each in found(data, format, **{**OPTIONS.get(format, {}), **options}):
        if isinstance(each, ReadError):
            assert PLACE.match(str(each)), each
        else:
            check_item(each)
        line = int(each.place.removeprefix("f:"))
        assert last <= line, (last, each)
        last = line
    if format != "parquet" and "encoding" not in options and not data.startswith(COMPRESSED):
        assert last <= data.count(b"\n") + 1


def check_item(item: Item) -> None:
    """Check that an item is one that every writer and learner accepts."""
    assert isinstance(item.id, str)
    texts = [item.text] if isinstance(item.text, str) else [*item.text, *item.text.values()]
    for text in [item.id, *texts, *item.features, *(item.labels or ())]:
        assert isinstance(text, str)
        text.encode()
    assert all(item.labels or ())
    assert len(set(item.labels or ())) == len(item.labels or ())
    for value in item.features.values():
        assert isinstance(value, str) or (isinstance(value, float) and value - value == 0.0)
    assert 0.0 <= item.weight < float("inf")


def _check_mbox(data: bytes) -> None:
    seen: list[Item | ReadError] = []
    try:
        seen.extend(read_mbox(io.BytesIO(data), "f"))
    except ReadError as error:
        seen.append(error)
    for each in seen:
        if isinstance(each, Item):
            assert re.fullmatch(r"f:\d+", each.place)
            check_item(each)
        else:
            assert PLACE.match(str(each)), each


def _check_message(data: bytes) -> None:
    check_item(mail_item(parse_mail(data), "key", ("label",), "place"))


def _check_parameters(data: bytes) -> None:
    kind, parameters = parse_structure(data)
    assert kind == kind.lower()
    for key in ("name", "filename"):
        file_name(parameters, key).encode()


def _check_header(data: bytes) -> None:
    decode_header(data).encode()
    decode_imap_utf7(data.decode("latin-1")).encode()


def _check_name(data: bytes) -> None:
    name = os.fsdecode(data.replace(b"/", b"").replace(b"\0", b"") or b"x")
    assert isinstance(delivery_time(Path("cur", name)), (int, float))


def _check_date(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for date in (parse_mail_date(text), envelope_date(b"From x " + data), parse_date_or_none(text)):
        assert date is None or date.isoformat()


def _check_text(data: bytes) -> None:
    text = decode_bytes(data, "utf-8")
    html_to_text(text).encode()
    for part in split_reply(text):
        part.encode()


def _file_target(seed: bytes, format: str, **options: Any) -> Target:
    return Target(seed, lambda data: check_file(data, format, **options))


TARGETS: Mapping[str, Target] = {
    **{format: _file_target(seed, format) for format, seed in FILES.items()},
    "json array": _file_target(ARRAY, "jsonl"),
    "json keys": _file_target(
        ARRAY, "jsonl", text=("text", "a.b"), labels=("labels", "l"), date="date"
    ),
    "utf-16": _file_target(FILES["jsonl"].decode().encode("utf-16"), "jsonl", encoding="utf-16"),
    "short lines": _file_target(FILES["csv"], "csv", max_line=12),
    "csv dates": _file_target(DATED, "csv", date="date"),
    "csv indicators": _file_target(
        b"text,a,b\nx,1,0\ny,,1\n", "csv", labels=("a", "b"), indicators=True
    ),
    "arff rows": Target(b"1,0,2.5,red,'a'\n", lambda data: check_file(HEADER + data, "arff")),
    "gzip": _file_target(gzip.compress(FILES["jsonl"] * 9, mtime=0), "jsonl"),
    "bz2": _file_target(bz2.compress(FILES["jsonl"] * 9), "jsonl"),
    "xz": _file_target(lzma.compress(FILES["jsonl"] * 9), "jsonl"),
    "zst": _file_target(zstandard.ZstdCompressor().compress(FILES["jsonl"] * 9), "jsonl"),
    "mbox": Target(MBOX, _check_mbox),
    "message": Target(MESSAGE, _check_message),
    "parameters": Target(b'a/b; name*0*=utf-8\'\'a%20; name*1="b\\".pdf"; x=y', _check_parameters),
    "header": Target(b"=?utf-8?q?caf=C3=A9?= =?x?b?w6k=?=\n Entw&APw-rfe", _check_header),
    "message file": Target(b"1700000000.M1P2.host,S=3:2,FS", _check_name),
    "date": Target(b"Fri, 5 Jan 2024 10:30:00 +0100 (CET)", _check_date),
    "text": Target(
        b"<p>a &amp; b</p>\n> quoted\n-- \nAnn\nOn 3 May, Bob wrote:\n> Hi", _check_text
    ),
}
