"""Forms with files, as clients and browsers send them, and the jobs that they begin."""

import io
import threading
import zipfile
from typing import Any

from tests.server.answers import Answer
from tests.server.api_server import Api
from tests.timeouts import TIMEOUT

BOUNDARY = "the-boundary"
MEDIA = f"multipart/form-data; boundary={BOUNDARY}"


def form(files: list[tuple[str, bytes]], **fields: str) -> bytes:
    """Return a form with files in the field `file`."""
    body = b"".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    )
    for name, content in files:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body += head.encode() + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode()


def upload(api: Api, content: bytes, name: str = "items.csv", **fields: str) -> Answer:
    """Send a file to the API."""
    return api.post("import", form([(name, content)], **fields), media=MEDIA)


def job_of(api: Api, started: Answer) -> Any:
    """Wait for the end of a job."""
    assert started.status == 202, started
    return ended_job(api, started.json["job"])


def ended_job(api: Api, id: str) -> Any:
    """Wait for the end of a job that is known by its id."""
    pause = threading.Event()
    for _ in range(int(TIMEOUT / 0.01)):
        job = api.get(f"jobs/{id}").json
        if job["state"] not in ("waiting", "running"):
            return job
        pause.wait(0.01)
    raise AssertionError(job)


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()
