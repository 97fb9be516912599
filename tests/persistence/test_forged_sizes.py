"""Tables and index arrays that kernels trust, forged in the file and signed anew: refused with a sentence.

The last test goes through all arrays of many models: what is loaded all the same is asked without the compiler, where
an index outside an array is an error that names its kernel.
"""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from persistence_common import forge, forge_arrays

import hyperplan
from hyperplan.cluster import DBSCAN, OPTICS, KMeans, SpectralClustering
from hyperplan.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hyperplan.kernels import RBF, AdditiveChiSquared, RBFSampler
from hyperplan.linear_model import LogisticRegression
from hyperplan.manifold import MDS, Isomap, LandmarkIsomap
from hyperplan.mixture import GaussianMixture, MixtureClassifier
from hyperplan.multiclass import OutputCodeClassifier
from hyperplan.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB
from hyperplan.neighbors import (
    KernelDensity,
    KNeighborsClassifier,
    LocalOutlierFactor,
    NadarayaWatsonRegressor,
    NearestCentroid,
    NearestNeighbors,
)
from hyperplan.persistence import ModelFileError
from hyperplan.preprocessing import PolynomialFeatures
from hyperplan.random_projection import SparseRandomProjection
from hyperplan.svm import SVC
from hyperplan.tree import MultiwayTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 3))
Y = np.digitize(X[:, 0], [-0.5, 0.5])
COUNTS = np.abs(X.round()).astype(int)
MIXED = np.column_stack([X[:, :1], COUNTS[:, 1:]])
MIXED_NB = MixedNB(categorical_features=[1, 2])


def far(array):
    """The last number leads far beyond any array."""
    array = array.copy()
    array.reshape(-1)[-1] = 10**6
    return array


def below(array):
    array = array.copy()
    array.reshape(-1)[0] = -(10**6)
    return array


def shorter(array):
    return array[:-1]


def narrower(array):
    return array[..., :-1]


def longer(array):
    return np.concatenate([array, array])


def turned(array):
    return array[::-1]


def nowhere(array):
    return array * np.nan


TREE = "._index.tree"
HOLES = [
    # --- naive Bayes
    (CategoricalNB(), COUNTS, ".n_categories_", far, "table of category_count_"),
    (CategoricalNB(), COUNTS, ".n_categories_", below, "negative"),
    (CategoricalNB(), COUNTS, ".n_categories_", shorter, "wrong shape"),
    (CategoricalNB(), COUNTS, ".feature_log_prob_[1]", narrower, "feature_log_prob_ has the wrong shape"),
    (CategoricalNB(), COUNTS, ".feature_log_prob_[1]", shorter, "feature_log_prob_ has the wrong shape"),
    (CategoricalNB(), COUNTS, ".category_count_[0]", narrower, "category_count_ has the wrong shape"),
    (CategoricalNB(), COUNTS, ".classes_", turned, "not in order"),
    (CategoricalNB(), COUNTS, ".class_log_prior_", shorter, "class_log_prior_ has the wrong shape"),
    (MIXED_NB, MIXED, ".category_log_prob_[1]", narrower, "category_log_prob_ has the wr"),
    (
        MixedNB(categorical_features=[1, 2]),
        MIXED,
        ".category_count_[0]",
        shorter,
        "category_count_ has the wrong shape",
    ),
    (MIXED_NB, MIXED, ".categories_[0]", longer, "wrong shape"),
    (MIXED_NB, MIXED, ".is_categorical_", lambda mask: ~mask, "each column of numbers"),
    (MIXED_NB, MIXED, "._moments.mean", shorter, "each column of numbers"),
    (GaussianNB(), X, ".theta_", narrower, "theta_ has the wrong shape"),
    (BernoulliNB(), COUNTS, ".feature_log_prob_", narrower, "feature_log_prob_ has the wrong shape"),
    (MultinomialNB(), COUNTS, ".feature_count_", shorter, "feature_count_ has the wrong shape"),
    # --- searches
    (KNeighborsClassifier(), X, TREE + ".order", far, "order leads outside"),
    (KNeighborsClassifier(), X, TREE + ".spans", far, "not those of a tree"),
    (KNeighborsClassifier(), X, TREE + ".axes", far, "not those of a tree"),
    (KNeighborsClassifier(), X, TREE + ".axes", np.abs, "not those of a tree"),
    (KNeighborsClassifier(), X, TREE + ".bounds", shorter, "bounds has the wrong shape"),
    (KNeighborsClassifier(), X, TREE + ".cuts", shorter, "cuts has the wrong shape"),
    (KNeighborsClassifier(), X, TREE + ".blocks", shorter, "leaves do not hold"),
    (KNeighborsClassifier(), X, TREE + ".blocks", narrower, "leaves do not hold"),
    (KNeighborsClassifier(), X, TREE + ".blocks", nowhere, "nowhere"),
    (KNeighborsClassifier(algorithm="ball_tree"), X, TREE + ".spans", below, "not those of a tree"),
    (KNeighborsClassifier(), X, "._y", far, "not among its classes"),
    (KNeighborsClassifier(), X, "._y", below, "not among its classes"),
    (KNeighborsClassifier(), X, "._y", shorter, "target for each row"),
    (KNeighborsClassifier(), X, ".classes_", shorter, "not among its classes"),
    (KNeighborsClassifier(algorithm="brute"), X, "._index.X", narrower, "another shape"),
    (NearestNeighbors(metric="seuclidean", metric_params={"V": np.ones(3)}), X, "._index.learnt.scale", shorter, "wr"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.graph", far, "graph leads outside"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.graph", below, "graph leads outside"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.order", far, "order leads outside"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.pairs", far, "graph leads outside"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.pairs", np.abs, "not those of a tree"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.spans", far, "not those of a tree"),
    (NearestNeighbors(algorithm="approximate"), X, "._index.descent.X", shorter, "wrong shape"),
    (LocalOutlierFactor(novelty=True), X, TREE + ".order", below, "order leads outside"),
    (KernelDensity(), X, "._summands.cells.spans", far, "not those of a tree"),
    (KernelDensity(), X, "._summands.cells.place", far, "place leads outside"),
    (KernelDensity(), X, "._summands.cells.prefix", narrower, "sums are not those of its points"),
    (KernelDensity(), X, "._summands.cells.points", shorter, "wrong shape"),
    (NadarayaWatsonRegressor(bandwidth=0.5), X, "._summands.values", shorter, "value for each row"),
    (NadarayaWatsonRegressor(bandwidth=0.5), X, "._summands.cells.values", shorter, "wrong shape"),
    (NearestCentroid(), X, ".centroids_", narrower, "centroids_ has the wrong shape"),
    # --- maps
    (Isomap(), X, ".dist_matrix_", shorter, "row for each row of its graph"),
    (Isomap(), X, ".dist_matrix_", narrower, "dist_matrix_ has the wrong shape"),
    (Isomap(), X, ".graph_._lists.rows", far, "none of its rows"),
    (Isomap(), X, ".graph_._lists.starts", turned, "other lengths"),
    (Isomap(), X, ".graph_.nbrs_._index.tree.order", far, "order leads outside"),
    (Isomap(), X, ".graph_.graph_<1>", far, "fit together"),
    (LandmarkIsomap(n_landmarks=9, random_state=0), X, ".geodesics_", shorter, "row for each row of its graph"),
    (MDS(init="classical_mds"), X, "._fitted", narrower, "_fitted has the wrong shape"),
    (MDS(init="classical_mds"), X, ".embedding_", shorter, "embedding_ has the wrong shape"),
    # --- groups and mixtures
    (KMeans(3, random_state=0), X, ".cluster_centers_", narrower, "cluster_centers_ has the wrong shape"),
    (DBSCAN(eps=1.0, min_samples=3), X, ".components_", narrower, "components_ has the wrong shape"),
    (DBSCAN(eps=1.0, min_samples=3), X, "._others", narrower, "_others has the wrong shape"),
    (OPTICS(min_samples=4), X, ".core_distances_", shorter, "core_distances_ has the wrong shape"),
    (SpectralClustering(3, random_state=0), X, "._rule.matrix", narrower, "number of coordinates"),
    (GaussianMixture(2, random_state=0), X, ".means_", narrower, "means have the wrong shape"),
    (GaussianMixture(2, random_state=0), X, ".precisions_cholesky_", shorter, "precisions have the wrong shape"),
    (GaussianMixture(2, covariance_type="diag", random_state=0), X, ".weights_", shorter, "means have the wrong shape"),
    (MixtureClassifier(random_state=0), X, ".precisions_cholesky_[1]", narrower, "precisions have the wrong shape"),
    # --- others
    (OutputCodeClassifier(LogisticRegression(), random_state=0), X, ".code_book_", narrower, "bit for each member"),
    (RBFSampler(random_state=0), X, ".random_offset_", shorter, "random_offset_ has the wrong shape"),
    (SparseRandomProjection(2, random_state=0), X, ".components_<1>", far, "fit together"),
    (RandomForestRegressor(2, random_state=0), X, "._training[0]", narrower, "rows have the wrong shape"),
    (RandomForestRegressor(2, random_state=0), X, "._training[1]", shorter, "target for each row"),
]


def _short(value):
    name = getattr(value, "__name__", str(value)[:40])
    return "" if isinstance(value, np.ndarray) else name


def saved(model, rows, path):
    hyperplan.save(model.fit(rows, Y), path)
    return path


@pytest.mark.parametrize("model, rows, way, change, match", HOLES, ids=_short)
def test_arrays_that_kernels_trust(model, rows, way, change, match, tmp_path):
    path, seen = saved(model, rows, tmp_path / "model.zip"), []

    def edit(name, array):
        if name != way:
            return None
        seen.append(name)
        return change(array)

    forge_arrays(path, edit)
    assert seen == [way]
    with pytest.raises(ModelFileError, match=match):
        hyperplan.load(path)


def test_files_forged_into_what_they_were_are_loaded(tmp_path):
    """The forger's tools themselves break nothing."""
    path = saved(KNeighborsClassifier(), X, tmp_path / "model.zip")
    model = hyperplan.load(path)
    forge_arrays(path, lambda name, array: array.copy())
    assert hyperplan.load(path).predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def set_numbers(**numbers):
    def edit(document):
        for kind, content in document["objects"]:
            if kind == "object":
                content[1].update({name: value for name, value in numbers.items() if name in content[1]})

    return edit


@pytest.mark.parametrize(
    "model, numbers, match",
    [
        (KNeighborsClassifier(), {"n_features_in_": 4}, "another shape"),
        (KNeighborsClassifier(), {"n_samples_fit_": 500}, "another shape"),
        (KNeighborsClassifier(algorithm="brute"), {"metric": "precomputed"}, "not one of distances"),
        (GaussianNB(), {"n_features_in_": 4}, "theta_ has the wrong shape"),
        (KernelDensity(), {"n_features_in_": 2}, "another number of columns"),
        (KMeans(3, random_state=0), {"n_features_in_": 5}, "cluster_centers_ has the wrong shape"),
        (GaussianMixture(2, random_state=0), {"covariance_type": "tied"}, "precisions have the wrong shape"),
        (GradientBoostingClassifier(n_estimators=2), {"n_trees_per_iteration_": 4}, "a tree for each output"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_numbers_that_sizes_must_agree_with(model, numbers, match, tmp_path):
    path = saved(model, X, tmp_path / "model.zip")
    forge(path, set_numbers(**numbers))
    with pytest.raises(ModelFileError, match=match):
        hyperplan.load(path)


# --- the same trust without a file: parameters that were changed after the fit


def test_unseen_categories_of_a_fit_that_knew_no_place_for_them():
    model = MixedNB(categorical_features=[1, 2]).fit(MIXED, Y)
    rows = MIXED.copy()
    rows[:, 1:] = 99
    expected = model.predict_proba(rows)
    assert np.array_equal(model.set_params(handle_unknown="smooth").predict_proba(rows), expected)


def test_degrees_that_are_not_those_of_the_fit():
    model = PolynomialFeatures(2).fit(X).set_params(degree=1)
    with pytest.raises(ValueError, match="is not that of the fit"):
        model.transform(X)


def test_kernels_of_rows_of_different_widths():
    for kernel in (RBF(0.5), AdditiveChiSquared()):
        with pytest.raises(ValueError, match=r"columns|shapes"):
            kernel(np.abs(X), np.abs(X[:, :2]))


def test_precomputed_distances_do_not_search_in_rows():
    search = NearestNeighbors(metric="precomputed").fit(NearestNeighbors().fit(X))
    with pytest.raises(ValueError, match="grown over rows"):
        search.kneighbors(np.ones((2, len(X))))


def test_quantiles_are_computed_again(tmp_path):
    """What a forest has sorted for quantiles is not taken from a file."""
    forest = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    expected = forest.predict_quantiles(X)
    hyperplan.save(forest, tmp_path)
    again = hyperplan.load(tmp_path)
    assert forest._members is not None and again._members is None
    assert again.predict_quantiles(X).tobytes() == expected.tobytes()


# --- all arrays of many models


SWEPT = [
    *((model, X) for model in (KNeighborsClassifier(), NearestNeighbors(algorithm="approximate"), KernelDensity())),
    *((model, X) for model in (NadarayaWatsonRegressor(bandwidth=0.5), Isomap(), KMeans(3, random_state=0))),
    *((model, X) for model in (GaussianMixture(2, random_state=0), DBSCAN(eps=1.0, min_samples=3), OPTICS())),
    *((model, COUNTS) for model in (CategoricalNB(), MultinomialNB())),
    (MIXED_NB, MIXED),
    (KNeighborsClassifier(), sp.csr_matrix(X)),
    *((model, X) for model in (RandomForestClassifier(2, random_state=0), HistGradientBoostingClassifier(max_iter=2))),
    *((model, X) for model in (AdaBoostClassifier(n_estimators=2), GradientBoostingClassifier(n_estimators=2))),
    *((model, X) for model in (MultiwayTreeClassifier(max_depth=2), SVC())),
]
SWEEP = """
import json, pathlib, sys, traceback, warnings
sys.path.insert(0, sys.argv[2])
warnings.simplefilter("ignore")
import numpy as np
import hyperplan
from hyperplan.persistence import ModelFileError
from persistence_common import forge_arrays

def changes(array):
    if array.dtype.kind in "iu":
        ends = np.iinfo(array.dtype)
        for value in (min(10**6, ends.max), max(-10**6, ends.min)):
            other = array.copy()
            other.reshape(-1)[array.size // 2 :] = value
            yield other
    for axis in range(array.ndim):
        yield np.delete(array, -1, axis)
        yield np.concatenate([array, array], axis)

def ask(model, rows):
    for method in ("predict", "predict_proba", "transform", "kneighbors", "score_samples", "partial_fit"):
        try:
            if method == "partial_fit" and hasattr(model, method) and hasattr(model, "classes_"):
                model.partial_fit(rows, model.classes_[np.arange(len(rows)) % len(model.classes_)])
            elif method != "partial_fit" and hasattr(model, method):
                getattr(model, method)(rows)
        except Exception as error:
            inside = [frame for frame in traceback.extract_tb(error.__traceback__) if "_kernels.py" in frame.filename]
            assert not (inside and isinstance(error, IndexError)), f"{model}: {inside[-1]}"

n_refused = n_loaded = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.zip")):
    rows, names = np.load(path.with_suffix(".npy"))[:4], {}
    forge_arrays(path, lambda name, array: names.update({name: array}), path.with_suffix(".same"))
    for name, array in names.items():
        for other in changes(array) if array.size else ():
            forged = forge_arrays(path, lambda way, _: other if way == name else None, path.with_suffix(".forged"))
            try:
                model = hyperplan.load(forged)
            except ModelFileError:
                n_refused += 1
                continue
            n_loaded += 1
            ask(model, rows)
print(json.dumps([n_refused, n_loaded]))
"""


def test_no_forged_array_leads_a_kernel_outside(tmp_path, run_python, root):
    for i, (model, rows) in enumerate(SWEPT):
        saved(model, rows, tmp_path / f"{i}.zip")
        np.save(tmp_path / f"{i}.npy", rows.toarray() if sp.issparse(rows) else rows)
    done = run_python(SWEEP, tmp_path, root / "tests" / "persistence", timeout=900, NUMBA_DISABLE_JIT="1")
    n_refused, n_loaded = json.loads(done.stdout)
    assert n_refused > 300 and n_loaded > 50
