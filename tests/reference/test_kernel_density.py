"""Densities against scikit-learn's: kernels, metrics, weights, samples, far rows and tolerances."""

import numpy as np
import pytest
import sklearn.neighbors

from hyperplan.neighbors import KernelDensity
from hyperplan.neighbors._kernel_density import log_norm

KERNELS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]
METRICS = ["euclidean", "minkowski", "manhattan", "chebyshev", "canberra", "braycurtis"]


def data(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(50, d)), rng.integers(1, 4, size=n).astype(float)


def agree(found, expected, peak):
    """scikit-learn adds and subtracts bounds of sums on the way to them: where little is left, digits are lost."""
    np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=1e-5, atol=1e-12 * peak)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels(kernel, d, weighted):
    if kernel == "cosine" and d > 3:
        pytest.skip("the sum that scikit-learn divides by has no correct digits in many dimensions")
    X, Q, weight = data(d=d)
    for bandwidth in (0.3 * d, 2.0 * d, "scott", "silverman"):
        options = {"kernel": kernel, "bandwidth": bandwidth}
        found = KernelDensity(**options).fit(X, sample_weight=weight if weighted else None)
        expected = sklearn.neighbors.KernelDensity(**options).fit(X, sample_weight=weight if weighted else None)
        assert found.bandwidth_ == expected.bandwidth_
        agree(found.score_samples(Q), expected.score_samples(Q), np.exp(log_norm(kernel, d, found.bandwidth_)))
        assert found.score(Q) == found.score_samples(Q).sum()


@pytest.mark.parametrize("metric", METRICS)
def test_metrics(metric):
    X, Q, _ = data()
    X, Q = np.abs(X), np.abs(Q)  # for numbers of both signs libraries disagree about Bray and Curtis
    found = KernelDensity(metric=metric, bandwidth=0.8).fit(X).score_samples(Q)
    expected = sklearn.neighbors.KernelDensity(metric=metric, bandwidth=0.8).fit(X).score_samples(Q)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_metrics_with_options():
    X, Q, _ = data(d=2)
    cases = [
        ("minkowski", {"p": 3}, X, Q),
        ("mahalanobis", {"VI": np.array([[2.0, 0.5], [0.5, 1.0]])}, X, Q),
        ("haversine", None, X / 4, Q / 4),
    ]
    for metric, options, A, B in cases:
        ours = KernelDensity(metric=metric, metric_params=options).fit(A).score_samples(B)
        peer = sklearn.neighbors.KernelDensity(metric=metric, metric_params=options).fit(A).score_samples(B)
        np.testing.assert_allclose(ours, peer, rtol=1e-9)
    with pytest.raises(ValueError, match="invalid metric"):
        KernelDensity(metric="haversine", algorithm="kd_tree").fit(X)


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_same_samples_from_the_same_seed(kernel):
    X, _, weight = data()
    options = {"kernel": kernel, "bandwidth": 0.5}
    for w in (None, weight):
        ours = KernelDensity(**options).fit(X, sample_weight=w).sample(20, random_state=3)
        theirs = sklearn.neighbors.KernelDensity(**options).fit(X, sample_weight=w).sample(20, random_state=3)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_far_rows_have_finite_logarithms(kernel):
    X, _, _ = data(d=2)
    Q = np.array([[500.0, 0.0], [-1e4, 1e4]])
    found = KernelDensity(kernel=kernel, bandwidth=0.1).fit(X).score_samples(Q)
    expected = sklearn.neighbors.KernelDensity(kernel=kernel, bandwidth=0.1).fit(X).score_samples(Q)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_out_of_reach_is_minus_infinity():
    X, _, _ = data(d=2)
    assert KernelDensity(kernel="epanechnikov", bandwidth=0.1).fit(X).score_samples([[50.0, 50.0]])[0] == -np.inf


@pytest.mark.parametrize("rtol, atol", [(1e-2, 0.0), (1e-5, 0.0), (0.0, 1e-3), (1e-3, 1e-4)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_tolerances_are_kept(rtol, atol, kernel):
    X, _, _ = data(2000, d=2)
    exact = np.exp(KernelDensity(kernel=kernel, bandwidth=0.5).fit(X).score_samples(X[:200]))
    found = np.exp(KernelDensity(kernel=kernel, bandwidth=0.5, rtol=rtol, atol=atol).fit(X).score_samples(X[:200]))
    assert (np.abs(found - exact) <= rtol * exact + atol + 1e-12).all()


def test_bad_input_is_named():
    X, _, _ = data()
    for options in ({"bandwidth": 0.0}, {"bandwidth": "best"}, {"kernel": "box"}, {"metric": "cosine"}, {"rtol": -1.0}):
        with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter of KernelDensity"):
            KernelDensity(**options).fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        KernelDensity().fit(X, sample_weight=-np.ones(200))
