"""Train M3L with a prior on label correlations, and score a label that has no examples.

    python examples/label_prior.py

Photos are tagged "beach", "sea", "snow". Nobody has tagged "ski" yet; all that is known is that
it goes with snow and not with the beach. The prior matrix R says so, and M3L (Hariharan,
Vishwanathan and Varma, 2012) gives the new label a score.
"""

import numpy as np

from tagalong import M3LClassifier

LABELS = ["beach", "sea", "snow", "ski"]


def photos(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features of photos, and which of the four labels are true of them."""
    cold = rng.random(rows) < 0.5
    truth = np.column_stack(
        [
            ~cold & (rng.random(rows) < 0.8),
            ~cold & (rng.random(rows) < 0.6),
            cold,
            cold & (rng.random(rows) < 0.7),
        ]
    ).astype(float)
    directions = np.random.default_rng(7).normal(size=(4, 12))
    return truth @ directions + rng.normal(size=(rows, 12)), truth


def label_prior() -> np.ndarray:
    """Return R: 1 on the diagonal, positive for labels that go together, negative for opposites."""
    R = np.eye(len(LABELS))
    for first, second, strength in [("snow", "ski", 0.6), ("beach", "ski", -0.3)]:
        i, j = LABELS.index(first), LABELS.index(second)
        R[i, j] = R[j, i] = strength
    return R


def main() -> None:
    """Fit with "ski" unknown everywhere and print how well its score finds the true ski photos."""
    rng = np.random.default_rng(0)
    X, Y = photos(rng, 400)
    Y[:, LABELS.index("ski")] = np.nan  # NaN: relevance unknown
    model = M3LClassifier(prior=label_prior(), tol=0.01, random_state=0).fit(X, Y)
    test, truth = photos(rng, 1000)
    scores = model.decision_function(test)
    for column, label in enumerate(LABELS):
        positive, negative = truth[:, column] == 1, truth[:, column] == 0
        above = scores[positive, column][:, None] > scores[negative, column]
        print(f"{label:5}: a true photo scores above a false one in {above.mean():.0%} of pairs")
    gap = model.duality_gap_ / model.dual_objective_
    print(f"certified to be within {gap:.1%} of the optimum")


if __name__ == "__main__":
    main()
