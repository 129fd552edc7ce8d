"""Uploads: files of a form, kept on disk until they are learnt, and how to read them."""

import hashlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any, TypeAlias

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from tagalong.readers.limited_bytes import ByteLimit
from tagalong.readers.option_texts import options_from_texts
from tagalong.readers.ordering import Order
from tagalong.readers.registry import FORMATS
from tagalong.readers.stream import Stream, read
from tagalong.server.http.body import BodyLimits, limited_request
from tagalong.server.problems import Problem
from tagalong.server.recognised import Recognised, recognise
from tagalong.streams.compression import strip_compression_suffix

__all__ = ["FILE_FORM", "UPLOADED", "Upload", "UploadForm", "kept_upload", "upload_form"]

Run: TypeAlias = Callable[..., Awaitable[Any]]
FILE_FORM = "multipart/form-data"
UPLOADED = {name: each for name, each in FORMATS.items() if each.takes == "file"}
"""The formats of single files. Folders and built-in streams are for the command line."""
MOST_FILES = 100
MOST_FIELDS = 50
_BYTES_AT_ONCE = 1 << 20
BYTES_BEFORE_FIRST = 8 << 20
_MOST_NAME = 100


@dataclass(frozen=True, slots=True)
class UploadForm:
    """A form that was received: its fields, and its files as they came.

    Parameters
    ----------
    fields : mapping of str to str
        The fields beside the files.
    files : sequence of UploadFile
        The files.
    """

    fields: Mapping[str, str]
    files: Sequence[UploadFile]


@dataclass(frozen=True, slots=True)
class Upload:
    """Files on this server, and how to read them.

    Parameters
    ----------
    folder : TemporaryDirectory
        The folder that has nothing else.
    names : mapping of Path to str
        The files, with the names that the client gave them, for messages only.
    format : str or None
        Their format, if the client has named it.
    options : dict
        Options of the format.
    most_bytes : int
        Number of bytes that they may have when they are unpacked.
    """

    folder: tempfile.TemporaryDirectory[str]
    names: Mapping[Path, str]
    format: str | None
    options: dict[str, Any]
    most_bytes: int

    @property
    def title(self) -> str:
        """A name for all of them."""
        first, *others = self.names.values()
        return f"{first} and {len(others)} more" if others else first

    def open(
        self,
        order: Order = "auto",
        *,
        most_bytes: int | None = None,
        on_bytes: Callable[[], None] | None = None,
    ) -> Stream:
        """Return the items, in the order in which they were written if they have dates.

        Parameters
        ----------
        order : str
            As for `read`.
        most_bytes : int, optional
            A lower limit than that of the upload.
        on_bytes : callable, optional
            Called from time to time. It may raise an exception to end the reading, but no OSError.
        """
        limit = ByteLimit(most_bytes or self.most_bytes)
        limit.on_bytes = on_bytes
        is_text = all(
            strip_compression_suffix(name).lower().endswith(".txt") for name in self.names.values()
        )
        return read(
            list(self.names),
            self.format,
            on_error="skip",
            order=order,
            defaults={"format": "fasttext"} if is_text else None,
            limit=limit,
            **self.options,
        )

    def recognise(self) -> Recognised:
        """Return what the files are; ValueError if not even one item can be read."""
        stored = sum(path.stat().st_size for path in self.names)
        most = min(self.most_bytes, max(BYTES_BEFORE_FIRST, 2 * stored))
        with self.open("file", most_bytes=most) as stream:
            found = recognise(stream, self.options)
            if not found.samples:
                reasons = "; ".join(map(self.named, stream.errors[:3]))
                raise ValueError(reasons or "the file has no items")
        return found

    def digest(self) -> str:
        """Return a digest of the files and of how to read them, which is the same if they are."""
        found = hashlib.sha256()
        for path, name in self.names.items():
            with path.open("rb") as file:
                found.update(
                    f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
                )
        found.update(repr((self.format, sorted(self.options.items()))).encode())
        return found.hexdigest()

    def columns(self) -> list[str]:
        """Return the columns of a table that could not be read as it is."""
        try:
            with self.open("file") as stream:
                return stream.list_names()
        except (ValueError, EOFError, OSError):
            return []

    def named(self, message: str) -> str:
        """Return a message with the names that the client knows, without paths of this server.

        Parameters
        ----------
        message : str
            A message, or a place such as "/tmp/x/0.csv:3".
        """
        for path in sorted(self.names, key=lambda path: -len(str(path))):
            message = message.replace(str(path), self.names[path])
        return message.replace(f"{self.folder.name}/", "")

    def close(self) -> None:
        """Delete the files."""
        self.folder.cleanup()


@asynccontextmanager
async def upload_form(request: Request, limits: BodyLimits) -> AsyncIterator[UploadForm]:
    """Receive a form with files, which exist during the block.

    Parameters
    ----------
    request : Request
        The request, whose body has not been read.
    limits : BodyLimits
        The limits of the body.
    """
    _, options = parse_options_header(request.headers["content-type"])
    if not options.get(b"boundary"):
        raise Problem(
            400,
            "bad-form",
            f"the header Content-Type must name the boundary: {FILE_FORM}; boundary=...",
        )
    limited = limited_request(request, limits)
    async with AsyncExitStack() as stack:
        parsing = limited.form(max_files=MOST_FILES, max_fields=MOST_FIELDS)
        try:
            form = await stack.enter_async_context(parsing)
        except MultiPartException as error:
            raise Problem(400, "bad-form", f"the form cannot be read: {error.message}") from None
        yield _divided(form)


def _divided(form: FormData) -> UploadForm:
    """Return the fields and the files of a form."""
    fields: dict[str, str] = {}
    files: list[UploadFile] = []
    for name, value in form.multi_items():
        if isinstance(value, str) and name != "file":
            if name in fields:
                raise _not_valid(name, f"the field {name[:60]!r} is there twice")
            fields[name] = value
        elif isinstance(value, UploadFile) and name == "file":
            if value.filename or value.size:  # a browser sends an empty one if none is chosen
                files.append(value)
        elif isinstance(value, UploadFile):
            raise _not_valid(name, f"{name[:60]!r} must be a text: files are in the field 'file'")
    if not files:
        raise _not_valid("file", "the field 'file' is missing, or has no name of a file")
    return UploadForm(fields, files)


def _not_valid(name: str, problem: str) -> Problem:
    return Problem(422, "not-valid", problem, place=name[:60])


async def kept_upload(
    form: UploadForm, texts: Mapping[str, str], most_bytes: int, run: Run
) -> Upload:
    """Write the files of a form to the disk. OptionError if an option has a wrong value.

    Parameters
    ----------
    form : UploadForm
        The form.
    texts : mapping of str to str
        The format and its options, checked.
    most_bytes : int
        See `Upload`.
    run : callable
        Calls a function that may wait for the disk.
    """
    options = dict(texts)
    format = options.pop("format", None)
    values = options_from_texts(options, [] if format is None else [FORMATS[format]])
    folder = tempfile.TemporaryDirectory(prefix="tagalong-")
    names: dict[Path, str] = {}
    try:
        for number, file in enumerate(form.files):
            name = file.filename or "upload"
            path = Path(folder.name, f"{number}{_endings(name)}")
            names[path] = _shown_name(name)
            with path.open("wb") as copy:
                while piece := await file.read(_BYTES_AT_ONCE):
                    await run(copy.write, piece)
    except BaseException:
        folder.cleanup()
        raise
    return Upload(folder, names, format, values, most_bytes)


def _endings(name: str) -> str:
    """Return the last endings of a name, which tell the format: no more of it becomes a path."""
    endings = Path(name).suffixes[-2:]
    return "".join(each for each in endings if each[1:].isalnum() and each.isascii())


def _shown_name(name: str) -> str:
    """Return a name for messages."""
    last = PureWindowsPath(name).name or "upload"  # its parts end at "/" and at "\\"
    return last if len(last) <= _MOST_NAME else f"…{last[-_MOST_NAME:]}"
