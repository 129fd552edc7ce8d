"""Hostile mail: time and memory per message are bounded, and the next message is read."""

import io
import tracemalloc
from collections.abc import Callable

import pytest

from tagalong.learning.items import Item
from tagalong.mail.formats.mbox import read_mbox
from tests.cpu_time import assert_cpu_time

FROM = b"From ann@example.org Mon Jan  1 10:00:00 2024\n"
SECONDS = 2.0
MEGABYTES = 60


def nested(levels: int, boundary: bytes = b"b%d") -> bytes:
    head = b'Content-Type: multipart/mixed; boundary="%s"\n\n--%s\n'
    names = [boundary % n if b"%" in boundary else boundary for n in range(levels)]
    return b"".join(head % (name, name) for name in names) + b"\nhello\n"


def parts(count: int, head: bytes = b"Content-Type: text/plain\n") -> bytes:
    return b"Content-Type: multipart/mixed; boundary=b\n\n" + (b"--b\n" + head + b"\nhi\n") * count


def body(kind: bytes, unit: bytes, size: int = 1_500_000) -> bytes:
    return b"Content-Type: text/" + kind + b"\n\n" + unit * (size // len(unit))


CASES: dict[str, Callable[[], bytes]] = {
    "10,000 levels": lambda: nested(10_000),
    "100,000 levels of one boundary": lambda: nested(100_000, b"b"),
    "levels above 10 MB of near-delimiters": lambda: nested(20) + b"\n--bx" * 2_000_000,
    "100,000 messages within messages": lambda: b"Content-Type: message/rfc822\n\n" * 100_000,
    "100,000 encoded messages within messages": lambda: (
        b"Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n" * 100_000
    ),
    "100,000 parts": lambda: parts(100_000),
    "2,000,000 empty parts": lambda: parts(0) + b"--b\n" * 2_000_000,
    "100,000 attachments": lambda: parts(
        100_000, b"Content-Disposition: attachment; filename=abc.txt\n"
    ),
    "a header of 50 MB": lambda: b"Subject: " + b"x" * 50_000_000 + b"\n\nbody",
    "a header of 3,000,000 lines": lambda: b"Subject: " + b"x\n " * 3_000_000 + b"\n\nbody",
    "1,000,000 headers": lambda: b"Subject: x\n" * 1_000_000 + b"\nbody",
    "10 MB without a colon": lambda: b"x" * 10_000_000,
    "100,000 encoded words": lambda: b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\n",
    "100,000 charsets": lambda: (
        b"Subject: " + b" ".join(b"=?c%d?q?a?=" % n for n in range(100_000)) + b"\n\n"
    ),
    "encoded words without end": lambda: b"Subject: " + b"=?utf-8?b?" * 1_000_000 + b"\n\n",
    "1,000,000 parameters": lambda: b"Content-Type: a/b" + b'; a="b' * 1_000_000 + b"\n\nhi",
    "1,000,000 attributes": lambda: (
        b"Content-Type: text/html\n\n<a " + b'a="1" ' * 1_000_000 + b">"
    ),
    "a number of 1,000,000 digits": lambda: b"Content-Type: text/html\n\n&#" + b"1" * 1_000_000,
    "10 MB of base64": lambda: b"Content-Transfer-Encoding: base64\n\n" + b"A" * 10_000_001,
    "1,000,000 addresses": lambda: b"To: " + b"a@b," * 1_000_000 + b"\n\n",
    "one long address": lambda: b"To: " + b"a" * 1_000_000 + b"\n\n",
    "labels in open quotes": lambda: b"X-Gmail-Labels: " + b'"a' * 1_000_000 + b"\n\n",
    "tags in open UTF-7": lambda: b"X-Mozilla-Keys: " + b"&a" * 1_000_000 + b"\n\n",
}
HTML = [b"<a", b'<a "', b"<!--", b"</a", b'<a ="', b"<!", b"<![a", b"<", b"<a>", b"<!>", b"&#1"]
HTML += [b"&", b"&" + b"a" * 40, b"<script>", b"<script></script>", b"<blockquote>", b"<a ='>"]
HTML += [b'<a =">' + b"'", b'<a b="c"', b"<a " + b'b="c" ' * 30]
PLAIN = [
    b"\n",
    b"a\n",
    b">\n",
    b">a\nb\n",
    b"On x\n",
    b"On 1, a wrote:\n",
    b"wrote:\n",
    b"From: a\n",
]
PLAIN += [
    b"-- \n",
    b"a",
    b" \t",
    b"--- original message ",
    b"wrote " * 40 + b":\n",
    b"\xff",
    b"\xe9a",
]
CASES |= {f"html {unit!r}": lambda unit=unit: body(b"html", unit) for unit in HTML}  # type: ignore[misc]
CASES |= {f"text {unit!r}": lambda unit=unit: body(b"plain", unit) for unit in PLAIN}  # type: ignore[misc]


def read_with_next_message(message: bytes) -> None:
    data = FROM + message + b"\n\n" + FROM + b"Subject: next\n\nend\n"
    found = list(read_mbox(io.BytesIO(data), "x.mbox"))
    assert len(found) == 2
    assert isinstance(found[1], Item)
    assert found[1].text == {"": "end", "subject": "next"}


@pytest.mark.parametrize("case", CASES)
def test_time_is_bounded(case: str) -> None:
    message = CASES[case]()
    assert_cpu_time(lambda: read_with_next_message(message), SECONDS)


LARGE = ["100,000 parts", "a header of 50 MB", "a header of 3,000,000 lines"]
LARGE += ["levels above 10 MB of near-delimiters", "a number of 1,000,000 digits", "html b'<a'"]


@pytest.mark.parametrize("case", LARGE)
def test_memory_is_bounded(case: str) -> None:
    data = io.BytesIO(FROM + CASES[case]())
    tracemalloc.start()
    try:
        for _ in read_mbox(data, "x.mbox"):
            pass
        assert tracemalloc.get_traced_memory()[1] < MEGABYTES << 20
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_messages() -> None:
    class Generated(io.RawIOBase):
        """Mailbox that is generated as it is read."""

        left = 40

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            if self.left == 0:
                return 0
            self.left -= 1
            message = FROM + b"Subject: x\n\n" + b"y" * 100 + b"\n\n"
            block = (message * (len(buffer) // len(message) + 1))[: len(buffer)]
            buffer[:] = block
            return len(block)

    tracemalloc.start()
    try:
        stream = io.BufferedReader(Generated(), 1 << 14)
        count = sum(1 for _ in read_mbox(stream, "x.mbox"))
        assert count > 2_000
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
