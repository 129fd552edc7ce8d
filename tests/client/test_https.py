"""Certificates are checked: no request goes to a server that cannot prove who it is."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tagalong.client import Client, Unavailable
from tests.client.conftest import FakeClock
from tests.client.fake_server import TOKEN, FakeServer, running

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl is not installed: no certificate can be made"
)


def certificate(folder: Path, address: str) -> tuple[Path, Path]:
    """Make a certificate for an address, signed by itself, and its key."""
    files = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=test", "-addext", f"subjectAltName={address}"]
    command += ["-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(command, check=True, capture_output=True)
    return files


@pytest.fixture
def secure(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[FakeServer, str]]:
    address = getattr(request, "param", "IP:127.0.0.1")
    chain, key = certificate(tmp_path, address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    with running() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server, server.url.replace("http://", "https://")


def test_a_certificate_of_an_own_authority(secure: tuple[FakeServer, str], tmp_path: Path) -> None:
    server, url = secure
    with Client(url, TOKEN, ca_file=tmp_path / "cert.pem") as client:
        assert client.suggest("rent")
        assert client.suggest("rent")
    assert len({each.connection for each in server.requests}) == 1


def test_an_unknown_authority(secure: tuple[FakeServer, str], clock: FakeClock) -> None:
    server, url = secure
    with (
        Client(url, TOKEN, timing=clock.timing) as client,
        pytest.raises(Unavailable, match="the certificate is not valid: self") as caught,
    ):
        client.suggest("rent")
    assert caught.value.kind == "certificate"
    assert server.requests == []
    assert clock.slept == []


@pytest.mark.parametrize("secure", ["DNS:other.example"], indirect=True)
def test_a_certificate_for_another_host(
    secure: tuple[FakeServer, str], tmp_path: Path, clock: FakeClock
) -> None:
    server, url = secure
    with (
        Client(url, TOKEN, ca_file=tmp_path / "cert.pem", timing=clock.timing) as client,
        pytest.raises(Unavailable, match="IP address mismatch"),
    ):
        client.suggest("rent")
    assert server.requests == []


def test_no_encryption(server: FakeServer, clock: FakeClock) -> None:
    url = server.url.replace("http://", "https://")
    with (
        Client(url, TOKEN, timing=clock.timing) as client,
        pytest.raises(Unavailable, match="no encrypted connection") as caught,
    ):
        client.suggest("rent")
    assert caught.value.kind == "encryption"
    assert server.requests == []
