"""scikit-learn's searches on Dask workers, through joblib."""

import joblib
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score

from tagalong import LabelRanker, M3LClassifier
from tests.batch.problems import data


def test_a_grid_search_on_dask_workers_finds_what_one_process_finds(dask_client):
    X, Y = data(1, rows=60, columns=8, labels=3)
    model, grid = M3LClassifier(random_state=0, tol=0.01, max_iter=5000), {"C": [0.01, 1.0]}
    expected = GridSearchCV(model, grid, cv=2).fit(X, Y)
    with joblib.parallel_config("dask", client=dask_client):
        found = GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert found.best_params_ == expected.best_params_
    assert np.array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


def test_cross_validation_of_an_online_learner_on_dask_workers(dask_client):
    X, Y = data(2, rows=60, columns=8, labels=3)
    expected = cross_val_score(LabelRanker(), X, Y, cv=3)
    with joblib.parallel_config("dask", client=dask_client):
        found = cross_val_score(LabelRanker(), X, Y, cv=3)
    assert np.array_equal(found, expected)
    assert np.isfinite(found).all()
