"""The MIME parser: agreement with the standard library's `email`, damaged mail, limits."""

from email import message_from_bytes
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong.mail.formats import mime
from tagalong.mail.formats.fields import mail_fields
from tagalong.mail.formats.mime import parse_mail

TEXT = st.text(st.sampled_from("abc äöß日\n.:-> "), max_size=80)
WORDS = st.lists(st.text(st.sampled_from("abcäß日€,\"'"), min_size=1, max_size=20), max_size=8)


def fields(data: bytes) -> dict[str, str]:
    return mail_fields(parse_mail(data))


@settings(max_examples=60)
@given(WORDS, TEXT, st.sampled_from(["7bit", "8bit", "quoted-printable", "base64"]), st.booleans())
def test_reads_mail_written_by_the_standard_library(
    words: list[str], body: str, encoding: str, crlf: bool
) -> None:
    made = EmailMessage()
    made["Subject"] = " ".join(words)
    made.set_content(body, cte="quoted-printable" if encoding == "7bit" else encoding)
    data = made.as_bytes()
    mail = parse_mail(data.replace(b"\n", b"\r\n") if crlf else data)
    # The library drops some spaces between encoded words.
    assert mail.headers["subject"].replace(" ", "") == "".join(words)
    assert "".join(part.text for part in mail.texts).rstrip("\n") == body.rstrip("\n")


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> MIMEText | MIMEMultipart:
    if depth == 0 or draw(st.booleans()):
        made = MIMEText(draw(st.text(st.sampled_from("ab é-\n"), max_size=20)), "plain", "utf-8")
        if draw(st.booleans()):
            made.add_header("Content-Disposition", "attachment", filename=draw(FILE_NAMES))
        return made
    parts = draw(st.lists(trees(depth - 1), max_size=3))
    return MIMEMultipart(draw(st.sampled_from(["mixed", "related"])), _subparts=parts)


FILE_NAMES = st.sampled_from(["a.txt", "b c.pdf", "größe.txt", 'say "hi".doc'])


@settings(max_examples=60)
@given(trees())
def test_parts_agree_with_the_standard_library(tree: MIMEText) -> None:
    data = tree.as_bytes()
    texts, names = [], []
    for part in message_from_bytes(data).walk():
        if part.get_content_disposition() == "attachment":
            names.append(part.get_filename())
        elif not part.is_multipart() and part.get_content_maintype() == "text":
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            texts.append(content.decode())
    mail = parse_mail(data)
    assert [part.text for part in mail.texts if part.text.strip()] == list(filter(str.strip, texts))
    assert [" ".join((name or "").split()) for name in names] == mail.attachments


def test_plain_text_is_preferred_unless_it_is_blank() -> None:
    made = EmailMessage()
    made.set_content("plain\n")
    made.add_alternative("<p>rich</p>", subtype="html")
    made.add_attachment(b"x", maintype="image", subtype="png", filename="fig.png")
    assert fields(made.as_bytes()) == {"": "plain", "attachments": "fig.png"}
    blank = EmailMessage()
    blank.set_content("\n")
    blank.add_alternative("<p>rich</p>", subtype="html")
    assert fields(blank.as_bytes()) == {"": "rich"}
    html_first = (
        b"Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n"
    )
    assert fields(html_first + b"<p>rich\n--b\n\nplain\n--b--\n") == {"": "plain"}


def test_an_embedded_message_is_quoted_text() -> None:
    inner = EmailMessage()
    inner["Subject"] = "Grüße"
    inner["From"] = "bob@example.org"
    inner.set_content("their words\n")
    inner.add_attachment(b"x", maintype="image", subtype="png", filename="in.png")
    made = EmailMessage()
    made["Subject"] = "FYI"
    made.set_content("mine\n-- \nAnn")
    made.add_attachment(inner)
    assert fields(made.as_bytes()) == {
        "": "mine",
        "subject": "FYI",
        "quoted": "Grüße\nbob@example.org\ntheir words",
        "signature": "Ann",
        "attachments": "in.png",
    }


@pytest.mark.parametrize(
    "header, name",
    [
        ("attachment; filename=a.txt", "a.txt"),
        ('attachment; filename="a \\"b\\".txt"', 'a "b".txt'),
        ("attachment; filename*=utf-8''%e2%82%ac%20x.txt", "€ x.txt"),
        ("attachment; filename*=iso-8859-1'en'%A3.txt", "£.txt"),
        ("attachment; filename*0*=utf-8''%e2%82; filename*1*=%ac; filename*2=.txt", "€.txt"),
        ('attachment; filename*0="a b"; filename*1=".txt"', "a b.txt"),
        ('attachment; filename="=?utf-8?q?=E2=82=AC?="', "€"),
        ('ATTACHMENT;\n FILENAME="grün.txt"', "grün.txt"),
        ("attachment; filename=" + "x" * 900, "x" * 200),
        ("attachment", ""),
    ],
)
def test_attachment_names(header: str, name: str) -> None:
    data = f"Content-Disposition: {header}\nContent-Type: text/plain\n\nsecret".encode()
    assert fields(data) == ({"attachments": name} if name else {})


@pytest.mark.parametrize(
    "data, found",
    [
        (b"", {}),
        (b"\n", {}),
        (b"\n\nbody", {"": "body"}),
        (b"no headers at all", {"": "no headers at all"}),
        (b"Subject: a\nno header\n\nb", {"subject": "a", "": "no header\n\nb"}),
        (b"Subject: a", {"subject": "a"}),
        (b"Subject : a\nSUBJECT: b\n\n", {"subject": "a"}),
        (b"From x\n>From y\nSubject: a\n\nb", {"subject": "a", "": "b"}),
        (b"Content-Type: multipart/mixed\n\nhi", {"": "hi"}),
        (b"Content-Type: multipart/mixed; boundary=b\n\nhi", {"": "hi"}),
        (b"Content-Type: multipart/mixed; boundary=b\n\npre\n--b\n\nhi", {"": "hi"}),
        (b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\na\n--b--\n\nc", {"": "a"}),
        (b"Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\na\n--bb", {"": "a\n--bb"}),
        (b"Content-Type: text\n\nhi", {"": "hi"}),
        (b"Content-Type: text/html\n\n<meta charset=koi8-r>\xd0", {"": "п"}),
        (b"Content-Type: text/calendar\n\nBEGIN", {}),
        (b"Content-Type: text/plain; name=body.txt\n\nhi", {"": "hi"}),
        (b"Content-Transfer-Encoding: BASE64 \n\naGk=", {"": "hi"}),
        (b"Content-Transfer-Encoding: base64\n\naGkaG", {"": "hi\x1a"}),
        (b"Content-Transfer-Encoding: quoted-printable\n\nh=69=ZZ=", {"": "hi=ZZ"}),
        (b"List-Id: Dev <dev.example.org>\n\n", {"list": "Dev <dev.example.org>"}),
        (b"To: undisclosed-recipients:;\nCc: a@b, a@B\n\n", {"to": "a@b"}),
        (b'From: "Doe, \xc3\x84nn" <a@b>\n\n', {"from": '"Doe, Änn" <a@b>'}),
    ],
)
def test_malformed_mail_gives_its_readable_parts(data: bytes, found: dict[str, str]) -> None:
    assert fields(data) == found


def test_parts_before_a_limit_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    part = b"--b\nContent-Type: text/plain\n\nhi\n"
    data = b"Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n" + part * 5 + b"--b--\n"
    assert fields(data)[""] == "\n".join(["hi"] * 5)
    monkeypatch.setattr(mime, "PARTS", 3)  # the message itself is one
    assert fields(data) == {"": "hi\nhi", "subject": "s"}
    monkeypatch.setattr(mime, "TEXT_BYTES", 3)
    assert fields(data)[""] == "hi\nh"
    monkeypatch.setattr(mime, "DEPTH", 0)
    assert fields(data) == {"subject": "s"}


def test_headers_past_the_limit_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mime, "HEADER_BYTES", 30)
    data = b"Subject: s\nX-Long: " + b"x" * 50 + b"\nFrom: never@read\n\nbody"
    assert fields(data) == {"subject": "s", "": "body"}
    assert fields(data.replace(b"\n\n", b"\r\n\r\n")) == {"subject": "s", "": "body"}


SAMPLE = b"""Subject: =?utf-8?q?x?=
Content-Type: multipart/alternative; boundary="b"

--b
Content-Type: text/plain; charset=utf-7
Content-Transfer-Encoding: quoted-printable

hi =20
--b
Content-Type: message/rfc822
Content-Disposition: attachment; filename*0*=utf-8''%20; filename*1=b

Content-Type: text/html
Content-Transfer-Encoding: base64

PHA+aGk=
--b--
"""


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.binary(max_size=6)), max_size=10))
def test_mutated_mail_does_not_raise(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(SAMPLE)
    for at, change in changes:
        data[at : at + len(change)] = change
    for name, text in fields(bytes(data)).items():
        assert text
        (name + text).encode()


@settings(max_examples=150)
@given(st.binary(max_size=500))
def test_arbitrary_bytes_do_not_raise(data: bytes) -> None:
    fields(data)
