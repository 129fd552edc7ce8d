"""Files as the body of a request: multipart/form-data, sent piece by piece."""

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["Upload"]

CHUNK = 1 << 16


class Upload:
    """A form with a file. Each try of a call sends the same bytes.

    Parameters
    ----------
    path : str or path
        The file.
    fields : mapping of str to str
        Further fields of the form.
    """

    def __init__(self, path: str | os.PathLike[str], fields: Mapping[str, str]):
        self._path = Path(path)
        self._boundary = secrets.token_hex(16)
        self._file_size = self._path.stat().st_size
        parts = [
            f"--{self._boundary}\r\nContent-Disposition: form-data; name={_quoted(name)}\r\n\r\n"
            f"{value}\r\n"
            for name, value in fields.items()
        ]
        parts.append(
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="file"; '
            f"filename={_quoted(self._path.name)}\r\n"
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        self._head = "".join(parts).encode()
        self._tail = f"\r\n--{self._boundary}--\r\n".encode()

    @property
    def media_type(self) -> str:
        """The value of the header ``Content-Type``."""
        return f"multipart/form-data; boundary={self._boundary}"

    @property
    def size(self) -> int:
        """Number of bytes of the body."""
        return len(self._head) + self._file_size + len(self._tail)

    def parts(self) -> Iterator[bytes]:
        """Yield the body; ValueError if the file cannot be read, or has another size by now."""
        yield self._head
        left = self._file_size
        try:
            with open(self._path, "rb") as file:
                while left and (data := file.read(min(CHUNK, left))):
                    left -= len(data)
                    yield data
                if left or file.read(1):
                    raise ValueError(f"{self._path} has changed while it was sent")
        except OSError as error:  # an error of the network does not come here
            raise ValueError(f"{self._path}: {error.strerror}") from error
        yield self._tail


def _quoted(text: str) -> str:
    """Return a text for a header, as browsers write it."""
    name = text.encode("utf-8", "replace").decode()
    for character, code in (('"', "%22"), ("\r", "%0D"), ("\n", "%0A")):
        name = name.replace(character, code)
    return f'"{name}"'
