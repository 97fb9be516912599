"""K-means against scikit-learn from equal starts and seeds, and on odd data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster

import hyperplan
from hyperplan._base import ConvergenceWarning
from hyperplan.cluster import KMeans, MiniBatchKMeans, NumberOfClusters, k_means, kmeans_plusplus


def blobs(n=600, d=4, k=5, seed=0, dtype=np.float64, spread=1.0):
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.normal(size=(k, d))
    return (centres[rng.integers(0, k, n)] + spread * rng.normal(size=(n, d))).astype(dtype)


def both(name, *data, **options):
    """The same fit by hyperplan and by scikit-learn."""
    X, rest = data[0], data[1:]
    return tuple(getattr(module, name)(**options).fit(X, *rest) for module in (hyperplan.cluster, sklearn.cluster))


def agree(mine, theirs, rtol=1e-7):
    """Equal labels and steps; centres and inertia but for the order of sums."""
    np.testing.assert_array_equal(mine.labels_, theirs.labels_)
    np.testing.assert_allclose(mine.cluster_centers_, theirs.cluster_centers_, rtol=rtol, atol=rtol)
    assert mine.inertia_ == pytest.approx(theirs.inertia_, rel=max(rtol, 1e-5))
    assert mine.n_iter_ == theirs.n_iter_
    assert mine.labels_.dtype == theirs.labels_.dtype and mine.cluster_centers_.dtype == theirs.cluster_centers_.dtype


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_starts_give_equal_ends(algorithm, dtype, sparse, weighted):
    X = blobs(dtype=dtype, spread=2.5)
    weight = np.random.default_rng(1).uniform(size=len(X)) if weighted else None
    start = X[:6].copy()
    X = sp.csr_array(np.where(np.abs(X) < 1.0, 0, X).astype(dtype)) if sparse else X
    mine, theirs = (
        module.KMeans(6, init=start, n_init=1, tol=1e-6, algorithm=algorithm).fit(X, sample_weight=weight)
        for module in (hyperplan.cluster, sklearn.cluster)
    )
    # float32: scikit-learn sums in single precision, we in double; a rounding of 1e-7 per step, some steps
    agree(mine, theirs, 1e-9 if dtype == np.float64 else 1e-4)
    np.testing.assert_array_equal(mine.predict(X), mine.labels_)
    np.testing.assert_allclose(mine.transform(X), theirs.transform(X), rtol=1e-3, atol=1e-3)
    assert mine.score(X, sample_weight=weight) == pytest.approx(-mine.inertia_, rel=1e-6)
    assert mine.certificate_.holds, str(mine.certificate_)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("seed", range(4))
def test_equal_seeds_draw_equal_starts(init, seed):
    X = blobs(seed=seed)
    agree(*both("KMeans", X, n_clusters=5, init=init, n_init=2, random_state=seed))


@pytest.mark.parametrize("trials", [None, 1, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_seeds(trials, weighted, sparse):
    X = blobs(3000, 3)
    X = sp.csr_array(X) if sparse else X
    weight = np.random.default_rng(1).uniform(size=3000) if weighted else None
    options = {"random_state": 3, "sample_weight": weight, "n_local_trials": trials}
    mine, theirs = kmeans_plusplus(X, 7, **options), sklearn.cluster.kmeans_plusplus(X, 7, **options)
    np.testing.assert_array_equal(mine[1], theirs[1])
    np.testing.assert_array_equal(mine[0], theirs[0])


def test_many_rows_from_equal_starts():
    """Enough rows for several spans and panels, and for seeds from float32 products."""
    X = blobs(40_000, 6, 12, spread=2.0)
    mine, theirs = both("KMeans", X, n_clusters=12, init=X[:12].copy(), n_init=1, tol=0, max_iter=25)
    agree(mine, theirs, 1e-9)
    assert mine.certificate_.holds
    seeded = KMeans(12, random_state=0, max_iter=1).fit(X)
    peers = [sklearn.cluster.KMeans(12, random_state=seed, max_iter=1).fit(X).inertia_ for seed in range(5)]
    assert seeded.inertia_ < 1.2 * max(peers)  # starts of the same quality: they spread by far less than this


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_mini_batches_of_equal_seeds(seed, sparse, weighted):
    X = blobs(2000, seed=seed)
    X = sp.csr_array(X) if sparse else X
    weight = np.random.default_rng(1).uniform(size=2000) if weighted else None
    options = {"n_clusters": 5, "batch_size": 100, "random_state": seed, "max_iter": 5, "tol": 1e-5}
    mine, theirs = (
        module.MiniBatchKMeans(**options).fit(X, sample_weight=weight)
        for module in (hyperplan.cluster, sklearn.cluster)
    )
    assert mine.n_steps_ == theirs.n_steps_
    agree(mine, theirs, 1e-8)
    assert mine.certificate_.holds, str(mine.certificate_)


def test_mini_batches_that_reassign():
    X = blobs(300, 2, 3)
    options = {"n_clusters": 40, "batch_size": 20, "random_state": 0, "init": "random", "reassignment_ratio": 0.3}
    mine, theirs = both("MiniBatchKMeans", X, max_iter=3, **options)
    agree(mine, theirs, 1e-8)


def test_partial_fits():
    X = blobs(900)
    weight = np.random.default_rng(0).uniform(size=900)
    models = [module.MiniBatchKMeans(5, random_state=0) for module in (hyperplan.cluster, sklearn.cluster)]
    for model in models:
        for part in np.split(np.arange(900), 9):
            model.partial_fit(X[part], sample_weight=weight[part])
    mine, theirs = models
    np.testing.assert_allclose(mine.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(mine.labels_, theirs.labels_)
    assert mine.n_steps_ == theirs.n_steps_ == 9
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["KMeans", "MiniBatchKMeans"])
@pytest.mark.parametrize(
    "options",
    [
        {"n_clusters": 0},
        {"n_clusters": 20},
        {"n_clusters": 2.5},
        {"init": "far"},
        {"init": np.zeros((3, 2))},
        {"init": np.zeros((8, 3))},
        {"n_init": 0},
        {"max_iter": 0},
        {"tol": -1.0},
        {"random_state": "luck"},
    ],
)
def test_errors_are_those_of_scikit_learn(name, options):
    X, texts = blobs(10, 2), []
    for module in (hyperplan.cluster, sklearn.cluster):
        with pytest.raises((ValueError, TypeError)) as caught:
            getattr(module, name)(**options).fit(X)
        texts.append(str(caught.value))
    mine, theirs = texts
    assert mine.split(" must be ")[0] == theirs.split(" must be ")[0]
    if " must be " not in mine:
        assert mine == theirs


def test_function_returns_what_was_asked():
    X = blobs()
    mine, theirs = (
        module.k_means(X, 5, random_state=0, return_n_iter=True) for module in (hyperplan.cluster, sklearn.cluster)
    )
    np.testing.assert_allclose(mine[0], theirs[0])
    assert mine[3] == theirs[3] and len(k_means(X, 5, random_state=0)) == 3
    with pytest.raises(ValueError, match="return_n_iter"):
        k_means(X, 5, return_n_iter="yes")


@pytest.mark.parametrize("name", ["KMeans", "MiniBatchKMeans"])
def test_threads_change_no_bit(name):
    X = blobs(30_000, 5, spread=3.0)
    states = []
    for threads in (1, 2, 3):
        with hyperplan.thread_limit(threads):
            model = getattr(hyperplan.cluster, name)(9, random_state=0, max_iter=15).fit(X)
        states.append((model.cluster_centers_.tobytes(), model.labels_.tobytes(), model.inertia_))
    assert states[0] == states[1] == states[2]


def test_lloyd_and_elkan_end_alike():
    X = blobs(3000, 8, 10, spread=3.0)
    one, other = (KMeans(10, random_state=0, tol=0, algorithm=name).fit(X) for name in ("lloyd", "elkan"))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.cluster_centers_, other.cluster_centers_, rtol=1e-12)


def test_a_function_gives_the_start():
    X = blobs()
    given = KMeans(5, init=lambda X, k, random_state: X[:k]).fit(X)
    agree(given, KMeans(5, init=X[:5], n_init=1).fit(X))
    assert given._n_init == 10


def test_weights_are_copies():
    X = blobs(200, spread=3.0)
    copies = np.random.default_rng(0).integers(0, 4, size=200)
    start = X[:6].copy()
    options = {"n_clusters": 6, "init": start, "n_init": 1, "tol": 0}
    heavy = KMeans(**options).fit(X, sample_weight=copies.astype(float))
    many = KMeans(**options).fit(np.repeat(X, copies, axis=0))
    np.testing.assert_allclose(heavy.cluster_centers_, many.cluster_centers_, rtol=1e-10)
    assert heavy.inertia_ == pytest.approx(many.inertia_)


def test_means_far_from_the_origin_keep_their_digits():
    X = blobs(400, 3)
    near = KMeans(5, init=X[:5], n_init=1).fit(X)
    far = KMeans(5, init=X[:5] + 1e6, n_init=1).fit(X + 1e6)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_allclose(far.cluster_centers_ - 1e6, near.cluster_centers_, atol=1e-8)
    assert far.certificate_.holds
    narrow = KMeans(5, init=(X[:5] + 1e3).astype(np.float32), n_init=1).fit((X + 1e3).astype(np.float32))
    assert (narrow.labels_ == near.labels_).mean() > 0.99  # 1e3 leaves float32 four digits of the spread
    np.testing.assert_array_equal(narrow.predict((X + 1e3).astype(np.float32)), narrow.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_clusters", [1, 2, 9, 300])
def test_predict_agrees_with_the_labels_of_the_fit(dtype, n_clusters):
    X = blobs(3000, 7, 4, dtype=dtype, spread=4.0)
    model = KMeans(n_clusters, random_state=0, max_iter=7).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(50)])
    np.testing.assert_array_equal(alone, model.labels_[:50])


# --- odd data


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_equal_rows_make_one_cluster_and_a_warning(algorithm, init):
    X = np.full((20, 3), 7.0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\) found smaller than n_clusters \(4\)"):
        model = KMeans(4, init=init, random_state=0, algorithm=algorithm).fit(X)
    assert model.inertia_ == 0.0 and (model.labels_ == 0).all()
    assert model.certificate_.holds


def test_as_many_clusters_as_rows():
    X = blobs(12, 2)
    model = KMeans(12, random_state=0).fit(X)
    assert model.inertia_ < 1e-28 and sorted(model.labels_) == list(range(12))


def test_one_row_and_one_column():
    model = KMeans(1).fit([[3.0]])
    assert model.labels_.tolist() == [0] and model.cluster_centers_.tolist() == [[3.0]]
    with pytest.raises(ValueError, match="Reshape your data"):
        KMeans(1).fit([1.0, 2.0])


def test_columns_without_variance():
    X = np.column_stack([blobs(100, 2), np.ones(100), np.zeros(100)])
    agree(*both("KMeans", X, n_clusters=3, random_state=0))


def test_rows_without_weight_count_nothing():
    X = np.concatenate([blobs(50, 2), [[1e3, 1e3]]])
    weight = np.ones(51)
    weight[-1] = 0.0
    model = KMeans(3, random_state=0, tol=0).fit(X, sample_weight=weight)
    without = KMeans(3, init=model.cluster_centers_, n_init=1, tol=0).fit(X[:50])
    np.testing.assert_allclose(model.cluster_centers_, without.cluster_centers_)
    with pytest.raises(ValueError, match="non-zero"):
        KMeans(3).fit(X, sample_weight=np.zeros(51))


def test_bad_values_are_located():
    X = blobs(30, 3)
    X[7, 2] = np.nan
    for model in (KMeans(2), MiniBatchKMeans(2), NumberOfClusters()):
        with pytest.raises(ValueError, match="row 7, column 2"):
            model.fit(X)


def test_the_callers_rows_stay_as_they_are():
    X = blobs(50, 2) + 100.0
    kept = X.copy()
    for copy in (True, False):
        KMeans(3, copy_x=copy, random_state=0).fit(X)
        np.testing.assert_array_equal(X, kept)


def test_verbose_runs_say_what_scikit_learn_says(capsys):
    X, heads = np.random.default_rng(0).normal(size=(300, 4)), []
    for module in (hyperplan.cluster, sklearn.cluster):
        module.KMeans(4, random_state=0, verbose=1).fit(X)
        lines = capsys.readouterr().out.splitlines()
        heads.append([line.split("inertia")[0].split("shift")[0] for line in lines])
    assert heads[0] == heads[1]


def test_numbers_of_clusters_that_make_no_sense():
    X = blobs(5, 2)
    with pytest.raises(ValueError, match="positive int"):
        NumberOfClusters([0, 1]).fit(X)
    with pytest.raises(ValueError, match="n_samples=5"):
        NumberOfClusters(9).fit(X)
    with pytest.raises(ValueError, match="cannot choose"):
        NumberOfClusters([1, 5]).fit(X)
    with pytest.raises(ValueError, match="cannot choose"):
        NumberOfClusters([2, 3], rule="elbow").fit(X)
    assert NumberOfClusters([2, 3, 50]).fit(X).numbers_.tolist() == [2, 3]
    assert NumberOfClusters(1).fit(X).n_clusters_ == 1


def test_numbers_of_clusters_of_sparse_rows_and_of_a_sample():
    rng = np.random.default_rng(0)
    X = 8.0 * np.eye(4, 3)[np.arange(300) % 4] + rng.normal(size=(300, 3))
    dense = NumberOfClusters(range(2, 7), random_state=0).fit(X)
    sparse = NumberOfClusters(range(2, 7), random_state=0).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.calinski_harabasz_, dense.calinski_harabasz_, rtol=1e-6)
    np.testing.assert_allclose(sparse.silhouettes_, dense.silhouettes_, rtol=1e-6)
    some = NumberOfClusters(range(2, 7), random_state=0, sample_size=100).fit(X)
    assert some.n_clusters_ == dense.n_clusters_ == 4
    np.testing.assert_allclose(some.silhouettes_, dense.silhouettes_, atol=0.1)


def test_more_rows_than_a_start_needs_but_few_batches():
    X = blobs(5000, 3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MiniBatchKMeans(4, random_state=0, compute_labels=False).fit(X)
    assert not hasattr(model, "labels_")
    full = KMeans(4, random_state=0).fit(X)
    assert full.inertia_ <= model.inertia_ * 1.2 and model.inertia_ < 1.3 * full.inertia_
