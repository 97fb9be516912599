"""Every map is defined outside its rows too (Q8, section 8): one rule, checked for all of them at once."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_s_curve

import hyperplan
import hyperplan.decomposition
import hyperplan.manifold
import hyperplan.random_projection
from hyperplan import testing
from hyperplan.decomposition import PCA, KernelPCA
from hyperplan.manifold import ClassicalMDS, Isomap

FAMILIES = (hyperplan.manifold, hyperplan.decomposition, hyperplan.random_projection)
MAPS = {
    name: cls
    for name, cls in testing.all_estimators(composite=True)
    if any(hasattr(family, name) for family in FAMILIES) and hasattr(cls, "transform")
}
each = pytest.mark.parametrize("name", sorted(MAPS))
VOTERS = ("SeparableCoordinates",)  # there, neighbours vote: as many as there are
OPTIONS = {"random_state": 0, "n_components": 2, "n_epochs": 60}


def make(name, **options):
    """A map into the plane with a seed, as far as it has such parameters."""
    wanted = {**OPTIONS, **({"init": "classical_mds"} if name == "MDS" else {"init": "spectral"}), **options}
    known = inspect.signature(MAPS[name].__init__).parameters
    return testing.construct(MAPS[name], **{key: value for key, value in wanted.items() if key in known})


def sheet(n=160, seed=0):
    X = make_s_curve(n, random_state=seed)[0]
    X[11] = X[4]  # a copy
    return X, (X[:, 0] > 0.0).astype(int)


def quietly(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments)


def outcome(model, X, y):
    """The map, or the words with which it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            return model.fit_transform(X, y), None
    except ValueError as error:
        return None, str(error)


def test_all_families_are_here():
    expected = {"Isomap", "RISIMAP", "Isostretch", "LocallyLinearEmbedding", "MDS", "UMAP", "SpectralEmbedding", "PCA"}
    assert expected | {"KernelPCA", "ClassicalMDS", "GaussianRandomProjection", "LandmarkIsomap"} <= set(MAPS)


@each
def test_Q8_rows_of_the_fit_keep_their_places(name):
    """`transform` of the rows, all or a few of them, is what `fit_transform` gave."""
    X, y = sheet()
    model = make(name)
    Y = quietly(model.fit_transform, X, y)
    scale = np.abs(Y).max()
    np.testing.assert_allclose(quietly(model.transform, X), Y, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(quietly(model.transform, X[20:29]), Y[20:29], rtol=0, atol=1e-7 * scale)
    again = quietly(make(name).fit, X, y)
    np.testing.assert_allclose(quietly(again.transform, X), Y, rtol=0, atol=1e-7 * scale)


@each
def test_Q8_a_row_does_not_depend_on_its_company(name):
    X, y = sheet()
    new = make_s_curve(30, random_state=5)[0]
    model = quietly(make(name).fit, X, y)
    together = quietly(model.transform, new)
    alone = np.concatenate([quietly(model.transform, new[i : i + 1]) for i in range(6)])
    assert together.shape == (30, together.shape[1]) and np.isfinite(together).all()
    np.testing.assert_allclose(alone, together[:6], rtol=0, atol=1e-6 * np.abs(together).max())


@each
def test_Q8_new_rows_land_among_their_neighbours(name):
    """A row next to one of the fit lands nearer to it than the rows of the fit lie from each other on average."""
    X, y = sheet(200)
    model = make(name)
    Y = quietly(model.fit_transform, X, y)
    gap = np.linalg.norm(quietly(model.transform, X + 1e-4) - Y, axis=1)
    assert np.median(gap) < 0.1 * np.linalg.norm(Y - Y.mean(axis=0), axis=1).mean()


@each
def test_section_8_bad_values_are_refused(name):
    X, y = sheet(40)
    model = quietly(make(name).fit, X, y)
    bad = X.copy()
    bad[4, 1] = np.nan
    for call in (lambda: make(name).fit(bad, y), lambda: model.transform(bad)):
        with pytest.raises(ValueError, match=r"(?i)nan|row 4"):
            quietly(call)
    with pytest.raises(ValueError, match="features"):
        quietly(model.transform, X[:, :2])


@each
@pytest.mark.parametrize("kind", ["equal", "one", "line", "copies", "constant column", "far away"])
def test_section_8_degenerate_tables_are_errors_or_finite(name, kind):
    """All rows equal, one row, one column, few different rows, a column without variance, a distant origin."""
    rng = np.random.default_rng(3)
    tables = {
        "equal": np.ones((40, 3)),
        "one": np.ones((1, 3)),
        "line": rng.normal(size=(40, 1)),
        "copies": np.repeat(rng.normal(size=(8, 3)), 5, axis=0),
        "constant column": np.column_stack([rng.normal(size=(40, 2)), np.full(40, 3.0)]),
        "far away": rng.normal(size=(40, 3)) + 1e8,
    }
    X = tables[kind]
    y = np.arange(len(X)) % 2
    Y, refusal = outcome(make(name), X, y)
    if refusal is None:
        assert len(Y) == len(X) and np.isfinite(Y).all()
    else:  # says what is wrong; a table of plain rows is never refused
        assert kind not in ("constant column", "far away") and len(refusal) > 20


@pytest.mark.parametrize(
    "name", [name for name in sorted(MAPS) if "n_neighbors" in make(name).get_params() and name not in VOTERS]
)
def test_section_8_more_neighbours_than_rows_are_refused_or_said(name):
    X, y = sheet(12)
    most = 12 if name == "SpectralEmbedding" else 11  # there, a row is a neighbour of itself
    for k in (most + 1, 40):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Y, refusal = outcome(make(name, n_neighbors=k), X, y)
        assert "neighbo" in refusal if refusal is not None else caught and np.isfinite(Y).all()
    Y = quietly(make(name, n_neighbors=10).fit_transform, X, y)
    assert np.isfinite(Y).all()


def test_section_5_4_four_names_of_one_map():
    """Isomap with all neighbours, classical scaling, principal components and a linear kernel."""
    X = np.random.default_rng(0).normal(size=(60, 4)) * [4.0, 3.0, 2.0, 1.0]
    new = np.random.default_rng(1).normal(size=(9, 4))
    models = [PCA(3), ClassicalMDS(3), ClassicalMDS(3, metric="precomputed"), KernelPCA(3, kernel="linear")]
    models += [Isomap(n_neighbors=59, n_components=3), Isomap(n_neighbors=None, radius=1e3, n_components=3)]
    expected, placed = models[0].fit_transform(X), models[0].transform(new)
    for model in models[1:]:
        given = getattr(model, "metric", None) == "precomputed"
        table = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)) if given else X
        queries = np.sqrt(((new[:, None] - X) ** 2).sum(axis=2)) if given else new
        found = model.fit_transform(table)
        signs = np.sign((found * expected).sum(axis=0))
        np.testing.assert_allclose(found * signs, expected, atol=1e-8)  # rounding of distances, squared
        if getattr(model, "n_neighbors", None) is None:  # a new row has 60 others, not 59
            np.testing.assert_allclose(model.transform(queries) * signs, placed, atol=1e-8)
