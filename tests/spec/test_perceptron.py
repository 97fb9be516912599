"""Perceptron and logic units: G1-G6, V5, T46 and the errata E45-E49, E82."""

import numpy as np
import pytest

from hyperplan.linear_model import Perceptron, perceptron, update_weight

INPUTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
GATES = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "NAND": [1, 1, 1, 0], "NOR": [1, 0, 0, 0]}
XOR = np.array([0, 1, 1, 0])


def unit(X, w, b):
    """1 where <w, x> + b > 0: sgn(0) counts as -1."""
    return (np.atleast_2d(X) @ np.atleast_1d(w) + b > 0).astype(int)


def test_sign_of_zero_is_the_first_class():
    model = Perceptron().fit(INPUTS, GATES["OR"])
    model.coef_, model.intercept_ = np.zeros((1, 2)), np.zeros(1)
    assert model.predict(INPUTS).tolist() == [0, 0, 0, 0]


def test_G1_update_only_on_a_mistake():
    assert update_weight([1.0, 0.0], [2.0, 1.0], 1).tolist() == [1.0, 0.0]
    assert update_weight([1.0, 0.0], [2.0, 1.0], -1).tolist() == [-1.0, -1.0]
    assert update_weight([1.0, 0.0], [2.0, 1.0], -1, rho=0.5).tolist() == [0.0, -0.5]


def test_G1_update_does_not_change_its_argument():
    w = np.zeros(2)
    update_weight(w, [1.0, 1.0], 1)
    assert not w.any()


def test_E45_a_zero_score_is_a_mistake():
    assert update_weight([0.0, 0.0], [1.0, 2.0], 1).tolist() == [1.0, 2.0]
    assert perceptron(INPUTS, GATES["AND"]).n_mistakes > 0  # with < the zero vector would stay


def test_G1_V5_function_equals_repeated_updates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.3 > 0, 1, -1)
    w, mistakes = np.zeros(4), 0
    for epoch in range(1, 1001):  # noqa: B007
        before = mistakes
        for x, label in zip(np.column_stack([X, np.ones(40)]), y, strict=True):
            mistakes += label * (w @ x) <= 0
            w = update_weight(w, x, label)
        if mistakes == before:
            break
    result = perceptron(X, y)
    assert (result.n_mistakes, result.n_epochs, result.converged) == (mistakes, epoch, True)
    np.testing.assert_allclose(result.weight, w, rtol=1e-13)


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "random_mistake"])
@pytest.mark.parametrize("gate", GATES)
def test_G4_gates_are_learned(gate, order):
    result = perceptron(INPUTS, GATES[gate], order=order, random_state=0)
    assert result.converged
    assert unit(INPUTS, result.weight[:2], result.weight[2]).tolist() == GATES[gate]


@pytest.mark.parametrize("variant", ["vanilla", "pocket", "averaged"])
@pytest.mark.parametrize("gate", GATES)
def test_G4_gates_are_learned_by_the_estimator(gate, variant):
    model = Perceptron(variant=variant, tol=None, max_iter=200).fit(INPUTS, GATES[gate])
    assert model.predict(INPUTS).tolist() == GATES[gate]


def test_G4_weights_of_the_spec():
    assert unit([[0.0], [1.0]], [-1.0], 0.5).tolist() == [1, 0]
    assert unit(INPUTS, [1.0, 1.0], -1.5).tolist() == GATES["AND"]
    assert unit(INPUTS, [1.0, 1.0], -0.5).tolist() == GATES["OR"]


def test_G5_xor_is_not_separable():
    for order in ("cyclic", "shuffle", "random_mistake"):
        assert not perceptron(INPUTS, XOR, 200, order=order, random_state=0).converged
    with pytest.warns(UserWarning, match="Maximum number of iteration"):
        model = Perceptron(max_iter=4).fit(INPUTS, XOR)
    assert model.score(INPUTS, XOR) < 1
    assert not model.certificate_.holds and "does not apply" in model.certificate_.guarantee


def test_G5_xor_by_two_layers():
    nand, either = unit(INPUTS, [-1.0, -1.0], 1.5), unit(INPUTS, [1.0, 1.0], -0.5)
    assert unit(np.column_stack([nand, either]), [1.0, 1.0], -1.5).tolist() == XOR.tolist()


def test_G5_xor_by_learned_hidden_features():
    hidden = np.column_stack([(INPUTS[:, 0] < INPUTS[:, 1]), (INPUTS[:, 0] > INPUTS[:, 1])]).astype(float)
    assert perceptron(hidden, XOR).converged


def separable(seed, n=60, d=3, margin=0.2):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X = X[np.abs(X @ w) > margin]
    return X, np.where(X @ w > 0, 1, -1), w


@pytest.mark.parametrize("seed", range(10))
def test_G2_E46_T46_novikoff(seed):
    """Margin *at least* gamma bounds the mistakes by (R / gamma)^2 |w*|^2 (the inequality was printed backwards)."""
    X, y, w = separable(seed)
    gamma, radius = (y * (X @ w)).min(), np.linalg.norm(X, axis=1).max()
    model = Perceptron(fit_intercept=False, tol=None, random_state=seed).fit(X, y)
    assert model.score(X, y) == 1
    assert model.n_mistakes_ <= (radius / gamma) ** 2
    assert model.certificate_.holds and model.certificate_.value == model.n_mistakes_
    # the certificate may find a wider margin than the generating one, never one that is too wide
    assert model.certificate_.details["radius"] == pytest.approx(radius)


@pytest.mark.parametrize("seed", range(5))
def test_G2_certified_margin_is_real(seed):
    """No separator has a wider margin than the distance of the two convex hulls allows: compare with a fine solve."""
    X, y, _ = separable(seed, d=2)
    model = Perceptron(fit_intercept=False, tol=None, random_state=0).fit(X, y)
    angles = np.linspace(0, 2 * np.pi, 20001)
    widest = (y[:, None] * (X @ np.array([np.cos(angles), np.sin(angles)]))).min(axis=0).max()
    certified = model.certificate_.details["margins"][0]
    assert 0 < certified <= widest * (1 + 1e-6)  # 1e-6: the grid of angles
    assert certified > 0.9 * widest  # fifty passes of dual ascent on sixty rows


def test_E47_first_update_has_length_r():
    """|w_1|^2 = R^2 for a first row of length R: the bound needs |w_k|^2 <= |w_{k-1}|^2 + R^2, no -2 gamma."""
    w = update_weight(np.zeros(2), [3.0, 4.0], 1)
    assert w @ w == 25.0


def test_G2_needs_zero_start_and_plain_steps():
    X, y, _ = separable(0)
    start = Perceptron().fit(X, y, coef_init=np.ones((1, 3)))
    assert not start.certificate_.holds and "start at zero" in start.certificate_.guarantee
    weighted = Perceptron().fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert not weighted.certificate_.holds and "weights" in weighted.certificate_.guarantee


def test_G3_E82_only_misclassified_rows_move_the_weights():
    """Rosenblatt's criterion sums over the misclassified rows: a solution stays where it is."""
    X, y, _ = separable(3)
    result = perceptron(X, y, order="random_mistake", random_state=1)
    assert result.converged
    assert (np.where(np.column_stack([X, np.ones(len(X))]) @ result.weight > 0, 1, -1) == y).all()


def test_V5_stops_after_an_epoch_without_mistake():
    X, y, _ = separable(1)
    model = Perceptron(tol=None, max_iter=1000).fit(X, y)
    assert model.n_iter_ < 1000
    again = Perceptron(tol=None, max_iter=model.n_iter_ + 50).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_G6_one_perceptron_per_class():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 6.0], [6.0, -4.0], [-6.0, -4.0]])
    y = np.repeat(["a", "b", "c"], 30)
    X = np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 2))
    model = Perceptron(tol=None).fit(X, y)
    assert model.coef_.shape == (3, 2)
    assert model.score(X, y) == 1
    assert model.certificate_.holds
    assert sum(model.certificate_.details["mistakes"]) == model.n_mistakes_


def test_pocket_never_errs_more_than_the_last_weights():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    plain = Perceptron(max_iter=30, tol=None).fit(X, y)
    kept = Perceptron(max_iter=30, tol=None, variant="pocket").fit(X, y)
    assert kept.score(X, y) >= plain.score(X, y)
    assert kept.n_mistakes_ == plain.n_mistakes_  # the same steps, another choice among the weights


def test_E48_cauchy_schwarz_needs_the_norm_of_the_inner_product():
    u = np.ones(2)
    assert u @ u > np.abs(u).max() ** 2
    assert u @ u <= np.linalg.norm(u) ** 2 + 1e-12


def test_T47_E49_arithmetic_over_harmonic_mean():
    values = np.array([1.0, 4.0])
    assert (values.mean(), 1 / (1 / values).mean()) == (2.5, 1.6)
    assert values.mean() / (1 / (1 / values).mean()) == 1.5625
