"""Rows as leaves of random trees, against the definition and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble as peer
from sklearn.datasets import make_circles

from hyperplan.ensemble import RandomTreesEmbedding


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(120, 3))


def test_each_row_has_a_one_at_its_leaf_in_each_tree(X):
    model = RandomTreesEmbedding(12, max_depth=3, random_state=0).fit(X)
    found, leaves = model.transform(X), model.apply(X)
    assert sp.issparse(found) and found.shape[1] == sum(tree.tree_.n_leaves for tree in model.estimators_)
    names = model.get_feature_names_out()
    for row in (0, 7, 119):
        expected = [f"randomtreesembedding_{t}_{leaf}" for t, leaf in enumerate(leaves[row])]
        assert names[found[row].indices].tolist() == expected
    assert (found.sum(axis=0) > 0).all()  # every leaf holds training rows


def test_shapes_names_and_parameters_are_those_of_the_peer(X):
    ours, theirs = RandomTreesEmbedding(random_state=0), peer.RandomTreesEmbedding(random_state=0)
    assert ours.get_params() == theirs.get_params()
    a, b = ours.fit_transform(X), theirs.fit_transform(X)
    # a tree of depth 5 has at most 32 leaves; both draw single thresholds, so the number of columns agrees in the mean
    assert abs(a.shape[1] / b.shape[1] - 1) < 0.05
    assert (a.sum(axis=1) == b.sum(axis=1)).all()
    assert ours.get_feature_names_out()[0].startswith(theirs.get_feature_names_out()[0].rpartition("_")[0])


def test_dense_output_and_sparse_input(X):
    sparse = sp.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    options = {"n_estimators": 5, "max_depth": 4, "random_state": 3}
    loose = RandomTreesEmbedding(**options).fit(sparse)
    dense = RandomTreesEmbedding(sparse_output=False, **options).fit(sparse.toarray())
    assert np.array_equal(loose.transform(sparse).toarray(), dense.transform(sparse.toarray()))


def test_near_rows_share_leaves():
    """On two circles, rows of the same circle that are neighbours share more leaves than opposite ones."""
    X, y = make_circles(400, factor=0.4, noise=0.02, random_state=0)
    found = RandomTreesEmbedding(100, max_depth=4, random_state=0).fit_transform(X)
    shared = (found @ found.T).toarray()
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert np.corrcoef(shared.ravel(), -distance.ravel())[0, 1] > 0.7
    assert shared[y == 0][:, y == 0].mean() < shared[y == 1][:, y == 1].mean()  # the inner circle is denser


def test_rows_of_weight_zero_do_not_count(X):
    weight = np.ones(120)
    weight[60:] = 0.0
    model = RandomTreesEmbedding(4, max_depth=None, random_state=0).fit(X, sample_weight=weight)
    assert max(tree.tree_.n_leaves for tree in model.estimators_) <= 60


def test_errors(X):
    with pytest.raises(ValueError, match="input_features should have length"):
        RandomTreesEmbedding(2).fit(X).get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="n_estimators"):
        RandomTreesEmbedding(0).fit(X)
