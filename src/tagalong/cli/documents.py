"""Queries on the command line: order their documents, and measure the orders."""

import argparse
import json

import numpy as np

from tagalong.cli.errors import OK, SOME_SKIPPED, UsageError
from tagalong.cli.output import Output
from tagalong.cli.sources import OPTIONAL_COLUMNS, reading_of
from tagalong.evaluate import QueryProgress
from tagalong.learning.rounds import QueryRound
from tagalong.readers.queries import grades_of, queries
from tagalong.readers.writing import open_destination
from tagalong.tagger import Tagger

__all__ = ["evaluate_queries", "suggest_orders"]


def suggest_orders(tagger: Tagger, args: argparse.Namespace, out: Output) -> int:
    """Write a line of JSON per query: its documents, best first, with their scores."""
    if not args.sources or args.to is not None or args.out is not None:
        raise UsageError(
            "this model ranks the documents of queries: give a SOURCE with query ids (qid), and "
            "neither --to nor --out"
        )
    reading = reading_of(args, tagger, optional=OPTIONAL_COLUMNS)
    with reading.open() as stream, open_destination("-") as lines:
        for query in queries(reading.limited(stream)):
            scores = tagger.score_query(query)
            order = np.argsort(-scores, kind="stable").tolist()
            documents = [
                {
                    "document": place + 1,
                    "place": query.documents[place].place,
                    "score": float(scores[place]),
                }
                for place in order
            ]
            line = json.dumps({"query": query.id, "documents": documents})
            lines.write(f"{line}\n".encode())
    out.report_skipped(stream.skipped, stream.errors, stream.links)
    return SOME_SKIPPED if stream.skipped else OK


def evaluate_queries(tagger: Tagger, args: argparse.Namespace, out: Output) -> int:
    """Print NDCG and the other measures of a model on graded documents."""
    if args.plot is not None or args.report is not None:
        raise UsageError("--plot and --report are for models that rank labels")
    progress = QueryProgress(args.at, args.window)
    reading = reading_of(args, tagger, optional=[c for c in OPTIONAL_COLUMNS if c != "labels"])
    with reading.open() as stream:
        for query in queries(reading.limited(stream)):
            progress.add(QueryRound(tagger.score_query(query), np.array(grades_of(query))))
    report = progress.report()
    result = {"model": args.model, "skipped": stream.skipped, "report": report.to_dict()}
    out.json_result(result)
    out.result(*report.text().split("\n"))
    out.report_skipped(stream.skipped, stream.errors, stream.links)
    return SOME_SKIPPED if stream.skipped else OK
