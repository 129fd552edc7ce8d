"""Learn a real data set item by item, and watch the ranking improve.

The 1,797 handwritten digits that come with scikit-learn arrive one after the other. Each belongs
under three of fifteen labels: which digit it is, whether that is odd or even, and how it is
drawn. Tagalong ranks the labels first, and only then is told the right ones.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import label_ranking_average_precision_score

import tagalong


def labelled_digits() -> tuple[np.ndarray, list[list[str]]]:
    """Pixels, and three labels for each picture."""
    digits = load_digits()
    loops = {0: "one loop", 4: "one loop", 6: "one loop", 8: "two loops", 9: "one loop"}
    labels = [
        [f"digit {d}", "odd" if d % 2 else "even", loops.get(d, "no loop")] for d in digits.target
    ]
    return digits.data, labels


def main() -> None:
    """Run the stream, show what was learnt, save and load the model."""
    X, labels = labelled_digits()
    classes = sorted({label for row in labels for label in row})
    relevant = np.array([[name in row for name in classes] for row in labels])
    ranker = tagalong.LabelRanker()

    print(f"{len(X):,} pictures, {len(classes)} labels, three of them right for each\n")
    print("   items   ranked wrongly   best label wrong   average precision   no fixed model below")
    seconds = 0.0
    for start in range(0, len(X), 300):
        rows = slice(start, start + 300)
        began = time.perf_counter()
        scores = ranker.predict_then_learn(X[rows], labels[rows], classes=classes)
        seconds += time.perf_counter() - began
        truth = relevant[rows]
        lowest = np.where(truth, scores, np.inf).min(axis=1)
        highest = np.where(truth, -np.inf, scores).max(axis=1)
        print(
            f"{min(start + 300, len(X)):8,d}"
            f"{np.mean(lowest <= highest):17.1%}"
            f"{np.mean(~truth[np.arange(len(truth)), scores.argmax(axis=1)]):19.1%}"
            f"{label_ranking_average_precision_score(truth, scores):20.3f}"
            f"{ranker.certificate_.dual:23,.0f}"
        )
    print(f"\n{len(X) / seconds:,.0f} items a second, ranked and learnt")
    print("The last column is the certificate: no fixed weights, even chosen with hindsight,")
    print("have a smaller complexity + C * loss on these items. So far:", ranker.certificate_)

    print("\nThree of the last pictures:")
    for row in (-3, -2, -1):
        suggested = ranker.rank(X[[row]], k=4)[0]
        marks = [f"{name}{'' if name in labels[row] else ' (no)'}" for name in suggested]
        print(f"  right: {', '.join(labels[row]):32s} suggested: {', '.join(marks)}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.tagalong")
        ranker.save(path)
        same = (tagalong.load(path).decision_function(X) == ranker.decision_function(X)).all()
        print(f"\nSaved {path.stat().st_size:,} bytes; loaded again, every score the same: {same}")


if __name__ == "__main__":
    main()
