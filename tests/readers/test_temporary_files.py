"""Errors of temporary files say where these files are."""

import resource
import tempfile
from collections.abc import Iterator

import pytest

from tagalong.readers import Item
from tagalong.readers.external_sort import sort_items
from tagalong.readers.temporary_files import temporary_file

LARGEST_FILE = 1000


@pytest.fixture
def _small_files() -> Iterator[None]:
    """No file may have more bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_bytes_are_read_as_they_were_written() -> None:
    with temporary_file() as file:
        file.write(b"one\ntwo\n")
        file.seek(0)
        assert list(file) == [b"one\n", b"two\n"]


@pytest.mark.usefixtures("_small_files")
def test_a_failed_write_names_the_folder() -> None:
    file = temporary_file()
    with pytest.raises(OSError, match=f"temporary files in {tempfile.gettempdir()}; set TMPDIR"):
        file.write(bytes(100 * LARGEST_FILE))
    file.close()


@pytest.mark.usefixtures("_small_files")
def test_sorting_names_the_folder() -> None:
    items = [Item(str(number), "text " * 100) for number in range(20)]
    with pytest.raises(OSError, match="set TMPDIR"):
        list(sort_items(items, lambda item: -float(item.id), memory=4 * LARGEST_FILE))


def test_a_missing_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(OSError, match="temporary files in /no/such/folder"):
        temporary_file()
