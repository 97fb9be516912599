"""Principal components: identities and errata (P1, E41, E102, V17)."""

import numpy as np
import pytest

from hyperplan.decomposition import PCA

X = np.random.default_rng(0).normal(size=(40, 6)) @ np.diag([3.0, 2.0, 1.5, 1.0, 0.5, 0.2])


def test_P1_what_is_lost_is_the_sum_of_the_eigenvalues_left_out():
    variances = PCA().fit(X).explained_variance_
    for k in range(1, 6):
        model = PCA(k).fit(X)
        lost = ((X - model.inverse_transform(model.transform(X))) ** 2).sum()
        assert lost == pytest.approx((len(X) - 1) * variances[k:].sum())
    assert variances.sum() == pytest.approx(np.trace(np.cov(X.T)))


def test_P1_no_other_direction_has_more_variance():
    first = PCA(1).fit(X)
    directions = np.random.default_rng(1).normal(size=(200, 6))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    assert np.var(X @ directions.T, axis=0, ddof=1).max() <= first.explained_variance_[0]


def test_E41_E102_the_covariance_is_of_columns():
    model = PCA().fit(X)
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / (len(X) - 1)
    np.testing.assert_allclose(
        model.components_ @ covariance @ model.components_.T, np.diag(model.explained_variance_), atol=1e-12
    )
    assert model.components_.shape == (6, 6)  # X X' would be 40 x 40


def test_V17_signs_are_fixed():
    flipped = PCA().fit(-X)
    np.testing.assert_allclose(flipped.components_, PCA().fit(X).components_, atol=1e-10)
    largest = np.abs(flipped.components_).argmax(axis=1)
    assert (flipped.components_[np.arange(6), largest] > 0).all()
