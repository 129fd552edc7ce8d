"""Requests made by schemathesis from the OpenAPI document, against a server that runs.

No answer may be an error of the server, or one that the document does not name; what the document
allows is accepted, what it forbids is refused, without a token nothing is answered.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from tests.server.api_server import Api, serving
from tests.timeouts import TIMEOUT

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).with_name("fuzz.toml")
HOOKS = "tests.services.fuzz_hooks"
METHODS = ("get", "post", "patch", "delete")


def test_the_document_is_valid(tmp_path: Path) -> None:
    with serving(tmp_path) as api:
        document = api.get("/openapi.json").json
    assert document["openapi"].startswith("3.1.")
    problems = [
        f"{list(error.instance_path)}: {error.message}"
        for error in OPENAPI_31_VALIDATOR.iter_errors(document)
    ]
    assert problems == []


@pytest.mark.parametrize(
    ("examples", "seed"),
    [(10, 1), *(pytest.param(200, seed, marks=pytest.mark.long) for seed in range(2, 6))],
)
def test_all_answers_are_documented(tmp_path: Path, examples: int, seed: int) -> None:
    with serving(tmp_path) as api:
        paths = api.get("/openapi.json").json["paths"]
        found = run(api, examples, seed, tmp_path)
    report = f"{found.stdout[-20_000:]}\n{found.stderr[-2000:]}"
    assert found.returncode == 0, report
    del paths["/openapi.json"]  # schemathesis leaves it out
    count = sum(name in METHODS for path in paths.values() for name in path)
    assert count > 25
    assert f"{count} selected / {count} total" in found.stdout, report


def run(api: Api, examples: int, seed: int, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [
        *(sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"),
        *("--config-file", CONFIG, "run", f"{api.url}openapi.json"),
        *("--header", f"Authorization: Bearer {api.token}"),
        *("--header", "Accept: application/json"),  # pages of events rather than endless streams
        *("--max-examples", str(examples), "--seed", str(seed)),
        *("--request-timeout", "60", "--continue-on-failure"),
    ]
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": HOOKS,
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
    }
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT * 3,
        check=False,
    )
