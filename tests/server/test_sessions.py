"""Tests of one-time codes and cookies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.server.access.sessions import SECONDS_OF_A_CODE, SECONDS_OF_A_LOGIN, Sessions
from tagalong.server.access.tokens import FileTokens
from tagalong.server.access.who import Who

OWNER = Who("owner", False, "cookie")


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: float):
        self.now = now

    def __call__(self) -> float:
        return self.now


class Browser:
    """Tokens, log-ins and two clocks."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.tokens = FileTokens(folder)
        self.clock, self.monotonic = Clock(1_800_000_000.0), Clock(50.0)
        self.sessions = self.restarted()

    def restarted(self) -> Sessions:
        """Return the sessions of a server that starts now."""
        return Sessions(self.tokens, clock=self.clock, monotonic=self.monotonic)

    def cookie(self, name: str = "owner", secure: bool = False) -> str:
        return self.sessions.start(name, secure=secure).partition(";")[0]


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(tmp_path)


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """For tests that leave everything as it was."""
    return Browser(tmp_path_factory.mktemp("steady"))


def test_a_code_counts_once(browser: Browser) -> None:
    code = browser.sessions.new_code()
    assert len(code) == 43
    assert not browser.sessions.use_code(code + "x")
    assert not browser.sessions.use_code("")
    assert not browser.sessions.use_code("ä")
    assert browser.sessions.use_code(code)
    assert not browser.sessions.use_code(code)


@pytest.mark.parametrize(
    "seconds, counts", [(SECONDS_OF_A_CODE - 0.001, True), (SECONDS_OF_A_CODE, False)]
)
def test_a_code_counts_for_a_minute(browser: Browser, seconds: float, counts: bool) -> None:
    assert SECONDS_OF_A_CODE == 60
    code = browser.sessions.new_code()
    browser.clock.now += 10**6  # the clock on the wall does not matter
    browser.monotonic.now += seconds
    assert browser.sessions.use_code(code) == counts
    assert not browser.sessions.use_code(code)


def test_only_the_newest_codes_count(browser: Browser) -> None:
    codes = [browser.sessions.new_code() for _ in range(7)]
    assert len(set(codes)) == 7
    assert [browser.sessions.use_code(code) for code in codes] == [False] * 2 + [True] * 5


def test_a_new_token_ends_codes(browser: Browser) -> None:
    code = browser.sessions.new_code()
    browser.tokens.renew()
    assert not browser.sessions.use_code(code)


def test_the_header_of_a_log_in(browser: Browser) -> None:
    pair, *flags = browser.sessions.start().split("; ")
    assert flags == ["Path=/", f"Max-Age={30 * 24 * 3600}", "HttpOnly", "SameSite=Strict"]
    assert pair.startswith("tagalong-")
    assert browser.tokens.owner() not in pair
    assert browser.sessions.identify([pair]) == OWNER
    pair, *flags = browser.sessions.start(secure=True).split("; ")
    assert flags[-1] == "Secure"
    assert pair.startswith("__Host-tagalong-")
    assert browser.sessions.identify([pair], secure=True) == OWNER
    assert browser.sessions.identify([pair]) is None


def test_a_log_in_survives_a_restart(browser: Browser) -> None:
    cookie = browser.cookie()
    assert browser.restarted().identify([cookie]) == OWNER


def test_a_log_in_ends(browser: Browser) -> None:
    cookie = browser.cookie()
    browser.clock.now += SECONDS_OF_A_LOGIN - 1
    assert browser.sessions.identify([cookie]) == OWNER
    browser.clock.now += 1
    assert browser.sessions.identify([cookie]) is None


def test_a_log_in_has_the_rights_of_its_token(browser: Browser) -> None:
    browser.tokens.add("bob", read_only=True)
    cookie = browser.cookie("bob")
    assert browser.sessions.identify([cookie]) == Who("bob", True, "cookie")


def test_a_removed_token_ends_its_log_ins_for_ever(browser: Browser) -> None:
    browser.tokens.add("bob")
    browser.tokens.add("eve")
    cookie, other = browser.cookie("bob"), browser.cookie("eve")
    browser.tokens.remove("bob")
    assert browser.sessions.identify([cookie]) is None
    browser.tokens.add("bob")
    assert browser.sessions.identify([cookie]) is None
    assert browser.sessions.identify([other]) == Who("eve", False, "cookie")


def test_a_new_owner_s_token_ends_all_log_ins(browser: Browser) -> None:
    browser.tokens.add("bob")
    cookies = [browser.cookie(), browser.cookie("bob")]
    browser.tokens.renew()
    # A browser that keeps the old cookie under the new name has no log-in either.
    new_name = browser.cookie().partition("=")[0]
    for cookie in cookies:
        assert browser.sessions.identify([cookie]) is None
        assert browser.sessions.identify([f"{new_name}={cookie.partition('=')[2]}"]) is None


def test_nobody_logs_in_without_a_token(browser: Browser) -> None:
    with pytest.raises(LookupError, match="there is no token 'bob'"):
        browser.sessions.start("bob")


def test_logging_out_ends_one_log_in(browser: Browser) -> None:
    first, second = browser.cookie(), browser.cookie()
    assert first != second
    header = browser.sessions.end([first])
    name = first.partition("=")[0]
    assert header == f"{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
    assert browser.sessions.identify([first]) is None, "a copy does not count either"
    assert browser.sessions.identify([second]) == OWNER
    assert browser.sessions.end([]) == browser.sessions.end([f"{name}=x"]) == header
    assert browser.sessions.end([second], secure=True).endswith("; Secure")
    assert browser.sessions.identify([second]) == OWNER


def test_two_services_have_cookies_of_different_names(tmp_path: Path) -> None:
    names = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        names.add(Browser(tmp_path / folder).cookie().partition("=")[0])
    assert len(names) == 2


def test_cookies_among_others(browser: Browser) -> None:
    cookie = browser.cookie()
    name = cookie.partition("=")[0]
    for headers in (
        ["a=b", cookie],
        [f"a=b;{cookie} ; c"],
        [cookie, cookie],
        [f"x{cookie}; {cookie}"],
    ):
        assert browser.sessions.identify(headers) == OWNER, headers
    for headers in ([], [""], [f"x{cookie}"], [cookie, f"{name}=x"], [f"{name}={cookie}"], [name]):
        assert browser.sessions.identify(headers) is None, headers


def test_an_endless_cookie_does_not_count(browser: Browser) -> None:
    name, _, value = browser.cookie().partition("=")
    assert browser.sessions.identify([f"{name}={'9' * 10_000}{value}"]) is None


def test_the_name_of_another_token_does_not_count(browser: Browser) -> None:
    browser.tokens.add("bob", read_only=True)
    cookie = browser.cookie("bob")
    assert browser.sessions.identify([cookie.replace(":bob:", ":owner:")]) is None


@given(st.data())
def test_no_mutated_cookie_is_accepted(steady: Browser, data: st.DataObject) -> None:
    name, _, value = steady.cookie().partition("=")
    place = data.draw(st.integers(0, len(value)))
    cut = data.draw(st.integers(place, len(value)))
    changed = value[:place] + data.draw(st.text(max_size=5)) + value[cut:]
    # Spaces around a cookie and whatever follows a semicolon do not belong to its value.
    if changed.partition(";")[0].strip() != value:
        assert steady.sessions.identify([f"{name}={changed}"]) is None


@given(st.integers(0, 10**30), st.text(max_size=10), st.text("0123456789abcdef", max_size=80))
def test_no_invented_cookie_is_accepted(steady: Browser, expiry: int, name: str, mac: str) -> None:
    cookie = steady.cookie().partition("=")[0]
    for holder in (name, "owner"):
        assert steady.sessions.identify([f"{cookie}={expiry}:{holder}:0:{mac}"]) is None


@given(st.integers(1, 20))
def test_zeros_before_the_expiry_do_not_count(steady: Browser, zeros: int) -> None:
    name, _, value = steady.cookie().partition("=")
    assert steady.sessions.identify([f"{name}={'0' * zeros}{value}"]) is None
    assert steady.sessions.identify([f"{name}={value}"]) == OWNER
