"""Gaussian classes in the model competition."""

from hyperplan._base.candidate import Candidate

CANDIDATES = (
    Candidate(
        "discriminant_analysis.LinearDiscriminantAnalysis",
        "classification",
        "Linear discriminant analysis",
        13,
        "linear",
        (0.02, 0.1),
        {"solver": "lsqr", "shrinkage": "auto"},
        most_columns=1_000,  # covariances are matrices of all columns with all
    ),
    Candidate(
        "discriminant_analysis.QuadraticDiscriminantAnalysis",
        "classification",
        "Quadratic discriminant analysis",
        30,
        "linear",
        (0.02, 0.2),
        # Classes with fewer rows than columns have a covariance too.  Of many rows little is shrunk, and the columns of
        # a category, which add up to one, are no reason to give up.
        {"solver": "eigen", "shrinkage": "auto", "tol": 1e-9},
        most_columns=500,
    ),
)
