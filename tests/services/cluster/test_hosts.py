"""Archives are tagged by workers on hosts of their own, of which one is cut off for a while."""

import subprocess
import sys
from pathlib import Path

import pytest

from tagalong.distributed import suggest
from tests.distributed.archive_files import joined, make_tagger, one_machine, write_items
from tests.services.cluster.hosts import BRIDGE, bridged_hosts, why_impossible
from tests.timeouts import TIMEOUT

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

SHARDS = 40
SILENCE = "15 s"
"""After it a worker is given up; on a busy machine, signs of life may be 10 seconds apart."""


def test_a_host_is_cut_off_and_comes_back(tmp_path, monkeypatch):
    """The link is cut without a word, so the scheduler notices by missing heartbeats."""
    if reason := why_impossible():
        pytest.skip(reason)
    monkeypatch.chdir(tmp_path)
    make_tagger().save("m.tagalong")
    source = write_items(Path("a.jsonl"), 2000)
    expected = one_machine(Path("m.tagalong"), Path("one.jsonl"), "a.jsonl")
    command = [sys.executable, "-m", "distributed.cli.dask_worker"]
    # A worker that imports gives no sign of life: it imports before it registers.
    flags = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path / "scratch")]
    flags += ["--preload", "tagalong.distributed.archives.worker"]
    steps: list[str] = []
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": SILENCE}),
        bridged_hosts(2) as hosts,
        distributed.LocalCluster(
            n_workers=0, host=BRIDGE, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        address = cluster.scheduler_address
        workers = [
            subprocess.Popen(
                host.command(*command, address, "--host", host.address, *flags),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for host in hosts
        ]
        try:
            client.wait_for_workers(2, timeout=TIMEOUT)

            def on_progress(progress):
                if not steps and progress.finished >= 5:
                    hosts[0].cut()
                    steps.append("cut")
                elif len(steps) == 1 and progress.finished >= SHARDS // 2:
                    hosts[0].mend()
                    steps.append("mended")

            size = source.stat().st_size // SHARDS + 1
            done = suggest(
                "m.tagalong", "a.jsonl", "out", client, shard_size=size, on_progress=on_progress
            )
        finally:
            for process in workers:
                process.terminate()
            for process in workers:
                process.wait(TIMEOUT)
    assert steps == ["cut", "mended"]
    assert (done.written, done.finished) == (2000, SHARDS)
    assert joined(Path("out")) == expected
    assert not list(Path("out").rglob("*.tmp"))
