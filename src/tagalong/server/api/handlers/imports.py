"""Imports: uploaded files in any format that the readers know are learnt in the background."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.responses import Response

from tagalong.server.api.calls import Call, json_answer
from tagalong.server.api.operations import Operation, W
from tagalong.server.api.schemas import Choice, File, ListOf, Record, Text, Whole, nullable
from tagalong.server.http.body import BodyLimits
from tagalong.server.import_jobs import learn_upload
from tagalong.server.jobs import STATES, Job, new_id
from tagalong.server.problems import Problem
from tagalong.server.uploads import (
    FILE_FORM,
    UPLOADED,
    Upload,
    UploadForm,
    kept_upload,
    upload_form,
)

__all__ = ["OPERATIONS", "UPLOAD", "begin_import", "job_of"]

MOST_EXPANSION = 20
"""Files may have so many times the bytes of the largest body when they are unpacked."""
SECONDS = 3600.0
OPTIONS = sorted(
    # `xml` names another file: no path that a user types is opened.
    {option.name for each in UPLOADED.values() for option in each.options} - {"xml"}
)

UPLOAD = Record(
    "Import",
    {"file": File()},
    {
        "format": Choice(tuple(UPLOADED), "by default the ending of the file's name tells it"),
        **{name: Text(most=1000, meaning="option of the format") for name in OPTIONS},
    },
)
"""The form. The field `file` may be there several times; an archive stands for its files."""
STARTED = Record("JobStarted", {"job": Text()}, is_open=True)
JOB = Record(
    "Job",
    {
        "job": Text(),
        "state": Choice(STATES),
        "done": Whole(meaning="number of items so far"),
        "total": nullable(Whole(meaning="number of all items"), "a number or null"),
        "learnt": Whole(meaning="number of items that were learnt, because they have labels"),
        "open": Whole(meaning="number of items that wait for an answer"),
        "known": Whole(meaning="number of items that were there already"),
        "skipped": Whole(meaning="number of items that could not be read or learnt"),
        "errors": ListOf(Text(meaning="the first reasons")),
        "batch": Text(meaning="the batch of all its events, which can be undone"),
    },
    {"error": Text(meaning="why it has ended early")},
    is_open=True,
)


async def start_import(call: Call) -> Response:
    """Take files, and learn them in the background."""
    job = await begin_import(call)
    return json_answer({"job": job.id}, 202)


async def begin_import(call: Call, *, empty_counts: bool = True) -> Job:
    """Receive the form of a request, and begin to learn its files.

    Parameters
    ----------
    call : Call
        The request, whose body has not been read.
    empty_counts : bool
        Whether an empty field is an option with an empty value; otherwise it counts as left out.
    """
    call.service.jobs.check_room()  # before the files are received
    limits = BodyLimits(call.service.limits.body_bytes, seconds=SECONDS)
    async with call.workspace(), upload_form(call.request, limits) as form:
        upload = await _kept(call, form, empty_counts)
    try:
        recognised = await call.run(upload.recognise)
    except (ValueError, EOFError, OSError) as error:
        columns = await call.run(upload.columns)
        upload.close()
        raise _not_readable(upload.named(str(error)), columns) from None
    except BaseException:
        upload.close()
        raise
    jobs, name = call.service.jobs, call.names["name"]
    try:
        id = await _id_of(call, upload)
        job = jobs.find(name, id)
        if job is not None:  # the same request was sent before
            upload.close()
            return job
        job = jobs.add(name, upload.title, recognised, id)
    except BaseException:
        upload.close()
        raise
    call.service.spawn(_learn(call, job, upload))
    return job


async def _id_of(call: Call, upload: Upload) -> str:
    """Return the name of the job of an import, the same for each request with the same key."""
    if call.key_text is None:
        return new_id()
    request = ["import", await call.run(upload.digest)]
    async with call.workspace() as workspace:
        id: str = await call.run(
            workspace.remember, new_id(), key=call.key_text, scope=call.scope, request=request
        )
    return id


async def _kept(call: Call, form: UploadForm, empty_counts: bool) -> Upload:
    fields = {name: text for name, text in form.fields.items() if text or empty_counts}
    most_bytes = int(call.service.limits.body_bytes * MOST_EXPANSION)
    try:
        return await kept_upload(form, _checked(fields), most_bytes, call.run)
    except (ValueError, OSError) as error:
        raise _not_readable(str(error)) from None


def _checked(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a form beside the files; a Problem if there is no such field."""
    for name in fields:
        if name not in UPLOAD.optional:
            known = ", ".join(("file", *UPLOAD.optional))
            raise Problem(
                422,
                "not-valid",
                f"there is no field {name[:60]!r} with a text; the fields are: {known}",
                place=name[:60],
            )
    return {name: UPLOAD.optional[name].check(text, name) for name, text in fields.items()}


def _not_readable(reason: str, columns: list[str] | None = None) -> Problem:
    detail = reason.replace("format=", "the field format: ")
    facts: dict[str, Any] = {"columns": columns} if columns else {}
    return Problem(422, "not-readable", detail, **facts)


async def _learn(call: Call, job: Job, upload: Upload) -> None:
    """Learn files, while the workspace stays open."""
    jobs = call.service.jobs
    try:
        async with call.workspace() as workspace:
            work = partial(learn_upload, jobs, job, workspace, upload, call.actor)
            await jobs.run(job, work)
    except Exception as error:  # the workspace could not be opened
        job.fail(error)
    finally:
        upload.close()


async def job_of(call: Call) -> Job:
    """Return the job in the path of a request; a Problem if there is none.

    Parameters
    ----------
    call : Call
        The request.
    """
    async with call.workspace():  # its server has its jobs
        job = call.service.jobs.find(call.names["name"], call.names["job"])
    if job is None:
        raise Problem(
            404,
            "not-found",
            "there is no such job: the server remembers the last hundred, until it is restarted",
        )
    return job


async def get_job(call: Call) -> Response:
    """Return the progress of a job."""
    return json_answer((await job_of(call)).to_json())


async def cancel_job(call: Call) -> Response:
    """Let a job end soon; what it has learnt stays. A job that has ended stays as it is."""
    job = await job_of(call)
    job.cancel()
    return json_answer(job.to_json(), 202)


OPERATIONS = (
    Operation(
        "startImport",
        "POST",
        f"{W}/import",
        "Learn uploaded files in the background, as one batch.",
        start_import,
        body=UPLOAD,
        body_media=FILE_FORM,
        answers={202: STARTED},
        has_key=True,
    ),
    Operation(
        "getJob",
        "GET",
        f"{W}/jobs/{{job}}",
        "Return the progress of a job.",
        get_job,
        answers={200: JOB},
        is_change=False,
    ),
    Operation(
        "cancelJob",
        "POST",
        f"{W}/jobs/{{job}}/cancel",
        "Stop a job; what it has learnt stays, and can be undone.",
        cancel_job,
        answers={202: JOB},
    ),
)
