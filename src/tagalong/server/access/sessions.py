"""Log-ins of browsers: one-time codes, and the cookies that they are exchanged for.

A cookie is ``EXPIRY:NAME:RANDOM:MAC``. The server stores no list of log-ins: the MAC is made with
a key that follows from the owner's token and from the token of that name. Therefore log-ins survive
a restart, a new owner's token ends all of them, and removing a token ends those made with it, also
if another token gets its name.

All ports of a host share their cookies. Therefore the name of the cookie follows from the owner's
token as well: two services on one computer do not overwrite each other's log-ins.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Iterable

from tagalong.server.access.token_records import OWNER
from tagalong.server.access.token_store import TokenStore
from tagalong.server.access.who import Who

__all__ = ["SECONDS_OF_A_CODE", "SECONDS_OF_A_LOGIN", "Sessions"]

SECONDS_OF_A_CODE = 60.0
SECONDS_OF_A_LOGIN = 30 * 24 * 60 * 60
_MAX_CODES = 5
_MAX_COOKIE = 300


class Sessions:
    """One-time codes and cookies of a service.

    Parameters
    ----------
    tokens : TokenStore
        The tokens with which people log in.
    clock : callable
        The time in seconds since 1970, for the expiry of cookies.
    monotonic : callable
        A clock in seconds that never goes back, for the expiry of codes.
    """

    def __init__(
        self,
        tokens: TokenStore,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ):
        self._tokens = tokens
        self._clock = clock
        self._monotonic = monotonic
        # When each code ends, and the key at the time when it was made.
        self._codes: dict[str, tuple[float, bytes]] = {}
        # The values of cookies whose holders have logged out, and when they end.
        self._ended: dict[str, int] = {}

    def new_code(self) -> str:
        """Return a code that logs the owner in once, within a minute. Only the newest few count."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = self._monotonic() + SECONDS_OF_A_CODE, self._tokens.secret()
        for oldest in list(self._codes)[:-_MAX_CODES]:
            self._codes.pop(oldest, None)
        return code

    def use_code(self, code: str) -> bool:
        """Whether a code is right. It is used up from now on.

        Parameters
        ----------
        code : str
            Any text.
        """
        sent = code.encode("utf-8", "surrogatepass")
        same = [known for known in self._codes if hmac.compare_digest(known.encode(), sent)]
        if not same:
            return False
        end, secret = self._codes.pop(same[0])
        return self._monotonic() < end and hmac.compare_digest(secret, self._tokens.secret())

    def start(self, name: str = OWNER, *, secure: bool = False) -> str:
        """Return the header ``Set-Cookie`` of a new log-in.

        Parameters
        ----------
        name : str
            Name of the token with which somebody logs in. LookupError if there is none.
        secure : bool
            Whether the request came by HTTPS. The browser sends the cookie by HTTPS only then.
        """
        expiry = int(self._clock()) + SECONDS_OF_A_LOGIN
        value = self._signed(expiry, name, secrets.token_hex(8))
        if value is None:
            raise LookupError(f"there is no token {name!r}")
        return self._header(value, SECONDS_OF_A_LOGIN, secure)

    def identify(self, cookies: Iterable[str], *, secure: bool = False) -> Who | None:
        """Return who has logged in; None without a cookie, or with one that does not count.

        Parameters
        ----------
        cookies : iterable of str
            The headers ``Cookie`` of a request.
        secure : bool
            Whether the request came by HTTPS.
        """
        value = self._value(cookies, secure)
        return None if value is None or value in self._ended else self._holder(value)

    def end(self, cookies: Iterable[str], *, secure: bool = False) -> str:
        """Log out, and return the header ``Set-Cookie`` that removes the cookie.

        This process accepts the cookie no more, should somebody have a copy. A process that is
        started later does not know that: a new owner's token ends log-ins for certain.

        Parameters
        ----------
        cookies : iterable of str
            The headers ``Cookie`` of a request.
        secure : bool
            Whether the request came by HTTPS.
        """
        value = self._value(cookies, secure)
        if value is not None and self._holder(value) is not None:
            now = self._clock()
            self._ended = {each: end for each, end in self._ended.items() if end > now}
            self._ended[value] = int(value.partition(":")[0])
        return self._header("", 0, secure)

    def _value(self, cookies: Iterable[str], secure: bool) -> str | None:
        """Return the value of the cookie; None if there is none, or if several differ.

        A page on a neighbouring host can add a cookie of the same name, to make somebody work under
        another name without noticing. It cannot remove the right one.
        """
        name = self._cookie_name(secure)
        pairs = (pair.strip().partition("=") for line in cookies for pair in line.split(";"))
        values = {value for each, _, value in pairs if each == name}
        return values.pop() if len(values) == 1 else None

    def _holder(self, value: str) -> Who | None:
        """Return who has logged in with a cookie of this value."""
        expiry, _, rest = value.partition(":")
        name, _, rest = rest.partition(":")
        random, _, _ = rest.partition(":")
        if len(value) > _MAX_COOKIE or not value.isascii() or not expiry.isdecimal():
            return None
        signed = self._signed(int(expiry), name, random)
        if signed is None or not hmac.compare_digest(signed, value):
            return None
        token = self._tokens.find(name)
        if token is None or int(expiry) <= self._clock():
            return None
        return Who(token.name, token.read_only, "cookie")

    def _signed(self, expiry: int, name: str, random: str) -> str | None:
        """Return the value of a cookie; None if no token has this name."""
        token = self._tokens.find(name)
        if token is None:
            return None
        text = f"{expiry}:{name}:{random}"
        signed = f"{text}:{token.sha256}".encode()
        return f"{text}:{hmac.digest(self._tokens.secret(), signed, 'sha256').hex()}"

    def _cookie_name(self, secure: bool) -> str:
        # Browsers let no other host and no page without HTTPS set a cookie whose name begins so.
        prefix = "__Host-" if secure else ""
        return f"{prefix}tagalong-{hmac.digest(self._tokens.secret(), b'name', 'sha256').hex()[:8]}"

    def _header(self, value: str, seconds: int, secure: bool) -> str:
        flags = "; Secure" if secure else ""
        return (
            f"{self._cookie_name(secure)}={value}; Path=/; Max-Age={seconds}; HttpOnly; "
            f"SameSite=Strict{flags}"
        )
