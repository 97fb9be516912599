"""Weights of kernels by the level method (a bundle method), and the sums of kernels its machines are solved with.

J(d), the optimal value of the machines for the weights d, is the largest of the values ``S(beta) - d'q(beta)`` over
feasible coefficients, with ``S = sum_i s_i beta_i`` and ``q_k = 1/2 beta'K_k beta``: each machine that was solved, well
or not, gives a plane below J.  The lowest point of all planes over the simplex bounds the optimum from below; the next
weights are the nearest to the best so far where all planes are below a level between that bound and the best value.
With a handful of kernels about ten machines are enough, where descent along gradients needs a hundred.

References: Lemarechal, Nemirovskii, Nesterov (1995), New variants of bundle methods, Mathematical Programming 69.  Xu,
Jin, King, Lyu (2009), An extended level method for efficient multiple kernel learning, NIPS 21.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.optimize import linprog, nnls

from hyperplan._core.memory import available_bytes, require_memory
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._solvers.kernel_svm import WHOLE
from hyperplan._solvers.kernel_svm_problems import solve_classification

LEVEL = 0.2  # between the lowest point of the planes (0) and the best value (1)
INNER_SHARE = 0.1  # the last machines are solved to this share of the tolerance
LOOSE, LOOSEST = 0.1, 0.03  # earlier ones to this share of the gap that is left, but no worse than that
NEGLIGIBLE = 1e-10  # weights below are set to zero
STILL, MOST_IDLE = 0.999, 15  # a gap that is not below this share of the least, so many times, will not close
HELD_BYTES, HELD_SHARE = 2**30, 0.25  # kernel matrices that are kept: bytes, and share of the memory at hand
STRIP = 64  # rows of a matrix that are summed at a time


class Pair(NamedTuple):
    """Rows, signs and costs of a pair of classes."""

    rows: np.ndarray
    signs: np.ndarray
    cost: np.ndarray


class WholeMatrix(NamedTuple):
    """A source of kernel values that is nothing but its matrix."""

    matrix: np.ndarray

    def __len__(self):
        return self.matrix.shape[0]

    def square(self):
        """The matrix itself."""
        return self.matrix


class WeightedSum(NamedTuple):
    """A source whose values are weighted sums of those of other sources, made when they are asked for."""

    parts: list
    factors: np.ndarray

    def __len__(self):
        return len(self.parts[0])

    @property
    def dtype(self):
        """Precision of the kernel values."""
        return self.parts[0].dtype

    def take(self, index):
        """The same sum on some of the rows."""
        return WeightedSum([part.take(index) for part in self.parts], self.factors)

    def diagonal(self):
        """``k(x, x)`` of each row."""
        return sum(factor * part.diagonal() for factor, part in zip(self.factors, self.parts))

    def fill(self, index, out):
        """Kernel values between the rows of `index` and all rows."""
        out[...] = 0.0
        one = np.empty_like(out)
        for factor, part in zip(self.factors, self.parts):
            part.fill(index, one)
            one *= one.dtype.type(factor)
            out += one

    def product(self, other, coef):
        """``K(self, other) @ coef``."""
        terms = zip(self.factors, self.parts, other.parts)
        return sum(factor * part.product(same, coef) for factor, part, same in terms)


class FunctionRows(NamedTuple):
    """Kernel values by a function of two tables, which is called from one thread only."""

    function: Any
    rows: np.ndarray
    dtype: Any

    def __len__(self):
        return self.rows.shape[0]

    def take(self, index):
        """The same function on some of the rows."""
        return FunctionRows(self.function, self.rows[index], self.dtype)

    def values(self, one, other):
        """The matrix of values between two tables."""
        found = self.function(one, other)
        found = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
        if found.shape != (len(one), len(other)):
            raise ValueError(f"a kernel gave values of the shape {found.shape}, not {(len(one), len(other))}")
        return found

    def square(self):
        """The whole matrix of kernel values."""
        return self.values(self.rows, self.rows)

    def diagonal(self):
        """``k(x, x)`` of each row."""
        parts = (self.rows[part] for part in spans(len(self), STRIP))
        return np.concatenate([self.values(part, part).diagonal() for part in parts])

    def fill(self, index, out):
        """Kernel values between the rows of `index` and all rows."""
        out[...] = self.values(self.rows[index], self.rows)

    def product(self, other, coef):
        """``K(self, other) @ coef``."""
        parts = (self.rows[part] for part in spans(len(self), 16 * STRIP))
        with single_threaded_blas():
            return np.concatenate([self.values(part, other.rows) @ coef for part in parts])


class PairKernels:
    """The kernels on the rows of a pair: matrices that are held, or made anew; of many rows never as a whole.

    Values are the same either way.
    """

    def __init__(self, sources, scales, hold):
        self._sources, self._scales = sources, scales
        self._held = [source.square() for source in sources] if hold else None

    def __len__(self):
        return len(self._sources[0])

    def _squares(self, chosen):
        for k in chosen:
            yield k, self._sources[k].square() if self._held is None else self._held[k]

    def combined(self, weights):
        """A source of kernel values for some weights."""
        factors = weights / self._scales
        chosen = np.flatnonzero(factors)
        if len(self) > WHOLE:
            return WeightedSum([self._sources[k] for k in chosen], factors[chosen])
        total = np.zeros((len(self), len(self)))
        for k, matrix in self._squares(chosen):
            _add(matrix, factors[k], total)
        return WholeMatrix(total)

    def products(self, beta):
        """``K_k beta`` of each kernel, one per line."""
        moved, out = np.flatnonzero(beta), np.empty((len(self._sources), len(self)))
        if len(self) > WHOLE:
            for k, source in enumerate(self._sources):
                out[k] = source.product(source.take(moved), beta[moved])
        else:
            for k, matrix in self._squares(range(len(self._sources))):
                out[k] = np.concatenate(thread_map(lambda rows, K=matrix: K[rows] @ beta, spans(len(self), 4 * STRIP)))
        return out / self._scales[:, None]


def _add(matrix, factor, total):
    def run(rows):
        for part in spans(rows.stop - rows.start, STRIP):
            some = slice(rows.start + part.start, rows.start + part.stop)
            total[some] += factor * matrix[some]

    thread_map(run, spans(len(total), 4 * STRIP))


def pair_kernels(make_sources, pairs, scales) -> list[PairKernels]:
    """The kernels of all pairs; ``make_sources(rows)`` gives their sources on some rows."""
    sizes = np.array([pair.rows.size if pair.rows.size <= WHOLE else 0 for pair in pairs])
    require_memory(16.0 * sizes.max() ** 2, f"Sums of kernels of {sizes.max()} rows", "take fewer rows")
    hold = 8.0 * len(scales) * (sizes**2).sum() <= min(HELD_BYTES, HELD_SHARE * available_bytes())
    return [PairKernels(make_sources(pair.rows), scales, hold and size > 0) for pair, size in zip(pairs, sizes)]


class Combination(NamedTuple):
    """Machines of all pairs for some weights, an upper bound `value` of J, and the plane ``height - d'slopes``."""

    weights: np.ndarray
    machines: list
    products: list
    value: float
    height: float
    slopes: np.ndarray


def evaluate(kernels, pairs, weights, before, tol) -> Combination:
    """Solve the machines for some weights, starting from those of another combination."""
    machines, products, height, slopes = [], [], 0.0, np.zeros(weights.size)
    for number, (own, pair) in enumerate(zip(kernels, pairs)):
        start = score = None
        if before is not None:
            start, score = before.machines[number].beta, weights @ before.products[number]
        machine = solve_classification(own.combined(weights), pair.signs, pair.cost, start, score, tol=tol)
        machines.append(machine)
        products.append(own.products(machine.beta))
        height += float(pair.signs @ machine.beta)
        slopes += 0.5 * products[-1] @ machine.beta
    return Combination(weights, machines, products, float(sum(m.primal for m in machines)), height, slopes)


class Found(NamedTuple):
    """The best combination, a lower bound of the optimum, and how many combinations were looked at."""

    best: Combination
    lower: float
    n_iter: int


def learn_weights(kernels, pairs, n_kernels, tol, max_iter) -> Found:
    """The level method, until value and lower bound agree to `tol` times the value."""
    weights, inner = np.full(n_kernels, 1.0 / n_kernels), LOOSEST if n_kernels > 1 else 0.0
    seen: list[Any] = []
    best, lower, least, idle = None, -np.inf, np.inf, 0
    while True:
        tightest = INNER_SHARE * tol
        near = min(seen, key=lambda other: np.abs(other.weights - weights).sum()) if seen else None
        seen.append(evaluate(kernels, pairs, weights, near, max(tightest, inner)))
        best = seen[-1] if best is None or seen[-1].value < best.value else best
        heights, slopes = np.array([each.height for each in seen]), np.array([each.slopes for each in seen])
        lowest, bound = lowest_point(heights, slopes)
        lower = max(lower, bound)
        gap = best.value - lower
        idle = idle + 1 if gap > STILL * least else 0
        least = min(least, gap)
        done = n_kernels == 1 or gap <= tol * best.value or not np.isfinite(gap)
        if done or len(seen) > max_iter or idle >= MOST_IDLE:  # the digits of the planes are used up
            return Found(best, lower, len(seen))
        inner = min(LOOSEST, LOOSE * gap / max(abs(best.value), 1e-300))
        weights = next_weights(best.weights, heights, slopes, lower + LEVEL * gap, lowest)


def lowest_point(heights, slopes):
    """The weights where the highest of the planes is lowest, and a lower bound of that height (by duality)."""
    n_planes, k = slopes.shape
    unit = max(float(np.abs(heights).max()), float(np.abs(slopes).max()), 1e-300)
    planes = np.column_stack([-slopes / unit, -np.ones(n_planes)])  # height - d'slopes <= t
    sums = np.append(np.ones(k), 0.0)[None]
    goal, bounds = np.append(np.zeros(k), 1.0), [(0, None)] * k + [(None, None)]
    answer = linprog(goal, planes, -heights / unit, sums, [1.0], bounds, method="highs")
    if answer.x is None:
        return np.full(k, 1.0 / k), float((heights - slopes.max(axis=1)).max())
    shares = np.maximum(-answer.ineqlin.marginals, 0.0)
    shares /= shares.sum()
    return _cleaned(answer.x[:k]), float(shares @ heights - (shares @ slopes).max())


def next_weights(centre, heights, slopes, level, lowest):
    """The weights nearest to `centre` whose planes are below the level; those of the lowest point in doubt."""
    k = centre.size
    plane = la.null_space(np.ones((1, k)))  # changes that keep the sum
    rows = np.vstack([np.eye(k), slopes]) @ plane
    least = np.concatenate([-centre, heights - level - slopes @ centre])  # rows @ t >= least
    sizes = np.maximum(np.sqrt((rows**2).sum(axis=1)), 1e-300)
    rows, least = rows / sizes[:, None], least / sizes
    target = np.append(np.zeros(k - 1), 1.0)
    shares, distance = nnls(np.vstack([rows.T, least]), target)
    rest = target - np.vstack([rows.T, least]) @ shares  # least distance programming: Lawson, Hanson (1974), chapter 23
    if not distance > 1e-9 or not rest[-1] > 0.0:
        return lowest
    return _cleaned(centre - plane @ (rest[:-1] / rest[-1]))


def _cleaned(weights):
    weights = np.where(weights < NEGLIGIBLE, 0.0, weights)
    return weights / weights.sum()
