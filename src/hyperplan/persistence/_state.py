"""The attributes of an object that go into a file, and those that are computed again from them.

Ensembles of trees keep their trees in a form for fast walks, or a second time in such a form.  A file holds the plain
trees, which are checked, and from which that form follows: a forged file cannot bring one that does not fit.
"""

import functools

from hyperplan.persistence._errors import ModelFileError


def state_of(thing) -> dict:
    """Attributes to write, by name."""
    state = thing.__getstate__()
    if state is None:
        return {}
    if not isinstance(state, dict):
        raise ModelFileError(f"{type(thing).__name__} keeps its state in slots, which model files do not know.")
    derived = _derived(type(thing))
    return state if derived is None else derived[0](thing, dict(state))


def restore(thing):
    """Compute what the file left out, when all objects have their attributes."""
    derived = _derived(type(thing))
    if derived is not None:
        derived[1](thing)


@functools.cache
def _derived(kind):
    """The entry of a class in the table below: by name, so that saving a ridge regression imports no ensembles."""
    names = (f"{cls.__module__}.{cls.__qualname__}" for cls in kind.__mro__)
    return next((DERIVED[name] for name in names if name in DERIVED), None)


def _forest_written(forest, state):
    if "_walk" in state:
        del state["_walk"]
        state["_trees"] = list(forest._nodes())
    if "_members" in state:
        state["_members"] = None  # what quantiles are computed from is computed when they are asked for
    return state


def _forest_computed(forest):
    from hyperplan._trees.forest_record import joined

    if "_trees" in vars(forest):
        forest._walk = joined(forest._trees)
        del forest._trees
    if "_members" in vars(forest):
        forest._members = None


def _boosting_written(boosting, state):
    state.pop("_packed", None)
    return state


def _boosting_computed(boosting):
    if "estimators_" in vars(boosting):
        boosting._packed = boosting._pack()


def _ada_boost_written(boosting, state):
    packed = state.get("_packed")
    if packed is None:
        return state
    del state["_packed"]
    if not packed.match(boosting.estimators_, boosting.estimator_weights_[: len(boosting.estimators_)]):
        state["_packed"] = None  # somebody changed the learners: they are asked one by one
    return state


def _ada_boost_computed(boosting):
    from hyperplan.ensemble._ada_boost_scores import packed_learners

    if "estimators_" in vars(boosting) and "_packed" not in vars(boosting):
        weights = boosting.estimator_weights_[: len(boosting.estimators_)]
        boosting._packed = packed_learners(boosting.estimators_, weights, boosting._adding)


DERIVED = {
    "hyperplan.ensemble._forest_base.BaseForest": (_forest_written, _forest_computed),
    "hyperplan.ensemble._gradient_boosting_base.BaseGradientBoosting": (_boosting_written, _boosting_computed),
    "hyperplan.ensemble._ada_boost.AdaBoostClassifier": (_ada_boost_written, _ada_boost_computed),
}
