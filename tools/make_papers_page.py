"""Write the verdicts in docs/papers.md from the stored results of the experiments.

python tools/make_papers_page.py           # write the tables
python tools/make_papers_page.py --check   # fail if they are out of date

A table is between the lines "<!-- verdicts of p1: ... -->" and "<!-- end of the verdicts -->".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:  # for "python tools/make_papers_page.py"
    sys.path.insert(0, str(ROOT))

from experiments import catalogue, store  # noqa: E402
from experiments.experiment import Experiment, Verdict  # noqa: E402

PAGE = ROOT / "docs" / "papers.md"
TOOL = "tools/make_papers_page.py"
WORDS = {
    True: "holds here",
    False: "does not hold here",
    None: "holds in part",
    "not tested": "not tested",
}
_TABLE = re.compile(
    r"(?P<opening><!-- verdicts of (?P<paper>p\d)[^\n]*-->\n).*?(?=<!-- end of the verdicts -->)",
    re.S,
)


def page(text: str, results: Path = store.RESULTS) -> str:
    """Return the text of the page with tables of the present results."""
    return _TABLE.sub(lambda found: found["opening"] + _table(found["paper"], results), text)


def _table(paper: str, results: Path) -> str:
    lines = ["| experiment | the paper's claim | verdict | form |", "|---|---|---|---|"]
    for experiment in catalogue.experiments([paper]):
        lines += [f"| {' | '.join(row)} |" for row in _rows(experiment, results)]
    return "\n".join(lines) + "\n"


def _rows(experiment: Experiment, results: Path) -> list[list[str]]:
    name = f"[`{experiment.name}`](../experiments/{experiment.name}.py)"
    stored = store.read_results(experiment.name, results)
    if stored is None or not stored[1].cells:
        return [[name, experiment.title, "not run", "–"]]
    head, found = stored
    verdicts = [part for part in experiment.report(found) if isinstance(part, Verdict)]
    if not verdicts:
        return [[name, experiment.title, "no claim is tested", head["form"]]]
    return [[name, verdict.claim, WORDS[verdict.holds], head["form"]] for verdict in verdicts]


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    before = PAGE.read_text(encoding="utf-8")
    after = page(before)
    if "--check" in arguments:
        if before != after:
            print(f"docs/papers.md is out of date: run python {TOOL}", file=sys.stderr)
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
