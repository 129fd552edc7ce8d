"""Servers beside which ours is measured: ``python -m benchmarks.service_peers NAME NUMBER``.

``constant`` is the least that a Starlette application can do: it reads the JSON body and answers a
constant of NUMBER bytes. ``sgd`` is a service as one would write it with FastAPI and scikit-learn.
It has learnt the first NUMBER texts of the Debian tags with ``SGDClassifier.partial_fit`` and
answers with the five likeliest labels. It solves a simpler problem: one label per text, its first.
"""

import argparse
import json
import os
import socket
import threading
from importlib.util import find_spec
from itertools import islice
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.streams import data_path
from tagalong.readers import read

PATH = "/suggest"
FEATURES = 2**16
LEARNT_AT_ONCE = 512


def constant_app(size: int) -> Starlette:
    """An application that reads its input and answers a constant."""
    answer = json.dumps("x" * (size - 2)).encode()

    async def suggest(request: Request) -> Response:
        await request.json()
        return Response(answer, media_type="application/json")

    return Starlette(routes=[Route(PATH, suggest, methods=["POST"])])


class Classifier:
    """scikit-learn's online classifier of texts; answers are learnt one by one or together."""

    def __init__(self, labels: list[str]):
        import numpy as np
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.linear_model import SGDClassifier

        self._words = HashingVectorizer(n_features=FEATURES)
        self._model = SGDClassifier(loss="log_loss")
        self._labels = np.array(labels)
        self._lock = threading.Lock()

    def learn(self, texts: list[str], labels: list[str]) -> None:
        with self._lock:
            self._model.partial_fit(self._words.transform(texts), labels, classes=self._labels)

    def suggest(self, text: str, k: int) -> list[dict[str, Any]]:
        import numpy as np

        row = self._words.transform([text])
        with self._lock:
            # decision_function would copy all weights; these are those of the words in the text.
            scores = self._model.coef_[:, row.indices] @ row.data + self._model.intercept_
        chances = 1 / (1 + np.exp(-scores))
        best = np.argsort(-scores)[:k]
        return [
            {
                "label": str(self._labels[place]),
                "score": float(scores[place]),
                "probability": float(chances[place]),
            }
            for place in best
        ]


def sgd_app(count: int) -> Any:
    """A FastAPI application around scikit-learn's classifier."""
    from fastapi import Body, FastAPI

    with read(os.fspath(data_path("debtags-texts.jsonl.xz"))) as stream:
        items = [item for item in islice(stream, count) if item.labels]
    labels = [(item.labels or ("",))[0] for item in items]
    classifier = Classifier(sorted({label for item in items for label in item.labels or ()}))
    for first in range(0, len(items), LEARNT_AT_ONCE):
        some = slice(first, first + LEARNT_AT_ONCE)
        classifier.learn([str(item.text) for item in items[some]], labels[some])

    async def suggest(text: str = Body(), k: int = Body(5)) -> dict[str, Any]:
        return {"suggestions": classifier.suggest(text, k)}

    async def learn(text: str = Body(), label: str = Body()) -> dict[str, Any]:
        classifier.learn([text], [label])
        return {}

    app = FastAPI()
    app.add_api_route(PATH, suggest, methods=["POST"])
    app.add_api_route("/learn", learn, methods=["POST"])
    return app


def main() -> None:
    """Serve until the process is told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["constant", "sgd"])
    parser.add_argument("number", type=int)
    args = parser.parse_args()
    app = constant_app(args.number) if args.name == "constant" else sgd_app(args.number)
    config = uvicorn.Config(
        app,
        http="h11" if find_spec("httptools") is None else "httptools",
        loop="asyncio",
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_level="warning",
    )
    # With the protocol by name, asyncio sends small answers at once (TCP_NODELAY).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}/"}), flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
