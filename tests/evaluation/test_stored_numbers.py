"""Numbers that each procedure gives on one small table, stored: a change of any of them is a change of the method.

Formulas without chance are stored to ten digits; what resamples or fits, to six, since libraries of linear algebra
round differently.
"""

import numpy as np
import pytest

from hyperplan.evaluation import (
    adjust_p_values,
    bayesian_correlated_t,
    bias_variance,
    binomial_interval,
    bootstrap_632,
    bootstrap_bias_corrected,
    bootstrap_interval,
    compare_models,
    corrected_standard_error,
    corrected_t_interval,
    corrected_t_test,
    delong,
    five_by_two_test,
    learning_curve,
    mcnemar,
    nested_cross_validation,
    one_standard_error,
    permutation_importance,
    score_models,
    tied_groups,
    validation_curve,
)
from hyperplan.linear_model import LinearRegression, Ridge
from hyperplan.metrics import accuracy_score
from hyperplan.model_selection import GridSearchCV, KFold

STEP = np.arange(60)
X = np.column_stack([np.sin(STEP), np.cos(2 * STEP), STEP % 7 / 7])
Y = 2 * X[:, 0] - X[:, 2] + np.sin(5 * STEP) / 2
LABELS = (Y > 0).astype(int)
SCORES = X[:, 0], X[:, 0] - X[:, 2]
GUESSES = (SCORES[0] > 0).astype(int), (SCORES[1] > 0.2).astype(int)
FIRST = np.array([0.81, 0.79, 0.84, 0.80, 0.83, 0.78, 0.82, 0.85, 0.80, 0.79])
SECOND = FIRST - [0.02, 0.01, 0.03, -0.01, 0.02, 0.00, 0.01, 0.02, 0.03, 0.01]
HALVES = [[0.02, 0.03], [0.01, 0.04], [0.03, 0.02], [0.02, 0.02], [0.04, 0.01]]

FORMULAS = {
    "corrected_t_interval": lambda: corrected_t_interval(FIRST, 1 / 9)[:3],
    "corrected_t_test": lambda: corrected_t_test(FIRST - SECOND, 1 / 9),
    "corrected_standard_error": lambda: corrected_standard_error(FIRST, 1 / 9),
    "bayesian_correlated_t": lambda: bayesian_correlated_t(FIRST, SECOND, 1 / 9, rope=0.01)[:3],
    "binomial_interval exact": lambda: binomial_interval(45, 60)[:3],
    "binomial_interval wilson": lambda: binomial_interval(45, 60, method="wilson")[:3],
    "delong": lambda: (lambda found: (found.z, found.p))(delong(LABELS, *SCORES)),
    "mcnemar": lambda: mcnemar(LABELS, *GUESSES).p,
    "five_by_two_test": lambda: (lambda found: (found.statistic, found.p))(five_by_two_test(np.array(HALVES))),
    "adjust_p_values": lambda: adjust_p_values([0.01, 0.02, 0.03, 0.2]),
    "compare_models": lambda: compare_models({"a": FIRST, "b": SECOND}, 1 / 9)[0][2:6],
    "tied_groups": lambda: [
        len(group.models) for group in tied_groups({"a": FIRST, "b": FIRST[::-1], "c": SECOND - 0.1}, 1 / 9)
    ],
    "one_standard_error": lambda: one_standard_error([*zip(FIRST, SECOND + 0.005)], [2, 1], 1 / 9)[3:],
}
RESAMPLED = {
    "bootstrap_interval": lambda: bootstrap_interval(accuracy_score, LABELS, GUESSES[0])[:3],
    "bootstrap_bias_corrected": lambda: bootstrap_bias_corrected(
        dict(enumerate(GUESSES)), LABELS, accuracy_score, n_resamples=200
    )[:3],
    "bootstrap_632": lambda: bootstrap_632(Ridge(), X, Y, n_resamples=20).plus,
    "bias_variance": lambda: (lambda found: (found.bias, found.variance))(bias_variance(Ridge(), (X, Y), n_rounds=20)),
    "learning_curve": lambda: learning_curve(Ridge(), X, Y, sizes=[0.5, 1.0]).validation,
    "validation_curve": lambda: validation_curve(Ridge(), X, Y, "alpha", [0.1, 10.0]).validation,
    "nested_cross_validation": lambda: nested_cross_validation(
        GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=KFold(3)), X, Y, cv=3
    ).score[:3],
    "score_models": lambda: score_models({"ridge": Ridge()}, X, Y).table["ridge"],
    "permutation_importance": lambda: permutation_importance(LinearRegression().fit(X, Y), X, Y).low,
}
STORED = {
    "corrected_t_interval": [0.811, 0.78677233864, 0.83522766136],
    "corrected_t_test": [2.4088652056, 0.039322124511],
    "corrected_standard_error": [0.010709981499],
    "bayesian_correlated_t": [0.0012807301561, 0.25304251564, 0.7456767542],
    "binomial_interval exact": [0.75, 0.62140364452, 0.8528139262],
    "binomial_interval wilson": [0.75, 0.62767929923, 0.8422347747],
    "delong": [1.4134039293, 0.15753699095],
    "mcnemar": [0.057373046875],
    "five_by_two_test": [3.4, 0.094546983786],
    "adjust_p_values": [0.04, 0.06, 0.06, 0.2],
    "compare_models": [-0.014, -0.027147352623, -0.00085264737727, 0.039322124511],
    "tied_groups": [2, 1],
    "one_standard_error": [0.802, 0.811, 0.010709981499],
    "bootstrap_interval": [0.95, 0.86666667, 0.98333333],
    "bootstrap_bias_corrected": [0.94698898, 0.869417, 1],
    "bootstrap_632": [0.14618337],
    "bias_variance": [0.14631799, 0.010787888],
    "learning_curve": [0.91049323, 0.93045192],
    "validation_curve": [0.93226338, 0.83261063],
    "nested_cross_validation": [0.92042699, 0.85592247, 0.98493151],
    "score_models": [0.93547652, 0.93173347, 0.88282373, 0.95827205, 0.9439538],
    "permutation_importance": [1.350386, -0.0010050303, 0.025857043],
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name):
    assert np.ravel(FORMULAS[name]()) == pytest.approx(STORED[name], rel=1e-9)


@pytest.mark.parametrize("name", RESAMPLED)
def test_resamples_and_fits(name):
    assert np.ravel(RESAMPLED[name]()) == pytest.approx(STORED[name], rel=1e-6)
