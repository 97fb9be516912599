"""Candidates of the competition's own: one that uses rows without a target."""

from hyperplan._base.candidate import Candidate

CANDIDATES = (
    Candidate(
        "compete.SelfTrainingClassifier",
        "classification",
        "Self-training logistic regression",
        13,
        "linear",
        (0.05, 2.0),
        uses_unlabelled=True,
    ),
)
