"""Quasi-complete separation is found, with the columns that diverge, and overlap is never reported."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from statsmodels.discrete.discrete_model import Logit
from statsmodels.tools.sm_exceptions import PerfectSeparationError, PerfectSeparationWarning

from hyperplan._solvers.logistic_separation import (
    binary_conditions,
    ordinal_conditions,
    recession_direction,
    softmax_conditions,
)
from hyperplan.linear_model import LogisticRegression, OrdinalRegression, ProbitRegression

rng = np.random.default_rng(7)
TREATED = np.r_[np.zeros(20), np.ones(10)]
OUTCOME = np.r_[np.tile([0, 1], 10), np.ones(10)].astype(int)  # a 2x2 table with an empty cell
FRAME = pd.DataFrame({"age": rng.standard_normal(30), "treated": TREATED})
FREE = {
    LogisticRegression: {"C": np.inf, "max_iter": 1000},
    ProbitRegression: {},
    OrdinalRegression: {},
}


@pytest.mark.parametrize("cls", FREE)
def test_empty_cell_of_a_table_names_its_column(cls):
    with pytest.warns(ConvergenceWarning, match="Diverging: treated"):
        model = cls(**FREE[cls]).fit(FRAME, OUTCOME)
    details = model.certificate_.details
    assert details["separation"] == "quasi-complete" and details["diverging columns"] == [1]
    penalty = {"C": 1.0} if cls is LogisticRegression else {"alpha": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "separation" not in cls(**penalty).fit(FRAME, OUTCOME).certificate_.details


def test_complete_separation_agrees_with_statsmodels():
    x, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((PerfectSeparationError, PerfectSeparationWarning)):
            Logit(y, np.column_stack([x, np.ones(4)])).fit(disp=0)
    with pytest.warns(ConvergenceWarning, match="separates the classes"):
        model = LogisticRegression(C=np.inf).fit(x, y)
    assert model.is_separable_ and model.certificate_.details["separation"] == "complete"


def test_one_row_in_a_thousand_is_enough():
    X = rng.standard_normal((1000, 5))
    X[:, 3] = 0.0
    X[7, 3] = 1.0  # a column for a single row: its coefficient diverges although the gradient is tiny at once
    y = (X[:, 0] + rng.logistic(size=1000) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="Diverging: x3"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert not model.is_separable_


def test_row_without_weight_does_not_overlap_and_collinear_columns_are_both_named():
    X = np.column_stack([FRAME["age"], TREATED, TREATED])
    y = OUTCOME.copy()
    y[-1] = 0  # fills the empty cell, with weight zero
    weight = np.ones(30)
    weight[-1] = 0.0
    with pytest.warns(ConvergenceWarning, match="Diverging: x1, x2"):
        LogisticRegression(C=np.inf).fit(sp.csr_array(X), y, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=np.inf).fit(X, y)  # with its weight the classes overlap


def test_several_classes():
    X = np.column_stack([rng.standard_normal(30), np.arange(30) < 6])
    y = np.tile([0, 1, 2], 10)
    y[:6] = [0, 1, 0, 1, 0, 1]  # no row of class 2 has the second column
    with pytest.warns(ConvergenceWarning, match="Diverging: x1"):
        model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    assert not model.is_separable_
    with pytest.warns(ConvergenceWarning, match="separable"):
        OrdinalRegression().fit(np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [3.0]]), [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("seed", range(8))
def test_overlap_is_never_reported(seed):
    own = np.random.default_rng(seed)
    n, d = int(own.integers(60, 400)), int(own.integers(1, 6))
    X = own.standard_normal((n, d)) * 10.0 ** own.integers(-4, 5, d)
    score = X @ (own.standard_normal(d) / X.std(axis=0)) * 3
    y = (score + own.logistic(size=n) > 0).astype(int)
    y[:4], X[2:4] = [0, 1, 1, 0], X[:2]  # the same rows in both classes
    centre = np.argsort(np.abs(score))[: 2 * d + 4]
    y[centre] = own.permutation(np.arange(centre.size) % 2)
    codes = np.digitize(score + own.logistic(size=n), np.quantile(score, [0.3, 0.7]))
    found = recession_direction(binary_conditions(X, y, True), np.where(y, score, -score))
    witness = _brute_direction(binary_conditions(X, y, True))
    assert (found is None) == (witness is None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cls, options in FREE.items():
            cls(**options).fit(X, y)
        LogisticRegression(C=np.inf, max_iter=1000).fit(X, codes)


def _brute_direction(conditions):
    """The same question put to a bounded least-squares solver: is 0 the only non-negative image?"""
    from scipy.optimize import nnls

    # Gordan and Stiemke: no direction of recession iff some strictly positive combination of the rows vanishes
    scaled = conditions / np.abs(conditions).max(axis=0)
    _, distance = nnls(scaled.T, -scaled.sum(axis=0))
    return None if distance < 1e-8 * np.abs(scaled).sum() else distance


def test_conditions_vanish_for_what_the_model_says():
    X, codes = rng.standard_normal((9, 2)), np.tile([0, 1, 2], 3)
    theta = rng.standard_normal((2, 3))  # classes 1 and 2 against class 0
    unknowns = np.concatenate([theta[:, :2].ravel(), theta[:, 2]])
    scores = np.column_stack([np.zeros(9), X @ theta[:, :2].T + theta[:, 2]])
    expected = np.concatenate(
        [(scores[codes == c, c] - scores[codes == c, k]) for c in range(3) for k in range(3) if k != c]
    )
    np.testing.assert_allclose(softmax_conditions(X, codes, 3, True) @ unknowns, expected, rtol=1e-12)
    w, b = rng.standard_normal(2), np.array([-0.5, 0.7])
    eta = X @ w
    upper, lower = b[codes[codes < 2]] - eta[codes < 2], eta[codes > 0] - b[codes[codes > 0] - 1]
    np.testing.assert_allclose(
        ordinal_conditions(X, codes, 3) @ np.concatenate([w, b]), np.concatenate([upper, lower]), rtol=1e-12
    )
