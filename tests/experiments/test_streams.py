"""The papers' mail in both layouts, on generated mail; the other streams."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import streams as benchmark_streams
from benchmarks.streams import DATA_VARIABLE, Stream
from experiments import enron, streams
from experiments.experiment import MissingData
from tagalong.readers import Item
from tests.item_fields import fields

MESSAGE = """Message-ID: <{number}.JavaMail@thyme>
Date: {date}
From: sally.beck@enron.com
Subject: {subject}
X-Folder: \\Sally_Beck\\{secret}

{body}
"""


@pytest.fixture(autouse=True)
def fresh():
    streams.load.cache_clear()
    yield
    streams.load.cache_clear()


def write(folder, number, day, words="some words", suffix="."):
    folder.mkdir(parents=True, exist_ok=True)
    date = f"{day} Nov 2000 08:00:00 -0800 (PST)"
    text = MESSAGE.format(
        number=number, date=date, subject=f"subject{number}", secret="secretlabel", body=words
    )
    (folder / f"{number}{suffix}").write_text(text)


@pytest.fixture
def maildir(tmp_path, monkeypatch):
    """CMU's archive: nested folders, and file names that end in a dot."""
    user = tmp_path / "maildir" / "beck-s"
    for number in range(1, 4):
        write(user / "meetings", number, 10 + number, "budget meeting")
    for number in range(1, 5):
        # Later messages have smaller numbers.
        write(user / "europe" / "london", number, 20 - number, "flight to london")
    for number in range(1, 3):
        write(user / "few", number, 1)
    for name in ("inbox", "_sent_mail", "all_documents"):
        for number in range(1, 6):
            write(user / name, number, 2)
    (user / "loose.").write_text("Subject: in no folder\n\nnothing")
    (user / "meetings" / ".hidden").write_text("not a message")
    monkeypatch.setenv(enron.ENRON_VARIABLE, str(tmp_path))
    return tmp_path


def test_maildir_is_prepared_as_bekkerman_did(maildir):
    assert enron.users() == ["beck-s"]
    found = enron.messages("beck-s")
    assert [item.labels for item in found] == [
        *[("meetings",)] * 3,
        *[("europe/london",)] * 4,
    ]
    # Messages are in the order of their dates, not of their numbers.
    subjects = [fields(item)["subject"] for item in found]
    assert subjects == [f"subject{n}" for n in (1, 2, 3, 4, 3, 2, 1)]


def test_the_folder_is_not_among_the_words(maildir):
    assert not any("secretlabel" in str(item.text) for item in enron.messages("beck-s"))


def test_flat_folders(tmp_path, monkeypatch):
    for number in range(1, 5):
        write(tmp_path / "lokay-m" / "tw-commercial", number, number, suffix="")
        write(tmp_path / "lokay-m" / "hea", number, 10 + number, suffix="")
    write(tmp_path / "nobody-x" / "a", 1, 1)
    monkeypatch.setenv(enron.ENRON_VARIABLE, str(tmp_path))
    assert enron.users() == ["lokay-m"]
    assert [item.labels for item in enron.messages("lokay-m")] == [
        *[("tw-commercial",)] * 4,
        *[("hea",)] * 4,
    ]
    # The variable may name the folder of the archive or its parent.
    inner = tmp_path / "enron_flat"
    (tmp_path / "lokay-m").rename(tmp_path / "moved")
    inner.mkdir()
    (tmp_path / "moved").rename(inner / "lokay-m")
    assert enron.users() == ["lokay-m"]
    assert len(enron.messages("lokay-m")) == 8


def test_messages_without_a_date_come_first(tmp_path, monkeypatch):
    folder = tmp_path / "sanders-r" / "nsm"
    write(folder, 1, 3)
    write(folder, 2, 1)
    (folder / "3.").write_text("Subject: no date\n\nwords")
    (folder / "4.").write_text("Date: some day\nSubject: a strange date\n\nwords")
    monkeypatch.setenv(enron.ENRON_VARIABLE, str(tmp_path))
    subjects = [fields(item)["subject"] for item in enron.messages("sanders-r")]
    assert subjects == ["no date", "a strange date", "subject2", "subject1"]


def test_mail_as_a_stream_of_binary_words(maildir):
    assert streams.names()[0] == "enron/beck-s"
    stream = streams.load("enron/beck-s")
    assert stream.labels == ["europe/london", "meetings"]
    assert stream.rows == 7
    assert set(np.unique(stream.X.data)) == {1.0}
    np.testing.assert_array_equal(np.asarray(stream.Y.sum(axis=1)).ravel(), 1)
    assert "Enron mail of 1 users" in streams.describe(["enron/beck-s", "medical"])


def test_missing_mail_and_data_are_named(monkeypatch, tmp_path):
    monkeypatch.delenv(enron.ENRON_VARIABLE, raising=False)
    assert streams.names() == list(streams.AVAILABLE)
    with pytest.raises(
        MissingData, match=r"the stream enron/beck-s: --enron does not name a folder"
    ):
        streams.load("enron/beck-s")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    with pytest.raises(MissingData, match="the stream medical: TAGALONG_DATA is a folder, but"):
        streams.load("medical")


def test_values_become_binary(monkeypatch):
    rows = Stream("any", np.array([[0.0, 2.5], [-1.0, 0.0]]), sp.csr_matrix([[1, 0], [0, 1]]), [])
    monkeypatch.setattr(benchmark_streams, "load", lambda name: rows)
    found = streams.load("bibtex").X
    assert isinstance(found, sp.csr_matrix)
    np.testing.assert_array_equal(found.toarray(), [[0, 1], [1, 0]])


def test_pydocs_are_labelled_by_module(monkeypatch):
    def read(source):
        assert source == "pydocs:"
        for number in range(25):
            yield Item(text=f"parse a text {number % 5}", labels=("json", "json.x", "kind:method"))
            yield Item(text=f"open a file {number % 5}", labels=("os", "kind:function"))
        yield Item(text="in a small module", labels=("this", "kind:module"))

    monkeypatch.setattr(streams, "read", read)
    stream = streams.load("pydocs")
    assert stream.labels == ["json", "os"]
    np.testing.assert_array_equal(stream.Y[:2].toarray(), [[1, 0], [0, 1]])
    assert stream.rows == 50
