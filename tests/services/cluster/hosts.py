"""Hosts of their own for workers: network namespaces, joined by a bridge."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

# Unlike those of other processes of this machine, which may run the same tests.
NETWORK = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
BRIDGE = f"{NETWORK}.1"


class Host:
    """A network namespace with one address on the bridge.

    Parameters
    ----------
    bridge : str
        Name of the bridge.
    number : int
        Last part of the address.
    """

    def __init__(self, bridge: str, number: int):
        self._name = f"{bridge}-{number}"
        self._link = f"{bridge}v{number}"
        self.address = f"{NETWORK}.{number}"
        inside = f"{bridge}p{number}"
        run("ip", "netns", "add", self._name)
        run("ip", "link", "add", self._link, "type", "veth", "peer", "name", inside)
        run("ip", "link", "set", inside, "netns", self._name)
        run("ip", "link", "set", self._link, "master", bridge, "up")
        for words in (
            ["addr", "add", f"{self.address}/24", "dev", inside],
            ["link", "set", inside, "up"],
            ["link", "set", "lo", "up"],
        ):
            run(*self.command("ip", *words))

    def command(self, *words: str) -> list[str]:
        """Return a command that runs on this host."""
        return ["ip", "netns", "exec", self._name, *words]

    def cut(self) -> None:
        """Cut the link: nothing arrives any more, and nobody is told."""
        run("ip", "link", "set", self._link, "down")

    def mend(self) -> None:
        """Restore the link."""
        run("ip", "link", "set", self._link, "up")

    def remove(self) -> None:
        """Remove the host."""
        run("ip", "netns", "delete", self._name)


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@contextmanager
def bridged_hosts(count: int) -> Iterator[list[Host]]:
    """Make hosts that reach each other, and this process under `BRIDGE`."""
    name = f"tg{os.getpid() % 100_000}"
    hosts: list[Host] = []
    run("ip", "link", "add", name, "type", "bridge")
    try:
        run("ip", "addr", "add", f"{BRIDGE}/24", "dev", name)
        run("ip", "link", "set", name, "up")
        for number in range(2, 2 + count):
            hosts.append(Host(name, number))
        yield hosts
    finally:
        for host in hosts:
            host.remove()
        run("ip", "link", "delete", name)


def why_impossible() -> str:
    """Return why hosts cannot be made here; "" if they can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    probe = f"tgp{os.getpid()}"
    tried = subprocess.run(["ip", "link", "add", probe, "type", "bridge"], capture_output=True)
    if tried.returncode:
        return "this machine allows no network devices"
    run("ip", "link", "delete", probe)
    return ""
