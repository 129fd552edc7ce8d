"""Workspaces for the tests of the page: mails of an office, and items that try to break it."""

import random
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tagalong import Item
from tagalong.journal import Workspace
from tests.timeouts import TIMEOUT

TOPICS = {
    "contracts": "contract signature clause renewal notice term lawyer party",
    "facilities": "heating window key badge cleaning parking lamp desk",
    "hiring": "candidate interview offer résumé reference salary position start",
    "invoices": "invoice payment amount due account tax refund bank",
    "newsletters": "newsletter subscribe issue readers weekly edition editor article",
    "press": "journalist quote article statement deadline interview photo release",
    "support": "error screen login password crash update version ticket",
    "travel": "flight hotel ticket train lisbon passport gate booking",
}
PEOPLE = ("Ana Duarte", "Ben Okafor", "Chloé Martin", "Dmitri Lang", "Eun-ji Park", "Farah Aziz")
NOISE = 0.08
"""Share of mails with a label that has nothing to do with their words."""
LEARNT = 300
OPEN = 30
ANSWERED = 8
COMMON = "please today the about for and with your our we hello thanks tomorrow again question"
FIRST_DAY = datetime(2026, 9, 1, 8, tzinfo=UTC)
MEGABYTE = 900_000
"""Length of the longest line: an item has at most 1,000,000 bytes, JSON included."""


def office_items(count: int, seed: int = 1) -> list[Item]:
    """Mails with one label, or with two now and then, which mostly follow from their words."""
    choose = random.Random(seed)
    return [_mail(number, choose) for number in range(count)]


def _mail(number: int, choose: random.Random) -> Item:
    labels = sorted(choose.sample(sorted(TOPICS), choose.choices([1, 2], [9, 1])[0]))
    words = [word for label in labels for word in choose.sample(TOPICS[label].split(), 4)]
    choose.shuffle(words)
    stray = [choose.choice(TOPICS[label].split()) for label in choose.sample(sorted(TOPICS), 3)]
    filling = choose.sample(COMMON.split(), 8)
    body = [word for pair in zip(filling, words + stray, strict=False) for word in pair]
    if choose.random() < NOISE:
        labels = [choose.choice(sorted(TOPICS))]
    return Item(
        id=f"mail-{number:04}",
        text={
            "subject": " ".join(words[:3]).capitalize(),
            "from": choose.choice(PEOPLE),
            "body": " ".join(body).capitalize() + ".",
        },
        labels=tuple(labels),
        date=FIRST_DAY + timedelta(hours=7 * number),
    )


def learnt_items() -> list[Item]:
    """Items with their labels."""
    return office_items(LEARNT)


def open_items() -> list[Item]:
    """Items that follow the learnt ones, without labels; every third one is hard to file."""
    choose = random.Random(2)
    found = [replace(item, labels=None) for item in office_items(LEARNT + OPEN)[LEARNT:]]
    for place in range(1, OPEN, 3):
        topics = choose.sample(sorted(TOPICS), 4)
        words = [choose.choice(TOPICS[topic].split()) for topic in topics]
        fields = {
            "subject": " ".join(words[:2]).capitalize(),
            "from": choose.choice(PEOPLE),
            "body": f"Hello, a question about the {words[2]} and our {words[3]} again. Thanks.",
        }
        found[place] = replace(found[place], text=fields)
    return found


@dataclass(frozen=True)
class Hostile:
    """An item that tries to break the page."""

    name: str
    subject: str
    body: str

    @property
    def item(self) -> Item:
        return Item(id=f"hostile {self.name}", text={"subject": self.subject, "body": self.body})


HOSTILE = (
    Hostile(
        "markup",
        "<script>window.attacked = 1</script><img src=x onerror=window.attacked=2>",
        "</p></main><h1>attacked</h1><style>body{display:none}</style><!-- {{ 7*7 }} {% raw %}",
    ),
    Hostile(
        "attributes",
        '" onmouseover="window.attacked=3" x=\'',
        "' autofocus onfocus='window.attacked=4' javascript:window.attacked=5",
    ),
    Hostile("line", "A line without end", "x" * MEGABYTE),
    Hostile("word", "W" * 400, "contract " * 20 + "V" * 4000),
    Hostile(
        "directions",
        "\u202emoc.elpmaxe\u202c שלום עולם",
        "مرحبا بالعالم، هذه رسالة \u2066invoice\u2069 payment \u200f\u202e txt.exe",
    ),
    Hostile(
        "controls",
        "bell\x07 escape\x1b[31m null-like\x01",
        "tab\tline\nvertical\x0b feed\x0c delete\x7f next\x85 zero\u200bwidth \ufeffmark",
    ),
    Hostile("emoji", "👩🏽‍🚀🇵🇹✅ flight 🛫", "👨‍👩‍👧‍👦" * 200 + " Z̸̡̢̛͔͔̝͔̗̗͐̐̈a̷l̵g̴o̶ " * 20),
    Hostile("empty", " ", ""),
)


HOSTILE_LABELS = (
    "<img src=x onerror=window.attacked=6>",
    "\"' onfocus=window.attacked=7 autofocus x='",
    "javascript:window.attacked=8",
    "\u202egnissim\u202c \u05e9\u05dc\u05d5\u05dd",
    "../../settings?x=1#y",
    "L" * 300,
)
HOSTILE_SOURCE = '<b>scanner</b> \u202e&amp; "quoted"'


def make_workspace(folder: Path, kind: str = "office") -> None:
    """Make a workspace for tests.

    Parameters
    ----------
    folder : path
        Where the workspace is made.
    kind : str
        One of `KINDS`.
    """
    settings = {"one_label": True} if kind == "one-label" else None
    with Workspace(folder, settings=settings) as workspace:
        KINDS[kind](workspace)
        workspace.settle(TIMEOUT)
        workspace.snapshot()


def _office(workspace: Workspace) -> None:
    """Learnt items, some answers and changes by three people, and open items."""
    _learn(workspace, learnt_items())
    left = open_items()
    half = len(left) // 2
    workspace.add_many(left[:half], source="inbox", actor="owner")
    workspace.add_many(left[half:], source="scanner", actor="owner")
    extra = office_items(ANSWERED, seed=3)
    for number, (item, actor) in enumerate(zip(extra, ("ana", "ben", "owner") * 4, strict=False)):
        id = f"note-{number:02}"
        workspace.add(replace(item, id=id, labels=None), source="inbox", actor="owner")
        workspace.answer(id, item.labels, actor=actor)
    workspace.answer("note-00", ["travel", "hiring"], actor="ben")
    workspace.undo(workspace.answer("note-01", [], actor="ana"), actor="ana")


def _one_label(workspace: Workspace) -> None:
    """Every item has one label."""
    _learn(workspace, [replace(each, labels=(each.labels or ())[:1]) for each in learnt_items()])
    workspace.add_many(open_items(), source="inbox", actor="owner")


def _hostile(workspace: Workspace) -> None:
    """The open items, some answers, the labels and the sources try to break the page."""
    _learn(workspace, learnt_items())
    for label in HOSTILE_LABELS:
        workspace.add_label(label, actor="owner")
    for number, label in enumerate(HOSTILE_LABELS * 3):
        fields = {"subject": f"attack {label}", "body": f"strange words {number} {label}"}
        item = Item(id=f"answered {number} {label[:40]}", text=fields, labels=(label,))
        workspace.add(item, source=HOSTILE_SOURCE, actor="<i>mallory</i>")
    workspace.add_many([each.item for each in HOSTILE], source=HOSTILE_SOURCE, actor="owner")


def _done(workspace: Workspace) -> None:
    """Nothing is open."""
    _learn(workspace, learnt_items())


def _few(workspace: Workspace) -> None:
    """Too little is learnt to be sure of anything."""
    _learn(workspace, learnt_items()[:12])
    workspace.add_many(open_items()[:5], source="inbox", actor="owner")


def _features(workspace: Workspace) -> None:
    """Texts are not kept."""
    workspace.change_settings(content="features", actor="owner")
    _office(workspace)


def _learn(workspace: Workspace, items: list[Item]) -> None:
    workspace.add_many(items, source="archive.mbox", actor="owner")


KINDS = {
    "office": _office,
    "one-label": _one_label,
    "hostile": _hostile,
    "empty": lambda workspace: None,
    "imported": lambda workspace: None,
    "done": _done,
    "few": _few,
    "features": _features,
}
"""How each kind of workspace is filled; "imported" gets its items from the server."""


def copy_workspace(template: Path, folder: Path) -> None:
    """Copy a workspace that nobody has open."""
    shutil.copytree(template, folder)
