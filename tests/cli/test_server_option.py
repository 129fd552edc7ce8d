"""``--server``: asking and teaching a workspace of a server."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tagalong.cli.errors import CommandError
from tagalong.cli.learn.into_server import Sender
from tagalong.client import Client
from tagalong.journal import Workspace, WorkspaceView
from tagalong.learning.items import Item
from tests.cli.conftest import Run
from tests.client.fake_server import TOKEN, FakeServer, Received, Reply, running
from tests.server.api_server import Api, serving


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server of the folder "served", whose token is in the environment."""
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as api:
        monkeypatch.setenv("TAGALONG_TOKEN", api.token)
        yield api


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("TAGALONG_TOKEN", TOKEN)
    with running() as server:
        yield server


def hash_of(folder: str) -> str:
    with Workspace(folder, create=False) as workspace:
        return workspace.model().hash


@pytest.mark.parametrize(
    "options",
    [
        ["items.jsonl"],
        ["items.jsonl", "-k", "2", "--min-precision", "0.8", "--only-sure"],
        ["items.jsonl", "--to", "csv"],
        ["--text", "the invoice for your flight", "--json"],
        ["--text", "unheard-of"],
    ],
)
def test_suggestions_are_those_of_the_workspace(
    run: Run, stream: Path, api: Api, options: list[str]
) -> None:
    assert run("learn", "items.jsonl", "--server", api.url, "-q").code == 0
    assert run("learn", "items.jsonl", "--workspace", "local", "-q").code == 0
    ours = run("suggest", *options, "--workspace", "local")
    theirs = run("suggest", *options, "--server", api.url)
    assert (theirs.code, theirs.out) == (ours.code, ours.out)
    assert theirs.code == 0
    assert theirs.out
    known = "; the model was taught text without a field"
    assert theirs.err == ours.err.replace(known, "")


def test_the_model_is_that_of_a_workspace(run: Run, stream: Path, tmp_path: Path) -> None:
    local = run("learn", "items.jsonl", "--workspace", "local", "--json")
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as api:
        Path("token").write_text(f"{api.token}\n")
        done = run("learn", "items.jsonl", "--server", api.url, "--token-file", "token", "--json")
    assert done.code == 0, done.err
    assert hash_of("served") == hash_of("local")
    for name in ("new", "known", "answered", "read", "unlabelled", "skipped"):
        assert done.json[name] == local.json[name]
    assert done.json["report"] == local.json["report"]
    assert done.json["interrupted"] is False


def test_the_figures_in_words(run: Run, stream: Path, api: Api) -> None:
    done = run("learn", "items.jsonl", "--server", api.url, "--report", "r.json")
    assert "the workspace has learnt 54 items with 3 labels" in done.out
    assert "first suggestion right: " in done.out
    assert f"60 items added to workspace default of {api.url}" in done.err
    assert "6 of the items have no labels: they are open" in done.err
    assert json.loads(Path("r.json").read_text())["items"] == 54


def test_the_same_command_again_learns_nothing_twice(run: Run, stream: Path, api: Api) -> None:
    run("learn", "items.jsonl", "--server", api.url)
    with Client(api.url, api.token) as client:
        before = client.model()
        again = run("learn", "items.jsonl", "--server", api.url, "--json")
        assert (again.json["new"], again.json["known"], again.json["answered"]) == (0, 60, 0)
        assert client.model() == before


def test_changed_labels_are_answers_but_corrections_stay(run: Run, api: Api) -> None:
    def write(label: str) -> None:
        Path("a.jsonl").write_text(json.dumps({"id": "a", "text": "rent", "labels": [label]}))

    write("home")
    run("learn", "a.jsonl", "--server", api.url)
    with Client(api.url, api.token) as client:
        client.correct("a", ["flat"])
        assert run("learn", "a.jsonl", "--server", api.url, "--json").json["known"] == 1
        assert client.item("a").labels == ["flat"]
        write("money")
        assert run("learn", "a.jsonl", "--server", api.url, "--json").json["answered"] == 1
        assert client.item("a").labels == ["money"]


def test_a_workspace_by_name(run: Run, stream: Path, api: Api) -> None:
    access = ["--server", api.url, "--server-workspace", "team-b"]
    missing = run("learn", "items.jsonl", *access)
    assert missing.code == 1
    assert "team-b" in missing.err
    with Client(api.url, api.token) as client:
        client.create_workspace("team-b")
    assert run("learn", "items.jsonl", *access).code == 0
    assert run("suggest", "--text", "flight", *access).lines[0]["suggestions"]
    with WorkspaceView("served") as view:
        assert view.item_counts() == {}


def test_items_that_are_refused(run: Run, api: Api) -> None:
    lines = [
        {"id": "a", "text": "rent", "labels": ["x"]},
        {"id": "b", "text": "b\ud800d", "labels": ["x"]},
        {"id": "c" * 600, "text": "tax", "labels": ["x"]},
        {"id": "d", "text": "flight", "labels": ["x"]},
    ]
    Path("a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    stopped = run("learn", "a.jsonl", "--server", api.url)
    assert stopped.code == 1
    assert "a.jsonl:2: a lone surrogate" in stopped.err
    assert "1 item is in the workspace" in stopped.err
    Path("c.jsonl").write_text(json.dumps(lines[0]) + "\n" + json.dumps(lines[2]) + "\n")
    stopped = run("learn", "c.jsonl", "--server", api.url)
    assert stopped.code == 1
    assert "c.jsonl:2: " in stopped.err
    skipped = run("learn", "a.jsonl", "--server", api.url, "--on-error", "skip", "--json")
    assert skipped.code == 3
    assert (skipped.json["new"], skipped.json["known"], skipped.json["skipped"]) == (1, 1, 2)
    assert "a.jsonl:3: " in skipped.json["errors"][1]


def test_items_that_cannot_be_sent(fake: FakeServer) -> None:
    """No reader gives such a text, but a client refuses it, and says which item has it."""
    items = [Item("a", "good"), Item("b", "b\ud800d", place="f:2"), Item("c", "good")]
    with Client(fake.url, TOKEN) as client:
        sender = Sender(client, skips=False)
        with pytest.raises(CommandError, match="f:2: the text is not valid Unicode") as caught:
            sender.send(items)
        assert list(fake.items) == ["a"]
        assert "1 item is in the workspace" in str(caught.value)
        sender = Sender(client, skips=True)
        sender.send(items)
        assert list(fake.items) == ["a", "c"]
        assert sender.counts() == {"new": 1, "known": 1, "answered": 0, "read": 3, "unlabelled": 2}
        assert (sender.skipped, len(sender.errors)) == (1, 1)


def test_suggest_names_the_item_that_is_refused(run: Run, api: Api) -> None:
    run("learn", "pydocs:", "--limit", "5", "--server", api.url)
    long = json.dumps({"text": "fine", "features": {"note": "x" * 20_000}})
    Path("a.jsonl").write_text(f'{{"text": "fine"}}\n{long}\n')
    stopped = run("suggest", "a.jsonl", "--server", api.url)
    assert stopped.code == 1
    assert "a.jsonl:2: " in stopped.err
    assert "(422)" in stopped.err
    skipped = run("suggest", "a.jsonl", "--server", api.url, "--on-error", "skip")
    assert (skipped.code, len(skipped.lines)) == (3, 1)


def test_ctrl_c(run: Run, stream: Path, fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def report(request: Received) -> Reply:
        coverage = {"overall": {"suggested": 0}, "recent": {}}
        figures = {"items": 1, "window": 1000, "labels": [], "coverage": coverage}
        return Reply(200, {"report": figures})

    fake.replies["/report"] = report
    monkeypatch.setattr("tagalong.cli.learn.into_server.ITEMS_AT_ONCE", 10)
    add_many = Client.add_many

    def adding(self: Client, items: object, **options: object) -> object:
        if len(fake.items) == 20:
            signal.raise_signal(signal.SIGINT)
        return add_many(self, items, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Client, "add_many", adding)
        stopped = run("learn", "items.jsonl", "--server", fake.url)
    assert stopped.code == 130
    assert "interrupted; 30 items added" in stopped.err
    assert "The same command goes on" in stopped.err
    assert len(fake.items) == 30
    done = run("learn", "items.jsonl", "--server", fake.url, "--json")
    assert (done.code, done.json["new"], done.json["known"]) == (0, 30, 30)


def test_the_token_is_never_shown(run: Run, stream: Path, fake: FakeServer) -> None:
    Path("token").write_text("another-token")
    done = run("suggest", "items.jsonl", "--server", fake.url, "--token-file", "token")
    assert done.code == 1
    assert "the token is not known (401)" in done.err
    assert "the token is that of --token-file token" in done.err
    assert "another-token" not in done.err


def test_no_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAGALONG_TOKEN", raising=False)
    here = run("suggest", "--text", "x", "--server", "http://127.0.0.1:8420/")
    assert here.code == 2
    assert "--token-file FILE" in here.err
    assert "TAGALONG_TOKEN" in here.err
    assert "DIR/token" in here.err
    there = run("suggest", "--text", "x", "--server", "https://tags.example/")
    assert "DIR/token" not in there.err
    missing = run("suggest", "--text", "x", "--server", "http://h/", "--token-file", "none")
    assert "none: No such file or directory" in missing.err


@pytest.mark.parametrize(
    "argv, message",
    [
        (["suggest", "--text", "x", "--server", "host:8420"], "--server: the URL of a server must"),
        (["suggest", "--text", "x", "--server", "http://h/", "-k", "1001"], "at most 1,000"),
        (["suggest", "--text", "x", "--server", "http://h/", "--model", "m"], "not allowed with"),
        (["suggest", "--text", "x", "--model", "m", "--token-file", "t"], "needs --server"),
        (["learn", "a.jsonl", "--server-workspace", "b"], "needs --server"),
        (["learn", "--server", "http://h/"], "nothing to read"),
        (["learn", "a", "--server", "http://h/", "--model", "m"], "cannot be used with --model"),
        (["learn", "a", "--server", "http://h/", "--workspace", "w"], "--server-workspace NAME"),
        (["learn", "a", "--server", "http://h/", "--passes", "2"], "cannot be used with --passes"),
        (["learn", "a", "--server", "http://h/", "--resume"], "cannot be used with --resume"),
        (["learn", "a", "--server", "http://h/", "-C", "3"], "options of the learner"),
        (["learn", "a", "--server", "http://h/", "--words", "1,2"], "options of the features"),
    ],
)
def test_wrong_usage(
    run: Run, monkeypatch: pytest.MonkeyPatch, argv: list[str], message: str
) -> None:
    monkeypatch.setenv("TAGALONG_TOKEN", TOKEN)
    done = run(*argv)
    assert done.code == 2
    assert message in done.err
    assert TOKEN not in done.err


def test_nothing_to_learn(run: Run, fake: FakeServer) -> None:
    Path("a.jsonl").write_text("")
    done = run("learn", "a.jsonl", "--server", fake.url)
    assert done.code == 1
    assert "a.jsonl: nothing to learn: there are no items" in done.err
