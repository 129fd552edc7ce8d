"""Archives are tagged by processes that are killed and cut off: the result is that of one machine.

The moments of faults are chosen at random, with a fixed seed, from the moments at which a shard was
finished. The other worker is then in the middle of a shard.
"""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tagalong.distributed import suggest
from tagalong.distributed.workers import ExecutorWorkers
from tests.distributed.archive_files import joined, make_tagger, one_machine, write_items
from tests.distributed.clusters import mortal_workers
from tests.distributed.worker_functions import die_before_rename
from tests.services.cluster.links import Link
from tests.services.waiting import wait_until
from tests.timeouts import TIMEOUT

distributed = pytest.importorskip("distributed")

ITEMS = 4000
SHARD = 4000  # bytes; some fifty shards
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A model, an archive of several sources, and what one machine writes for it."""
    monkeypatch.chdir(tmp_path)
    make_tagger().save("m.tagalong")
    write_items(Path("a.jsonl"), ITEMS // 2)
    write_items(Path("b.jsonl"), ITEMS // 2, ITEMS // 2)
    sources = ["a.jsonl", "b.jsonl"]
    return sources, one_machine(Path("m.tagalong"), Path("one.jsonl"), *sources)


@pytest.fixture
def cluster():
    """A scheduler, and two worker processes that may be killed."""
    with mortal_workers() as workers:
        yield workers


def check(expected):
    """Assert that every item was answered once, and that nothing else is in the folder."""
    found = joined(Path("out"))
    ids = Counter(json.loads(line)["id"] for line in found.splitlines())
    assert len(ids) == ITEMS
    assert set(ids.values()) == {1}
    assert found == expected
    assert not list(Path("out").rglob("*.tmp"))


@pytest.mark.parametrize("seed", SEEDS)
def test_workers_are_killed_at_ten_moments(cluster, archive, seed):
    sources, expected = archive
    choice = random.Random(seed)
    moments = set(choice.sample(range(1, 45), 10))
    kills = 0

    def on_progress(progress):
        nonlocal kills
        if progress.finished in moments:
            moments.discard(progress.finished)
            kills += 1
            cluster.kill(choice)  # in the middle of a shard, probably

    done = suggest(
        "m.tagalong", sources, "out", cluster.client, shard_size=SHARD, on_progress=on_progress
    )
    assert kills == 10
    assert done.repeated > 0
    assert done.written == ITEMS
    check(expected)


def test_links_are_cut(archive, tmp_path):
    """Workers reach the scheduler through links that are cut; each ends, and another one comes."""
    sources, expected = archive
    command = [sys.executable, "-m", "distributed.cli.dask_worker"]
    flags = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path / "scratch")]
    workers = []

    def start_worker(link):
        address = f"tcp://127.0.0.1:{link.port}"
        null = subprocess.DEVNULL
        workers.append(subprocess.Popen([*command, address, *flags], stdout=null, stderr=null))

    with (
        distributed.LocalCluster(
            n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        port = int(cluster.scheduler_address.rsplit(":", 1)[1])
        links = [Link(port) for _ in range(2)]
        try:
            for link in links:
                start_worker(link)
            client.wait_for_workers(2, timeout=TIMEOUT)
            moments = {5: 0, 15: 1, 25: 0}
            cut = []

            def on_progress(progress):
                if progress.finished in moments:
                    link = links[moments.pop(progress.finished)]
                    cut.append(link.cut())
                    start_worker(link)

            done = suggest(
                "m.tagalong", sources, "out", client, shard_size=SHARD, on_progress=on_progress
            )
        finally:
            for process in workers:
                process.terminate()
            for process in workers:
                process.wait(TIMEOUT)
            for link in links:
                link.close()
    assert len(cut) == 3
    assert cut[0] > 0
    assert done.written == ITEMS
    check(expected)


def test_workers_die_between_writing_and_renaming(archive, tmp_path):
    sources, expected = archive
    (tmp_path / "marks").mkdir()

    def make():
        arguments = (str(tmp_path / "marks"),)
        return ProcessPoolExecutor(2, get_context("spawn"), die_before_rename, arguments)

    with ExecutorWorkers(make, 2) as workers:  # a shard per file, as every kill takes a while
        done = suggest("m.tagalong", sources, "out", workers, shard_size=1 << 20)
    assert done.repeated >= done.shards
    assert len(list((tmp_path / "marks").iterdir())) == 2 * done.shards  # outputs and records
    check(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_command_is_killed_and_continued(archive, tmp_path, seed):
    """Its processes end with it, and the next run computes only what is left."""
    sources, expected = archive
    choice = random.Random(seed)
    command = [sys.executable, "-m", "tagalong", "suggest", *sources, "-m", "m.tagalong"]
    flags = ["--workers", "2", "--out", "out", "--shard-size", str(SHARD), "--json", "-q"]
    finished = 0
    for _ in range(3):
        finished += choice.randrange(1, 6)
        process = subprocess.Popen([*command, *flags], stdout=subprocess.DEVNULL)
        wait_until(
            lambda: (  # the next run believes the records, which are written after the outputs
                len(list(Path("out/.shards").glob("*.json"))) >= finished  # noqa: B023
                or process.poll() is not None  # noqa: B023
            )
        )
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        process.wait(TIMEOUT)
        wait_until(lambda: not any(map(is_alive, children)))  # noqa: B023
    ran = subprocess.run([*command, *flags], capture_output=True, text=True, check=True)
    result = json.loads(ran.stdout)
    assert result["resumed"] >= finished
    assert (result["finished"], result["written"]) == (result["shards"], ITEMS)
    check(expected)


def is_alive(pid):
    """Whether a process runs; one that has ended may stay as an entry that nobody has read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_the_disk_is_full(archive, tmp_path):
    """The error names the file, nothing is half written, and the run goes on when there is room."""
    sources, expected = archive
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        (disk / "out").mkdir()
        Path("out").symlink_to(disk / "out")
        with ProcessPoolExecutor(1, get_context("spawn")) as client:
            with pytest.raises(OSError, match=r"No space left on device: '/.*/out/\d+-a\.\d+"):
                suggest("m.tagalong", sources, "out", client, shard_size=SHARD * 4)
            assert expected.startswith(joined(disk / "out"))
            assert not list(disk.rglob("*.tmp"))
            subprocess.run(["mount", "-o", "remount,size=9m", str(disk)], check=True)
            done = suggest("m.tagalong", sources, "out", client, shard_size=SHARD * 4)
        assert done.resumed > 0
        check(expected)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
