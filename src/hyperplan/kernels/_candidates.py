"""Kernel methods in the model competition."""

from hyperplan._base.candidate import Candidate, Range

CANDIDATES = (
    Candidate(
        "kernels.KernelRidge",
        "regression",
        "Kernel ridge regression",
        40,
        "linear",
        (0.02, 5.0),
        {"kernel": "rbf", "alpha": 0.3, "fit_intercept": True},
        {"alpha": Range(1e-3, 10.0, log=True), "gamma": Range(1e-3, 1.0, log=True)},
        most_rows=5_000,  # time grows with the third power of the rows, memory with the second
    ),
)
