"""Neighbours against scikit-learn: the same rows, distances, votes, means, graphs and errors."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import neighbors as theirs

from hyperplan import neighbors as ours
from hyperplan.datasets import load_penguins

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
METRICS = {  # each with the algorithms that take it
    ("minkowski", 2): ("brute", "kd_tree", "ball_tree"),
    ("minkowski", 1): ("brute", "kd_tree", "ball_tree"),
    ("minkowski", 3.5): ("brute", "kd_tree", "ball_tree"),
    ("chebyshev", 2): ("brute", "kd_tree", "ball_tree"),
    ("canberra", 2): ("brute", "ball_tree"),
    ("braycurtis", 2): ("brute", "ball_tree"),
    ("cosine", 2): ("brute",),
    ("correlation", 2): ("brute",),
    ("sqeuclidean", 2): ("brute",),
}


def table(n=90, d=4, seed=0, m=17):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])
    return X, Q, y


@pytest.mark.parametrize(("metric", "algorithm"), [(m, a) for m, algorithms in METRICS.items() for a in algorithms])
def test_distances_and_rows(metric, algorithm):
    """Continuous data have no ties; 1e-10 leaves room for scikit-learn's distances from products."""
    X, Q, _ = table()
    options = dict(n_neighbors=6, metric=metric[0], p=metric[1], algorithm=algorithm)
    a, b = ours.NearestNeighbors(**options).fit(X), theirs.NearestNeighbors(**options).fit(X)
    for queries in (Q, None):
        found, expected = a.kneighbors(queries), b.kneighbors(queries)
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, atol=1e-10)
    radius = float(np.median(b.kneighbors(Q)[0]))
    for queries in (Q, None):
        found, expected = (model.radius_neighbors(queries, radius, sort_results=True) for model in (a, b))
        for i in range(len(found[0])):
            np.testing.assert_array_equal(found[1][i], expected[1][i])
            np.testing.assert_allclose(found[0][i], expected[0][i], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("mahalanobis", {"VI": np.diag([1.0, 2.0, 3.0, 4.0]) + 0.5}),
        ("seuclidean", {"V": np.array([1.0, 2.0, 0.5, 3.0])}),
        ("minkowski", {"w": np.array([1.0, 0.2, 3.0, 0.0])}),
    ],
)
@pytest.mark.parametrize("algorithm", ["brute", "ball_tree"])
def test_distances_with_parameters(metric, params, algorithm):
    X, Q, _ = table()
    options = dict(n_neighbors=5, metric=metric, metric_params=params, algorithm=algorithm, p=3)
    found, expected = (library.NearestNeighbors(**options).fit(X).kneighbors(Q) for library in (ours, theirs))
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10)


def test_great_circles():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-np.pi / 2, np.pi / 2, 300), rng.uniform(-np.pi, np.pi, 300)])
    a, b = (library.BallTree(X, metric="haversine") for library in (ours, theirs))
    found, expected = a.query(X, k=6), b.query(X, k=6)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-12)
    for one, two in zip(a.query_radius(X, 0.3), b.query_radius(X, 0.3)):
        np.testing.assert_array_equal(one, np.sort(two))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_rows(metric):
    X = sp.random_array((60, 30), density=0.3, rng=np.random.default_rng(1), format="csr")
    found, expected = (
        library.NearestNeighbors(n_neighbors=4, metric=metric).fit(X).kneighbors(X[:9]) for library in (ours, theirs)
    )
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7, atol=1e-7)  # theirs loses digits where rows are equal


def test_functions_and_precomputed_distances():
    X, Q, _ = table()

    def distance(x, y, power):
        return float((np.abs(x - y) ** power).sum() ** (1 / power))

    plain = ours.NearestNeighbors(n_neighbors=4, p=1.5).fit(X).kneighbors(Q)
    options = dict(n_neighbors=4, metric=distance, metric_params={"power": 1.5})
    for algorithm in ("auto", "brute", "ball_tree"):
        found = ours.NearestNeighbors(algorithm=algorithm, **options).fit(X).kneighbors(Q)
        np.testing.assert_array_equal(found[1], plain[1])
        np.testing.assert_allclose(found[0], plain[0], rtol=1e-12)
    D, DQ = (np.array([[distance(a, b, 1.5) for b in X] for a in A]) for A in (X, Q))
    found = ours.NearestNeighbors(n_neighbors=4, metric="precomputed").fit(D).kneighbors(DQ)
    np.testing.assert_array_equal(found[1], plain[1])


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1.0 / (0.1 + d)])
@pytest.mark.parametrize("name", ["KNeighborsClassifier", "RadiusNeighborsClassifier"])
def test_classifiers(name, weights):
    X, Q, y = table(n=200)
    Q = np.concatenate([Q, X[:5]])  # rows at distance zero
    options = {"weights": weights, "algorithm": "kd_tree"}  # by brute force theirs has 1e-8 where 0 is right
    options.update({"n_neighbors": 7} if name[0] == "K" else {"radius": 2.0, "outlier_label": 1})
    if name[0] == "R" and callable(weights):
        options["weights"] = lambda d: np.array([1.0 / (0.1 + part) for part in d] + [None], dtype=object)[:-1]
    for target in (y, np.column_stack([y, y[::-1]]), np.array(["low", "mid", "top"])[y]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an outlier label that is no class
            if target.dtype.kind == "U" and "outlier_label" in options:
                options["outlier_label"] = "mid"
            a, b = (getattr(library, name)(**options).fit(X, target) for library in (ours, theirs))
            np.testing.assert_array_equal(a.predict(Q), b.predict(Q))
            for found, expected in zip(np.atleast_3d(a.predict_proba(Q)), np.atleast_3d(b.predict_proba(Q))):
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            if target.ndim == 1:
                assert a.score(Q, target[: len(Q)]) == b.score(Q, target[: len(Q)])


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1.0 / (0.1 + d)])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_k_neighbors_regressor(weights, algorithm):
    X, Q, _ = table(n=200)
    Q, y = np.concatenate([Q, X[:5]]), np.column_stack([X[:, 0] ** 2, X[:, 1]])
    for target in (y, y[:, 0], y[:, :1]):
        options = dict(n_neighbors=7, weights=weights)
        a = ours.KNeighborsRegressor(algorithm=algorithm, **options).fit(X, target)
        b = theirs.KNeighborsRegressor(**options).fit(X, target)  # by brute force it has 1e-8 where 0 is right
        np.testing.assert_allclose(a.predict(Q), b.predict(Q), rtol=1e-9)
        np.testing.assert_allclose(a.predict(None), b.predict(None), rtol=1e-9)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_radius_neighbors_regressor(weights):
    X, Q, _ = table(n=200)
    options = dict(radius=1.2, weights=weights)
    a, b = (library.RadiusNeighborsRegressor(**options).fit(X, X[:, 0]) for library in (ours, theirs))
    with pytest.warns(UserWarning, match="no neighbors"):
        found = a.predict(np.concatenate([Q, [[99.0] * 4]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = b.predict(np.concatenate([Q, [[99.0] * 4]]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert np.isnan(found[-1])


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
def test_graphs(mode, include_self):
    X, _, _ = table()
    for name, size in (("kneighbors_graph", 4), ("radius_neighbors_graph", 1.3)):
        found, expected = (
            getattr(library, name)(X, size, mode=mode, include_self=include_self) for library in (ours, theirs)
        )
        assert type(found) is type(expected)
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-10)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_transformers(mode):
    X, Q, _ = table()
    for name, option in (
        ("KNeighborsTransformer", {"n_neighbors": 4}),
        ("RadiusNeighborsTransformer", {"radius": 1.3}),
    ):
        a, b = (getattr(library, name)(mode=mode, **option).fit(X) for library in (ours, theirs))
        np.testing.assert_allclose(a.transform(Q).toarray(), b.transform(Q).toarray(), rtol=1e-10)
        np.testing.assert_allclose(a.fit_transform(X).toarray(), b.fit_transform(X).toarray(), rtol=1e-10, atol=1e-12)
        assert list(a.get_feature_names_out()) == list(b.get_feature_names_out())


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("shrink", [None, 0.5])
@pytest.mark.parametrize("priors", ["uniform", "empirical", [0.2, 0.5, 0.3]])
def test_nearest_centroid(metric, shrink, priors):
    X, Q, y = table(n=150)
    options = dict(metric=metric, shrink_threshold=shrink, priors=priors)
    a, b = (library.NearestCentroid(**options).fit(X, y) for library in (ours, theirs))
    for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(a.predict(Q), b.predict(Q))
    assert hasattr(a, "predict_proba") == (metric == "euclidean")
    if metric == "euclidean":
        np.testing.assert_allclose(a.predict_proba(Q), b.predict_proba(Q), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(a.decision_function(Q), b.decision_function(Q), rtol=1e-8)
    sparse = ours.NearestCentroid(**options).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.centroids_, a.centroids_, rtol=1e-10)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(Q)), a.predict(Q))


@pytest.mark.parametrize("novelty", [False, True])
def test_local_outlier_factor(novelty):
    X, Q, _ = table(n=150)
    X[0] = 9.0
    options = dict(n_neighbors=12, novelty=novelty, contamination=0.05)
    a, b = (library.LocalOutlierFactor(**options).fit(X) for library in (ours, theirs))
    np.testing.assert_allclose(a.negative_outlier_factor_, b.negative_outlier_factor_, rtol=1e-9)
    assert a.offset_ == pytest.approx(b.offset_) and a.negative_outlier_factor_.argmin() == 0
    if novelty:
        np.testing.assert_allclose(a.decision_function(Q), b.decision_function(Q), rtol=1e-8)
        np.testing.assert_array_equal(a.predict(Q), b.predict(Q))
    else:
        np.testing.assert_array_equal(a.fit_predict(X), b.fit_predict(X))
        with pytest.raises(AttributeError, match="no attribute 'predict'") as error:
            a.predict(Q)
        assert "use fit_predict" in str(error.value.__cause__)


@pytest.mark.parametrize("kind", ["KDTree", "BallTree"])
def test_trees_as_objects(kind):
    X, Q, _ = table()
    a, b = getattr(ours, kind)(X, leaf_size=3), getattr(theirs, kind)(X, leaf_size=3)
    for found, expected in zip(a.query(Q, k=5), b.query(Q, k=5)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(a.query_radius(Q, 1.5, count_only=True), b.query_radius(Q, 1.5, count_only=True))
    radius = np.linspace(0.5, 2.0, len(Q))
    for found, expected in zip(a.query_radius(Q, radius), b.query_radius(Q, radius)):
        np.testing.assert_array_equal(found, np.sort(expected))
    r = np.linspace(0, 3, 7)
    np.testing.assert_array_equal(a.two_point_correlation(Q, r), b.two_point_correlation(Q, r))
    for kernel in ("gaussian", "tophat", "epanechnikov", "exponential", "linear"):  # their cosine is NaN in 4 columns
        found, expected = (tree.kernel_density(Q, 1.1, kernel=kernel) for tree in (a, b))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)  # the tolerance of both
    again = pickle.loads(pickle.dumps(a))
    np.testing.assert_array_equal(again.query(Q, k=5)[1], a.query(Q, k=5)[1])
    model = ours.NearestNeighbors(n_neighbors=5).fit(a)
    np.testing.assert_array_equal(model.kneighbors(Q)[1], a.query(Q, k=5)[1])


def test_auto_looks_at_the_dimension_of_the_cloud_not_of_the_space():
    rng = np.random.default_rng(0)
    cloud, curve = rng.normal(size=(6000, 12)), rng.normal(size=(6000, 1)) @ rng.normal(size=(1, 12))
    for X, method in ((cloud, "brute"), (curve, "kd_tree"), (cloud[:1000], "kd_tree"), (cloud[:, :3], "kd_tree")):
        model = ours.NearestNeighbors().fit(np.ascontiguousarray(X))
        assert model._fit_method == method
        expected = theirs.NearestNeighbors(algorithm="kd_tree").fit(X).kneighbors(X[:50])
        np.testing.assert_array_equal(model.kneighbors(X[:50])[1], expected[1])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_neighbours_say_how_many_they_miss(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 25)) + 3.0 * rng.normal(size=(20, 25))[rng.integers(20, size=4000)]
    model = ours.NearestNeighbors(n_neighbors=10, algorithm="approximate", metric=metric).fit(X[:3800])
    exact = ours.NearestNeighbors(n_neighbors=10, algorithm="brute", metric=metric).fit(X[:3800])
    found, truth = model.kneighbors(X[3800:]), exact.kneighbors(X[3800:])
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found[1], truth[1])])
    assert model.certificate_.holds and recall > 0.9
    assert 1 - recall == pytest.approx(model.certificate_.value, abs=0.05)  # 200 queries against 256 rows
    np.testing.assert_allclose(found[0][found[1] == truth[1]], truth[0][found[1] == truth[1]], rtol=1e-12, atol=1e-14)
    assert model.radius_neighbors(X[:1], truth[0].mean(), return_distance=False)[0].size > 0
    assert "certificate_" not in vars(model.set_params(algorithm="auto").fit(X))
    with pytest.raises(ValueError, match="use algorithm='brute'"):
        ours.NearestNeighbors(algorithm="approximate", metric="manhattan").fit(X)


def test_penguins_leave_one_out():
    X, y = load_penguins(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    a, b = (library.KNeighborsClassifier().fit(X, y) for library in (ours, theirs))
    np.testing.assert_array_equal(a.predict(None), b.predict(None))
    assert a.score(None, y) == b.score(None, y) > 0.95


def test_dimensions_and_lengths_are_checked():
    X, Q, y = table()
    tree = ours.KDTree(X)
    with pytest.raises(ValueError, match="dimension"):
        tree.query(Q[:, :2])
    with pytest.raises(ValueError, match="k must be less"):
        tree.query(Q, k=91)
    with pytest.raises(ValueError, match="metric cosine is not valid for KDTree"):
        ours.KDTree(X, metric="cosine")
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit, but n_neighbors = 99, n_samples_fit = 90"):
        ours.KNeighborsClassifier(99).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="one entry per row"):
        ours.NearestNeighbors().fit(X).radius_neighbors(Q, radius=[1.0, 2.0])
    with pytest.raises(ValueError, match="No neighbors found for test samples array"):
        ours.RadiusNeighborsClassifier(0.5).fit(X, y).predict(Q + 50.0)
    with pytest.raises(ValueError, match="zero weights"):
        ours.KNeighborsClassifier(weights=lambda d: 0.0 * d).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="length of outlier_label"):
        ours.RadiusNeighborsClassifier(outlier_label=[0, 1]).fit(X, y)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
def test_huge_and_tiny_coordinates(scale, algorithm):
    """Squares of 1e200 overflow: coordinates are scaled by a power of two, which changes no digit."""
    X, Q, _ = table()
    model = ours.NearestNeighbors(n_neighbors=3, algorithm=algorithm)
    expected = model.fit(X).kneighbors(Q)
    found = model.fit(X * scale).kneighbors(Q * scale)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0] * scale, rtol=1e-12)
    inside = [list(rows) for rows in model.radius_neighbors(Q * scale, 1.5 * scale, return_distance=False)]
    assert inside == [list(rows) for rows in model.fit(X).radius_neighbors(Q, 1.5, return_distance=False)]
