"""Learn from clicks alone: show three labels, see which are accepted, never hear of the others.

    python examples/partial_feedback.py

A simulated user accepts a shown label with a probability that depends on the item. The learner
of Gentile and Orabona (2012) sometimes shows a label mainly to find out more about it. The script
compares it with a learner that never explores on purpose.
"""

import numpy as np

from tagalong import PartialFeedbackRanker
from tagalong.evaluate import LabelModel

LABELS, FEATURES, ROUNDS = 30, 8, 4000


def accepted_per_round(exploration: float) -> np.ndarray:
    """Play all rounds and return how many of the three shown labels were accepted in each."""
    rng = np.random.default_rng(0)
    user = LabelModel.random(rng, labels=LABELS, features=FEATURES)
    X = user.rows(rng, ROUNDS)
    relevant = user.draw(rng, X)  # the learner never sees this
    ranker = PartialFeedbackRanker(max_labels=3, exploration=exploration).add_labels(range(LABELS))
    hits = np.zeros(ROUNDS, dtype=int)
    for i in range(ROUNDS):
        row = X[i : i + 1]
        (offer,) = ranker.suggest(row)
        accepted = [label for label in offer.labels if relevant[i, label]]
        ranker.feedback(row, [offer], [accepted])
        hits[i] = len(accepted)
    return hits


def main() -> None:
    """Print accepted labels per list, early and late, with and without exploration."""
    for exploration in (0.0, 0.1):
        hits = accepted_per_round(exploration)
        print(
            f"exploration {exploration}: {hits[:200].mean():.2f} of 3 accepted in rounds 1 to 200, "
            f"{hits[-1000:].mean():.2f} in the last 1,000"
        )


if __name__ == "__main__":
    main()
