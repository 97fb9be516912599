"""Which hyper-parameters to move, and which way: the tables of `_advice_tables`, applied to a model.

Pipelines, votes, stacks and searches are looked through: every part whose class is known can be moved.  A move can be
made on a copy of the model, so that advice can be tried before it is given.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import clone, is_classifier
from hyperplan.evaluation._advice_tables import ANYTHING, PROBLEMS, Family, family_of

STRENGTHS = (1, 3)  # a moderate and a strong move


class Core(NamedTuple):
    """The estimator that learns, inside pipelines and searches, and the prefix of its parameters."""

    estimator: object
    prefix: str
    searched: bool


class Part(NamedTuple):
    """A nested estimator of a known family: its parameters' prefix and present values."""

    prefix: str
    family: Family
    values: dict

    def moves(self, problem) -> list:
        """``[(move, full name of the parameter, present value)]`` of moves that have an effect."""
        return [
            (move, f"{self.prefix}{move.parameter}", self.values[move.parameter])
            for move in self.family.moves.get(problem, ())
            if move.parameter in self.values and self.values.get(move.unless[0], move) not in move.unless[1]
        ]


def core_of(model, prefix="", searched=False) -> Core:
    """Look through pipelines (their last step), searches and transformed targets."""
    if hasattr(model, "steps") and model.steps:
        name, last = model.steps[-1]
        return core_of(last, f"{prefix}{name}__", searched)
    if _is_search(model):
        return core_of(getattr(model, "best_estimator_", model.estimator), f"{prefix}estimator__", True)
    if hasattr(model, "regressor") and hasattr(model, "transformer"):
        return core_of(model.regressor, f"{prefix}regressor__", searched)
    return Core(model, prefix, searched)


def _is_search(model):
    return hasattr(model, "param_grid") or hasattr(model, "param_distributions")


def parts_of(model) -> list[Part]:
    """Every estimator in a model that the tables know, the one that learns first."""
    nested = {"": model}
    if hasattr(model, "get_params"):
        nested |= {f"{name}__": value for name, value in model.get_params(deep=True).items()}
    core = core_of(model).prefix
    parts = []
    for prefix, value in nested.items():
        family = None if isinstance(value, type) else family_of(value)
        if family is not None:
            values = value.get_params(deep=False) if hasattr(value, "get_params") else vars(value)
            parts.append(Part(prefix, family, values))
    return sorted(parts, key=lambda part: part.prefix != core)


def memorises(model) -> bool:
    """Whether a perfect training score is normal for some part of the model."""
    return any(part.family.memorises(part.values) for part in parts_of(model))


def advice(model, problem: str) -> list[str]:
    """advice(model, problem) -> list of moves, the most useful first

    Which parameters of an estimator to move against a problem, and which way.

    Parameters
    ----------
    model : estimator, pipeline or search
        What to tune; parameters are named as its `set_params` wants them.
    problem : {"underfit", "overfit", "unstable", "local_detail", "global_view", "outliers", "separate_groups"}
        Too stiff, too flexible, different with every sample; for embeddings: what the picture lacks.

    Returns
    -------
    moves : list of str
        An arrow up or down, the parameter and its present value; an arrow to the right names a tool to use instead or
        before.

    Examples
    --------
    >>> from hyperplan.ensemble import RandomForestClassifier
    >>> from hyperplan.evaluation import advice
    >>> advice(RandomForestClassifier(max_depth=3), "underfit")
    ['↑ max_depth (3)', '↑ max_features (sqrt)', '→ HistGradientBoostingClassifier']
    """
    if problem not in PROBLEMS:
        raise ValueError(f"problem must be one of {', '.join(map(repr, PROBLEMS))}; got {problem!r}")
    core, parts = core_of(model).estimator, parts_of(model)
    moves = [move for part in parts for move in part.moves(problem) if _can(*move)]
    said = [f"{'↑' if move.up else '↓'} {name} ({_shown(value)})" for move, name, value in moves]
    family = family_of(core)
    others = [] if family is None else _other_classes(core, family.instead.get(problem, ()))
    return said + others or _other_classes(core, ANYTHING.get(problem, ()))


def _can(move, _name, value):
    is_word = isinstance(value, str) and not move.words  # such as gamma="scale": said, though not tried
    return is_word or isinstance(value, tuple | list) or move.changed(value) is not None


def _other_classes(core, names) -> list[str]:
    """Arrows to other classes than the estimator's own, for classes or numbers as it needs."""
    kind = "Classifier" if is_classifier(core) else "Regressor"
    full = [name.replace("*", kind) for name in names]
    return [f"→ {name}" for name in full if name != type(core).__name__]


def _shown(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def trials(model, problem: str) -> dict:
    """{label: copy of the model} with all moves against a problem made together, moderately and strongly."""
    core = core_of(model)
    if core.searched or not hasattr(model, "get_params"):
        return {}
    moves, found = [move for part in parts_of(model) for move in part.moves(problem)], {}
    for strength in STRENGTHS:
        new = {name: move.changed(value, strength) for move, name, value in moves if move.tried}
        changes = {name: value for name, value in new.items() if value is not None}
        if changes:
            label = ", ".join(f"{name}={_shown(value)}" for name, value in changes.items())
            found[label] = clone(model).set_params(**changes)
    return found | _replacements(model, core, problem)


def _replacements(model, core, problem):
    """Least squares have nothing to move: a penalty chosen by cross-validation in their place."""
    if type(core.estimator).__name__ != "LinearRegression" or problem != "overfit":
        return {}
    from hyperplan.linear_model import RidgeCV

    ridge = RidgeCV(alphas=np.logspace(-3, 4, 15))
    return {"RidgeCV": clone(model).set_params(**{core.prefix.removesuffix("__"): ridge}) if core.prefix else ridge}
