"""Kernels of the course: formulas, feature maps, algebra, geometry, and which of them are positive."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import pairwise_kernels

from hyperplan._core.memory import MemoryBudgetError
from hyperplan.kernels import (
    RBF,
    AdditiveChiSquared,
    BSpline,
    ChiSquared,
    Constant,
    Cosine,
    FromFunction,
    Kernel,
    KernelPerceptron,
    Laplacian,
    Linear,
    Normalized,
    Nystroem,
    OnColumns,
    Polynomial,
    Precomputed,
    Radial,
    Sigmoid,
    Spectrum,
    b_spline,
    convex_combination,
    is_psd,
    mercer_check,
)
from hyperplan.linear_model import Perceptron

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=(20, 3))
GRID = np.linspace(-2, 2, 9)[:, None]


def by_pairs(function, A, B):
    return np.array([[function(a, b) for b in B] for a in A])


FORMULAS = [
    (Linear(), lambda a, b: a @ b),
    (Polynomial(3, gamma=0.5, coef0=2.0), lambda a, b: (0.5 * (a @ b) + 2.0) ** 3),
    (RBF(gamma=0.4), lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum())),
    (Laplacian(gamma=0.4), lambda a, b: np.exp(-0.4 * np.abs(a - b).sum())),
    (Sigmoid(gamma=0.4, coef0=-0.3), lambda a, b: np.tanh(0.4 * (a @ b) - 0.3)),
    (Cosine(), lambda a, b: a @ b / np.sqrt((a @ a) * (b @ b))),
    (Radial(lambda r: 1 / (1 + r)), lambda a, b: 1 / (1 + np.sqrt(((a - b) ** 2).sum()))),
    (BSpline(4, width=2.0), lambda a, b: np.prod(b_spline((a - b) / 2.0, 4))),
    (FromFunction(lambda a, b: a @ b + 1), lambda a, b: a @ b + 1),
    (Constant(2.0), lambda a, b: 2.0),
    (RBF(0.4) + 2 * Linear(), lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()) + 2 * (a @ b)),
    (RBF(0.4) * (Linear() + 1.0), lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()) * (a @ b + 1)),
    (OnColumns(Linear(), [0, 2]), lambda a, b: a[0] * b[0] + a[2] * b[2]),
    (Normalized(Polynomial(2, gamma=1.0)), lambda a, b: (a @ b + 1) ** 2 / ((a @ a + 1) * (b @ b + 1))),
]
by_formula = pytest.mark.parametrize("kernel, formula", FORMULAS, ids=range(len(FORMULAS)))


@by_formula
def test_M1_M2_M4_M5_M6_M7_values_are_the_formulas(kernel, formula):
    expected = by_pairs(formula, X, Y)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), by_pairs(formula, X, X).diagonal(), rtol=1e-10)
    own = kernel.gram(X)
    np.testing.assert_allclose(own, by_pairs(formula, X, X), rtol=1e-10, atol=1e-12)
    assert np.array_equal(own, own.T)
    single = kernel.gram(X, Y, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-5)


@by_formula
def test_M10_expansions_are_sums_of_kernel_values(kernel, formula):
    coef = RNG.normal(size=(20, 2))
    np.testing.assert_allclose(kernel.expansion(X, Y, coef), by_pairs(formula, X, Y) @ coef, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(kernel.expansion(X, Y, coef[:, 0]), kernel.expansion(X, Y, coef)[:, 0], rtol=1e-12)


def test_M3_explicit_map_of_the_squared_inner_product():
    features = Polynomial(2, gamma=1.0, coef0=0.0).feature_map([[3.0, 5.0]])
    np.testing.assert_allclose(features, [[9.0, np.sqrt(2) * 15.0, 25.0]], rtol=1e-14)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(3, gamma=0.5, coef0=2.0),
        Polynomial(2, gamma=0.5, coef0=0.0),
        Polynomial(0),
        Cosine(),
        Linear() + 2 * Polynomial(2),
        Linear() * Polynomial(2),
        Normalized(Linear() + 1.0),
        OnColumns(Polynomial(2), [0, 1]),
    ],
    ids=repr,
)
def test_M3_inner_products_of_features_are_kernel_values(kernel):
    features = kernel.feature_map(X)
    np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-10, atol=1e-12)


def test_M3_kernels_without_a_finite_map_say_what_to_do():
    with pytest.raises(ValueError, match="Nystroem"):
        RBF().feature_map(X)
    with pytest.raises(ValueError, match="whole degree and coef0"):
        Polynomial(2, coef0=-1.0).feature_map(X)


def test_M4_E32_only_gamma_is_unambiguous():
    """gamma = 1 / sigma^2 in one book and 1 / (2 sigma^2) in the other: both widths are one gamma here."""
    sigma, gap = 1.7, ((X[0] - Y[0]) ** 2).sum()
    assert RBF(gamma=1 / sigma**2)(X[:1], Y[:1])[0, 0] == pytest.approx(np.exp(-gap / sigma**2), rel=1e-13)
    assert RBF(gamma=0.5 / sigma**2)(X[:1], Y[:1])[0, 0] == pytest.approx(np.exp(-gap / (2 * sigma**2)), rel=1e-13)
    assert is_psd(RBF(gamma=3.0)(X)) and np.linalg.matrix_rank(RBF(gamma=3.0)(X)) == 30  # universal: full rank


@pytest.mark.parametrize("coef0, expected", [(0.0, -0.55), (-1.0, -4.5)])
def test_M5_E32_the_sigmoid_is_not_positive_and_the_check_says_how_negative(coef0, expected):
    check = mercer_check(Sigmoid(gamma=1.0, coef0=coef0), GRID)
    K = Sigmoid(gamma=1.0, coef0=coef0)(GRID)
    assert not check.holds and check.smallest == pytest.approx(expected, rel=0.01)
    assert check.direction @ K @ check.direction == pytest.approx(check.smallest, rel=1e-10)
    assert "not positive" in str(check) and f"{check.smallest:.4g}" in str(check)
    with pytest.raises(ValueError, match="no positive kernel"):
        Sigmoid(gamma=1.0, coef0=-1.0).norm(GRID)


def test_M6_radial_functions_are_positive_or_not():
    assert mercer_check(Radial(lambda r: np.exp(-r)), X).holds
    assert not mercer_check(Radial(lambda r: (r < 1.0).astype(float)), GRID).holds
    with pytest.raises(ValueError, match="entry by entry"):
        Radial(lambda r: r.sum())(X)


def test_T50_M7_values_of_b_splines():
    assert b_spline(0.0, 2) == 1.0 and b_spline(0.0, 3) == 0.75
    assert b_spline(0.0, 4) == pytest.approx(2 / 3, rel=1e-15) and b_spline(1.0, 4) == pytest.approx(1 / 6, rel=1e-15)
    t = np.linspace(-8, 8, 160_001)
    for factors in range(1, 13):  # densities: zero outside their support, of integral one, like a convolution of boxes
        values = b_spline(t, factors)
        assert values.min() >= -1e-9 and np.trapezoid(values, t) == pytest.approx(1.0, abs=1e-4)
        assert not values[np.abs(t) > factors / 2].any()
    half = b_spline(np.linspace(0.3 - 0.5, 0.3 + 0.5, 100_001), 3)
    assert np.trapezoid(half, dx=1e-5) == pytest.approx(b_spline(0.3, 4), abs=1e-9)


def test_T50_E115_an_odd_number_of_boxes_is_not_positive():
    grid = np.linspace(0, 6, 61)[:, None]
    smallest = [mercer_check(Radial(lambda r, n=n: b_spline(r, n)), grid).smallest for n in (1, 2, 3, 4)]
    assert -2.5 < smallest[0] < -2.0  # the box: how much depends on its value at the border
    np.testing.assert_allclose(smallest[1:], [0.005, -0.095, 3e-6], rtol=0.1)
    three = mercer_check(Radial(lambda r: b_spline(r, 1)), [[0.0], [0.4], [0.8]])
    assert three.smallest == pytest.approx(1 - np.sqrt(2), abs=1e-12)  # -0.414


def test_E115_products_over_columns_are_positive_where_the_radial_hat_is_not():
    plane = np.array(list(itertools.product(np.linspace(0, 2, 11), repeat=2)))
    assert mercer_check(Radial(lambda r: b_spline(r, 2)), plane).smallest < -0.1
    assert mercer_check(BSpline(2), plane).holds and mercer_check(BSpline(4), plane).holds
    for odd in (1, 3, 5):
        with pytest.raises(ValueError, match="odd number of box factors"):
            BSpline(odd)(X)


def test_M9_sums_products_and_convex_combinations_stay_positive():
    parts = [RBF(0.5), Polynomial(2), Laplacian(0.3), BSpline(4, width=2.0)]
    mixture = convex_combination(parts, [0.1, 0.2, 0.3, 0.4])
    expected = sum(w * part(X) for w, part in zip([0.1, 0.2, 0.3, 0.4], parts))
    np.testing.assert_allclose(mixture(X), expected, rtol=1e-12)
    assert mercer_check(mixture, X).holds and mercer_check(parts[0] * parts[1] * parts[2], X).holds
    with pytest.raises(ValueError, match="sum to 1"):
        convex_combination(parts, [1.0, 1.0, -1.0, 0.0])
    with pytest.raises(ValueError, match="weight"):
        (-1.0 * RBF())(X)


def test_M9_kernels_are_values_with_parameters():
    kernel = RBF(gamma=0.5) + 2 * Polynomial(3)
    assert repr(kernel) == "RBF(gamma=0.5) + 2 * Polynomial()"
    assert repr((RBF() + Linear()) * Cosine()) == "(RBF() + Linear()) * Cosine()"
    assert repr(3 * (RBF() + Linear())) == "3 * (RBF() + Linear())"
    assert kernel == RBF(gamma=0.5) + 2 * Polynomial(3) and kernel != RBF(gamma=0.5) + 3 * Polynomial(3)
    assert kernel != RBF(gamma=0.5) and OnColumns(RBF(), np.array([1])) == OnColumns(RBF(), np.array([1]))
    kernel.set_params(left__gamma=0.25, right__kernel__degree=2)
    np.testing.assert_allclose(kernel(X), (RBF(0.25) + 2 * Polynomial(2))(X), rtol=1e-14)
    with pytest.raises(TypeError):
        RBF() + "linear"


def test_M10_mercer_check_of_matrices():
    assert is_psd(X @ X.T) and not is_psd(-X @ X.T)
    assert is_psd(np.diag([1.0, -1e-5]), tol=1e-4)
    with pytest.raises(ValueError, match=r"not symmetric: entry \(0, 1\)"):
        mercer_check([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="square"):
        is_psd(X)
    with pytest.raises(ValueError, match="needs rows"):
        mercer_check(RBF())


def test_M10_E114_mercers_map_is_the_root_of_the_eigenvalue_times_the_eigenfunction_at_the_same_point():
    """phi_j(x) = sqrt(lambda_j) psi_j(x), with x on both sides; psi_j(x') in its place gives another matrix."""
    K = RBF(0.5)(X)
    values, vectors = np.linalg.eigh(K)
    features = np.sqrt(np.maximum(values, 0)) * vectors
    np.testing.assert_allclose(features @ features.T, K, atol=1e-12)
    nystroem = Nystroem(RBF(0.5), n_components=30, random_state=0).fit_transform(X)
    np.testing.assert_allclose(nystroem @ nystroem.T, K, atol=1e-7)
    turned = np.linalg.lstsq(nystroem, features, rcond=None)[0]
    np.testing.assert_allclose(turned @ turned.T, np.eye(30), atol=1e-5)  # the same map up to a rotation
    assert np.abs(features[::-1] @ features.T - K).max() > 0.1


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5), Polynomial(2), Laplacian(0.3) + Linear()], ids=repr)
def test_M11_distances_norms_and_cosines_of_features(kernel):
    features = Nystroem(kernel, n_components=30, random_state=0).fit(X).transform(X)
    gaps = np.sqrt(((features[:, None] - features[None]) ** 2).sum(-1))
    np.testing.assert_allclose(kernel.distance(X), gaps, atol=1e-5)
    lengths = np.sqrt((features**2).sum(1))
    np.testing.assert_allclose(kernel.norm(X), lengths, atol=1e-6)
    np.testing.assert_allclose(kernel.cosine(X), features @ features.T / np.outer(lengths, lengths), atol=1e-6)
    assert not kernel.distance(X).diagonal().any()
    np.testing.assert_allclose(kernel.distance(X, Y) ** 2, kernel.diag(X)[:, None] + kernel.diag(Y) - 2 * kernel(X, Y))


def test_M11_linear_distance_is_euclidean_and_rbf_cosine_is_the_kernel():
    np.testing.assert_allclose(Linear().distance(X, Y), np.linalg.norm(X[:, None] - Y[None], axis=-1), rtol=1e-9)
    np.testing.assert_allclose(RBF(0.5).cosine(X, Y), RBF(0.5)(X, Y), rtol=1e-14)
    with pytest.raises(ValueError, match="squared distance"):
        Precomputed().distance([[0.0, 1.0], [1.0, 0.0]])
    assert Cosine().cosine([[0.0, 0.0]], [[1.0, 0.0]])[0, 0] == 0.0


@pytest.mark.parametrize(
    "kernel", [RBF(0.4), Laplacian(0.4), Sigmoid(0.4, coef0=0.2), Polynomial(3, gamma=0.4)], ids=repr
)
def test_L9_derivatives_with_respect_to_gamma(kernel):
    """Central differences of step 1e-6 have an error of about 1e-10 times the third derivative."""
    step = 1e-6
    up, down = (type(kernel)(**{**kernel.get_params(), "gamma": 0.4 + s}) for s in (step, -step))
    slope = (up(X, Y) - down(X, Y)) / (2 * step)
    np.testing.assert_allclose(kernel.gamma_gradient(X, Y), slope, atol=1e-7 * max(1.0, np.abs(slope).max()))
    np.testing.assert_allclose(kernel.gamma_gradient(X), kernel.gamma_gradient(X, X), rtol=1e-12, atol=1e-14)


def test_L11_spectrum_of_texts_and_functions_of_sets():
    texts = ["banana", "ananas", "", "xyz"]
    kernel = Spectrum(2)
    counted = kernel.feature_map(texts).toarray()
    np.testing.assert_array_equal(counted @ counted.T, kernel(texts))
    assert kernel(texts)[0].tolist() == [9.0, 8.0, 0.0, 0.0] and kernel.diag(texts).tolist() == [9.0, 9.0, 0.0, 2.0]
    np.testing.assert_array_equal(kernel(["anan", "zz"], texts), [[6.0, 6.0, 0.0, 0.0], [0.0] * 4])
    assert Normalized(kernel)(texts[:2])[0, 1] == pytest.approx(8 / 9)
    with pytest.raises(ValueError, match="object 1 is 3"):
        kernel(["a", 3])
    jaccard = FromFunction(lambda a, b: len(a & b) / len(a | b))
    sets = [{1, 2}, {2, 3}, {1, 2, 3}]
    np.testing.assert_allclose(jaccard(sets), [[1, 1 / 3, 2 / 3], [1 / 3, 1, 2 / 3], [2 / 3, 2 / 3, 1]])
    with pytest.raises(ValueError, match="one finite number"):
        FromFunction(lambda a, b: np.nan)(sets)


def test_L11_texts_and_numbers_in_one_table():
    rows = np.array([[1.0, "ab"], [2.0, "bb"], [0.5, "cc"]], dtype=object)
    kernel = OnColumns(RBF(1.0), [0]) * OnColumns(Spectrum(1), [1])
    numbers = np.array([[1.0], [2.0], [0.5]])
    np.testing.assert_allclose(kernel(rows), RBF(1.0)(numbers) * Spectrum(1)(["ab", "bb", "cc"]), rtol=1e-14)
    with pytest.raises(ValueError, match="column 7"):
        OnColumns(Linear(), [7])(X)


def test_functions_of_pairs_that_are_not_symmetric_are_called_for_both_orders():
    calls = []
    kernel = FromFunction(lambda a, b: calls.append(1) or a[0] - b[0], symmetric=False)
    np.testing.assert_allclose(kernel([[1.0], [3.0]]), [[0.0, -2.0], [2.0, 0.0]])
    assert len(calls) == 4


def test_X4_a_gaussian_kernel_lifts_rings_apart():
    rings, inner = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    lifted = KernelPerceptron(RBF(1.0)).fit(rings, inner)
    assert lifted.score(rings, inner) == 1.0 and lifted.certificate_.holds
    assert Perceptron().fit(rings, inner).score(rings, inner) < 0.7


def test_G2_T46_mistakes_in_the_space_of_features_respect_novikoffs_bound():
    rings, inner = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    model = KernelPerceptron(Polynomial(2, gamma=1.0), fit_intercept=False).fit(rings, inner)
    features = Polynomial(2, gamma=1.0).feature_map(rings)
    w = features[model.support_].T @ model.dual_coef_[0]
    margin = ((2 * inner - 1) * (features @ w)).min() / np.linalg.norm(w)
    bound = (np.linalg.norm(features, axis=1).max() / margin) ** 2
    assert 0 < model.n_mistakes_ <= bound and model.certificate_.bound == pytest.approx(bound, rel=1e-6)


def test_sparse_tables_have_the_values_of_dense_ones():
    import scipy.sparse as sp

    table = np.where(RNG.random((25, 6)) < 0.4, 1.0, 0.0)
    for kernel in (Linear(), RBF(0.5), Polynomial(2), Laplacian(0.5), Sigmoid(), Cosine(), RBF(0.5) + Linear()):
        for other in (None, table[:5]):
            thin = None if other is None else sp.csr_array(other)
            np.testing.assert_allclose(kernel(sp.csr_array(table), thin), kernel(table, other), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(kernel.diag(sp.csr_array(table)), kernel.diag(table), rtol=1e-12)


def test_chi_squared_kernels_are_scikit_learns_and_take_no_negative_values():
    counts = RNG.poisson(1.5, size=(12, 4)).astype(float)
    for kernel, name in ((AdditiveChiSquared(), "additive_chi2"), (ChiSquared(), "chi2")):
        np.testing.assert_allclose(kernel(counts), pairwise_kernels(counts, metric=name), rtol=1e-12)
        np.testing.assert_array_equal(kernel.diag(counts), kernel(counts).diagonal())
        with pytest.raises(ValueError, match="negative values, the first in row 1, column 0"):
            kernel([[1.0], [-1.0]])
    assert mercer_check(ChiSquared(0.5), counts).holds


def test_default_gamma_is_scikit_learns():
    for kernel, name in ((RBF(), "rbf"), (Polynomial(), "poly"), (Laplacian(), "laplacian"), (Sigmoid(), "sigmoid")):
        np.testing.assert_allclose(kernel(X, Y), pairwise_kernels(X, Y, metric=name), rtol=1e-12)


def test_gram_matrices_beyond_the_budget_are_refused_with_advice(monkeypatch):
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "1e5")
    with pytest.raises(MemoryBudgetError, match=r"200 x 200 matrix .* expansion\(\)"):
        RBF()(np.zeros((200, 2)))
    assert RBF().expansion(np.zeros((200, 2)), np.zeros((200, 2)), np.ones(200))[0] == pytest.approx(200.0)


@pytest.mark.parametrize(
    "kernel, error",
    [(RBF(-1.0), "gamma"), (Polynomial(-1), "degree"), (RBF() + RBF("wide"), "gamma"), (Spectrum(0), "length")],
    ids=repr,
)
def test_parameters_outside_their_domain_are_refused(kernel, error):
    with pytest.raises(ValueError, match=error):
        kernel(X)


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="rows of X have 3 columns, rows of Y have 2"):
        RBF()(X, Y[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        RBF()([[np.nan]])
    with pytest.raises(ValueError, match="dtype"):
        RBF().gram(X, dtype=np.int32)
    with pytest.raises(ValueError, match="as many weights"):
        RBF().expansion(X, Y, np.ones(3))
    with pytest.raises(ValueError, match="Y must be None"):
        Precomputed()(np.eye(3), np.eye(3))


class Brownian(Kernel):
    """``min(x, y)`` for one column of positive numbers: a kernel that a user writes."""

    def _against(self, Y, dtype):
        def write(X, out):
            np.minimum(X, Y[:, 0], out=out)

        return write

    def _diag(self, X):
        return X[:, 0]


def test_kernels_of_ones_own():
    times = np.array([[1.0], [2.0], [4.0]])
    kernel = Brownian()
    assert kernel(times).tolist() == [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 4.0]]
    assert mercer_check(kernel, times).holds and kernel.norm(times).tolist() == [1.0, np.sqrt(2.0), 2.0]
    np.testing.assert_allclose((kernel + Linear()).gram(times), np.minimum(times, times.T) + times @ times.T)
    np.testing.assert_allclose(kernel.distance(times) ** 2, np.abs(times - times.T), atol=1e-12)  # of increments
    with pytest.raises(TypeError, match="_against"):
        Kernel()(times)
