"""Maps of things whose true dimension is known: a rolled sheet, faces under turning light, one digit."""

import time
import warnings

import numpy as np

from hyperplan import manifold
from hyperplan.decomposition import PCA
from hyperplan.metrics import elbow, residual_variance, trustworthiness

MOST = 10  # dimensions of the residual curves
DIGIT_RADIUS, DIGIT_NEIGHBOURS = 4.2, 6


def residual_curves(X, model) -> dict:
    """Residual variance against dimension: of geodesic distances for Isomap, of straight ones for scaling."""
    straight = PCA(min(MOST, *X.shape), svd_solver="full").fit_transform(X)
    bent = model.embedding_
    curve = {
        "isomap": [
            residual_variance(model.dist_matrix_, bent[:, :d], metric="precomputed")
            for d in range(1, min(MOST, bent.shape[1]) + 1)
        ],
        "mds": [residual_variance(X, straight[:, :d]) for d in range(1, straight.shape[1] + 1)],
    }
    more = len(curve["isomap"]) - len(curve["mds"])
    curve["mds"] += curve["mds"][-1:] * more  # further coordinates of straight distances are zero
    bend = {name: int(elbow(values)) + 1 for name, values in curve.items() if len(values) > 2}
    return {"residual": {name: [float(v) for v in values] for name, values in curve.items()}, "elbow": bend}


def mapped(X, **neighbourhood):
    """RISIMAP of as many coordinates as the curves need, and the seconds it took; Isomap if nothing is bridged."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = manifold.RISIMAP(n_components=min(MOST, len(X) - 1), **neighbourhood).fit(X)
    return model, time.perf_counter() - began


def roll(table, tick) -> dict:
    """The Swiss roll: Isomap finds two dimensions, scaling three; LLE keeps neighbours too."""
    X, truth = table.X, table.y
    model, seconds = mapped(X, n_neighbors=10)
    tick()
    local = manifold.LocallyLinearEmbedding(n_neighbors=12, n_components=2, random_state=0).fit_transform(X)
    tick()
    return {
        "places": rounded(model.embedding_[:, :2]),
        "lle": rounded(local / local.std(axis=0)),
        "bridges": len(model.bridges_),
        "seconds": seconds,
        "explained": explained(model.embedding_[:, :2], np.column_stack([arc_length(truth[:, 0]), truth[:, 1]])),
        "trust": {
            "isomap": float(trustworthiness(X, model.embedding_[:, :2], n_neighbors=10)),
            "lle": float(trustworthiness(X, local, n_neighbors=10)),
            "pca": float(trustworthiness(X, PCA(2).fit_transform(X), n_neighbors=10)),
        },
        **residual_curves(X, model),
    }


def arc_length(angle):
    """Length along the spiral of radius equal to the angle: the coordinate of the unrolled sheet."""
    return 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))


def faces(table, tick) -> dict:
    """698 images, six neighbours, three dimensions: two angles and the light."""
    model, seconds = mapped(table.X, n_neighbors=6)
    tick()
    return {
        "places": rounded(model.embedding_[:, :3]),
        "bridges": len(model.bridges_),
        "seconds": seconds,
        "explained": explained(model.embedding_[:, :3], table.y),
        "explained_by_pca": explained(PCA(3).fit_transform(table.X), table.y),
        **residual_curves(table.X, model),
    }


def digits(table, n, tick) -> dict:
    """The first images of the digit 2 by six neighbours; balls of radius 4.2 leave nearly each alone."""
    X = table.X[:n]
    balls, _ = mapped(X, n_neighbors=None, radius=DIGIT_RADIUS)
    model, seconds = mapped(X, n_neighbors=DIGIT_NEIGHBOURS)
    tick()
    return {
        "places": rounded(model.embedding_[:, :2]),
        "bridges": len(model.bridges_),
        "ball_bridges": len(balls.bridges_),
        "n": len(X),
        "seconds": seconds,
        **residual_curves(X, model),
    }


def explained(Y, truth) -> list[float]:
    """Share of the variance of each true coordinate that a linear function of the places explains."""
    design = np.column_stack([np.ones(len(Y)), Y])
    rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return [float(v) for v in 1.0 - rest.var(axis=0) / truth.var(axis=0)]


def rounded(places) -> list[list[float]]:
    """Coordinates as a file of figures needs them: four digits of the largest."""
    size = float(np.abs(places).max()) or 1.0
    return (np.round(places / size, 4) * size).round(6).tolist()
