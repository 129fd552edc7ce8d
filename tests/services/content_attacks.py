"""Requests with a right token that try to break something, each with the answer and the reason.

Together with tests/server/attacks.py, whose rows are about access, they are the table of attacks
in the documentation.
"""

import gzip
from pathlib import Path
from typing import NamedTuple

from tests.server.attacks import ATTACKS

W = "/api/v1/workspaces/default"
JSON = "Content-Type: application/json"
LINES = "Content-Type: application/x-ndjson"
FORM = "Content-Type: multipart/form-data; boundary=b"
ITEM = b'{"text": "x"}'


class ContentAttack(NamedTuple):
    """A request, and how it is answered."""

    name: str
    request: str  # method and path
    headers: tuple[str, ...]
    body: bytes
    status: int
    why: str


def form(name: str, content: bytes, *fields: str) -> bytes:
    """Return a form with a file, after some other fields."""
    parts = [
        b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n\r\n' % field.encode()
        for field in fields
    ]
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n'
    return b"".join(parts) + head % name.encode() + content + b"\r\n--b--\r\n"


A = ContentAttack
CONTENT_ATTACKS = (
    # Bodies
    A(
        "a body above the limit",
        f"POST {W}/items",
        (JSON, "Content-Length: 64000001"),
        b"",
        413,
        "the size is refused before anything is read",
    ),
    A(
        "an endless body in chunks",
        f"POST {W}/items",
        (JSON, "Transfer-Encoding: chunked"),
        b"3d09001\r\n" + b" " * 64_000_001 + b"\r\n0\r\n\r\n",
        413,
        "bytes are counted as they come",
    ),
    A(
        "two lengths",
        f"POST {W}/items",
        (JSON, "Content-Length: 13", "Content-Length: 5"),
        ITEM,
        400,
        "a proxy and the server could disagree where the request ends",
    ),
    A(
        "a length and chunks",
        f"POST {W}/items",
        (JSON, "Content-Length: 5", "Transfer-Encoding: chunked"),
        b"0\r\n\r\n",
        400,
        "a second request could hide in the body",
    ),
    A(
        "a compressed body",
        f"POST {W}/items",
        (JSON, "Content-Encoding: gzip"),
        gzip.compress(ITEM),
        415,
        "a small body could become a huge one",
    ),
    A(
        "another content type",
        f"POST {W}/items",
        ("Content-Type: text/plain",),
        ITEM,
        415,
        "forms of browsers can send this type to other sites",
    ),
    A("no content type", f"POST {W}/items", (), ITEM, 415, "the body says what it is"),
    A("broken JSON", f"POST {W}/items", (JSON,), b'{"text": ', 400, "nothing is guessed"),
    A(
        "100,000 lists within each other",
        f"POST {W}/items",
        (JSON,),
        b"[" * 100_000,
        400,
        "reading stops before the stack ends",
    ),
    A(
        "a member twice",
        f"POST {W}/items",
        (JSON,),
        b'{"text": "a", "text": "b"}',
        400,
        "two readers could see two values",
    ),
    A("NaN", f"POST {W}/items", (JSON,), b'{"values": {"x": NaN}}', 400, "not a number of JSON"),
    A(
        "Infinity",
        f"POST {W}/items",
        (JSON,),
        b'{"values": {"x": Infinity}}',
        400,
        "not a number of JSON",
    ),
    A(
        "a number beyond all bounds",
        f"POST {W}/items",
        (JSON,),
        b'{"values": {"x": 1e999}}',
        422,
        "only finite numbers can be learnt",
    ),
    A(
        "a number of a million digits",
        f"POST {W}/items",
        (JSON,),
        b'{"values": {"x": %s}}' % (b"9" * 1_000_000),
        400,
        "reading it would take seconds",
    ),
    A(
        "bytes that are not UTF-8",
        f"POST {W}/items",
        (JSON,),
        b'{"text": "\xff"}',
        400,
        "text is Unicode",
    ),
    A(
        "half of a character",
        f"POST {W}/items",
        (JSON,),
        b'{"text": "\\ud800"}',
        422,
        "it could not be stored",
    ),
    A(
        "an item above the limit",
        f"POST {W}/items",
        (JSON,),
        b'{"text": "%s"}' % (b"x" * 1_000_001),
        413,
        "one item must not fill the memory",
    ),
    A(
        "an unknown member",
        f"POST {W}/items",
        (JSON,),
        b'{"text": "x", "__proto__": {}}',
        422,
        "only what is documented is accepted",
    ),
    A(
        "100,000 labels",
        f"POST {W}/items",
        (JSON,),
        b'{"text": "x", "labels": [%s]}' % b",".join(b'"%d"' % i for i in range(100_000)),
        422,
        "an item has at most 1,000 labels",
    ),
    A(
        "a label of a megabyte",
        f"POST {W}/labels",
        (JSON,),
        b'{"name": "%s"}' % (b"x" * 10**6),
        422,
        "a label has at most 512 bytes",
    ),
    A(
        "a file in place of lines",
        f"POST {W}/items:batch",
        (FORM,),
        b"{}",
        415,
        "the body says what it is",
    ),
    # Paths, names and ids
    A(
        "a workspace above the folder",
        "GET /api/v1/workspaces/../items",
        (),
        b"",
        404,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "the same with escapes",
        "GET /api/v1/workspaces/%2e%2e/items",
        (),
        b"",
        404,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "an escaped slash in a name",
        "GET /api/v1/workspaces/..%2f..%2fetc/items",
        (),
        b"",
        404,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "a null byte in a name",
        "GET /api/v1/workspaces/default%00/items",
        (),
        b"",
        404,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "a new workspace above the folder",
        "POST /api/v1/workspaces",
        (JSON,),
        b'{"name": "../../x"}',
        422,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "a new workspace with a null byte",
        "POST /api/v1/workspaces",
        (JSON,),
        b'{"name": "a\\u0000"}',
        422,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "removing the folder above",
        "DELETE /api/v1/workspaces/..",
        (),
        b"",
        404,
        "a name has a-z, 0-9, _ and - only",
    ),
    A(
        "an id like a path",
        f"GET {W}/items/..%2f..%2f..%2fetc%2fpasswd",
        (),
        b"",
        404,
        "an id is a key of the database, never a path",
    ),
    A(
        "SQL in an id",
        f"GET {W}/items/x'%20OR%20'1'='1",
        (),
        b"",
        404,
        "ids are parameters of queries",
    ),
    A(
        "SQL in a search",
        f"GET {W}/items?q=%25'%20UNION%20SELECT%201--",
        (),
        b"",
        200,
        "words are compared, never run: nothing is found",
    ),
    A(
        "an id that is not UTF-8",
        f"GET {W}/items/%C0%AE%C0%AE",
        (),
        b"",
        400,
        "overlong forms of dots are no text",
    ),
    A(
        "an endless id",
        f"GET {W}/items/{'x' * 5000}",
        (),
        b"",
        414,
        "a path has at most 4,096 bytes",
    ),
    A(
        "an id with a line end",
        f"POST {W}/items",
        (JSON,),
        b'{"id": "a\\r\\nX-Evil: 1", "text": ""}',
        422,
        "ids have no control characters",
    ),
    A(
        "a line end in a path",
        f"GET {W}/items/a%0d%0aX-Evil:%201",
        (),
        b"",
        404,
        "it is part of an id, and no header repeats ids",
    ),
    A("a forged cursor", f"GET {W}/items?after=WzFd", (), b"", 422, "cursors have a digest"),
    A(
        "a page of everything",
        f"GET {W}/items?limit=1000000000",
        (),
        b"",
        422,
        "the limit of a page is at most 10,000",
    ),
    A(
        "60 parameters",
        f"GET {W}/items?{'&'.join(f'a{i}=1' for i in range(60))}",
        (),
        b"",
        400,
        "no request needs so many",
    ),
    A(
        "a parameter twice",
        f"GET {W}/items?limit=1&limit=2",
        (),
        b"",
        422,
        "two readers could see two values",
    ),
    # Heads
    A(
        "a head of 100,000 bytes",
        f"GET {W}/items",
        (f"X-Long: {'x' * 100_000}",),
        b"",
        431,
        "a head has at most 32,768 bytes",
    ),
    A(
        "an idempotency key with a space",
        f"POST {W}/labels",
        (JSON, "Idempotency-Key: a b"),
        b'{"name": "x"}',
        422,
        "keys are printable ASCII",
    ),
    A("an unknown method", f"TRACE {W}/items", (), b"", 405, "the answer lists what is possible"),
    A(
        "the method by a header",
        f"GET {W}/items/none",
        ("X-HTTP-Method-Override: DELETE",),
        b"",
        404,
        "only the method of the request counts",
    ),
    # Uploads
    A(
        "no boundary",
        f"POST {W}/import",
        ("Content-Type: multipart/form-data",),
        b"x",
        400,
        "the form cannot be divided",
    ),
    A(
        "a form that ends early",
        f"POST {W}/import",
        (FORM,),
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n',
        422,
        "nothing is learnt from half a file",
    ),
    A(
        "thousands of fields",
        f"POST {W}/import",
        (FORM,),
        form("a.csv", b"", *(f"f{i}" for i in range(2000))),
        400,
        "a form has at most 50 fields",
    ),
    A(
        "a field of 2 MB",
        f"POST {W}/import",
        (FORM,),
        b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n%s\r\n--b--\r\n'
        % (b"x" * 2_000_000),
        400,
        "only files may be large",
    ),
    A(
        "a path as the name of a file",
        f"POST {W}/import",
        (FORM,),
        form("../../../etc/cron.d/x", b"text\nx\n"),
        422,
        "only the ending of the name is used, and it is no format",
    ),
    A(
        "an option that names a file",
        f"POST {W}/import",
        (FORM,),
        form("a.csv", b"text\nx\n", "xml"),
        422,
        "no path that a user types is opened",
    ),
    A(
        "a bomb: 500 MB in 500 kB",
        f"POST {W}/import",
        (FORM,),
        form("a.jsonl.gz", gzip.compress(b"x" * 500_000_000, 6)),
        422,
        "a line has a largest size, so that it is never in memory as a whole",
    ),
    A(
        "a file that is no gzip",
        f"POST {W}/import",
        (FORM,),
        form("a.csv.gz", b"x"),
        422,
        "it cannot be read",
    ),
)
SPECIAL = (
    ("a head that comes byte by byte", "408", "a head takes at most 10 s"),
    ("a body that never ends", "408", "a body has a least speed after 10 s"),
    ("more connections than allowed", "503", "the answer says when to try again"),
    ("a client that reads nothing", "the connection ends", "an answer is read within 30 s"),
    ("scripts in texts, titles and labels", "JSON, nosniff, CSP", "no answer of the API is HTML"),
    ("guessing tokens", "429", "a client that sends many wrong tokens has to wait"),
)


def attack_table() -> str:
    """Return all attacks with their answers as a table in Markdown."""
    rows = [
        *((each.name, str(each.status), each.why) for each in ATTACKS),
        *((each.name, str(each.status), each.why) for each in CONTENT_ATTACKS),
        *SPECIAL,
    ]
    lines = ["| attack | answer | why |", "|---|---|---|"]
    return (
        "\n".join(lines + [f"| {name} | {answer} | {why} |" for name, answer, why in rows]) + "\n"
    )


PAGE = """# Attacks on the service

The tests send these requests to a server, and compare the answers with this table. It is made
from them: `python -m tests.services.content_attacks` writes this page.
[service.md](service.md#security) explains the checks.

"""


if __name__ == "__main__":
    path = Path(__file__).parents[2] / "docs" / "attacks.md"
    path.write_text(PAGE + attack_table(), encoding="utf-8")
