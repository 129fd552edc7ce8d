"""Named features of mail: sender, recipients, lists, attachments; hostile headers; learning."""

from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import Tagger
from tagalong.features import TextFeatures
from tagalong.mail.formats.folders import mail_item
from tagalong.mail.formats.mime import ATTACHMENT_TYPES, parse_mail
from tagalong.mail.formats.structure import RECIPIENTS, VALUE_CHARACTERS, mail_features
from tagalong.readers import Item, read, write


def names(data: bytes) -> list[str]:
    found = mail_features(parse_mail(data))
    assert set(found.values()) <= {1.0}
    return list(found)


@pytest.mark.parametrize(
    "headers, expected",
    [
        ("From: Ann <Ann@Example.ORG>", ["from=ann@example.org", "from=example.org"]),
        ("From: ann@example.org (Ann)", ["from=ann@example.org", "from=example.org"]),
        ('From: "bank@bank.com" <x@evil.net>', ["from=x@evil.net", "from=evil.net"]),
        ("From: bank@bank.com via List <x@l.org>", ["from=x@l.org", "from=l.org"]),
        ("From: =?utf-8?q?a=40b=2Ec=2C?= <x@y.org>", ["from=x@y.org", "from=y.org"]),
        ("From: =?utf-8?q?=C3=84nn?= <x@y.org>", ["from=x@y.org", "from=y.org"]),
        ("From: Ann", []),
        ("From: @", []),
        ("From: Ann <@>", []),
        (
            'To: "Doe, Bob" <b@x.org>, Team: c@x.org, d@y.org;\nCc: B@x.org',
            ["to=b@x.org", "to=c@x.org", "to=d@y.org", "to=x.org", "to=y.org"],
        ),
        ("To: undisclosed-recipients:;", []),
        ("List-Id: Developers <Dev.Lists.Example.org>", ["list=dev.lists.example.org"]),
        ("List-Id: dev.lists.example.org", ["list=dev.lists.example.org"]),
        ("List-Id: A list without an id", []),
        ("List-Id: <>", []),
    ],
)
def test_addresses_and_lists(headers: str, expected: list[str]) -> None:
    assert names(f"{headers}\n\nbody".encode()) == expected


def test_types_of_attachments() -> None:
    made = EmailMessage()
    made.set_content("body")
    made.add_attachment(b"x", maintype="application", subtype="pdf", filename="Invoice.PDF")
    made.add_attachment(b"x", maintype="application", subtype="pdf", filename="again.pdf")
    made.add_attachment(b"x", maintype="application", subtype="octet-stream", filename="a.b.xlsx")
    made.add_attachment(b"x", maintype="application", subtype="octet-stream", filename="notes")
    made.add_attachment("diff", subtype="plain", filename="fix.diff")
    assert names(made.as_bytes()) == [f"attachment={t}" for t in ("pdf", "xlsx", "diff", "plain")]


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"Content-Type: text/calendar\n\nBEGIN", ["attachment=calendar"]),
        (b"Content-Type: text/plain; name=body.txt\n\nhi", []),
        (b"Content-Type: text/html\n\n<p>hi", []),
        (b"Content-Type: message/rfc822\n\nSubject: s\n\nhi", []),
        (b"Content-Type: x/y z\x1b[31m\n\nhi", []),
        (b"Content-Disposition: attachment; filename=a.\xe2\x80\xaefdp\n\nx", ["attachment=plain"]),
    ],
)
def test_parts_that_are_not_text_have_types(data: bytes, expected: list[str]) -> None:
    assert names(data) == expected


def test_an_embedded_message_gives_the_types_of_its_files_but_not_its_sender() -> None:
    inner = EmailMessage()
    inner["From"] = "bob@example.org"
    inner.set_content("theirs")
    inner.add_attachment(b"x", maintype="image", subtype="png", filename="in.png")
    made = EmailMessage()
    made["From"] = "ann@example.org"
    made.set_content("mine")
    made.add_attachment(inner)
    assert names(made.as_bytes()) == [
        "from=ann@example.org",
        "from=example.org",
        "attachment=png",
    ]


def test_hostile_headers_give_few_short_printable_features() -> None:
    many = ", ".join(f"user{n}@host{n}.org" for n in range(3000))
    found = names(f"To: {many}\n\n".encode())
    assert len(found) == 2 * RECIPIENTS
    assert found[0] == "to=user0@host0.org"
    long = "x" * 5000
    assert names(f"From: {long}@example.org\nList-Id: <{long}>\n\n".encode()) == []
    for bad in ("\x1b[31m", "\u202e", "\x00", "\u200b"):
        assert names(f"From: a{bad}@example.org\nList-Id: <l{bad}.org>\n\n".encode()) == []
    parts = "".join(f"--b\nContent-Type: x/t{n}\n\n.\n" for n in range(200))
    data = f"Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n".encode()
    assert len(names(data)) == ATTACHMENT_TYPES


HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["From", "To", "Cc", "List-Id", "Content-Type", "Content-Disposition"]),
        st.text(st.sampled_from('ab@.<>(),;:"\\ =?é\u202e\x00'), max_size=60),
    ),
    max_size=6,
)


@settings(max_examples=150)
@given(HEADERS)
def test_arbitrary_headers_do_not_raise(headers: list[tuple[str, str]]) -> None:
    data = "".join(f"{name}: {value}\n" for name, value in headers) + "\nbody"
    for name in names(data.encode()):
        assert name.isprintable()
        assert len(name) <= len("attachment=") + VALUE_CHARACTERS


def test_each_is_a_feature_of_its_own_and_survives_a_file(tmp_path: Path) -> None:
    path = tmp_path / "Work"
    path.write_bytes(
        b"From x Mon Jan  1 10:00:00 2024\nFrom: Ann <ann@example.org>\n"
        b"To: bob@example.org\nList-Id: <dev.example.org>\nMessage-ID: <1@x>\n\nhello\n"
    )
    item = next(iter(read(path, format="mbox")))
    features = TextFeatures()
    expected = {
        *("from=ann@example.org", "from=example.org", "list=dev.example.org"),
        *("to=bob@example.org", "to=example.org"),
    }
    assert expected <= set(features.describe(item))
    # A category of the same name and value is the same feature.
    category = Item(features={"list": "dev.example.org"})
    assert features.read(category)[0][0] in features.read(item)[0]
    write([item], tmp_path / "mail.jsonl")
    again = next(iter(read(tmp_path / "mail.jsonl")))
    assert again.features == item.features


HEADER = {
    "sender": "From: {}.{}@mail.example.org",
    "recipient": "To: {}.{}@mail.example.org",
    "list": "List-Id: <{}.{}.example.org>",
}


def mails(count: int, header: str) -> list[tuple[str, str]]:
    """Return folders and mails. The folder depends on a header, and on no single word of a mail."""
    rng = np.random.default_rng(0)
    first, last = ("ann", "bob", "eve"), ("lee", "kim", "fox")
    found = []
    for number in range(count):
        a, b = rng.integers(3, size=2)
        named = header.format(first[a], last[b])
        words = " ".join(f"word{each}" for each in rng.integers(300, size=15))
        text = f"{named}\nSubject: {number}\nMessage-ID: <{number}@x>\n\n{words}"
        found.append((f"folder{(a + b) % 3}", text))
    return found


@pytest.mark.parametrize("kind", HEADER)
def test_folders_that_depend_on_a_header_are_learnt_from_few_mails(kind: str) -> None:
    """Without named features, the first suggestion is right by chance, for one in three."""
    taggers = {"with": Tagger(), "without": Tagger()}
    right = dict.fromkeys(taggers, 0)
    for place, (folder, text) in enumerate(mails(300, HEADER[kind])):
        item = mail_item(parse_mail(text.encode()), "", (folder,), "")
        items = {"with": item, "without": replace(item, features={})}
        for name, tagger in taggers.items():
            if place >= 200:
                right[name] += tagger.suggest(items[name], k=1)[0].label == folder
            tagger.learn(items[name])
    assert right["with"] >= 85
    assert right["without"] <= 45


def test_a_model_that_learnt_mail_without_these_features_suggests_the_same() -> None:
    tagger = Tagger()
    items = [
        mail_item(parse_mail(text.encode()), "", (folder,), "")
        for folder, text in mails(60, "From: {}@{}.example.org")
    ]
    for item in items[:40]:
        tagger.learn(replace(item, features={}))
    for item in items[40:]:
        old = tagger.suggest(replace(item, features={}), k=3)
        assert [each.label for each in tagger.suggest(item, k=3)] == [each.label for each in old]
