"""Procrustes alignment: ``min |A - (s B R + t)|^2`` over rotations and reflections R, scales s and translations t.

With A and B centred and ``B' A = U S V'``, the optimum is ``R = U V'`` and ``s = tr S / |B|^2``.  Embeddings are only
determined up to such maps: align them before comparing.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import FLOATS, Bool, check_array
from hyperplan.metrics._arguments import checked


class Alignment(NamedTuple):
    """The map ``x -> scale * x @ rotation + translation``; call it to apply it to other points.

    Attributes
    ----------
    aligned : ndarray of shape (n_samples, n_components)
        The points after the map.
    rotation : ndarray of shape (n_components, n_components)
        Orthogonal matrix; a reflection if its determinant is -1.
    scale : float
        1 without scaling.
    translation : ndarray of shape (n_components,)
        What is added.
    disparity : float
        Sum of squared distances that remain, divided by that of the reference from its mean: between 0 and 1 with
        scaling.
    """

    aligned: np.ndarray
    rotation: np.ndarray
    scale: float
    translation: np.ndarray
    disparity: float

    def __call__(self, points):
        return self.scale * (np.asarray(points, dtype=np.float64) @ self.rotation) + self.translation


@checked(scaling=Bool, reflection=Bool)
def procrustes(reference, points, *, scaling=True, reflection=True) -> Alignment:
    """Turn, shift and (if wanted) scale points so that they come closest to reference points, row by row.

    Parameters
    ----------
    reference : array-like of shape (n_samples, n_components)
        Where the points should come to lie.
    points : array-like of shape (n_samples, n_components)
        Points to move; fewer columns than the reference are filled up with zeros.
    scaling : bool, default=True
        Whether a common scale is allowed.
    reflection : bool, default=True
        Whether reflections are allowed.

    Returns
    -------
    Alignment
        The map, the points after it, and how much remains.

    References
    ----------
    Schoenemann (1966), A generalized solution of the orthogonal Procrustes problem, Psychometrika.
    Gower, Dijksterhuis (2004), Procrustes Problems.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import procrustes
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> turned = 3.0 * square @ [[0.0, 1.0], [-1.0, 0.0]] + 7.0
    >>> alignment = procrustes(square, turned)
    >>> round(alignment.scale, 12), bool(np.allclose(alignment.aligned, square))
    (0.333333333333, True)
    """
    A = check_array(reference, dtype=FLOATS, input_name="reference").astype(np.float64)
    B = check_array(points, dtype=FLOATS, input_name="points").astype(np.float64)
    if len(A) != len(B) or B.shape[1] > A.shape[1]:
        raise ValueError(
            f"Rows must correspond, and points must not have more columns than the reference: got shapes {A.shape} and "
            f"{B.shape}."
        )
    B = np.pad(B, ((0, 0), (0, A.shape[1] - B.shape[1])))
    middle, start = A.mean(axis=0), B.mean(axis=0)
    A, B = A - middle, B - start
    U, sizes, Vt = np.linalg.svd(B.T @ A)
    if not reflection and np.linalg.det(U @ Vt) < 0.0:
        U[:, -1], sizes[-1] = -U[:, -1], -sizes[-1]
    rotation, own = U @ Vt, float((B**2).sum())
    scale = 1.0 if not scaling or own == 0.0 else max(float(sizes.sum()) / own, 0.0)
    aligned = scale * (B @ rotation)
    left, whole = float(((A - aligned) ** 2).sum()), float((A**2).sum())
    disparity = left / whole if whole > 0.0 else 0.0
    return Alignment(aligned + middle, rotation, scale, middle - scale * (start @ rotation), disparity)
