"""Mixed-up labels are found in faulty data, and in no sound data."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong.evaluate import LabelAmongFeatures, MovedLabels, find_data_faults

ROWS, LABELS, WORDS = 6_000, 40, 400


def texts(rows: int = ROWS, seed: int = 0) -> tuple[Any, Any]:
    """Rows with some of 40 labels of very different frequency, and words that depend on them."""
    rng = np.random.default_rng(seed)
    Y = rng.random((rows, LABELS)) < rng.permutation(0.3 / np.arange(1, LABELS + 1) ** 0.7)
    own = rng.random((LABELS, WORDS)) < 0.03
    chances = 0.02 + 0.3 * (Y.astype(float) @ own > 0)
    return sp.csr_array(rng.random((rows, WORDS)) < chances, dtype=np.float64), Y


def shifted(Y: Any, row: int, by: int) -> Any:
    out = Y.copy()
    out[row:] = np.roll(Y[row:], by, axis=1)
    return out


@pytest.mark.parametrize("by", [1, 12])
@pytest.mark.parametrize("dense", [False, True])
def test_label_columns_that_are_shifted_from_a_row_on_are_found(by: int, dense: bool) -> None:
    X, Y = texts()
    names = [f"L{k}" for k in range(LABELS)]
    (fault,) = find_data_faults(X.toarray() if dense else X, shifted(Y, 3_000, by), labels=names)
    assert isinstance(fault, MovedLabels)
    assert fault.row == 3_000
    assert fault.moved >= 10 > fault.stayed
    # The clearest label looks like the one whose column it took.
    assert (int(fault.label[1:]) - int(fault.resembles[1:])) % LABELS == by
    assert (
        f"from row 3,000 on, labels seem to have moved: the rows of label '{fault.label}'"
        in str(fault)
    )


def test_the_place_need_not_be_half_of_the_rows() -> None:
    X, Y = texts()
    (fault,) = find_data_faults(X, shifted(Y, 1_600, 1))
    assert isinstance(fault, MovedLabels)
    assert fault.row == 1_500  # the nearest eighth


def test_a_test_set_with_other_columns_is_found_at_its_border() -> None:
    X, Y = texts()
    (fault,) = find_data_faults(X, shifted(Y, 4_321, 5), border=4_321)
    assert isinstance(fault, MovedLabels)
    assert fault.row == 4_321
    assert find_data_faults(X, Y, border=4_321) == []


@pytest.mark.parametrize("shifts", [(1, 1), (0, 3), (3, 0), (1, 12)])
def test_faults_inside_two_given_parts_are_found(shifts: tuple[int, int]) -> None:
    """As in RCV1: the columns of both files were shifted from their middle on."""
    X, Y = texts(2 * ROWS)
    middle = ROWS // 2
    parts = [
        shifted(part, middle, by) for part, by in zip((Y[:ROWS], Y[ROWS:]), shifts, strict=True)
    ]
    found = find_data_faults(X, np.vstack(parts), border=ROWS)
    inside = {fault.row for fault in found if isinstance(fault, MovedLabels)} - {ROWS}
    places = zip((middle, ROWS + middle), shifts, strict=True)
    assert inside == {row for row, by in places if by}


def test_a_copy_inside_one_of_two_given_parts_is_found_once() -> None:
    X, Y = texts()
    begin = ROWS - ROWS // 4  # the second half of the second part
    late = Y[:, [0]].astype(np.float64)
    late[:begin] = 0
    with_label = sp.hstack([X, sp.csr_array(late)]).tocsr()
    expected = LabelAmongFeatures("0", str(WORDS), begin, ROWS, int(Y[begin:, 0].sum()))
    assert find_data_faults(with_label, Y, border=ROWS // 2) == [expected]
    everywhere = sp.hstack([X, sp.csr_array(Y[:, [0]], dtype=np.float64)]).tocsr()
    (fault,) = find_data_faults(everywhere, Y, border=ROWS // 2)
    assert str(fault).startswith("feature '400' equals label '0' in rows 0 to 5,999")


@pytest.mark.parametrize("dense", [False, True])
def test_labels_among_the_features_are_found(dense: bool) -> None:
    X, Y = texts()
    late = Y[:, [0, 3]].astype(np.float64) * 0.7
    late[:3_000] = 0  # as in RCV1: only the later rows
    with_labels = sp.hstack([X, sp.csr_array(late)]).tocsr()
    found = find_data_faults(with_labels, shifted(Y, 3_000, 0), border=3_000)
    expected = [
        LabelAmongFeatures("0", str(WORDS), 3_000, ROWS, int(Y[3_000:, 0].sum())),
        LabelAmongFeatures("3", str(WORDS + 1), 3_000, ROWS, int(Y[3_000:, 3].sum())),
    ]
    assert found == expected
    assert str(found[0]).startswith("feature '400' equals label '0' in rows 3,000 to 5,999: both")
    everywhere = np.where(Y[:, [5]], 1.0, -1.0)  # another coding, in all rows
    stack: Any = np.hstack([X.toarray(), everywhere])
    if dense:
        assert [str(fault)[:31] for fault in find_data_faults(stack, Y)] == [
            "feature '400' equals label '5' "
        ]


@pytest.mark.parametrize("seed", range(20))
def test_sound_data_in_random_order_have_no_faults(seed: int) -> None:
    X, Y = texts(1_500, seed)
    assert find_data_faults(X, Y) == []


def test_drift_and_sorted_rows_are_no_faults() -> None:
    X, Y = texts()
    # Sorted by the most frequent labels: shares change at every cut, but labels mean the same.
    frequent = np.argsort(-Y.sum(axis=0))[:12]
    order = np.lexsort([*Y[:, frequent].T])
    assert find_data_faults(X[order], Y[order]) == []


def test_a_rare_word_may_equal_a_rare_label() -> None:
    X, Y = texts(400)
    Y[:] = False
    Y[:9, 0] = True
    word = sp.csr_array(Y[:, :1], dtype=np.float64)
    assert find_data_faults(sp.hstack([X, word]).tocsr(), Y) == []


def test_few_rows_and_no_labels_are_not_judged() -> None:
    assert find_data_faults(np.ones((3, 2)), np.ones((3, 2))) == []
    assert find_data_faults(np.ones((30, 2)), np.ones((30, 0))) == []


def test_invalid_arguments_raise() -> None:
    X, Y = texts(100)
    with pytest.raises(ValueError, match="X has 99 rows but Y has 100"):
        find_data_faults(X[:99], Y)
    with pytest.raises(ValueError, match="border must be between 0 and the 100 rows, got 100"):
        find_data_faults(X, Y, border=100)
