"""Out-of-bag scores are cross-validation scores, up to noise: every row is judged by members that have not seen it."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from hyperplan import ensemble


def table(n=900):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, y


@pytest.mark.parametrize("name", [
    "RandomForestRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "ExtraTreesClassifier",
    "BaggingRegressor", "BaggingClassifier",
])  # fmt: skip
def test_out_of_bag_is_cross_validation_within_noise(name):
    X, y = table()
    y = (y > 0).astype(int) if name.endswith("Classifier") else y
    options = {"n_estimators": 80, "bootstrap": True, "random_state": 0}
    model = getattr(ensemble, name)(oob_score=True, **options).fit(X, y)
    folds = cross_val_score(getattr(ensemble, name)(**options), X, y, cv=10)
    # Both judge the same 900 rows, but a row out of bag has the votes of a third of the members, which costs a little:
    # three standard errors of the mean over folds, and 0.03 for the smaller crowd.
    assert abs(model.oob_score_ - folds.mean()) < 3 * folds.std(ddof=1) / np.sqrt(10) + 0.03
    # and far from the score on the training rows, which members have seen
    assert model.score(X, y) - model.oob_score_ > 0.08
