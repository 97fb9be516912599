"""Gaussian classes in the model competition."""

from hyperplan._base.candidate import Candidate, Range

CANDIDATES = (
    Candidate(
        "discriminant_analysis.LinearDiscriminantAnalysis",
        "classification",
        "Linear discriminant analysis",
        13,
        "linear",
        (0.02, 0.1),
        {"solver": "lsqr", "shrinkage": "auto"},
    ),
    Candidate(
        "discriminant_analysis.QuadraticDiscriminantAnalysis",
        "classification",
        "Quadratic discriminant analysis",
        30,
        "linear",
        (0.02, 0.2),
        {"reg_param": 0.1},
        {"reg_param": Range(1e-3, 0.9, log=True)},
    ),
)
