"""Pages as trees, to look for elements in them, and forms as a browser would send them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

from tests.server.answers import Answer
from tests.server.api_server import Api

VOID = frozenset(["input", "link", "meta", "rect", "circle", "line", "path", "br", "hr"])
HTML = {"Accept": "text/html"}


@dataclass
class Element:
    """An element with its children, which are elements and texts."""

    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text within, white space made single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> list[str]:
        found = []
        for child in self.children:
            found += [child] if isinstance(child, str) else child._texts()
        return found

    def all(self, tag: str = "", **wanted: str | None) -> list["Element"]:
        """Elements within, by tag and attributes; "_" in names stands for "-", None for any."""
        names = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if (not tag or child.tag == tag) and all(
                    name in child.attributes and value in (None, child.attributes[name])
                    for name, value in names.items()
                ):
                    found.append(child)
                found += child.all(tag, **wanted)
        return found

    def one(self, tag: str = "", **wanted: str | None) -> "Element":
        """The only such element within."""
        found = self.all(tag, **wanted)
        assert len(found) == 1, (tag, wanted, len(found))
        return found[0]

    def fields(self) -> list[tuple[str, str]]:
        """The fields of a form that is sent as it is, without its buttons."""
        found = []
        for each in self.all("input", name=None):
            kind = each.attributes.get("type", "text")
            if kind not in ("checkbox", "radio") or "checked" in each.attributes:
                found.append((each.attributes["name"], each.attributes.get("value", "")))
        return found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs})
        if tag != "template":  # not part of the page until a script uses it
            self.open[-1].children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in [each.tag for each in self.open]:
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(answer: Answer) -> Element:
    """The page of an answer."""
    parser = _Parser()
    parser.feed(answer.body.decode())
    parser.close()
    return parser.open[0]


def visit(api: Api, path: str = "", status: int = 200) -> Element:
    """Open a page of the workspace."""
    found = api.get(f"/w/{api.workspace}{path}", headers=HTML)
    assert found.status == status, (found.status, found.body[:500])
    return parsed(found)


def submit(
    api: Api, form: Element, changes: dict[str, str | list[str]], status: int = 303
) -> tuple[str, Element]:
    """Send a form, and return the path that it leads to and the page there, or the refusal."""
    fields = [(name, value) for name, value in form.fields() if name not in changes]
    for name, values in changes.items():
        fields += [(name, value) for value in ([values] if isinstance(values, str) else values)]
    body = urlencode(fields).encode()
    sent = api.post(
        form.attributes["action"], body, media="application/x-www-form-urlencoded", headers=HTML
    )
    assert sent.status == status, (sent.status, sent.body[:500])
    if status != 303:
        return "", parsed(sent)
    path = sent.headers["location"]
    return path, parsed(api.get(path, headers=HTML))
