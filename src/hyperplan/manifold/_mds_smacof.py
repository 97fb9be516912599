"""Scaling by majorisation of a complicated function (SMACOF).

Minimises the stress ``sum_{i<j} (|y_i - y_j| - d_ij)^2`` over tables of points.  Each step moves all points to the
minimum of a quadratic that lies above the stress and touches it (the Guttman transform), so that the stress never
rises.  In the non-metric form d_ij are replaced by the increasing function of them that is closest to the present
distances, before each step (Kruskal).
"""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import ArrayLike, Bool, Choice, Int, Jobs, Null, OneOf, Real, Seed, check_array, check_random_state
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.isotonic import pooled
from hyperplan.manifold import _mds_kernels as k
from hyperplan.manifold._mds_distances import checked_distances
from hyperplan.metrics._arguments import checked

ROWS = 64  # of one task
PAIRS = 1 << 18  # of one task
PAIR_BYTES = 40
SAME = np.finfo(np.float64).resolution  # dissimilarities closer than this are tied, as in isotonic regression


class Configuration(NamedTuple):
    """Points found by one run; `curve` are dissimilarities and what became of them in the non-metric form, or None."""

    points: np.ndarray
    stress: float
    n_iter: int
    decrease: float  # of the stress in the last step, relative to half the sum of squared distances
    curve: tuple[np.ndarray, np.ndarray] | None


def metric_run(wanted, start, max_iter, eps, n_jobs=None) -> tuple[Configuration, float]:
    """Majorise the stress of a matrix of dissimilarities (float64, C order) from a start of shape (n, p).

    Returns the points and the sum of their squared distances.
    """
    n = wanted.shape[0]
    points, old, decrease = np.ascontiguousarray(start.T, dtype=np.float64), np.inf, np.inf

    def one_step(points):
        moved = np.empty_like(points)

        def one_task(rows):
            scratch, part, totals = np.empty((2, n)), np.empty((points.shape[0], rows.stop - rows.start)), np.empty(2)
            k.guttman_rows(wanted[rows], points, rows.start, scratch[0], scratch[1], part, totals)
            moved[:, rows] = part
            return totals

        misfit, size = 0.5 * np.sum(thread_map(one_task, spans(n, ROWS), n_jobs), axis=0)
        return moved, float(misfit), float(size)

    moved = one_step(points)[0]
    for n_iter in range(1, max_iter + 1):
        points, steps = moved, n_iter
        moved, stress, size = one_step(points)
        decrease = (old - stress) / size if size > 0.0 else 0.0
        if decrease < eps or size == 0.0:
            break
        old = stress
    return Configuration(np.ascontiguousarray(points.T), stress, steps, decrease, None), size


def ordinal_run(wanted, start, max_iter, eps, n_jobs=None) -> tuple[Configuration, float]:
    """The non-metric form: only the order of the dissimilarities counts, and zeros mean that nothing is known.

    Returns the points and the sum of their squared distances.
    """
    pairs = _sorted_pairs(wanted)
    n, points = wanted.shape[0], np.ascontiguousarray(start, dtype=np.float64)
    old, decrease = np.inf, np.inf
    distances = _distances(points, pairs, n_jobs)
    disparities = np.zeros_like(distances)
    for step in range(max_iter):
        known = distances[: pairs.values.size]
        groups = (
            pairs.levels if step == 0 else pooled(np.add.reduceat(known, pairs.starts) / pairs.counts, pairs.counts)
        )
        length = float((pairs.counts * groups**2).sum())
        groups = groups * np.sqrt(n * (n - 1) / 2 / length) if length > 0.0 else groups
        disparities[: pairs.values.size] = np.repeat(groups, pairs.counts.astype(np.intp))
        points = _pulled(points, pairs, disparities, distances, n_jobs)
        distances = _distances(points, pairs, n_jobs)
        stress, size = float(((distances - disparities) ** 2).sum()), float((distances**2).sum())
        decrease = (old - stress) / size if size > 0.0 else 0.0
        if decrease < eps or size == 0.0:
            break
        old = stress
    return Configuration(points, stress, step + 1, decrease, (pairs.levels, groups)), size


class _Pairs(NamedTuple):
    """Pairs of points by rising dissimilarity, those without one at the end; equal ones form a group."""

    one: np.ndarray
    other: np.ndarray
    values: np.ndarray  # of the pairs that have one
    starts: np.ndarray  # of the groups
    counts: np.ndarray  # of their pairs, as floats
    levels: np.ndarray  # dissimilarity of each group


def _sorted_pairs(wanted) -> _Pairs:
    n = wanted.shape[0]
    require_memory(PAIR_BYTES * n * (n - 1) / 2, f"the pairs of {n} points", "use metric scaling or fewer rows.")
    one, other = (index.astype(np.int32) for index in np.triu_indices(n, 1))
    values = wanted[one, other].astype(np.float64)
    order = np.argsort(values, kind="stable")
    values, missing = values[order], int(np.searchsorted(values[order], 0.0, side="right"))
    order, values = np.concatenate([order[missing:], order[:missing]]), values[missing:]
    if not values.size:
        raise ValueError("Non-metric scaling needs at least one dissimilarity above zero: zeros are missing values.")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values) >= SAME]))
    counts = np.diff(np.append(starts, values.size)).astype(np.float64)
    return _Pairs(one[order], other[order], values, starts, counts, values[starts])


def _closest_increasing(distances, pairs):
    """Isotonic regression of distances on dissimilarities, one value for each group."""
    return pooled(np.add.reduceat(distances, pairs.starts) / pairs.counts, pairs.counts)


def _distances(points, pairs, n_jobs):
    distances = np.empty(pairs.one.size)
    thread_map(
        lambda part: k.pair_distances(points, pairs.one[part], pairs.other[part], distances[part]),
        spans(distances.size, PAIRS),
        n_jobs,
    )
    return distances


def _pulled(points, pairs, disparities, distances, n_jobs):
    def one_task(part):
        pulls = np.zeros_like(points)
        k.guttman_pairs(points, pairs.one[part], pairs.other[part], disparities[part], distances[part], pulls)
        return pulls

    parts = thread_map(one_task, spans(distances.size, PAIRS), n_jobs)
    return np.sum(parts, axis=0) / len(points)


def best_run(
    distances, *, is_metric, n_components, init, n_init, max_iter, eps, random_state, normalized, verbose, n_jobs
) -> Configuration:
    """The run with the least stress from `n_init` random starts, or the one from `init`."""
    wanted = np.ascontiguousarray(distances, dtype=np.float64)
    n, best = len(wanted), None
    if init is not None and len(init) != n:
        raise ValueError(f"init matrix should be of shape ({n}, {init.shape[1]}), got {init.shape}")
    for _ in range(n_init):
        start = random_state.uniform(size=n * n_components).reshape(n, n_components) if init is None else init
        found, size = (metric_run if is_metric else ordinal_run)(wanted, start, max_iter, eps, n_jobs)
        if normalized:
            found = found._replace(stress=float(np.sqrt(found.stress / size)) if size > 0.0 else 0.0)
        if verbose:
            print(f"stress {found.stress:.6g} after {found.n_iter} steps")
        best = found if best is None or found.stress < best.stress else best
    return best


@checked(
    dissimilarities=ArrayLike,
    metric=Bool,
    n_components=Int(ge=1),
    init=OneOf(ArrayLike, Null),
    n_init=Int(ge=1),
    n_jobs=Jobs,
    max_iter=Int(ge=1),
    verbose=OneOf(Int(ge=0), Bool),
    eps=Real(ge=0),
    random_state=Seed,
    return_n_iter=Bool,
    normalized_stress=OneOf(Bool, Choice("auto")),
)
def smacof(
    dissimilarities,
    *,
    metric=True,
    n_components=2,
    init=None,
    n_init=1,
    n_jobs=None,
    max_iter=300,
    verbose=0,
    eps=1e-6,
    random_state=None,
    return_n_iter=False,
    normalized_stress="auto",
):
    """Points whose distances come close to given dissimilarities, by majorisation of the stress.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_samples, n_samples)
        Symmetric matrix.
    metric : bool, default=True
        False lets an increasing function of the dissimilarities take their place; zeros then mean missing values.
    n_components : int, default=2
        Number of coordinates, unless `init` is given.
    init : array-like of shape (n_samples, n_components), default=None
        Where the points start; None draws them.
    n_init : int, default=1
        Random starts, of which the one with the least stress at the end counts.
    n_jobs : int, default=None
        Threads; they change no bit.
    max_iter : int, default=300
        Most steps of a run.
    verbose : int, default=0
        Whether to print the stress of each run.
    eps : float, default=1e-6
        A run ends when a step lowers the stress by less than this share of half the sum of squared distances.
    random_state : int, RandomState instance or None, default=None
        Source of the starts.
    return_n_iter : bool, default=False
        Whether to return the number of steps.
    normalized_stress : bool or "auto", default="auto"
        Whether the stress is divided by half the sum of squared distances, and its root taken (Kruskal's stress-1);
        "auto" means for the non-metric form.

    Returns
    -------
    X : ndarray of shape (n_samples, n_components)
        Points.
    stress : float
        Sum over pairs of the squared differences between distances and (transformed) dissimilarities.
    n_iter : int
        Steps of the best run, if asked for.

    References
    ----------
    Borg, Groenen (2005), Modern Multidimensional Scaling, chapters 8 and 9.
    Kruskal (1964), Nonmetric multidimensional scaling: a numerical method, Psychometrika.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import smacof
    >>> triangle = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> points, stress = smacof(triangle, eps=1e-12, max_iter=1000, random_state=0)
    >>> points.shape, stress < 1e-6
    ((3, 2), True)
    """
    distances = checked_distances(check_array(dissimilarities, dtype=[np.float64, np.float32]))
    normalized = not metric if normalized_stress == "auto" else normalized_stress
    if init is not None:
        init = check_array(init, dtype=np.float64, input_name="init")
        if n_init != 1:
            warnings.warn(
                f"Explicit initial positions passed: performing only one init of the MDS instead of {n_init}",
                stacklevel=2,
            )
            n_init = 1
    options = {"n_components": n_components, "init": init, "n_init": n_init, "max_iter": max_iter, "eps": eps}
    rng = check_random_state(random_state)
    options |= {"random_state": rng, "normalized": normalized, "verbose": verbose, "n_jobs": n_jobs}
    best = best_run(distances, is_metric=metric, **options)
    return (best.points, best.stress, best.n_iter) if return_n_iter else (best.points, best.stress)
