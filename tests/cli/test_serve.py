"""Tests of ``tagalong serve``: its command line, and the process from its start to its end."""

import configparser
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tagalong.cli import browser, demo_workspace
from tagalong.cli.output import Output
from tagalong.cli.parser import make_parser
from tagalong.files.lock import exclusive_lock
from tagalong.journal import Workspace
from tagalong.journal.view import journal_path
from tagalong.server.http.running import Running
from tests.cli.conftest import Run
from tests.timeouts import TIMEOUT

TAGALONG = (sys.executable, "-m", "tagalong")


@contextmanager
def process(*args: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command; a process that is still there at the end is killed."""
    started = subprocess.Popen(
        [*TAGALONG, "serve", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": "", **environment},
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def first_line(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline()


def stop(started: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str, str]:
    started.send_signal(number)
    out, err = started.communicate(timeout=TIMEOUT)
    return started.returncode, out, err


def get(url: str, token: str | None = None) -> Any:
    request = urllib.request.Request(url)
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return answer.status, answer.read().decode()


def test_a_program_gets_url_and_token_and_stops_the_server(tmp_path):
    folder = tmp_path / "new" / "mail"
    with process(str(folder), "--port", "0", "--json") as started:
        found = json.loads(first_line(started))
        assert list(found) == ["url", "token"]
        assert found["token"] == (folder / "token").read_text().strip()
        url = found["url"]
        assert get(f"{url}healthz")[0] == 200
        status, metrics = get(f"{url}metrics", found["token"])
        assert status == 200
        assert "tagalong_connections " in metrics
        with pytest.raises(urllib.error.HTTPError) as caught:
            get(f"{url}metrics")
        assert caught.value.code == 401
        code, out, err = stop(started)
    assert (code, out) == (0, "")
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["status"] for line in lines] == [200, 200, 401]
    assert found["token"] not in err
    with Workspace(folder, create=False) as workspace:
        assert workspace.tip == 1


def test_a_person_gets_a_link_that_logs_in(tmp_path):
    log = tmp_path / "access.log"
    folder = tmp_path / "mail"
    with process(str(folder), "--port", "0", "--access-log", str(log)) as started:
        line = first_line(started)
        assert line.startswith("Tagalong is ready: http://127.0.0.1:")
        url = line.split()[-1]
        cookies = urllib.request.HTTPCookieProcessor()
        with urllib.request.build_opener(cookies).open(url, timeout=TIMEOUT) as answer:
            assert answer.status == 200
        assert len(list(cookies.cookiejar)) == 1
        code, out, err = stop(started, signal.SIGINT)
    assert (code, out) == (0, "")
    assert f"{folder}/token" in err
    assert "Ctrl-C" in err
    assert "code=" not in err + log.read_text()
    assert json.loads(log.read_text().splitlines()[0])["method"] == "GET"


@pytest.mark.long
def test_the_demo_has_open_items_and_leaves_nothing(tmp_path):
    with process("--demo", "--port", "0", "--json", "-q", TMPDIR=str(tmp_path)) as started:
        found = json.loads(first_line(started))
        (folder,) = tmp_path.iterdir()
        items = f"{found['url']}api/v1/workspaces/default/items?state=open&limit=100"
        status, page = get(items, found["token"])
        assert status == 200
        assert len(json.loads(page)["items"]) == demo_workspace.OPEN
        assert (folder / "journal.sqlite").exists()
        assert stop(started) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_the_workspace_of_the_demo(tmp_path):
    made = demo_workspace.demo_workspace(Output(quiet=True), learnt=12, open=3)
    with made as folder, Workspace(folder, create=False) as workspace:
        states = [record.state for record in workspace.items()]
        assert (states.count("answered"), states.count("open")) == (12, 3)
        assert "kind:function" in workspace.tagger.labels
    assert not folder.exists()


def test_a_port_in_use_is_named(run: Run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", "mail", "--port", str(port))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"tagalong: cannot listen at 127.0.0.1:{port}: another program")
    assert "--port 0 a free one" in done.err
    assert not Path("mail").exists()  # the port comes first


def test_a_workspace_in_use_is_named(run: Run):
    Workspace("mail").close()
    with exclusive_lock(journal_path(Path("mail")), command="tagalong learn", what="workspace"):
        done = run("serve", "mail", "--port", "0", "--wait", "0")
    assert done.code == 1
    assert "tagalong learn" in done.err
    assert "--wait SECONDS waits longer" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give the folder of a workspace"),
        (("mail", "--demo"), "leave out mail"),
        (("--demo", "--journal", "postgresql://x"), "--demo does not work with --journal"),
        (("mail", "--advertise", "http://x"), "--advertise needs --journal"),
        (("mail", "--host", "0.0.0.0"), "add --allow-remote"),
        (("mail", "--host", "192.0.2.1"), "can be reached from other machines"),
        (("mail", "--allow-host", "a b"), "--allow-host: the allowed host 'a b' must be"),
        (("mail", "--port", "x"), "must be a port such as 8420, got 'x'"),
        (("mail", "--port", "65536"), "must be from 0 to 65535"),
    ],
)
def test_a_wrong_command_line_changes_nothing(run: Run, arguments, words):
    done = run("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not Path("mail").exists()


def test_an_address_of_another_machine_is_refused(run: Run):
    done = run("serve", "mail", "--host", "192.0.2.1", "--allow-remote")
    assert done.code == 1
    assert "192.0.2.1:8420: this machine has no such address" in done.err


def test_a_wrong_setting_is_named(run: Run):
    Workspace("mail").close()
    Path("mail/settings.toml").write_text("connections = 0\n")
    done = run("serve", "mail", "--port", "0")
    assert done.code == 1
    assert "mail/settings.toml: connections: must be a number of connections" in done.err


def test_a_log_that_cannot_be_written_is_named(run: Run):
    done = run("serve", "mail", "--access-log", "nowhere/log")
    assert (done.code, done.err) == (1, "tagalong: nowhere/log: No such file or directory\n")


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_packages_a_message_says_how_to_install_them(run: Run, monkeypatch, package):
    for name in list(sys.modules):
        if name == "tagalong.cli.serve" or name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    done = run("serve", "mail")
    assert done.code == 1
    assert done.err == (
        f"tagalong: serve needs the package {package}, which is not installed: "
        "pip install 'tagalong[serve]'\n"
    )


def test_the_unit_for_systemd_has_a_command_line_that_exists():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(Path(__file__).parents[2] / "examples" / "tagalong.service")
    command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(command).name == "tagalong"
    args = make_parser().parse_args(words)
    assert (args.command, args.no_browser, args.host) == ("serve", True, "127.0.0.1")
    assert unit["Service"]["Type"] == "notify"
    assert float(unit["Service"]["TimeoutStopSec"]) > Running().stop_seconds


def test_help_names_both_ways_to_say_what_is_served(run: Run):
    assert "usage: tagalong serve (WORKSPACE | --demo) [options]" in run("serve", "--help").out


@pytest.mark.parametrize("failing", [False, True])
def test_the_page_is_opened_if_there_is_a_display(monkeypatch, failing):
    opened = threading.Event()

    def note(url: str) -> bool:
        assert url == "http://127.0.0.1/"
        opened.set()
        if failing:
            raise webbrowser.Error("no browser")
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    monkeypatch.setenv("DISPLAY", ":0")
    browser.open_browser("http://127.0.0.1/")
    assert opened.wait(TIMEOUT)


def test_without_a_display_no_browser_is_opened(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", "")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not browser.has_display()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert browser.has_display()
