"""The address of a server and the token, both checked before anything is sent."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Address", "Token", "checked_unicode", "path_part"]

_PORTS = {"http": 80, "https": 443}
MOST_TOKEN_CHARACTERS = 4096


class Token:
    """A token that neither messages nor tracebacks show.

    Parameters
    ----------
    text : str
        The token. ValueError if it cannot be part of a request; the message does not show it.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str):
        if not isinstance(text, str) or not text:
            raise ValueError("the token must be a non-empty text")
        if len(text) > MOST_TOKEN_CHARACTERS or not all("!" <= each <= "~" for each in text):
            raise ValueError("the token must have only visible ASCII characters, without spaces")
        self._text = text

    @property
    def header(self) -> str:
        """The value of the header ``Authorization``."""
        return f"Bearer {self._text}"

    def __repr__(self) -> str:
        return "Token(...)"


class Address:
    """The address of a server, from a URL.

    Parameters
    ----------
    url : str
        "http://HOST[:PORT]/" or "https://HOST[:PORT]/"; a path in front of the API, as behind a
        reverse proxy, is kept. ValueError if it is no such URL.
    """

    def __init__(self, url: str):
        if not isinstance(url, str):
            raise ValueError(f"the URL of a server must be a text, got {type(url).__name__}")
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None or "@" in parts.netloc:
            # The message does not repeat the URL, which has a secret in it.
            raise ValueError("the URL of a server must not have a name or a password in it")
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(
                f"the URL of a server must begin with http:// or https://, got {url!r}"
            )
        if parts.query or parts.fragment:
            # A log-in address of a browser has a code in its query.
            raise ValueError(
                "the URL of a server must end with its path, without ? or #, such as "
                f"{parts.scheme}://{parts.netloc}/"
            )
        if not url.isascii() or any(not "!" <= each <= "~" for each in url):
            raise ValueError(f"the URL of a server must be ASCII without spaces, got {url!r}")
        try:
            port = parts.port
        except ValueError as error:
            raise ValueError(f"{url!r}: {error}") from None
        self.is_secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = _PORTS[parts.scheme] if port is None else port
        self.prefix = parts.path.rstrip("/")
        self.text = f"{parts.scheme}://{parts.netloc}{self.prefix}/"

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    def path(self, path: str, query: Mapping[str, object] | None = None) -> str:
        """Return a path as it is sent, with its query.

        Parameters
        ----------
        path : str
            The path below the address, encoded.
        query : mapping of str to object, optional
            Parameters; those that are None are left out.
        """
        given = {
            name: _as_text(value) for name, value in (query or {}).items() if value is not None
        }
        for name, value in given.items():
            checked_unicode(value, name)
        return f"{self.prefix}/{path}{f'?{urlencode(given)}' if given else ''}"

    def __repr__(self) -> str:
        return f"Address({self.text!r})"


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def path_part(text: object, name: str) -> str:
    """Return an id or a name as one part of a path, percent-encoded.

    Parameters
    ----------
    text : object
        The id. ValueError if it is not a non-empty text of valid Unicode.
    name : str
        Its meaning, for the message.
    """
    if not isinstance(text, str) or not text:
        raise ValueError(f"{name} must be a non-empty text, got {text!r}")
    encoded = quote(checked_unicode(text, name), safe="")
    # Programs on the way could take a part that has only dots for a step to another folder.
    return encoded.replace(".", "%2E") if not text.strip(".") else encoded


def checked_unicode(text: str, name: str) -> str:
    """Return a text; ValueError if UTF-8 cannot encode it.

    Parameters
    ----------
    text : str
        The text.
    name : str
        Its meaning, for the message.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} is not valid Unicode: character {error.start + 1} is the lone surrogate "
            f"{text[error.start]!r}, which cannot be sent"
        ) from None
    return text
