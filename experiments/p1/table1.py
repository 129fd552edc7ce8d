"""P1, Table 1: the percentage of online mistakes of three updates in two geometries.

The paper gives neither C nor the margin γ. Here both are swept; the report shows each learner at
its best setting and over the whole sweep. In the Euclidean geometry only C/γ matters, so γ is 1.
Update I does not use the margin, and in the Euclidean geometry its mistakes do not depend on C
either.
"""

from __future__ import annotations

from experiments import compare, streams
from experiments.experiment import (
    Cell,
    Experiment,
    Figure,
    Form,
    Part,
    Results,
    Table,
    Verdict,
    cell,
)
from experiments.p1.sweep import GEOMETRIES, LEARNERS, UPDATES, Sweep, Sweeps, iterations, run
from experiments.p1.tuning import figure, interior_point, tuning

# Table 1 of the paper: folders, messages, then I, II, III Euclidean and I, II, III entropic, in
# percent. (Its caption says "average number of online mistakes".)
PAPER: dict[str, tuple[int, int, list[float]]] = {
    "beck-s": (101, 1971, [58.5, 55.2, 51.9, 54.0, 50.2, 47.1]),
    "farmer-d": (25, 3672, [29.5, 23.3, 22.7, 27.6, 22.6, 22.0]),
    "kaminski-v": (41, 4477, [50.2, 44.5, 41.9, 46.7, 42.9, 40.0]),
    "kitchen-l": (47, 4015, [48.2, 41.9, 40.4, 41.9, 38.3, 36.0]),
    "lokay-m": (11, 2489, [24.9, 19.1, 18.4, 24.0, 18.7, 18.2]),
    "sanders-r": (30, 1188, [31.7, 28.3, 27.2, 28.3, 24.2, 23.4]),
    "williams-w3": (18, 2769, [5.0, 4.5, 4.4, 4.2, 3.4, 3.1]),
}
QUICK_ROWS = 5000


def _powers(first: int, last: int, step: int) -> list[float]:
    return [2.0**power for power in range(first, last + 1, step)]


def cells(form: Form) -> list[Cell]:
    rows = form.pick(QUICK_ROWS, None)
    linear = _powers(*form.pick((-10, 1, 2), (-12, 2, 1)))
    unit = _powers(*form.pick((-4, 4, 2), (-6, 4, 1)))
    curved = _powers(*form.pick((-4, 4, 2), (-6, 6, 1)))
    margins = form.pick(
        [0.0003, 0.001, 0.003, 0.01, 0.03], [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]
    )
    found = []
    for stream in streams.names():
        where = {"stream": stream, "rows": rows}
        for update in UPDATES:
            is_fixed = update == "fixed"
            euclidean = {**where, "update": update, "geometry": "euclidean", "margin": 1.0}
            found.append(cell(run, **euclidean, unit=False, Cs=[1.0] if is_fixed else linear))
            found.append(cell(run, **euclidean, unit=True, Cs=[1.0] if is_fixed else unit))
            for margin in margins[:1] if is_fixed else margins:
                entropic = {"update": update, "geometry": "entropic", "margin": margin}
                found.append(cell(run, **where, **entropic, unit=False, Cs=curved))
        found.append(
            cell(iterations, stream=stream, rows=form.pick(1000, 5000), margin=0.03, C=1.0)
        )
    return found


def report(results: Results) -> list[Part]:
    names = results.values("stream")
    sweeps = {
        (name, update, geometry): Sweep(results, name, update, geometry, unit=False)
        for name in names
        for update, geometry in LEARNERS
    }
    unit = {
        (name, update): Sweep(results, name, update, "euclidean", unit=True)
        for name in names
        for update in UPDATES
    }
    return [
        *_verdicts(names, sweeps, unit),
        streams.describe(names),
        "Percentage of mistakes of each learner at its best C and margin:",
        _main_table(results, names, sweeps),
        "Numbers of the paper, for its users:",
        _paper_table(),
        *tuning(names, sweeps, unit),
        Figure(
            "p1-table1-C",
            lambda: figure(names, sweeps),
            "Percentage of mistakes against C for three updates and two geometries, by stream",
        ),
        *interior_point(results),
    ]


def _best(names: list[str], sweeps: Sweeps, update: str, geometry: str) -> dict[str, float]:
    return {name: sweeps[name, update, geometry].best for name in names}


def _verdicts(names: list[str], sweeps: Sweeps, unit: dict[tuple[str, str], Sweep]) -> list[Part]:
    orders, texts = [], []
    for geometry, title in GEOMETRIES.items():
        best = {update: _best(names, sweeps, update, geometry) for update in UPDATES}
        for better, worse in (("optimal", "single"), ("single", "fixed")):
            won, of = compare.wins(best[better], best[worse])
            orders.append((won, of))
            texts.append(f"{title} {UPDATES[better]} < {UPDATES[worse]} on {won} of {of} streams")
    won, of = sum(won for won, _ in orders), sum(of for _, of in orders)
    first = Verdict(
        "Update III beats II, and II beats I, in both geometries.",
        f"{'; '.join(texts)}, each at its best setting.",
        compare.holds(won, of),
    )
    counts = {
        update: compare.wins(
            _best(names, sweeps, update, "entropic"), _best(names, sweeps, update, "euclidean")
        )
        for update in UPDATES
    }
    # Rows of unit length are an option for the Euclidean learner, but not for the entropic one.
    against_unit = {
        update: compare.wins(
            _best(names, sweeps, update, "entropic"),
            {name: unit[name, update].best for name in names},
        )
        for update in UPDATES
    }
    both = [*counts.values(), *against_unit.values()]
    second = Verdict(
        "The entropic geometry beats the Euclidean one, with every update.",
        f"with Updates I, II, III entropic < Euclidean on {_join_counts(counts)} streams on the "
        f"paper's binary rows, and on {_join_counts(against_unit)} if the Euclidean learner gets "
        "rows of unit length; each at its best setting, where the entropic learner had more "
        "settings to choose from (see below).",
        compare.holds(sum(won for won, _ in both), sum(of for _, of in both)),
    )
    gains = [
        [
            sweeps[name, worse, geometry].best - sweeps[name, better, geometry].best
            for name in names
            for geometry in GEOMETRIES
        ]
        for better, worse in (("single", "fixed"), ("optimal", "single"))
    ]
    larger = sum(a > b for a, b in zip(*gains, strict=True))
    third = Verdict(
        "The improvement from I to II is larger than the one from II to III.",
        f"it is larger in {larger} of {len(gains[0])} cases (streams × geometries); the medians "
        f"are {compare.median_text(gains[0])} and {compare.median_text(gains[1])} points.",
        compare.holds(larger, len(gains[0])),
    )
    return [first, second, third]


def _join_counts(counts: dict[str, tuple[int, int]]) -> str:
    return ", ".join(f"{won} of {of}" for won, of in counts.values())


def _main_table(results: Results, names: list[str], sweeps: Sweeps) -> Table:
    head = ["stream", "labels", "texts"]
    head += [f"{UPDATES[update]} {GEOMETRIES[geometry]}" for update, geometry in LEARNERS]
    rows = []
    for name in names:
        size = results.where(stream=name)[0][1]
        values = compare.bold_minimum([sweeps[name, *learner].best for learner in LEARNERS])
        printed = PAPER.get(name.removeprefix("enron/"))
        if printed:
            values = [
                f"{ours} ({theirs:.1f})" for ours, theirs in zip(values, printed[2], strict=True)
            ]
        rows.append([name, f"{size['labels']}", f"{size['rows']:,}", *values])
    return Table(head, rows)


def _paper_table() -> Table:
    head = ["user", "folders", "messages"]
    head += [f"{UPDATES[update]} {GEOMETRIES[geometry]}" for update, geometry in LEARNERS]
    rows = [
        [user, f"{folders}", f"{messages:,}", *compare.bold_minimum(values)]
        for user, (folders, messages, values) in PAPER.items()
    ]
    return Table(head, rows)


def covers(form: Form) -> str:
    return form.pick(
        f"the first {QUICK_ROWS:,} texts of each stream; 6 values of C, for entropic learners 5 "
        "values of C and 5 margins",
        "all texts of each stream; 15 values of C, for entropic learners 13 values of C and 7 "
        "margins; the interior point method on the first 5,000 texts",
    )


EXPERIMENT = Experiment(
    "p1/table1", "P1, Table 1: three updates in two geometries", cells, report, covers
)
