"""Who may compete: what each family lists, and the baselines, which always run."""

import importlib

from hyperplan._base.candidate import Candidate

FAMILIES = (  # families with a module `_candidates`
    *("linear_model", "tree", "ensemble", "compete"),
    *("svm", "neighbors", "naive_bayes", "discriminant_analysis", "kernels"),
)
BASELINES = (
    Candidate("compete.ConstantClassifier", "classification", "Majority class", 0, "native", (0.001, 0.001)),
    Candidate("compete.ConstantRegressor", "regression", "Mean", 0, "native", (0.001, 0.001)),
)


def candidates(task: str, names=None) -> list[Candidate]:
    """The candidates of a task, the baseline first, then from the simplest on.

    Parameters
    ----------
    task : {"classification", "regression"}
        What is asked.
    names : sequence of str, default=None
        Only these classes (and the baseline); None means all.
    """
    found = [candidate for candidate in BASELINES if candidate.task == task]
    for family in FAMILIES:
        listed = importlib.import_module(f"hyperplan.{family}._candidates").CANDIDATES
        found += [candidate for candidate in listed if candidate.task == task]
    if names is not None:
        unknown = set(names) - {candidate.name for candidate in found}
        if unknown:
            known = ", ".join(candidate.name for candidate in found)
            raise ValueError(f"no candidate named {', '.join(sorted(unknown))} for {task}; there are {known}")
        found = [candidate for candidate in found if candidate.name in names or candidate in BASELINES]
    return sorted(found, key=lambda candidate: (candidate.simplicity, candidate.name))
