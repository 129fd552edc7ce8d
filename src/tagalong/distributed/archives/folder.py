"""The output folder: output files, the manifest, and one record per finished shard.

A shard is finished once its record exists. The worker writes the output file first, then the
record; each appears in one step. So a run that ends at any moment leaves whole files only, and the
next run knows what is left to do.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tagalong.distributed.archives.manifest import ManifestError, differences, digest_of
from tagalong.files.lock import exclusive_lock
from tagalong.files.replacement import remove_abandoned_files, replacing

__all__ = ["MANIFEST", "Finished", "OutputFolder"]

MANIFEST = "manifest.json"
_RECORDS = ".shards"


@dataclass(frozen=True)
class Finished:
    """The outcome of a shard.

    Parameters
    ----------
    size : int
        Size of the output file.
    written, sure, unknown : int
        Number of items, of those with a sure suggestion, and of those without any feature that the
        model knows.
    skipped : int
        Number of items that could not be read, or for which the model could not suggest labels.
    protected : int
        Number of CSV cells with an apostrophe in front.
    in_runs : bool
        Whether nothing could be sure, because the labels of the learnt items came in runs.
    errors, links : list of str
        The first reasons for skipped items; symbolic links that were left out.
    """

    size: int
    written: int
    sure: int
    unknown: int
    skipped: int
    protected: int = 0
    in_runs: bool = False
    errors: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


class OutputFolder:
    """An output folder, as the client and the workers see it.

    Parameters
    ----------
    path : path
        The folder.
    """

    def __init__(self, path: Path):
        self.path = path

    @contextmanager
    def claimed(self, manifest: bytes, private: bool) -> Iterator[None]:
        """Lock the folder for a run; create it, or check that it belongs to the same run.

        Parameters
        ----------
        manifest : bytes
            The text of the manifest of this run.
        private : bool
            Whether a new folder and its files are readable by their owner only.

        Raises
        ------
        ManifestError
            The folder belongs to another run; the message says how that differs.
        BusyError
            Another run uses the folder.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ManifestError(f"{self.path} is a file; the results of workers need a folder")
        self.path.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        file = self.path / MANIFEST
        with exclusive_lock(file, command="tagalong suggest", what="output folder"):
            if file.exists():
                self._check(file.read_bytes(), manifest)
            else:
                self._check_empty()
                with replacing(file, private=private) as stream:
                    stream.write(manifest)
            (self.path / _RECORDS).mkdir(mode=0o700 if private else 0o777, exist_ok=True)
            self._sweep()
            try:
                yield
            finally:
                self._sweep()

    def _check(self, before: bytes, now: bytes) -> None:
        if before != now:
            raise ManifestError(
                f"{self.path} belongs to another run: {differences(before, now)}; give another "
                "folder, or remove this one to begin again"
            )

    def _check_empty(self) -> None:
        others = [name for name in sorted(os.listdir(self.path)) if name != f"{MANIFEST}.lock"]
        if others:
            raise ManifestError(
                f"{self.path} is not empty and has no {MANIFEST}: {others[0]} is in it; give a new "
                "folder"
            )

    def _sweep(self) -> None:
        """Remove temporary files of workers that were killed."""
        remove_abandoned_files(self.path)
        remove_abandoned_files(self.path / _RECORDS)

    def has_manifest(self, digest: str) -> bool:
        """Whether the folder, as this machine sees it, belongs to a run.

        Parameters
        ----------
        digest : str
            Digest of the manifest.
        """
        try:
            return digest_of((self.path / MANIFEST).read_bytes()) == digest
        except FileNotFoundError:
            return False

    def record(self, output: str, found: Finished, private: bool) -> None:
        """Write the record of a shard.

        Parameters
        ----------
        output : str
            Name of its output file, which is complete.
        found : Finished
            What became of it.
        private : bool
            Whether the record is readable by its owner only.
        """
        with replacing(self._record(output), private=private) as stream:
            stream.write(json.dumps(asdict(found)).encode())

    def finished(self, output: str) -> Finished | None:
        """Return the record of a shard; None if it has to be computed.

        Parameters
        ----------
        output : str
            Name of its output file.
        """
        with suppress(OSError, ValueError, TypeError):
            found = Finished(**json.loads(self._record(output).read_bytes()))
            if os.path.getsize(self.path / output) == found.size:
                return found
        return None

    def _record(self, output: str) -> Path:
        return self.path / _RECORDS / f"{output}.json"
