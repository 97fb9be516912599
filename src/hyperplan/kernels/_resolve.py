"""The parameter `kernel` of estimators: scikit-learn's names, a function of two rows, or a kernel object."""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Choice, InvalidParameterError, Is, OneOf
from hyperplan.kernels._histogram import AdditiveChiSquared, ChiSquared
from hyperplan.kernels._kernel import Kernel
from hyperplan.kernels._plain import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid
from hyperplan.kernels._structured import FromFunction, Precomputed

NAMES = ("additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly", "polynomial", "rbf", "sigmoid")
KernelParameter = OneOf(Choice(*NAMES, "precomputed"), Is(callable, "a callable"))


def resolve(kernel, *, gamma=None, degree=3, coef0=1.0, options=None) -> Kernel:
    """The kernel object that the parameters of an estimator stand for.

    >>> from hyperplan.kernels._resolve import resolve
    >>> resolve("poly", gamma=0.5, degree=2)
    Polynomial(degree=2, gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return FromFunction(kernel, options=options)
    makers = {
        "additive_chi2": AdditiveChiSquared,
        "chi2": lambda: ChiSquared(gamma),
        "cosine": Cosine,
        "laplacian": lambda: Laplacian(gamma),
        "linear": Linear,
        "poly": lambda: Polynomial(degree, gamma=gamma, coef0=coef0),
        "polynomial": lambda: Polynomial(degree, gamma=gamma, coef0=coef0),
        "rbf": lambda: RBF(gamma),
        "sigmoid": lambda: Sigmoid(gamma, coef0=coef0),
        "precomputed": Precomputed,
    }
    if kernel not in makers:
        raise InvalidParameterError(f"kernel must be one of {sorted(makers)} or a kernel object, got {kernel!r}")
    return makers[kernel]()


def is_precomputed(kernel) -> bool:
    """Whether tables are matrices of kernel values."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def rows_first(X):
    """CSR or C order: kernels cut tables into rows."""
    return X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)


def scaled_gamma(X) -> float:
    """What ``gamma="scale"`` means: ``1 / (n_features X.var())``, 1 for a constant table."""
    variance = float(X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var())
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
