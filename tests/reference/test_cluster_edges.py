"""All clusterers at the edges: rows of the fit keep their labels, and odd tables have a defined end."""

import copy
import gc
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan.cluster import DBSCAN, OPTICS, KMeans, MiniBatchKMeans, NumberOfClusters, SpectralClustering
from hyperplan.cluster import _dbscan_space as space_of

MODELS = {
    "k-means": KMeans(3, random_state=0),
    "elkan": KMeans(3, algorithm="elkan", random_state=0),
    "batches": MiniBatchKMeans(3, random_state=0),
    "numbers": NumberOfClusters([2, 3, 4], random_state=0),
    "dbscan": DBSCAN(eps=0.5),
    "dbscan, tree": DBSCAN(eps=0.5, algorithm="kd_tree"),
    "dbscan, l1": DBSCAN(eps=0.7, metric="manhattan"),
    "optics": OPTICS(min_samples=5),
    "optics, cut": OPTICS(min_samples=5, cluster_method="dbscan", eps=0.5),
    "spectral": SpectralClustering(3, random_state=0),
    "spectral, neighbours": SpectralClustering(3, affinity="nearest_neighbors", n_neighbors=70, random_state=0),
    "spectral, cut": SpectralClustering(3, assign_labels="cluster_qr", random_state=0),
}
each = pytest.mark.parametrize("name", MODELS)
CENTRES = pytest.mark.parametrize("name", ["k-means", "elkan", "batches"])


def clouds(n=180, d=2, seed=0):
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    centres = 6.0 * label[:, None] if d == 1 else 2.5 * np.eye(3, d)[label]
    return centres + 0.6 * rng.normal(size=(n, d))


@each
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("form", ["dense", "narrow", "sparse"])
def test_rows_of_the_fit_are_predicted_as_they_were_labelled(name, d, form):
    X = clouds(d=d)
    X = {"dense": X, "narrow": X.astype(np.float32), "sparse": sp.csr_array(X)}[form]
    if form == "sparse" and "tree" in name:
        with pytest.warns(UserWarning, match="using brute force"):
            model = MODELS[name].fit(X)
    else:
        model = MODELS[name].fit(X)
    assert np.unique(model.labels_).size > 1 or d == 5
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    few = np.array([7, 3, 3])
    np.testing.assert_array_equal(model.predict(X[few]), model.labels_[few])


@each
def test_repeated_rows_share_a_cluster(name):
    X = np.repeat(clouds(60), 3, axis=0)
    model = MODELS[name].fit(X)
    if not name.startswith("optics"):  # equal rows may stand on both sides of a steep place of the plot
        assert (model.labels_.reshape(-1, 3) == model.labels_[::3, None]).all()
    else:
        assert (model.labels_.reshape(-1, 3) == model.labels_[::3, None]).mean() > 0.9
    assert model.certificate_.holds, str(model.certificate_)


@each
def test_all_rows_equal(name):
    X = np.full((70, 2), 3.5)
    model = MODELS[name]
    if name == "numbers":  # neither score exists for one cluster
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match="cannot choose"):
                model.fit(X)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    assert np.unique(model.labels_).size <= (3 if name.startswith("spectral") else 1)
    if name in ("k-means", "elkan"):
        assert model.inertia_ == 0.0 and np.isfinite(model.cluster_centers_).all()
    if name.startswith("dbscan"):
        assert (model.labels_ == 0).all()
    np.testing.assert_array_equal(model.predict(X[:1]), model.labels_[:1])


def test_one_row():
    X = np.array([[1.0, 2.0]])
    assert KMeans(1).fit(X).inertia_ == 0.0
    assert MiniBatchKMeans(1).fit(X).cluster_centers_.tolist() == X.tolist()
    assert NumberOfClusters().fit(X).n_clusters_ == 1
    assert DBSCAN().fit(X).labels_.tolist() == [-1] and DBSCAN(min_samples=1).fit(X).labels_.tolist() == [0]
    with pytest.raises(ValueError, match="n_samples = 1"):
        OPTICS().fit(X)
    with pytest.raises(ValueError, match="minimum of 2"):
        SpectralClustering(1).fit(X)


@CENTRES
def test_more_clusters_than_rows_are_refused_and_as_many_are_exact(name):
    X = np.arange(6.0)[:, None]
    model = MODELS[name]
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.fit(X[:2])
    model.fit(X[:3])
    assert sorted(model.labels_) == [0, 1, 2]
    assert model.inertia_ == 0.0 if name != "batches" else model.inertia_ < 0.1  # steps on batches leave a rest


def test_more_spectral_clusters_than_nodes():
    X = clouds(5)
    with pytest.warns(UserWarning, match="9 eigenvectors"), pytest.raises(ValueError, match="n_samples=5"):
        SpectralClustering(9, random_state=0).fit(X)


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_located(name, bad):
    X = clouds()
    X[11, 1] = bad
    with pytest.raises(ValueError, match="11"):
        MODELS[name].fit(X)
    X[11, 1] = 0.0
    model = MODELS[name].fit(X)
    X[4, 0] = bad
    with pytest.raises(ValueError, match="4"):
        model.predict(X)


def test_distances_that_are_no_metric():
    """Asymmetric, with triangles that do not close and a diagonal that is not zero: what the definitions say."""
    rng = np.random.default_rng(3)
    D = rng.uniform(0.1, 3.0, size=(40, 40)) ** 2
    model = DBSCAN(eps=0.3, min_samples=4, metric="precomputed").fit(D)
    near = D <= 0.3
    np.testing.assert_array_equal(model.core_sample_indices_, np.flatnonzero(near.sum(axis=1) >= 4))
    order = OPTICS(min_samples=4, metric="precomputed").fit(D)
    np.testing.assert_allclose(order.core_distances_, np.sort(D, axis=1)[:, 3])
    assert sorted(order.ordering_) == list(range(40)) and order.certificate_.holds
    for model in (DBSCAN(metric="precomputed"), OPTICS(metric="precomputed")):
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            model.fit(-D)
        with pytest.raises(ValueError, match="square"):
            model.fit(D[:, :30])


BY_DENSITY = [(name, np.asarray) for name in MODELS if name.startswith(("dbscan", "optics"))]


@pytest.mark.parametrize("name, form", [*BY_DENSITY, ("dbscan", sp.csr_array), ("optics", sp.csr_array)])
def test_searches_are_prepared_once_and_change_nothing(name, form, monkeypatch):
    X, Q = clouds(), clouds(seed=1)
    table = X.copy()
    model = copy.deepcopy(MODELS[name]).fit(form(table))
    before, size = dict(vars(model)), len(pickle.dumps(model))
    first = model.predict(form(Q))
    assert vars(model).keys() == before.keys() and all(vars(model)[key] is value for key, value in before.items())
    assert len(pickle.dumps(model)) == size
    for function in ("grow_space_tree", "_exact_index", "_numbers_of_rows"):
        monkeypatch.setattr(space_of, function, None)  # whatever was prepared again would fail
    np.testing.assert_array_equal(model.predict(form(Q)), first)
    np.testing.assert_array_equal(model.predict(form(Q)[:3]), first[:3])
    monkeypatch.undo()
    np.testing.assert_array_equal(copy.deepcopy(model).predict(form(Q)), first)
    table[:] = X[::-1] + 5.0  # the same object with other rows
    again = copy.deepcopy(MODELS[name]).fit(form(table.copy())).predict(form(table))
    np.testing.assert_array_equal(model.fit(form(table)).predict(form(table)), again)
    gc.collect()
    n_kept = len(space_of._kept)
    del model
    gc.collect()
    assert len(space_of._kept) == n_kept - 1
