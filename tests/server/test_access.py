"""Tests of access control: the table of attacks, and the requests that are allowed."""

import asyncio
import json
import logging
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagalong.server.access.control import AccessControl, Who
from tagalong.server.access.sessions import Sessions
from tagalong.server.access.tokens import FileTokens
from tagalong.server.access.wrong_tokens import WrongTokens
from tests.server.access_calls import Answer, Inner, call
from tests.server.attacks import ATTACKS, HERE, ITEMS, LOGGED_IN, OWNER, READER, SAME, Attack

FOREIGN_LINK = (
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Dest: document",
)


class Service:
    """Access control around an application that accepts everything."""

    def __init__(self, folder: Path):
        self.tokens = FileTokens(folder)
        self.sessions = Sessions(self.tokens)
        self.reader = self.tokens.add("reader", read_only=True)
        self.inner = Inner()
        self.app = AccessControl(
            self.inner,
            self.tokens,
            self.sessions,
            ["tagalong.example.org", "fe80::1"],
            wrong_tokens=WrongTokens(limit=10**9),
        )
        self.words = {
            "TOKEN": self.tokens.owner(),
            "READER": self.reader,
            "SHA256": self.tokens.list()[0].sha256,
            "COOKIE": self.sessions.start().partition(";")[0],
        }

    def call(self, request: str, *headers: str) -> Answer:
        return call(
            self.app,
            self.filled(request),
            *[self.filled(header) for header in headers],
            inner=self.inner,
        )

    def filled(self, text: str) -> str:
        for word, value in self.words.items():
            text = text.replace(word, value)
        return text


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("served"))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attacks_are_refused(service: Service, attack: Attack) -> None:
    answer = service.call(attack.request, *attack.headers)
    assert answer.status == attack.status, attack.why
    assert answer.seen is None, "the request reached the application"
    assert answer.headers["content-type"] == "application/problem+json"
    problem = json.loads(answer.body)
    assert problem["status"] == attack.status
    for secret in (service.tokens.owner(), service.reader, service.words["COOKIE"]):
        assert secret not in answer.body.decode()
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert ("www-authenticate" in answer.headers) == (attack.status == 401)


def test_attacks_have_names_and_reasons() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack.why for attack in ATTACKS)


@pytest.mark.parametrize(
    "request_line, headers, who",
    [
        (f"GET {ITEMS}", (OWNER,), Who("owner", False, "token")),
        (f"POST {ITEMS}", (OWNER,), Who("owner", False, "token")),
        (f"POST {ITEMS}", (OWNER, "Sec-Fetch-Site: none"), Who("owner", False, "token")),
        (f"POST {ITEMS}", (OWNER, SAME), Who("owner", False, "token")),
        (f"GET {ITEMS}", ("Authorization: bEARER  TOKEN ",), Who("owner", False, "token")),
        (f"GET {ITEMS}", (READER,), Who("reader", True, "token")),
        (f"GET {ITEMS}", (READER, LOGGED_IN), Who("reader", True, "token")),
        ("POST /api/v1/workspaces/default/suggest", (READER,), Who("reader", True, "token")),
        (f"OPTIONS {ITEMS}", (READER,), Who("reader", True, "token")),
        (f"GET {ITEMS}", (LOGGED_IN,), Who("owner", False, "cookie")),
        (f"GET {ITEMS}", ("Cookie: a=b; COOKIE;c",), Who("owner", False, "cookie")),
        (f"GET {ITEMS}", (LOGGED_IN, LOGGED_IN), Who("owner", False, "cookie")),
        (f"POST {ITEMS}", (LOGGED_IN, SAME), Who("owner", False, "cookie")),
        (f"POST {ITEMS}", (LOGGED_IN, SAME, "Origin: null"), Who("owner", False, "cookie")),
        (f"PUT {ITEMS}", (LOGGED_IN, f"Origin: http://{HERE[6:]}"), Who("owner", False, "cookie")),
        (f"PUT {ITEMS}", (LOGGED_IN, f"Origin: https://{HERE[6:]}"), Who("owner", False, "cookie")),
        ("GET /", (LOGGED_IN, *FOREIGN_LINK), Who("owner", False, "cookie")),
        ("GET /healthz", (), None),
        ("HEAD /healthz", (), None),
        ("GET /healthz", ("Authorization: Bearer wrong",), None),
        ("GET /login?code=x", (), None),
        ("GET /login?code=x", FOREIGN_LINK, None),
        ("POST /login", (SAME,), None),
        ("POST /logout", ("Origin: http://127.0.0.1:8420",), None),
        ("GET /static/js/page.js", (), None),
    ],
)  # fmt: skip
def test_allowed_requests(service: Service, request_line: str, headers, who: Who | None) -> None:
    answer = service.call(request_line, HERE, *headers)
    assert answer.status == 200, answer.body
    assert answer.seen == {"who": who}


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1",
        "[::1]:8420",
        "[0:0:0:0:0:0:0:1]",
        "tagalong.example.org",
        "Tagalong.Example.org:443",
        "[fe80::1]:8420",
    ],
)
def test_allowed_hosts(service: Service, host: str) -> None:
    assert service.call("GET /healthz", f"Host: {host}").status == 200


@pytest.mark.parametrize(
    "host",
    ["", "localhost:", "localhost:x", "localhost:123456", "localhost.", "[::1", "[::2]", "a b",
     "0.0.0.0", "localhost/", "localhost,evil.example", "[:::]", "löcalhost"],
)  # fmt: skip
def test_refused_hosts(service: Service, host: str) -> None:
    answer = service.call("GET /healthz", f"Host: {host}")
    assert answer.status == 421
    assert json.loads(answer.body)["type"] == "urn:tagalong:problem:misdirected"


@pytest.mark.parametrize("name", ["", "a:80", "http://a", "*", "a b", "[::1]:80", "bücher.example"])
def test_names_that_no_browser_sends_cannot_be_allowed(tmp_path: Path, name: str) -> None:
    tokens = FileTokens(tmp_path)
    with pytest.raises(ValueError, match="must be a name or an address without port"):
        AccessControl(Inner(), tokens, Sessions(tokens), [name])


def test_a_person_is_sent_to_the_log_in(service: Service) -> None:
    page = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
    answer = service.call("GET /", HERE, page)
    assert (answer.status, answer.headers["location"], answer.seen) == (303, "/login", None)
    assert service.call("GET /", HERE, page, *FOREIGN_LINK).status == 303
    assert service.call("GET /w/default/items/a%2fb", HERE, page).status == 303
    for request in (f"GET {ITEMS}", "POST /", "GET /metrics", "GET /openapi.json", "GET /%61pi"):
        assert service.call(request, HERE, page).status == 401, request
    assert service.call("GET /", HERE, page, "Authorization: Bearer wrong").status == 401


def test_a_cookie_by_https(service: Service) -> None:
    cookie = service.sessions.start(secure=True).partition(";")[0]
    same = "Origin: https://127.0.0.1:8420"
    answer = service.call(f"POST https:{ITEMS}", HERE, f"Cookie: {cookie}", same)
    assert answer.seen == {"who": Who("owner", False, "cookie")}
    assert service.call(f"GET {ITEMS}", HERE, f"Cookie: {cookie}").status == 401


def test_a_removed_token_ends_at_once(tmp_path: Path) -> None:
    service = Service(tmp_path)
    cookie = service.sessions.start("reader").partition(";")[0]
    assert service.call(f"GET {ITEMS}", HERE, READER).status == 200
    assert service.call(f"GET {ITEMS}", HERE, f"Cookie: {cookie}").status == 200
    FileTokens(tmp_path).remove("reader")  # as another process does
    assert service.call(f"GET {ITEMS}", HERE, READER).status == 401
    assert service.call(f"GET {ITEMS}", HERE, f"Cookie: {cookie}").status == 401


def test_a_new_owner_s_token_ends_at_once_what_came_before(tmp_path: Path) -> None:
    service = Service(tmp_path)
    renewed = FileTokens(tmp_path).renew()
    assert service.call(f"GET {ITEMS}", HERE, OWNER).status == 401
    assert service.call(f"GET {ITEMS}", HERE, LOGGED_IN).status == 401
    assert service.call(f"GET {ITEMS}", HERE, READER).status == 200
    assert service.call(f"GET {ITEMS}", HERE, f"Authorization: Bearer {renewed}").status == 200


@pytest.mark.parametrize("file", ["token", "tokens.json"])
def test_nobody_has_access_while_tokens_are_unreadable(
    tmp_path: Path, file: str, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service(tmp_path)
    (tmp_path / file).write_text("damaged")
    with caplog.at_level(logging.ERROR):
        answer = service.call(f"GET {ITEMS}", HERE, OWNER)
    assert (answer.status, answer.seen) == (503, None)
    assert str(tmp_path) not in answer.body.decode()
    assert str(tmp_path / file) in caplog.text
    assert service.call("GET /healthz", HERE).status == 200


def test_wrong_tokens_are_counted_per_client(tmp_path: Path) -> None:
    now = [0.0]
    tokens = FileTokens(tmp_path)
    counter = WrongTokens(limit=3, seconds=60, clock=lambda: now[0])
    app = AccessControl(Inner(), tokens, Sessions(tokens), wrong_tokens=counter)
    statuses = [
        call(app, f"GET {ITEMS}", HERE, "Authorization: Bearer wrong").status for _ in range(4)
    ]
    assert statuses == [401, 401, 401, 429]
    now[0] = 20.5
    answer = call(app, f"GET {ITEMS}", HERE, "Authorization: Bearer wrong")
    assert (answer.status, answer.headers["retry-after"]) == (429, "40")
    right = call(app, f"GET {ITEMS}", HERE, f"Authorization: Bearer {tokens.owner()}")
    assert right.status == 200, "others at the same address are not locked out"
    assert call(app, f"GET {ITEMS}", HERE).status == 401
    now[0] = 60.0
    assert call(app, f"GET {ITEMS}", HERE, "Authorization: Bearer wrong").status == 401


def test_few_clients_are_remembered() -> None:
    counter = WrongTokens(limit=1, max_clients=2, clock=lambda: 0.0)
    assert counter.count("a") == 0
    assert counter.count("a") == 60
    assert counter.count("b") == 0
    assert counter.count("c") == 0
    assert counter.count("b") == 60
    assert counter.count("a") == 0, "forgotten, as the longest known"


def test_lifespan_passes_and_websockets_do_not(service: Service) -> None:
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    service.inner.types.clear()
    headers = [(b"host", b"localhost"), (b"authorization", service.filled(OWNER[15:]).encode())]
    for kind in ("websocket", "lifespan", "unknown"):
        scope = {"type": kind, "path": "/healthz", "headers": headers}
        asyncio.run(service.app(scope, receive, send))
    assert service.inner.types == ["lifespan"]
    assert sent == [{"type": "websocket.close", "code": 1008}]


@given(st.text(max_size=80))
@example("/static/../api")
def test_no_path_with_dots_or_escapes_is_public(service: Service, end: str) -> None:
    """Whatever a router makes of a path: if it is public, it has plain names only."""
    for start in ("/static/", "/healthz", "/login", ""):
        path = f"{start}{end}".replace("?", "")
        answer = service.call(f"GET {path or '/'}", HERE)
        if answer.status == 200:
            assert path in ("/healthz", "/login") or all(
                part and part.strip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789._-") == "" and part[0] != "."
                for part in path.split("/")[1:]
            )  # fmt: skip
            assert path.startswith(("/static/", "/healthz", "/login"))


@given(st.binary(max_size=60), st.integers(0, 42), st.integers(1, 255))
def test_no_mutated_token_is_accepted(
    service: Service, noise: bytes, place: int, change: int
) -> None:
    token = service.tokens.owner()
    changed = token[:place] + chr(ord(token[place]) ^ change) + token[place + 1 :]
    shorter, longer = token[:place], token + noise.decode("latin-1")
    for wrong in {changed, shorter, longer, token.swapcase(), noise.decode("latin-1")} - {token}:
        if wrong.strip(" ") == token:
            continue
        assert service.tokens.identify(wrong) is None
        answer = service.call(f"GET {ITEMS}", HERE, f"Authorization: Bearer {wrong}")
        assert (answer.status, answer.seen) == (401, None)
