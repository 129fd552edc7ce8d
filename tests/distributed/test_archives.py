"""Tests of `tagalong.distributed.suggest`: the results of one machine, whatever happens."""

import errno
import gzip
import json
import mailbox
import os
import stat
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import tagalong
from tagalong.distributed import suggest
from tagalong.distributed.archives import run as run_module
from tagalong.distributed.archives import worker
from tagalong.distributed.archives.folder import MANIFEST
from tagalong.distributed.archives.manifest import ManifestError
from tagalong.files.lock import BusyError, exclusive_lock
from tagalong.readers import ReadError
from tagalong.streams.format import OptionError
from tagalong.tables.suggestions import make_writer
from tests.distributed.archive_files import joined, lines, make_tagger, one_machine, write_items
from tests.distributed.worker_functions import limit_file_size


@pytest.fixture(scope="module")
def tagger():
    return make_tagger()


@pytest.fixture
def model(tagger, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tagger.save("m.tagalong")
    return Path("m.tagalong")


@pytest.fixture
def archive(tmp_path):
    """Sources of every kind, as a user names them."""
    write_items(tmp_path / "a.jsonl", 300)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines(40, 300)).encode()))
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "c.csv").write_text("text,labels\ninvoice,money\nhotel,\n", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as file:
        file.writestr("one.jsonl", "\n".join(lines(5, 400)))
        file.writestr("two.csv", "text,labels\ndinner,\n")
    return ["a.jsonl", "b.jsonl.gz", "empty.jsonl", "c.csv", "d.zip"]


def mail(tmp_path):
    """A Maildir with a symbolic link, and an mbox."""
    maildir = mailbox.Maildir(tmp_path / "Mail")
    box = mailbox.mbox(tmp_path / "box.mbox")
    for number in range(6):
        message = mailbox.Message(f"Subject: invoice {number}\n\nthe bank {number}\n")
        maildir.add(message)
        box.add(message)
    box.close()
    (tmp_path / "Mail" / "cur" / "link").symlink_to(tmp_path / "box.mbox")
    return ["Mail", "box.mbox"]


def test_all_kinds_of_sources_and_workers_give_the_bytes_of_one_machine(client, model, archive):
    expected = one_machine(model, Path("one.jsonl"), *archive)
    done = suggest(model, archive, "out", client, shard_size=1000)
    assert joined(Path("out")) == expected
    assert (done.written, done.skipped) == (348, 0)
    assert done.finished == done.shards > 15  # the parts of a.jsonl
    assert len(list(Path("out").glob("*.jsonl"))) == done.shards


@pytest.mark.parametrize("size", [1, 7, 50, 100, 1 << 20])
def test_the_size_of_shards_changes_nothing(threads, model, tmp_path, size):
    text = "\r\n".join(["", *lines(9), "  ", *lines(3, 9)])  # no line end at the end
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode())
    expected = one_machine(model, Path("one.jsonl"), "a.jsonl")
    suggest(model, "a.jsonl", "out", threads, shard_size=size)
    assert joined(Path("out")) == expected


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"k": 2}, ["-k", "2"]),
        ({"min_precision": 0.5, "only_sure": True}, ["--min-precision", ".5", "--only-sure"]),
        ({"to": "jsonl", "k": 3}, ["--to", "jsonl", "-k", "3"]),
    ],
)
def test_options_are_those_of_one_machine(threads, model, archive, options, flags):
    expected = one_machine(model, Path("one.jsonl"), *archive, *flags)
    suggest(model, archive, "out", threads, shard_size=2000, **options)
    assert joined(Path("out")) == expected
    assert expected


def test_tables_have_the_ids_that_one_machine_gives(threads, model, tmp_path):
    """An item without an id is known by file and line, whatever path its worker opens."""
    (tmp_path / "a.jsonl").write_text('\n{"text": "bank"}\n' * 30)
    expected = one_machine(model, Path("one.jsonl"), "a.jsonl", "--to", "jsonl")
    suggest(model, "a.jsonl", "out", threads, to="jsonl", shard_size=64)
    assert joined(Path("out")) == expected
    assert json.loads(expected.splitlines()[-1])["id"] == "a.jsonl:60"


def test_parquet_has_all_rows(processes, model, archive):
    parquet = pytest.importorskip("pyarrow.parquet")
    one_machine(model, Path("one.parquet"), *archive)
    suggest(model, archive, "out", processes, to="parquet", shard_size=5000)
    rows = [
        row
        for path in sorted(Path("out").glob("*.parquet"))
        for row in parquet.read_table(path).to_pylist()
    ]
    assert rows == parquet.read_table("one.parquet").to_pylist()
    assert len(rows) == 348


def test_csv_has_a_header_in_every_file(threads, model, archive):
    one = one_machine(model, Path("one.csv"), *archive).decode().splitlines()
    done = suggest(model, archive, "out", threads, to="csv", shard_size=5000)
    parts = [path.read_text("utf-8") for path in sorted(Path("out").glob("*.csv"))]
    assert len(parts) == done.shards
    assert {part.splitlines()[0] for part in parts} == {one[0]}
    assert [line for part in parts for line in part.splitlines()[1:]] == one[1:]


def test_mail_is_private(processes, model, tmp_path):
    sources = mail(tmp_path)
    expected = one_machine(model, Path("one.jsonl"), *sources)
    done = suggest(model, sources, "out", processes)
    assert joined(Path("out")) == expected
    assert done.links == ("Mail/cur/link",)
    assert stat.S_IMODE(os.stat("out").st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in Path("out").rglob("*.json*")}
    assert modes == {0o600}


def test_a_finished_run_computes_nothing(threads, model, archive, monkeypatch):
    first = suggest(model, archive, "out", threads, shard_size=3000)
    times = {path: path.stat().st_mtime_ns for path in Path("out").iterdir()}
    monkeypatch.setattr(run_module, "tag_shard", None)  # a call would fail
    again = suggest(model, archive, "out", threads, shard_size=3000)
    assert (again.written, again.resumed, again.finished) == (348, first.shards, first.shards)
    assert {path: path.stat().st_mtime_ns for path in Path("out").iterdir()} == times


def stopping(count):
    """A callback that interrupts a run after some shards, as Ctrl-C does."""

    def stop(progress):
        if progress.finished >= count:
            raise KeyboardInterrupt

    return stop


def test_an_interrupted_run_is_continued(client, model, archive):
    expected = one_machine(model, Path("one.jsonl"), *archive)
    with pytest.raises(KeyboardInterrupt):
        suggest(model, archive, "out", client, shard_size=1000, on_progress=stopping(3))
    done = suggest(model, archive, "out", client, shard_size=1000)
    assert 3 <= done.resumed <= done.shards
    assert joined(Path("out")) == expected
    assert done.written == 348


@pytest.mark.parametrize("lost", ["output", "record", "shortened"])
def test_a_shard_without_its_file_or_record_is_computed_again(threads, model, archive, lost):
    first = suggest(model, archive, "out", threads, shard_size=3000)
    expected = joined(Path("out"))
    output = sorted(Path("out").glob("*.jsonl"))[1]
    if lost == "output":
        output.unlink()
    elif lost == "record":
        (Path("out/.shards") / f"{output.name}.json").unlink()
    else:
        output.write_bytes(output.read_bytes()[:-5])
    again = suggest(model, archive, "out", threads, shard_size=3000)
    assert again.resumed == first.shards - 1
    assert joined(Path("out")) == expected


class TestManifest:
    @pytest.fixture(autouse=True)
    def _stopped(self, threads, model, archive):
        """A run that was interrupted."""
        self.model, self.archive = model, archive
        with ThreadPoolExecutor(1) as self.client, pytest.raises(KeyboardInterrupt):
            self.run(on_progress=stopping(1))
        self.client = threads

    def run(self, **changed):
        arguments = {"model": self.model, "sources": self.archive, "shard_size": 3000} | changed
        model, sources = arguments.pop("model"), arguments.pop("sources")
        return suggest(model, sources, "out", self.client, **arguments)

    def refuses(self, message, **changed):
        before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
        with pytest.raises(ManifestError, match=f"^/.*out belongs to another run: {message}; give"):
            self.run(**changed)
        after = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
        assert after == before

    def test_another_model_is_refused(self, tagger):
        other = make_tagger().learn("more", ["money"])
        self.refuses(r"the model was another one \(hash \w{12}, now \w{12}\)", model=other)
        self.run(model=tagger)  # the same model, not from its file

    def test_other_options_are_refused(self):
        self.refuses("the option k was 5, now 3", k=3)
        self.refuses("the option only_sure was not given, now given", only_sure=True)
        with pytest.raises(ManifestError, match="the option text was not given, now body; b"):
            self.run(sources=["a.jsonl"], text=("body",))

    def test_changed_inputs_are_refused(self):
        write_items(Path("a.jsonl"), 301)
        self.refuses(r"a\.jsonl has changed since: it had [\d,]+ bytes, now [\d,]+")

    def test_inputs_of_the_same_size_are_refused(self):
        os.utime("c.csv", ns=(1, 1))
        self.refuses(
            r"c\.csv has changed since: it was modified at .*, now at 1970-01-01 00:00:00\.0+ UTC"
        )

    def test_contents_are_compared(self):
        found = os.stat("c.csv")
        Path("c.csv").write_text("text,labels\ninvoice,monex\nhotel,\n")
        os.utime("c.csv", ns=(found.st_atime_ns, found.st_mtime_ns))
        self.refuses(r"c\.csv has changed since: its contents are others")

    def test_other_sources_are_refused(self):
        with pytest.raises(ManifestError, match=r"d\.zip is no longer among the sources"):
            self.run(sources=self.archive[:-1])
        write_items(Path("e.jsonl"), 1)
        with pytest.raises(ManifestError, match=r"e\.jsonl was not among the sources"):
            self.run(sources=[*self.archive, "e.jsonl"])
        with pytest.raises(ManifestError, match="the sources were given in another order"):
            self.run(sources=self.archive[::-1])

    def test_another_version_is_refused(self):
        path = Path("out", MANIFEST)
        contents = json.loads(path.read_text())
        path.write_text(json.dumps(contents | {"tagalong": "0.0.1"}))
        self.refuses(r"it was begun by Tagalong 0\.0\.1, and this is .*")

    def test_a_damaged_manifest_is_refused(self):
        for text in ("{", "[]", '{"tagalong": 1}', ""):
            Path("out", MANIFEST).write_text(text)
            self.refuses(".*")
        Path("out", MANIFEST).write_text("{")
        self.refuses("its manifest is damaged")


def test_a_folder_of_other_files_is_refused(threads, model, archive):
    Path("out").mkdir()
    Path("out", "mine.txt").write_text("mine")
    with pytest.raises(ManifestError, match=r"not empty and has no manifest\.json: mine\.txt"):
        suggest(model, archive, "out", threads)
    with pytest.raises(ManifestError, match="is a file; the results of workers need a folder"):
        suggest(model, archive, "a.jsonl", threads)
    assert sorted(path.name for path in Path("out").iterdir()) == ["mine.txt"]


def test_two_runs_do_not_share_a_folder(threads, model, archive):
    Path("out").mkdir()
    with (
        exclusive_lock(Path("out", MANIFEST), command="tagalong suggest", what="output folder"),
        pytest.raises(BusyError, match="this output folder is in use by process"),
    ):
        suggest(model, archive, "out", threads)


def test_the_first_error_in_the_order_of_the_items_is_raised(client, model, tmp_path):
    """Several shards fail; the later one has less to do before it does."""
    texts = [*lines(200), "nonsense", *lines(200), "{}"]
    (tmp_path / "a.jsonl").write_text("\n".join(texts))
    expected = "a.jsonl:201: not JSON: Expecting value at column 1"
    with pytest.raises(ReadError, match=f"^{expected}$"):
        suggest(model, "a.jsonl", "out", client, shard_size=4000)
    # Errors can be skipped without a new beginning, and not the other way round.
    done = suggest(model, "a.jsonl", "out", client, shard_size=4000, on_error="skip")
    assert (done.written, done.skipped) == (400, 2)
    assert done.errors[0] == expected
    assert done.errors[1].startswith("a.jsonl:402: the object has neither 'text' nor 'features'")
    assert done.resumed > 0
    assert joined(Path("out")) == one_machine(
        model, Path("one.jsonl"), "a.jsonl", "--on-error", "skip"
    )
    with pytest.raises(ReadError, match=f"^{expected}$"):
        suggest(model, "a.jsonl", "out", client, shard_size=4000)


def test_an_input_that_changes_during_the_run_is_an_error(threads, model, tmp_path, monkeypatch):
    write_items(tmp_path / "a.jsonl", 20)

    def growing(*args, **options):
        with open(tmp_path / "a.jsonl", "a") as file:
            file.write("\n")
        return make_writer(*args, **options)

    monkeypatch.setattr(worker, "make_writer", growing)
    with pytest.raises(ReadError, match=r"^a\.jsonl: has changed during the run"):
        suggest(model, "a.jsonl", "out", threads)
    assert list(Path("out").glob("*.jsonl")) == []


def test_a_worker_without_the_folder_is_an_error(threads, model, archive, monkeypatch):
    monkeypatch.setattr(worker, "MANIFEST", "manifest.json")
    monkeypatch.setattr(
        "tagalong.distributed.archives.folder.OutputFolder.has_manifest", lambda *_: False
    )
    with pytest.raises(worker.WorkerError, match=r"does not see /.*/out/manifest\.json of this"):
        suggest(model, archive, "out", threads)


def test_a_worker_of_another_version_is_an_error(threads, model, archive, monkeypatch):
    monkeypatch.setattr(worker, "__version__", "0.0.1")
    with pytest.raises(worker.WorkerError, match=r"has Tagalong 0\.0\.1, and this is Tagalong .*:"):
        suggest(model, archive, "out", threads)


def test_a_worker_without_tagalong_is_an_error(model, archive):
    class Elsewhere(ThreadPoolExecutor):
        def submit(self, *_):  # type: ignore[override]
            raise ModuleNotFoundError("No module named 'tagalong.distributed'")

    with (
        Elsewhere(1) as client,
        pytest.raises(worker.WorkerError, match=r"cannot load Tagalong \(No module .* install ver"),
    ):
        suggest(model, archive, "out", client)


def test_a_worker_of_an_earlier_run_does_not_touch_a_new_folder(model, archive, monkeypatch):
    """It was cut off before it renamed its file; meanwhile the folder was begun anew."""

    def begun_anew(*args, **options):
        Path("out", MANIFEST).write_text("another run")
        return make_writer(*args, **options)

    monkeypatch.setattr(worker, "make_writer", begun_anew)
    with ThreadPoolExecutor(1) as client, pytest.raises(worker.WorkerError):
        suggest(model, archive, "out", client)
    assert list(Path("out").glob("*.jsonl")) == []


def test_a_full_disk_names_the_file_and_leaves_none(model, archive):
    """The kernel refuses to write more, as on a full disk, in the worker only."""
    context = get_context("spawn")
    with (
        ProcessPoolExecutor(1, context, limit_file_size, (100_000,)) as client,
        pytest.raises(OSError, match=r"File too large: '/.*/out/1-a\.jsonl'") as raised,
    ):
        suggest(model, archive, "out", client)
    assert raised.value.errno == errno.EFBIG
    assert [path.name for path in Path("out").iterdir() if path.name.startswith("1-")] == []
    assert [path.name for path in Path("out").iterdir() if path.suffix == ".tmp"] == []
    with ProcessPoolExecutor(1, context) as client:
        assert suggest(model, archive, "out", client).written == 348


def test_temporary_files_of_killed_workers_are_removed(threads, model, archive):
    suggest(model, archive, "out", threads)
    stale = [Path("out/.tagalong-0123456789abcdef-00.tmp"), Path("out/.shards/.tagalong-1-2.tmp")]
    for path in stale:
        path.write_text("half of a line")
    suggest(model, archive, "out", threads)
    assert not any(path.exists() for path in stale)


def test_pipes_cannot_be_shared(threads, model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for source, name in (("-", "standard input"), ("pipe", "pipe")):
        with pytest.raises(OptionError, match=f"^{name}: workers cannot share a pipe"):
            suggest(model, source, "out", threads)


def test_wrong_arguments_make_no_folder(threads, model, archive):
    with pytest.raises(ReadError, match=r"nowhere\.jsonl: no such file"):
        suggest(model, "nowhere.jsonl", "out", threads)
    with pytest.raises(ValueError, match="k must be at least 1"):
        suggest(model, archive, "out", threads, k=0)
    with pytest.raises(ValueError, match="min_precision must be"):
        suggest(model, archive, "out", threads, min_precision=2.0)
    with pytest.raises(OptionError, match="to must be one of csv, jsonl and parquet, not 'xml'"):
        suggest(model, archive, "out", threads, to="xml")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="exact and bom are options of to='csv'"):
        suggest(model, archive, "out", threads, bom=True)
    with pytest.raises(OptionError, match="jsonl has no option 'nonsense'"):
        suggest(model, "a.jsonl", "out", threads, nonsense=1)
    ranker = tagalong.LabelRanker().partial_fit([[1.0]], [["a"]], classes="grow")
    ranker.save("ranker.tagalong")
    with pytest.raises(TypeError, match=r"ranker\.tagalong must be a Tagger, not a LabelRanker"):
        suggest("ranker.tagalong", archive, "out", threads)
    with pytest.raises(TypeError, match=r"client must be a dask\.distributed\.Client"):
        suggest(model, archive, "out", "tcp://127.0.0.1:8786")
    assert not Path("out").exists()


def test_a_built_in_stream_and_equal_names(threads, model, tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        write_items(tmp_path / folder / "a.jsonl", 5)
    sources = ["x/a.jsonl", "pydocs:", "y/a.jsonl", "x/a.jsonl"]
    expected = one_machine(model, Path("one.jsonl"), *sources)
    suggest(model, sources, "out", threads, shard_size=100)
    assert joined(Path("out")) == expected
    names = sorted(path.name for path in Path("out").glob("*.jsonl"))
    assert names[0] == "01-a.0-100.jsonl"
    assert "04-pydocs.jsonl" in names
