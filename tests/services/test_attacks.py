"""Attacks on a server that runs: each gets its answer, and changes nothing."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tagalong.server.http.connections import ConnectionLimits
from tagalong.server.http.running import Running
from tagalong.server.page.rendering import workspace_path
from tests.server.api_server import Api, serving
from tests.server.attacks import ATTACKS, Attack
from tests.services.content_attacks import CONTENT_ATTACKS, ContentAttack, attack_table
from tests.timeouts import TIMEOUT

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("attacked")) as api:
        api.add("an item", ["label"], id="there")
        yield api


@dataclass
class Raw:
    """The first line and the headers of an answer, and the rest."""

    status: int
    head: bytes
    body: bytes


def exchange(api: Api, data: bytes) -> Raw:
    """Send bytes over a connection of its own, and return the answer."""
    parts = urlsplit(api.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # answered before all of it arrived
            connection.sendall(data)
        received = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return Raw(int(head.split(b" ", 2)[1]), head, body)


def request_of(api: Api, attack: ContentAttack) -> bytes:
    method, _, path = attack.request.partition(" ")
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {urlsplit(api.url).netloc}",
        "Connection: close",
        f"Authorization: Bearer {api.token}",
        *attack.headers,
    ]
    framed = any(
        each.lower().startswith(("content-length", "transfer-encoding")) for each in attack.headers
    )
    if attack.body and not framed:
        lines.append(f"Content-Length: {len(attack.body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + attack.body


@pytest.mark.parametrize("attack", CONTENT_ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gets_its_answer_and_changes_nothing(api: Api, attack: ContentAttack) -> None:
    before = api.get("/api/v1/workspaces/default").json, api.get("/api/v1/workspaces").json
    answer = exchange(api, request_of(api, attack))
    assert answer.status == attack.status, answer
    assert b"x-evil" not in answer.head.lower()
    if answer.status >= 400 and b"content-type" in answer.head.lower():
        assert b"application/problem+json" in answer.head.lower(), answer
    after = api.get("/api/v1/workspaces/default").json, api.get("/api/v1/workspaces").json
    assert after == before
    assert api.get("/healthz").status == 200


@pytest.mark.parametrize(
    "attack",
    [each for each in ATTACKS if "https:" not in each.request],
    ids=lambda attack: attack.name,
)
def test_attacks_on_access_fail_at_a_server_too(tmp_path: Path, api: Api, attack: Attack) -> None:
    service = api.service
    host = urlsplit(api.url).netloc
    words = {
        "TOKEN": api.token,
        "READER": _reader(api),
        "COOKIE": service.sessions.start().partition(";")[0],
        "SHA256": "0" * 64,
        "127.0.0.1:8420": host,
    }

    def filled(text: str) -> str:
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    lines = [f"{filled(attack.request)} HTTP/1.1", *map(filled, attack.headers)]
    data = "\r\n".join([*lines, "Connection: close"]).encode() + b"\r\n\r\n"
    answer = exchange(api, data)
    allowed = {attack.status}
    if len(data) > 32_768 or "\\" in attack.request or attack.request.startswith(("GET %", "BREW")):
        allowed |= {400, 431}  # refused before it gets that far
    assert answer.status in allowed, answer


def _reader(api: Api) -> str:
    if "reader" in [each.name for each in api.service.tokens.list()]:
        api.service.tokens.remove("reader")
    return api.service.tokens.add("reader", read_only=True)


SCRIPT = "<script>alert(1)</script>"


def test_scripts_come_back_as_json_only(api: Api) -> None:
    added = api.add(SCRIPT, [SCRIPT], id=SCRIPT, title=SCRIPT, source=SCRIPT)
    for path in (
        "items",
        "items/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "items?q=%3Cscript%3E",
        "labels",
        "export",
        "export?format=csv",
        "items/none%3Cscript%3E",
        "%3Cscript%3E",
    ):
        answer = api.get(path, headers={"Accept": "text/html"})
        media = answer.headers["content-type"].partition(";")[0]
        assert media in (
            "application/json",
            "application/problem+json",
            "application/x-ndjson",
            "text/csv",
        ), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        if media in ("application/x-ndjson", "text/csv"):
            assert answer.headers["content-disposition"].startswith("attachment; ")
    api.post("undo", {"seq": added["seq"]})


@pytest.mark.parametrize(
    "view", ["/", "/items/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/trust", "/labels", "/history"]
)
def test_a_page_shows_no_name_as_html(api: Api, view: str) -> None:
    added = api.add(SCRIPT, [SCRIPT], id=SCRIPT, title=SCRIPT, source=SCRIPT)
    page = api.get(
        f"{workspace_path('default')}{view.rstrip('/')}", headers={"Accept": "text/html"}
    )
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert SCRIPT.encode() not in page.body
    assert "default-src 'none'" in page.headers["content-security-policy"]
    api.post("undo", {"seq": added["seq"]})


def test_a_head_that_comes_byte_by_byte(tmp_path: Path) -> None:
    running = Running(ConnectionLimits(head_seconds=0.3))
    with serving(tmp_path, running=running) as api:
        answer = exchange(api, b"GET /healthz HTTP/1.1\r\nHost: ")
        assert answer.status == 408


def test_a_body_that_never_ends(api: Api) -> None:
    attack = ContentAttack(
        "",
        "POST /api/v1/workspaces/default/items",
        ("Content-Type: application/json", "Content-Length: 1000"),
        b"{",
        408,
        "",
    )
    assert exchange(api, request_of(api, attack)).status == 408


def test_more_connections_than_allowed(tmp_path: Path) -> None:
    running = Running(ConnectionLimits(connections=3, linger_seconds=0.1))
    with serving(tmp_path, running=running) as api:
        parts = urlsplit(api.url)
        open_ones = [socket.create_connection((parts.hostname, parts.port)) for _ in range(3)]
        try:
            for each in open_ones:
                each.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert each.recv(1000).startswith(b"HTTP/1.1 200")
            refused = exchange(api, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert refused.status == 503
            assert b"retry-after" in refused.head.lower()
        finally:
            for each in open_ones:
                each.close()


def test_guessing_tokens(tmp_path: Path) -> None:
    with serving(tmp_path) as api:
        guess = Api(api.url, "guess", api.service)
        statuses = {guess.get("items").status for _ in range(200)}
        assert statuses == {401, 429}
        assert api.get("items").status == 200  # a right token still counts


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
    assert page.endswith(attack_table()), "python -m tests.services.content_attacks writes it"


def test_the_table_has_every_attack() -> None:
    table = attack_table()
    for attack in (*ATTACKS, *CONTENT_ATTACKS):
        assert f"| {attack.name} | {attack.status} | {attack.why} |" in table
    assert len({each.name for each in CONTENT_ATTACKS}) == len(CONTENT_ATTACKS)
    for line in table.splitlines():
        assert line.count(" | ") == 2 or line.startswith("|---")
