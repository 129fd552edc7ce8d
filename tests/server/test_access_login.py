"""Tests of the log-in page, behind access control and with all headers, as in the service."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tagalong.server.access.control import AccessControl
from tagalong.server.access.headers import SecurityHeaders
from tagalong.server.access.login import login_routes
from tagalong.server.access.sessions import Sessions
from tagalong.server.access.tokens import FileTokens
from tagalong.server.access.wrong_tokens import WrongTokens

SAME = {"Sec-Fetch-Site": "same-origin"}
BROWSER = {"Accept": "text/html"}


async def who(request: Request) -> PlainTextResponse:
    found = request.scope["state"]["who"]
    return PlainTextResponse(f"{found.name} {found.via}")


class Service:
    """A service that tells who calls it."""

    def __init__(self, folder: Path):
        self.tokens = FileTokens(folder)
        self.sessions = Sessions(self.tokens)
        counter = WrongTokens(limit=3, clock=lambda: 0.0)
        routes = login_routes(self.tokens, self.sessions, counter, stylesheet='/static/"x".css')
        app = Starlette(routes=[*routes, Route("/", who, methods=["GET", "POST"])])
        control = AccessControl(app, self.tokens, self.sessions, wrong_tokens=counter)
        self.app = SecurityHeaders(control)

    def run(self, act: Callable[[httpx.AsyncClient], Any], url: str = "http://localhost") -> Any:
        """Return the result of calls by one browser."""

        async def acting() -> Any:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=url) as client:
                return await act(client)

        return asyncio.run(acting())


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path)


@pytest.mark.parametrize("url", ["http://localhost:8420", "https://localhost"])
def test_log_in_with_a_code(service: Service, url: str) -> None:
    async def act(client: httpx.AsyncClient) -> None:
        code = service.sessions.new_code()
        assert (await client.head(f"/login?code={code}")).status_code == 200
        answer = await client.get(f"/login?code={code}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert ("Secure" in cookie) == url.startswith("https")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert (await client.get("/")).text == "owner cookie"
        assert (await client.post("/")).status_code == 403
        assert (await client.post("/", headers=SAME)).text == "owner cookie"
        again = await client.get(f"/login?code={code}")
        assert again.status_code == 401
        assert "used up or older than a minute" in again.text
        assert code not in again.text
        assert "set-cookie" not in again.headers

    service.run(act, url)


@pytest.mark.parametrize("code", ["", "x", "<script>alert(1)</script>", "%00", "ä"])
def test_wrong_codes(service: Service, code: str) -> None:
    service.sessions.new_code()
    answer = service.run(lambda client: client.get("/login", params={"code": code}))
    assert answer.status_code == 401
    assert "<script" not in answer.text
    assert "set-cookie" not in answer.headers


def test_log_in_with_a_token(service: Service) -> None:
    token = service.tokens.add("bob", read_only=True)

    async def act(client: httpx.AsyncClient) -> None:
        page = await client.get("/", headers=BROWSER)
        assert (page.status_code, page.headers["location"]) == (303, "/login")
        page = await client.get("/login")
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert '<input id="token" name="token"' in page.text
        assert 'href="/static/&quot;x&quot;.css"' in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        # With "no-referrer" browsers send "Origin: null" with a form.
        assert page.headers["referrer-policy"] == "same-origin"
        assert not re.search(r"<script|<style|\son\w+=|style=", page.text)
        form = {"token": f" {token}\n"}
        assert (await client.post("/login", data=form)).status_code == 403
        foreign = {"Origin": "http://localhost:1"}
        assert (await client.post("/login", data=form, headers=foreign)).status_code == 403
        own = {"Origin": "http://localhost"}
        answer = await client.post("/login", data=form, headers=own)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert (await client.get("/", headers=BROWSER)).text == "bob cookie"
        assert (await client.post("/", headers=SAME)).status_code == 403
        cookies = dict(client.cookies)
        out = await client.post("/logout", headers=SAME)
        assert (out.status_code, out.headers["location"]) == (303, "/login")
        assert not client.cookies
        assert (await client.get("/")).status_code == 401
        client.cookies.update(cookies)
        assert (await client.get("/")).status_code == 401, "a copy of the cookie does not count"

    service.run(act)


def test_the_way_back(service: Service) -> None:
    wanted = "/w/a/items/a%2Fb?q=x&label=%22"

    async def act(client: httpx.AsyncClient) -> None:
        sent = await client.get(wanted, headers=BROWSER)
        assert sent.status_code == 303
        page = await client.get(sent.headers["location"])
        shown = wanted.replace("&", "&amp;")
        assert f'<input type="hidden" name="next" value="{shown}">' in page.text
        assert f'<a href="{shown}">' in page.text
        wrong = {"token": "wrong", "next": wanted}
        again = await client.post("/login", data=wrong, headers=SAME)
        assert (again.status_code, f'value="{shown}"' in again.text) == (401, True)
        right = {"token": service.tokens.owner(), "next": wanted}
        answer = await client.post("/login", data=right, headers=SAME)
        assert (answer.status_code, answer.headers["location"]) == (303, wanted)
        code = service.sessions.new_code()
        answer = await client.get("/login", params={"code": code, "next": wanted})
        assert (answer.status_code, answer.headers["location"]) == (303, wanted)

    service.run(act)


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "https://evil.example", '"><b>']
)
def test_no_way_to_other_hosts(service: Service, path: str) -> None:
    async def act(client: httpx.AsyncClient) -> None:
        page = await client.get("/login", params={"next": path})
        assert path not in page.text
        assert 'name="next"' not in page.text
        form = {"token": service.tokens.owner(), "next": path}
        answer = await client.post("/login", data=form, headers=SAME)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        code = service.sessions.new_code()
        answer = await client.get("/login", params={"code": code, "next": path})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")

    service.run(act)


def test_a_form_that_was_not_sent_is_told(service: Service) -> None:
    async def act(client: httpx.AsyncClient) -> None:
        headers = BROWSER | SAME | {"Referer": "http://localhost/w/a"}
        answer = await client.post("/w/a/undo", headers=headers)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/login?next=/w/a&unsent=1"
        page = await client.get(answer.headers["location"])
        assert "Your last change was not made" in page.text
        assert (await client.post("/w/a/undo", headers=SAME)).status_code == 401
        assert (await client.post("/w/a/undo", headers=BROWSER)).status_code == 401
        assert (await client.post("/api/v1/workspaces", headers=headers)).status_code == 401

    service.run(act)


def test_wrong_tokens_are_counted_on_the_page_and_elsewhere(service: Service) -> None:
    async def act(client: httpx.AsyncClient) -> list[int]:
        statuses = []
        for _ in range(2):
            form = {"token": "<b>wrong"}
            answer = await client.post("/login", data=form, headers=SAME)
            assert "<b>wrong" not in answer.text
            statuses.append(answer.status_code)
            answer = await client.get("/", headers={"Authorization": "Bearer wrong"})
            statuses.append(answer.status_code)
        statuses.append(
            (await client.post("/login", data={"token": "x"}, headers=SAME)).status_code
        )
        right = {"token": service.tokens.owner()}
        statuses.append((await client.post("/login", data=right, headers=SAME)).status_code)
        return statuses

    assert service.run(act) == [401, 401, 401, 429, 429, 303]


@pytest.mark.parametrize(
    "body, kind, status",
    [
        ("token=TOKEN", "text/plain", 415),
        ("token=TOKEN", None, 415),
        ('{"token": "TOKEN"}', "application/json", 415),
        ("token=TOKEN&x=" + "x" * 5000, "application/x-www-form-urlencoded", 413),
        ("token=TOKEN" + "&a=b" * 20, "application/x-www-form-urlencoded", 400),
        ("token=TOKEN&token=TOKEN", "application/x-www-form-urlencoded", 401),
        ("", "application/x-www-form-urlencoded", 401),
        ("token=%ff%00", "application/x-www-form-urlencoded", 401),
        ("token=TOKEN", "Application/X-WWW-Form-Urlencoded; charset=utf-8", 303),
    ],
)
def test_bodies_of_the_log_in(service: Service, body: str, kind: str | None, status: int) -> None:
    headers = SAME | ({"Content-Type": kind} if kind else {})
    content = body.replace("TOKEN", service.tokens.owner()).encode()
    answer = service.run(lambda client: client.post("/login", content=content, headers=headers))
    assert answer.status_code == status
    assert ("set-cookie" in answer.headers) == (status == 303)


def test_unreadable_tokens_are_a_problem_of_the_server(service: Service, tmp_path: Path) -> None:
    code = service.sessions.new_code()
    (tmp_path / "token").write_text("short")

    async def act(client: httpx.AsyncClient) -> None:
        for answer in (
            await client.get(f"/login?code={code}"),
            await client.post("/login", data={"token": "x"}, headers=SAME),
            await client.post("/logout", headers=SAME),
        ):
            assert answer.status_code == 503
            assert answer.json()["type"] == "urn:tagalong:problem:tokens-unreadable"
        assert (await client.get("/login")).status_code == 200

    service.run(act)
