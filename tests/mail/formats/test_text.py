"""Text of mail: charsets, encoded words, HTML, and separation of quotations."""

import re
from email.header import Header
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong.mail.formats.text import (
    decode_base64,
    decode_bytes,
    decode_header,
    html_to_text,
    split_reply,
)

LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"])


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-7", "gb18030"])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\ufeff")))
def test_round_trip_through_charsets(charset: str, text: str) -> None:
    assert decode_bytes(text.encode(charset), charset) == text


@pytest.mark.parametrize(
    "data, charset, text",
    [
        (b"caf\xe9", "utf-8", "café"),
        ("café".encode(), "us-ascii", "café"),
        ("café".encode(), "x-unknown", "café"),
        (b"\x93quoted\x94 \x80", "iso-8859-1", "“quoted” €"),
        ("привет".encode("koi8-r"), "KOI8-R", "привет"),
        ("привет".encode("cp1251"), "windows-1251", "привет"),
        ("日本".encode("cp932"), "x-sjis", "日本"),
        ("日本".encode("iso2022_jp"), "ISO-2022-JP", "日本"),
        ("한글".encode("cp949"), "ks_c_5601-1987", "한글"),
        (b"abc", "punycode", "abc"),
        (b"abc", "zlib", "abc"),
        (b"abc", "\x00../..\u20ac", "abc"),
        (b"x" * 999 + b"\xc3", "utf-8", "x" * 999 + "\ufffd"),
    ],
)
def test_wrong_or_unknown_charsets(data: bytes, charset: str, text: str) -> None:
    assert decode_bytes(data, charset) == text


@given(st.binary(), st.sampled_from(["utf-7", "utf-16", "utf-32", "gb2312", "hz", "euc-jp", "x"]))
def test_decoded_text_is_valid_unicode(data: bytes, charset: str) -> None:
    decode_bytes(data, charset).encode()


def test_lone_surrogates_from_utf_7_are_replaced() -> None:
    assert decode_bytes(b"a+2AA-b", "utf-7") == "a\ufffdb"


@settings(max_examples=60)
@given(st.text(LETTERS, max_size=200).filter(lambda text: "=?" not in text))
def test_decodes_headers_written_by_the_standard_library(text: str) -> None:
    written = Header(text, "utf-8", header_name="Subject").encode(linesep="\r\n")
    assert decode_header(written.encode("ascii")).split() == text.split()


@pytest.mark.parametrize(
    "value, text",
    [
        (b"a =?utf-8?q?b_c?= d", "a b c d"),
        (b"=?utf-8?q?a?=\r\n =?utf-8?q?b?=", "ab"),
        (b"=?utf-8?b?5pc=?= =?utf-8?b?pQ==?=", "日"),
        (b"=?utf-8*en?Q?hi?=", "hi"),
        (b"=?what?q?hi?=", "hi"),
        (b"=?utf-8?x?hi?=", "=?utf-8?x?hi?="),
        (b"=?utf-8?b?YWJj!Z?=", "abc"),
        (b"=?utf-8?q?open", "=?utf-8?q?open"),
        ("Grüße".encode(), "Grüße"),
        ("Grüße".encode("latin-1"), "Grüße"),
        (b"", ""),
    ],
)
def test_encoded_words(value: bytes, text: str) -> None:
    assert decode_header(value) == text


@pytest.mark.parametrize(
    "content, data",
    [(b"YWJj", b"abc"), (b"YW\n Jj", b"abc"), (b"YWJ", b"ab"), (b"YWJjZ", b"abc"), (b"", b"")],
)
def test_malformed_base64_is_decoded_as_far_as_possible(content: bytes, data: bytes) -> None:
    assert decode_base64(content) == data


@pytest.mark.parametrize(
    "html, text",
    [
        ("", ""),
        ("a < b & c", "a < b & c"),
        ("x<br>y<BR/>z", "x\ny\nz"),
        ("<p>a\n b\t c</p><p>d</p>", "a b c\nd"),
        ("a<script>if (a<b) '</p>'</script>b<style>p{}</STYLE >c", "abc"),
        ("a<!-- <p>hidden</p> -->b<!--[if mso]>x<![endif]-->c<!-->d", "abcd"),
        ("<!doctype html><?xml x?><title>T</title><body>a", "a"),
        ("<a title=\"5 > 3\" href='>'>x</a>", "x"),
        ('<a title="never closed>x</a> y', "x y"),
        ("<b>bold</b>er &eacute;&#8364;&nbsp;&lt;p&gt;", "bolder é€ <p>"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
        ("a<blockquote>b<br>c<blockquote>d</blockquote></blockquote>e", "a\n> b\n> c\n> d\ne"),
        ("</blockquote>a", "a"),
        ("a<script>never closed", "a"),
        ("&#99999999999;&#xD800;", "\ufffd\ufffd"),
        ("<o:p>x</o:p><", "x<"),
    ],
)
def test_visible_text_of_html(html: str, text: str) -> None:
    assert html_to_text(html) == text


class Words(HTMLParser):
    """Reference for well-formed HTML: the standard library's parser."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.found.append(data)


TEXTS = st.text(st.sampled_from("abü <>&\"'=\n日")).map(escape)
ATTRIBUTES = st.lists(st.tuples(st.sampled_from(["a", "href", "data-x"]), TEXTS), max_size=3)
QUOTES = st.sampled_from("\"'")


@st.composite
def well_formed(draw: st.DrawFn, depth: int = 3) -> str:
    pieces = [draw(TEXTS)]
    for _ in range(draw(st.integers(0, 2 if depth else 0))):
        name, quote = draw(st.sampled_from(["b", "i", "span", "EM"])), draw(QUOTES)
        attributes = "".join(f" {key}={quote}{value}{quote}" for key, value in draw(ATTRIBUTES))
        inside = draw(well_formed(depth - 1))
        pieces += [f"<{name}{attributes}>{inside}</{name}>", draw(TEXTS)]
    return "".join(pieces)


@settings(max_examples=60)
@given(well_formed())
def test_html_to_text_agrees_with_the_standard_library(html: str) -> None:
    assert html_to_text(html).split() == "".join(Words(html).found).split()


@given(st.text(st.sampled_from("<>/!-ab =\"'&;#x1\n")))
def test_arbitrary_html_does_not_raise(html: str) -> None:
    html_to_text(html)


@pytest.mark.parametrize(
    "introduction",
    [
        "On Mon, 3 Jan 2022 at 10:00, Bob <bob@example.org> wrote:",
        "On Mon, 3 Jan 2022 at 10:00, Bob\n<bob@example.org>\nwrote:",
        "Am 03.01.22 um 10:00 schrieb Bob Müller:",
        "Le lun. 3 janv. 2022 à 10:00, Bob a écrit :",
        "El lun, 3 ene 2022 a las 10:00, Bob escribió:",
        "Il giorno lun 3 gen 2022 alle ore 10:00 Bob ha scritto:",
        "Op ma 3 jan. 2022 om 10:00 schreef Bob:",
        "Em seg., 3 de jan. de 2022 10:00, Bob escreveu:",
        "Den mån 3 jan. 2022 kl 10:00 skrev Bob:",
        "пн, 3 янв. 2022 г. в 10:00, Bob <bob@example.org> пишет:",
        "2022年1月3日 10:00，Bob 写道：",
    ],
)
def test_the_introduction_of_a_quotation_is_quoted(introduction: str) -> None:
    text = f"Yes.\n\n{introduction}\n> Lunch?\n\nAt one."
    assert split_reply(text) == ("Yes.\n\nAt one.", f"{introduction}\nLunch?", "")
    assert split_reply(f"Yes.\n\n{introduction}\n\nLunch?").quoted.endswith("Lunch?")


@pytest.mark.parametrize(
    "text, body, quoted, signature",
    [
        ("", "", "", ""),
        ("a\n> b\nc\n>> d", "a\nc", "b\nd", ""),
        ("a\n-- \nAnn\n0123", "a", "", "Ann\n0123"),
        ("a\n--\nAnn", "a", "", "Ann"),
        ("a\n-- \nAnn\n\n> b\nc", "a\nc", "b", "Ann"),
        ("a\nSent from my iPhone\n", "a", "", "Sent from my iPhone"),
        ("a\n" + "_" * 47 + "\nlist footer", "a", "", "list footer"),
        (
            "a\n-----Original Message-----\nFrom: b\n\nc",
            "a",
            "-----Original Message-----\nFrom: b\n\nc",
            "",
        ),
        ("a\nVon: B\nGesendet: heute\nAn: C\n\nc", "a", "Von: B\nGesendet: heute\nAn: C\n\nc", ""),
        (
            "a\n---------- Forwarded message ---------\nb",
            "a",
            "---------- Forwarded message ---------\nb",
            "",
        ),
        ("On page 5 he wrote:\nnothing", "On page 5 he wrote:\nnothing", "", ""),
        ("From: me\nwith love", "From: me\nwith love", "", ""),
        ("-- \n" + "a\n" * 60, "-- \n" + "a\n" * 59 + "a", "", ""),
    ],
)
def test_reply_is_split_into_body_quotation_and_signature(
    text: str, body: str, quoted: str, signature: str
) -> None:
    assert split_reply(text) == (body, quoted, signature)


LINES = ["a", "", "> b", ">> c", "-- ", "On 1 May at 10:00, d wrote:", "On 2 May", "wrote:"]
LINES += ["From: e", "Date: f", "---- original message ----", "Sent from g", "_" * 47, " > h"]


@given(st.lists(st.sampled_from(LINES)))
def test_splitting_loses_no_word(lines: list[str]) -> None:
    parts = split_reply("\n".join(lines))
    words = re.findall(r"\w*[a-zA-Z0-9]\w*", "\n".join(lines))
    found = re.findall(r"\w*[a-zA-Z0-9]\w*", "\n".join(parts))
    assert sorted(found) == sorted(words)
