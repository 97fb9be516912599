"""Maps of the rows: principal components, distances along the surface (Isomap), neighbourhoods (UMAP).

Each is learnt on as many rows as it can bear; the others are placed on it.  How far a map can be trusted is measured:
whether neighbours on the map are neighbours indeed (trustworthiness), and whether neighbours stay so (continuity).
The residual variance of the distances against the number of dimensions shows how many the table really has.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse.csgraph as csgraph

from hyperplan.compete._audit_sample import draw_rows
from hyperplan.metrics import continuity, elbow, residual_variance, trustworthiness
from hyperplan.neighbors import kneighbors_graph

DIMENSIONS = 10  # looked at for the true one
FLAT = 0.01  # share of the variance of distances that may be missing from one dimension that is called enough
LONG = 1.5  # dimension of the neighbourhoods from which on a long cloud is more than a line
NEIGHBOURS, UMAP_NEIGHBOURS = 10, 15
PCA_ROWS, ISOMAP_ROWS, UMAP_ROWS = 100_000, 1_500, 5_000  # learnt on
ISOMAP_SECONDS, UMAP_SECONDS = 7e-7, 3.6e-4  # for a pair of rows, for a row; on 20 000 rows of 50 dimensions
LEAST_PART = 50  # rows of a part of the graph whose dimension is asked for
JUDGED_ROWS = 800
CHUNK = 2_000  # rows placed at a time
MAPS_END = 0.85  # share of the budget


class Map(NamedTuple):
    """A map of the rows.

    Attributes
    ----------
    name : str
        Key of its words: "pca", "isomap", "risimap" or "umap".
    coordinates : ndarray of shape (n_rows, 2)
        nan for rows that could not be placed in time.
    learnt_on : int
        Rows that it was learnt on.
    values : dict
        What its words are filled with: trustworthiness, continuity, and what is its own.
    curve : list of float
        Residual variance with one dimension, two, ...; may be empty.
    """

    name: str
    coordinates: np.ndarray
    learnt_on: int
    values: dict
    curve: list


def map_cost(name: str, n_rows: int) -> float:
    """About how many seconds it takes to learn a map of a table of so many rows; to place the others ends in time."""
    if name == "isomap":
        return ISOMAP_SECONDS * min(n_rows, ISOMAP_ROWS) ** 2
    return UMAP_SECONDS * min(n_rows, UMAP_ROWS) if name == "umap" else 0.0


def draw_maps(points, seed: int, clock, tell) -> tuple[list[Map], list[dict]]:
    """All maps that there is time for, and what became of the others (``name``, ``reason``)."""
    maps, absent = [], []
    for name, draw in MAPS:
        if maps and (points.shape[1] < 2 or not clock.has(MAPS_END, map_cost(name, len(points)))):
            reason = "budget" if points.shape[1] >= 2 else "one_dimension"
            absent.append({"name": name, "reason": reason})
            continue
        tell(phase="mapping", map=name)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                maps.append(draw(points, seed, clock))
        except Exception as error:  # a map that cannot be drawn is reported, and the others are
            absent.append({"name": name, "reason": f"{type(error).__name__}: {error}"[:200]})
    return maps, absent


def _pca(points, seed: int, clock) -> Map:
    from hyperplan.decomposition import PCA

    rows = draw_rows(len(points), PCA_ROWS, seed)
    model = PCA(min(DIMENSIONS, *points[rows].shape)).fit(points[rows])
    found = model.transform(points)
    kept = float(model.explained_variance_ratio_[:2].sum())
    some = draw_rows(len(points), JUDGED_ROWS, seed)
    curve = [residual_variance(points[some], found[some, :d]) for d in range(1, found.shape[1] + 1)]
    coordinates = found[:, :2] if found.shape[1] > 1 else np.column_stack([found[:, 0], np.zeros(len(points))])
    values = {"kept": kept} | _faithfulness(points[some], coordinates[some])
    return Map("pca", coordinates, len(rows), values, curve)


def _isomap(points, seed: int, clock) -> Map:
    """Isomap; where the graph of neighbours falls into parts, RISIMAP, which joins them by the shortest bridges."""
    from hyperplan import manifold

    some = draw_rows(len(points), ISOMAP_ROWS, seed)
    learnt = np.unique(points[some], axis=0)  # copies of a row would be each other's only neighbours
    n_neighbors = min(NEIGHBOURS, len(learnt) - 1)
    n_parts, part = csgraph.connected_components(kneighbors_graph(learnt, n_neighbors), directed=False)
    name = "isomap" if n_parts == 1 else "risimap"
    n_components = min(DIMENSIONS, points.shape[1])
    kind = manifold.Isomap if n_parts == 1 else manifold.RISIMAP
    model = kind(n_neighbors=n_neighbors, n_components=n_components)
    found = np.asarray(model.fit_transform(learnt))
    curve = _residuals(model, found) if n_parts == 1 else _curve_of_part(learnt[part == np.bincount(part).argmax()])
    coordinates = _place(model, points, learnt, found, clock)
    values = {"parts": int(n_parts)} | _judged(points, coordinates, some)
    return Map(name, coordinates, len(some), values, curve)


def _residuals(model, found) -> list:
    """Residual variances of the distances along the surface, with one dimension, two, ..."""
    widths = range(1, found.shape[1] + 1)
    return [residual_variance(model.dist_matrix_, found[:, :d], metric="precomputed") for d in widths]


def _curve_of_part(rows) -> list:
    """The curve of the largest part: bridges between parts would be measured along with it."""
    from hyperplan.manifold import Isomap

    if len(rows) < LEAST_PART:
        return []
    for n_neighbors in (NEIGHBOURS, 2 * NEIGHBOURS):  # a part may fall apart when it is looked at alone
        n_parts, _ = csgraph.connected_components(kneighbors_graph(rows, n_neighbors), directed=False)
        if n_parts == 1:
            model = Isomap(n_neighbors=n_neighbors, n_components=min(DIMENSIONS, rows.shape[1]))
            return _residuals(model, np.asarray(model.fit_transform(rows)))
    return []


def _umap(points, seed: int, clock) -> Map:
    from hyperplan.manifold import UMAP

    some = draw_rows(len(points), UMAP_ROWS, seed)
    learnt = points[some]
    model = UMAP(n_neighbors=min(UMAP_NEIGHBOURS, len(learnt) - 1), random_state=seed)
    coordinates = np.full((len(points), 2), np.nan)
    coordinates[some] = model.fit_transform(learnt)
    _place_others(model, points, coordinates, clock)
    return Map("umap", coordinates, len(learnt), _judged(points, coordinates, some), [])


MAPS = (("pca", _pca), ("isomap", _isomap), ("umap", _umap))


def _place(model, points, learnt, found, clock) -> np.ndarray:
    """Coordinates of all rows: those learnt on (and their copies) keep theirs, the others are placed."""
    places = {row.tobytes(): number for number, row in enumerate(learnt)}
    known = np.full(len(points), -1)
    for row in np.flatnonzero(np.isin(points[:, 0], learnt[:, 0])):  # few of a million rows need a closer look
        known[row] = places.get(points[row].tobytes(), -1)
    coordinates = np.full((len(points), 2), np.nan)
    coordinates[known >= 0] = found[known[known >= 0], :2]
    _place_others(model, points, coordinates, clock)
    return coordinates


def _place_others(model, points, coordinates, clock) -> None:
    """Place the rows that have no coordinates, a part at a time, while there is time."""
    absent = np.flatnonzero(np.isnan(coordinates[:, 0]))
    for start in range(0, len(absent), CHUNK):
        if not clock.has(MAPS_END):
            return
        rows = absent[start : start + CHUNK]
        coordinates[rows] = np.asarray(model.transform(points[rows]))[:, :2]


def _judged(points, coordinates, some) -> dict:
    some = some[np.isfinite(coordinates[some, 0])][:JUDGED_ROWS]
    return _faithfulness(points[some], coordinates[some])


def _faithfulness(points, coordinates) -> dict:
    n_neighbors = min(NEIGHBOURS, (len(points) - 1) // 2)
    if n_neighbors < 1:
        return {}
    return {
        "trustworthiness": trustworthiness(points, coordinates, n_neighbors=n_neighbors),
        "continuity": continuity(points, coordinates, n_neighbors=n_neighbors),
    }


def intrinsic_dimension(curve: list, local: float | None = None) -> int | None:
    """Where the curve of residual variances bends; None for no curve.

    One if one dimension is enough, unless the neighbourhoods say that there are more: a chain of groups is long, too.
    """
    if not curve:
        return None
    if curve[0] <= FLAT and (local is None or local < LONG):
        return 1
    return elbow(curve) + 1 if len(curve) > 2 else len(curve)


def local_dimension(points) -> float | None:
    """A second opinion: how fast the number of neighbours grows with the distance; None if distances tell nothing."""
    from hyperplan.manifold import intrinsic_dimension as nearest_neighbours

    rows = np.unique(points, axis=0)
    if len(rows) < LEAST_PART:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = float(nearest_neighbours(rows, n_neighbors=NEIGHBOURS))
    return found if np.isfinite(found) else None
