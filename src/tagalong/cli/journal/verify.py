"""``tagalong journal verify``: check a workspace, replay it, and name every problem."""

import argparse

from tagalong.cli.errors import FAILED, OK
from tagalong.cli.journal.messages import counted, journal_errors, percent_shown, place_name
from tagalong.cli.live import Live
from tagalong.cli.output import Output
from tagalong.journal.verification import verify

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Verify a workspace; the exit code says whether it is sound."""
    with journal_errors(), Live(out.quiet) as live:
        found = verify(args.workspace, percent_shown(live, "verified"))
    out.json_result({"workspace": place_name(args.workspace), **found.to_json()})
    out.result(
        f"{place_name(args.workspace)}: checked {counted(found.events, 'event')}, "
        f"{counted(found.contents, 'content')} and {counted(found.snapshots, 'snapshot')}; "
        f"compared {counted(found.compared, 'snapshot')} with a replay"
    )
    if found.hash is not None:
        out.result(f"hash of the model after event {found.seq:,}: {found.hash}")
    out.result(*found.notes)
    if found.is_sound:
        out.result("no problems")
        return OK
    out.result(f"{counted(len(found.problems), 'problem')}:", *(f"  {p}" for p in found.problems))
    return FAILED
