"""Requests that access control refuses, each with the answer and the reason.

A row is a request as it arrives, byte for byte. ``TOKEN``, ``READER`` and ``COOKIE`` stand for a
token of the owner, a read-only token, and the cookie of a browser that is logged in.
"""

from typing import NamedTuple

HERE = "Host: 127.0.0.1:8420"
OWNER = "Authorization: Bearer TOKEN"
READER = "Authorization: Bearer READER"
LOGGED_IN = "Cookie: COOKIE"
SAME = "Sec-Fetch-Site: same-origin"
ITEMS = "/api/v1/workspaces/default/items"
FORM = "Content-Type: application/x-www-form-urlencoded"


class Attack(NamedTuple):
    """A request, and how it is answered."""

    name: str
    request: str  # method and path
    headers: tuple[str, ...]
    status: int
    why: str


ATTACKS = (
    # Names of the service
    Attack(
        "DNS rebinding",
        f"GET {ITEMS}",
        ("Host: evil.example:8420", LOGGED_IN, SAME),
        421,
        "the page has given its own name the address of this computer",
    ),
    Attack(
        "a name that begins like ours",
        f"GET {ITEMS}",
        ("Host: localhost.evil.example", OWNER),
        421,
        "names are compared as a whole",
    ),
    Attack(
        "a user name before the host",
        f"GET {ITEMS}",
        ("Host: localhost@evil.example", OWNER),
        421,
        "a host is a name and a port, nothing else",
    ),
    Attack(
        "another address of loopback",
        f"GET {ITEMS}",
        ("Host: 127.0.0.2", OWNER),
        421,
        "only the usual names of loopback are allowed",
    ),
    Attack("no host", f"GET {ITEMS}", (OWNER,), 400, "the check has nothing to compare"),
    Attack(
        "two hosts",
        f"GET {ITEMS}",
        (HERE, "Host: evil.example", OWNER),
        400,
        "a proxy and the server could choose different ones",
    ),
    Attack(
        "rebinding on a public path",
        "GET /healthz",
        ("Host: evil.example",),
        421,
        "the name is checked before anything else",
    ),
    # Pages of other sites
    Attack(
        "a form of another site",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"),
        403,
        "a page of another site must not act in the name of the browser's user",
    ),
    Attack(
        "a form of another port",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN, "Origin: http://127.0.0.1:9999", "Sec-Fetch-Site: same-site"),
        403,
        "ports share cookies, so another local server is another site",
    ),
    Attack(
        "a foreign Origin beside a good Sec-Fetch-Site",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN, SAME, "Origin: https://evil.example"),
        403,
        "one foreign header is enough",
    ),
    Attack(
        "a sandboxed frame",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN, "Origin: null"),
        403,
        "an origin that is hidden is not ours",
    ),
    Attack(
        "a cookie without proof",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN),
        403,
        "with a cookie the browser has to say which page has made the request",
    ),
    Attack(
        "a cookie and Sec-Fetch-Site: none",
        f"DELETE {ITEMS}/1",
        (HERE, LOGGED_IN, "Sec-Fetch-Site: none"),
        403,
        "a typed address makes no changes",
    ),
    Attack(
        "two values of Sec-Fetch-Site",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN, SAME, "Sec-Fetch-Site: cross-site"),
        403,
        "no browser sends two",
    ),
    Attack(
        "two values of Origin",
        f"POST {ITEMS}",
        (HERE, LOGGED_IN, f"Origin: http://{HERE[6:]}", "Origin: https://evil.example"),
        403,
        "no browser sends two",
    ),
    Attack(
        "a token from another site",
        f"POST {ITEMS}",
        (HERE, OWNER, "Origin: https://evil.example"),
        403,
        "programs send no Origin, and pages of other sites must not use tokens",
    ),
    Attack(
        "data read by another site",
        f"GET {ITEMS}",
        (HERE, LOGGED_IN, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"),
        403,
        "an image or a script of another site must not load data, even unread",
    ),
    Attack(
        "data read by another port",
        f"GET {ITEMS}",
        (HERE, LOGGED_IN, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"),
        403,
        "ports share cookies, so another local server is another site",
    ),
    Attack(
        "a form of another site in a new tab",
        "POST /",
        (
            HERE,
            LOGGED_IN,
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Mode: navigate",
            "Sec-Fetch-Dest: document",
        ),
        403,
        "links may lead to pages, forms may not",
    ),
    Attack(
        "a link of another site to data",
        f"GET {ITEMS}",
        (
            HERE,
            LOGGED_IN,
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Mode: navigate",
            "Sec-Fetch-Dest: document",
        ),
        403,
        "links may lead to pages, not to data",
    ),
    Attack(
        "a page in a frame",
        "GET /",
        (
            HERE,
            LOGGED_IN,
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Mode: navigate",
            "Sec-Fetch-Dest: iframe",
        ),
        403,
        "another site must not lay our page under its own (clickjacking)",
    ),
    Attack(
        "an HTTP page of a service behind HTTPS",
        f"POST https:{ITEMS}",
        (HERE, LOGGED_IN, "Origin: http://127.0.0.1:8420"),
        403,
        "whoever changes the network can change HTTP pages",
    ),
    Attack(
        "a preflight request",
        f"OPTIONS {ITEMS}",
        (HERE, "Origin: https://evil.example", "Access-Control-Request-Method: POST"),
        403,
        "no other site is ever allowed (no CORS)",
    ),
    Attack(
        "a log-in by another site",
        "POST /login",
        (HERE, FORM, "Origin: https://evil.example"),
        403,
        "people must not work under the name of an attacker without noticing",
    ),
    Attack(
        "a log-out by another site",
        "POST /logout",
        (HERE, LOGGED_IN, "Sec-Fetch-Site: cross-site"),
        403,
        "nobody else ends a log-in",
    ),
    # Tokens
    Attack("no token", f"GET {ITEMS}", (HERE,), 401, "data need a token"),
    Attack("no token for a change", f"POST {ITEMS}", (HERE,), 401, "changes need a token"),
    Attack("no token for the page", "GET /", (HERE,), 401, "the page needs a log-in"),
    Attack("no token for the metrics", "GET /metrics", (HERE,), 401, "they show names"),
    Attack(
        "a wrong token",
        f"GET {ITEMS}",
        (HERE, "Authorization: Bearer wrong"),
        401,
        "only tokens of the service count",
    ),
    Attack(
        "a token and a little more",
        f"GET {ITEMS}",
        (HERE, f"{OWNER}x"),
        401,
        "the whole token is compared",
    ),
    Attack(
        "a hash as a token",
        f"GET {ITEMS}",
        (HERE, "Authorization: Bearer SHA256"),
        401,
        "whoever reads tokens.json has no access",
    ),
    Attack(
        "a password",
        f"GET {ITEMS}",
        (HERE, "Authorization: Basic TOKEN"),
        401,
        "only the scheme Bearer is known",
    ),
    Attack(
        "two tokens",
        f"GET {ITEMS}",
        (HERE, OWNER, "Authorization: Bearer wrong"),
        401,
        "a proxy and the server could choose different ones",
    ),
    Attack(
        "a wrong token beside a cookie",
        f"GET {ITEMS}",
        (HERE, LOGGED_IN, "Authorization: Bearer wrong"),
        401,
        "the token is meant, so it counts",
    ),
    Attack(
        "a token in the address",
        f"GET {ITEMS}?access_token=TOKEN&token=TOKEN",
        (HERE,),
        401,
        "addresses end up in logs and histories",
    ),
    Attack(
        "a token as a cookie",
        f"GET {ITEMS}",
        (HERE, "Cookie: tagalong=TOKEN; token=TOKEN"),
        401,
        "a cookie is made by a log-in only",
    ),
    Attack(
        "two cookies of one name",
        f"GET {ITEMS}",
        (HERE, f"{LOGGED_IN}; COOKIEx"),
        401,
        "a neighbouring host can add a cookie, so neither counts",
    ),
    Attack(
        "a cookie of HTTP sent by HTTPS",
        f"GET https:{ITEMS}",
        (HERE, LOGGED_IN),
        401,
        "by HTTPS only cookies count that no HTTP page can set",
    ),
    # Read-only tokens
    Attack("a change", f"POST {ITEMS}", (HERE, READER), 403, "the token is read-only"),
    Attack("a removal", f"DELETE {ITEMS}/1", (HERE, READER), 403, "the token is read-only"),
    Attack(
        "an item named suggest",
        f"POST {ITEMS}/suggest",
        (HERE, READER),
        403,
        "only the call for suggestions changes nothing",
    ),
    Attack(
        "a change with an escaped slash before suggest",
        "POST /api/v1/workspaces/default%2Fsuggest",
        (HERE, READER),
        403,
        "a path with escapes is never the call for suggestions",
    ),
    Attack(
        "an unknown method", f"BREW {ITEMS}", (HERE, READER), 403, "all but GET and HEAD may change"
    ),
    # Paths that look public
    Attack(
        "from static files to data", f"GET /static/..{ITEMS}", (HERE,), 401, "not a static file"
    ),
    Attack(
        "with escaped dots", f"GET /static/%2e%2e{ITEMS}", (HERE,), 401, "escapes are never public"
    ),
    Attack(
        "with an escaped slash",
        f"GET /static/..%2f{ITEMS}",
        (HERE,),
        401,
        "escapes are never public",
    ),
    Attack("with backslashes", "GET /static/..\\api", (HERE,), 401, "not the name of a file"),
    Attack("from health to data", f"GET /healthz/..{ITEMS}", (HERE,), 401, "only /healthz itself"),
    Attack("below health", "GET /healthz/", (HERE,), 401, "only /healthz itself"),
    Attack("an escaped health", "GET /%68ealthz", (HERE,), 401, "escapes are never public"),
    Attack("an escaped slash", "GET %2Fhealthz", (HERE,), 401, "escapes are never public"),
    Attack("two slashes", "GET //healthz", (HERE,), 401, "only /healthz itself"),
    Attack("two slashes in static", "GET /static//x.css", (HERE,), 401, "an empty part"),
    Attack("a hidden file", "GET /static/.env", (HERE,), 401, "no name begins with a dot"),
    Attack("a null byte", "GET /static/x.css%00.js", (HERE,), 401, "escapes are never public"),
    Attack("a line end", "GET /login%0a", (HERE,), 401, "escapes are never public"),
    Attack("a path parameter", "GET /login;x", (HERE,), 401, "only /login itself"),
    Attack("capitals", "GET /Login", (HERE,), 401, "paths are compared exactly"),
    Attack("an endless path", f"GET /static/{'../' * 20_000}", (HERE,), 401, "not a static file"),
    Attack("a change of health", "POST /healthz", (HERE,), 401, "health can only be read"),
    Attack("a change of a static file", "PUT /static/x.css", (HERE,), 401, "they can only be read"),
)
