"""Worked properties of Gaussian mixtures."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from hyperplan.mixture import GaussianMixture, MixtureClassifier


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) * [2.0, 0.5] + [3.0, 1.0]])


def test_F9_a_step_of_EM_by_hand():
    X = rows()
    start = {"weights_init": [0.4, 0.6], "means_init": [[0.0, 0.0], [2.0, 2.0]], "precisions_init": [np.eye(2)] * 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(2, max_iter=1, reg_covar=0, **start).fit(X)
    joint = np.stack(
        [np.log(w) + multivariate_normal(m).logpdf(X) for w, m in zip([0.4, 0.6], [[0, 0], [2, 2]])], axis=1
    )
    share = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    means = share.T @ X / share.sum(axis=0)[:, None]
    np.testing.assert_allclose(model.weights_, share.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(model.means_, means, rtol=1e-10)
    for k in range(2):
        gap = X - means[k]
        np.testing.assert_allclose(model.covariances_[k], (share[:, k] * gap.T) @ gap / share[:, k].sum(), rtol=1e-9)
    assert model.lower_bound_ == pytest.approx(logsumexp(joint, axis=1).mean())


def test_V4_log_sum_exp_far_from_every_component():
    model = GaussianMixture(2, random_state=0).fit(rows())
    far = np.array([[1e4, -1e4]])
    assert np.isfinite(model.score_samples(far)).all()  # the densities themselves are 0 in floating point
    assert model.predict_proba(far).sum() == pytest.approx(1.0)


def test_V4_the_covariance_floor_keeps_a_lone_row_finite():
    X = np.concatenate([rows(50), [[100.0, 100.0]]])
    model = GaussianMixture(3, random_state=0, reg_covar=1e-3).fit(X)
    alone = int(model.predict([[100.0, 100.0]])[0])
    np.testing.assert_allclose(model.covariances_[alone], 1e-3 * np.eye(2), atol=1e-6)


def test_F9_class_conditional_mixtures_separate_what_no_single_Gaussian_can():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 2)) * 0.3 + rng.choice([-1.0, 1.0], size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # opposite corners
    assert MixtureClassifier(2, covariance_type="spherical", random_state=0).fit(X, y).score(X, y) > 0.97
    assert MixtureClassifier(1, covariance_type="spherical").fit(X, y).score(X, y) < 0.7
