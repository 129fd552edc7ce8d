"""Downloads replace a file when they are complete; uploads are sent again with the same bytes."""

import io
import socket
import threading
from pathlib import Path

import pytest
from python_multipart import parse_form

from tagalong.client import Client, Job, ServerError, Unavailable
from tests.client.conftest import FakeClock
from tests.client.fake_server import (
    FakeServer,
    Reply,
    broken_chunks,
    close_after,
    problem,
    reset_after,
    says,
)

MODEL = bytes(range(256)) * 1000


@pytest.fixture
def served(server: FakeServer) -> FakeServer:
    octets = Reply(200, MODEL, media="application/octet-stream")
    server.replies["/model/file"] = lambda request: octets
    server.replies["/export"] = lambda request: Reply(200, request.query["format"].encode())
    return server


@pytest.mark.parametrize("fault", [close_after, broken_chunks, reset_after, says(503)])
def test_save(client: Client, served: FakeServer, tmp_path: Path, fault: object) -> None:
    served.faults.extend([fault, fault])  # type: ignore[list-item]
    path = tmp_path / "m.tagalong"
    path.write_bytes(b"old" * 1_000_000)
    client.save(path)
    assert path.read_bytes() == MODEL
    assert [each.name for each in tmp_path.iterdir()] == ["m.tagalong"]


def test_a_download_that_fails_leaves_the_file(
    client: Client, served: FakeServer, tmp_path: Path
) -> None:
    served.faults.extend([close_after] * 1000)
    path = tmp_path / "m.tagalong"
    path.write_bytes(b"old")
    with pytest.raises(Unavailable, match="ends too early"):
        client.save(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["m.tagalong"]


def test_errors_of_the_disk_are_no_errors_of_the_network(
    client: Client, served: FakeServer, clock: FakeClock
) -> None:
    with pytest.raises(OSError, match="No such file or directory") as caught:
        client.save("no/such/folder/m.tagalong")
    assert not isinstance(caught.value, ServerError)
    assert clock.slept == []


def test_private_files(client: Client, served: FakeServer, tmp_path: Path) -> None:
    client.save(tmp_path / "m.tagalong", private=True)
    client.export(tmp_path / "items.csv", "csv", private=True)
    assert (tmp_path / "items.csv").read_bytes() == b"csv"
    for each in tmp_path.iterdir():
        assert each.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("fault", [None, reset_after, says(503)])
def test_import(client: Client, server: FakeServer, tmp_path: Path, fault: object) -> None:
    path = tmp_path / 'a "name".csv'
    path.write_bytes(b"text,labels\r\nrent,home\r\n" * 10_000)
    server.replies["/import"] = lambda request: Reply(202, {"job": "j1"})
    if fault is not None:
        server.faults.append(fault)  # type: ignore[arg-type]
    job = client.import_file(path, "csv", text="text", labels="labels", label_separator="|")
    assert job == Job("j1")
    assert len({(each.body, each.key) for each in server.requests}) == 1
    request = server.requests[-1]
    form = parsed_form(request.headers["content-type"], request.body)
    assert form == {
        "format": b"csv",
        "text": b"text",
        "labels": b"labels",
        "label_separator": b"|",
        "file": path.read_bytes(),
    }
    assert b'filename="a %22name%22.csv"' in request.body


def parsed_form(media: str, body: bytes) -> dict[str, bytes]:
    """Read a form with the parser that the server uses."""
    found: dict[str, bytes] = {}

    def keep_file(file: object) -> None:
        file.file_object.seek(0)  # type: ignore[attr-defined]
        found["file"] = file.file_object.read()  # type: ignore[attr-defined]

    def keep_field(field: object) -> None:
        found[field.field_name.decode()] = field.value  # type: ignore[attr-defined]

    headers = {"Content-Type": media.encode(), "Content-Length": str(len(body)).encode()}
    parse_form(headers, io.BytesIO(body), keep_field, keep_file)
    return found


def test_a_refusal_before_the_whole_file_is_sent(
    client: Client, server: FakeServer, tmp_path: Path
) -> None:
    """The server may answer, and close the connection, while a large file is on its way."""
    path = tmp_path / "large.csv"
    path.write_bytes(b"x" * 50_000_000)
    refusal = problem(413, "too-large", "at most 10 MB").body
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(
                    b"HTTP/1.1 413 Too Large\r\nContent-Type: application/problem+json\r\n"
                    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(refusal), refusal)
                )
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 20):  # a server reads a little longer for this reason
                    pass

        thread = threading.Thread(target=refuse)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with Client(url, "t") as large, pytest.raises(ServerError, match="at most 10 MB"):
            large.import_file(path)
        thread.join()


def test_a_file_that_cannot_be_read(client: Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        client.import_file(tmp_path / "none.csv")


def test_wait_for(client: Client, server: FakeServer, clock: FakeClock) -> None:
    states = iter(["waiting", "running", "running", "done"])
    server.replies["/jobs/j1"] = lambda request: Reply(
        200, {"job": "j1", "state": next(states), "done": 3, "total": None, "skipped": 1}
    )
    seen: list[Job] = []
    found = client.wait_for("j1", seen.append)
    assert [each.state for each in seen] == ["waiting", "running", "running", "done"]
    assert (found.done, found.total, found.facts["skipped"]) == (3, None, 1)
    assert clock.slept == [0.05, 0.1, 0.2]


@pytest.mark.parametrize("state", ["failed", "interrupted"])
def test_a_job_that_fails(client: Client, server: FakeServer, state: str) -> None:
    found = {"job": "j1", "state": state, "done": 0, "total": None, "error": "no labels"}
    server.replies["/jobs/j1"] = lambda request: Reply(200, found)
    with pytest.raises(ServerError, match=f"the job has {state}: no labels"):
        client.wait_for(Job("j1"))
