"""P5, Fig. 1 (c): NDCG loss of the ℓ1 and ℓ2 versions by number of features, with a sparse w*."""

from __future__ import annotations

from statistics import mean

from experiments import compare, plots
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
from experiments.p5.generator import TESTED, norms

DOCUMENTS, QUERIES = 20, 50
STEPS = [None, 0.01, 0.1, 1.0, 10.0]
PAPER_STEP = STEPS.index(1.0)
NORMS = {"l2": "ℓ2", "l1": "ℓ1"}
SPARSE = 5


def cells(form: Form) -> list[Cell]:
    features = form.pick([20, 50, 100, 200, 400], [20, 50, 100, 200, 400, 800, 1600])
    return [
        cell(
            norms,
            layout="cube",
            features=p,
            relevant=relevant,
            documents=DOCUMENTS,
            queries=QUERIES,
            steps=STEPS,
            repetition=repetition,
        )
        for relevant in (1, SPARSE, 15)
        for p in features
        for repetition in range(form.pick(3, 20))
    ]


def report(results: Results) -> list[Part]:
    features, sparse = sorted(results.values("features")), results.values("relevant")
    return [
        _verdict(results, features, sparse),
        f"Features are from [-1, 1], and w* has s entries ±1/s; {QUERIES} training queries of "
        f"{DOCUMENTS} documents, f₂ = −i^1.1, means of {len(results.values('repetition'))} "
        f"repetitions, tested on {TESTED} queries. The paper gives neither s, m, n nor the step of "
        "the ℓ1 version: s and the step are varied. Solid lines: η = 1 for both. Dashed lines: the "
        "step that is best on average, in hindsight. Ridge and lasso regress the grades, with the "
        "better of two penalties.",
        Figure(
            "p5-figure1c",
            lambda: plots.lines([_panel(results, features, s) for s in sparse]),
            "NDCG loss of the l1 and l2 versions against the number of features, by sparsity",
        ),
        _table(results, features, sparse),
    ]


def _losses(results: Results, norm: str, p: int, relevant: int, place: int) -> list[float]:
    found = results.where(features=p, relevant=relevant)
    return [result["loss"][norm][place] for _, result in found]


def _best(results: Results, norm: str, features: list[int], relevant: int) -> int:
    """Return the index of the step (or penalty) that is best on average over the features."""
    tried = len(results.cells[0][1]["loss"][norm])
    return min(
        range(tried),
        key=lambda index: mean(mean(_losses(results, norm, p, relevant, index)) for p in features),
    )


def _verdict(results: Results, features: list[int], sparse: list[int]) -> Verdict:
    texts, as_claimed, of = [], 0, 0
    for relevant in sparse:
        for title, best in (("η = 1", False), ("best step", True)):
            rises = []
            for norm in ("l1", "l2"):
                index = _best(results, norm, features, relevant) if best else PAPER_STEP
                ends = [mean(_losses(results, norm, p, relevant, index)) for p in features]
                rises.append(ends[-1] - ends[0])
            as_claimed += rises[0] < rises[1] / 2
            of += 1
            texts.append(f"s = {relevant}, {title}: {rises[0]:+.3f} and {rises[1]:+.3f}")
    return Verdict(
        "With more features and the same sparse w*, the loss of the ℓ1 version grows a little, the "
        "loss of the ℓ2 version a lot.",
        f"ℓ1's loss grows by less than half as much as ℓ2's in {as_claimed} of {of} cases. Changes "
        f"of the losses of ℓ1 and ℓ2 from {features[0]} to {features[-1]} features: "
        f"{'; '.join(texts)}.",
        compare.holds(as_claimed, of),
    )


def _panel(results: Results, features: list[int], relevant: int) -> plots.Panel:
    drawn = []
    for colour, (norm, label) in enumerate(NORMS.items()):
        for best in (False, True):
            index = _best(results, norm, features, relevant) if best else PAPER_STEP
            found = [
                compare.mean_and_error(_losses(results, norm, p, relevant, index)) for p in features
            ]
            middle, errors = zip(*found, strict=True)
            name = f"{label}, best step" if best else f"{label}, η = 1"
            drawn.append(plots.Line(name, features, middle, errors, colour=colour, dashed=best))
    for colour, name in ((5, "ridge"), (2, "lasso")):
        index = _best(results, name, features, relevant)
        values = [mean(_losses(results, name, p, relevant, index)) for p in features]
        drawn.append(plots.Line(name, features, values, colour=colour, markers=False))
    return plots.Panel(
        f"w* with {relevant} entr{'y' if relevant == 1 else 'ies'}",
        drawn,
        "features",
        "NDCG loss, test",
        log_x=True,
        from_zero=True,
        ticks=features,
    )


def _table(results: Results, features: list[int], sparse: list[int]) -> Table:
    shown = ["theory" if step is None else f"{step:g}" for step in STEPS]
    rows = []
    for relevant in sparse:
        for p in (features[0], features[-1]):
            values = [
                mean(_losses(results, norm, p, relevant, index))
                for norm in NORMS
                for index in range(len(STEPS))
            ]
            rows.append([f"s = {relevant}, {p} features", *compare.bold_minimum(values, digits=4)])
    return Table(["step", *(f"{label}, {s}" for label in NORMS.values() for s in shown)], rows)


def covers(form: Form) -> str:
    return form.pick("up to 400 features, 3 repetitions", "up to 1,600 features, 20 repetitions")


EXPERIMENT = Experiment("p5/figure1c", "P5, Fig. 1 (c): ℓ1 and ℓ2 margins", cells, report, covers)
