"""Members of an ensemble: any estimators, copied with seeds of their own, called in threads, fed with metadata."""

import contextvars
import functools

import numpy as np
from joblib import parallel_config
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import has_fit_parameter

from hyperplan._core.parallel import effective_n_jobs, thread_limit, thread_map

MAX_SEED = np.iinfo(np.int32).max


def seeded_copy(estimator, seed):
    """Unfitted copy whose `random_state` parameters, nested ones too, are drawn from `seed` in the order of names."""
    copy = clone(estimator)
    names = [name for name in sorted(copy.get_params(deep=True)) if name.split("__")[-1] == "random_state"]
    if names:
        random_state = check_random_state(seed)
        copy.set_params(**{name: int(random_state.randint(MAX_SEED)) for name in names})
    return copy


def is_own(estimator) -> bool:
    """Whether the estimator and all estimators inside it are this package's: those are safe to run in threads.

    >>> from sklearn.linear_model import Lasso as Theirs
    >>> from hyperplan.linear_model import Lasso
    >>> is_own(Lasso()), is_own(Theirs())
    (True, False)
    """
    if not type(estimator).__module__.startswith("hyperplan."):
        return False
    inner = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    return all(type(value).__module__.startswith("hyperplan.") for value in inner if hasattr(value, "fit"))


def member_map(func, items, n_jobs, *, own):
    """``[func(item) for item in items]`` in threads, which see the caller's scikit-learn and NumPy settings.

    None stands for all cores if the members are our `own`, else for one thread: nobody knows whether a foreign
    estimator may run in threads.  Inside the threads joblib works sequentially and this package on one thread.
    """
    items = list(items)
    if n_jobs is None and not own:
        return thread_map(func, items, 1)
    if min(effective_n_jobs(n_jobs), len(items)) < 2:
        with thread_limit(effective_n_jobs(n_jobs)):
            return thread_map(func, items, 1)
    config = get_config()

    def call(item):
        with config_context(**config), parallel_config(backend="sequential"):
            return func(item)

    # a context (NumPy keeps its error settings there) can be entered by one thread at a time: one copy per task
    tasks = [functools.partial(contextvars.copy_context().run, call, item) for item in items]
    return thread_map(lambda task: task(), tasks, n_jobs)


def refuse_metadata(estimator, method, params):
    """scikit-learn's error for extra keywords while its metadata routing is switched off."""
    if params and not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"Passing extra keyword arguments {sorted(params)} to {type(estimator).__name__}.{method} is only "
            "supported if enable_metadata_routing=True, which you can set using `sklearn.set_config`."
        )


def routed_to_members(estimator, method, params) -> Bunch:
    """Extra keywords of `method` for each method of the member estimators (``.get("predict", {})``...)."""
    refuse_metadata(estimator, method, params)
    if not get_config()["enable_metadata_routing"]:
        return Bunch()
    return process_routing(estimator, method, **params).estimator


def takes_weight(estimator) -> bool:
    """Whether the estimator's fit wants `sample_weight` (with metadata routing: has asked for it)."""
    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")


def rows_of_params(params, rows, n_rows) -> dict:
    """Keywords for a fit on some rows: what has one entry per row is indexed, the rest stays."""
    return {name: _rows_of(value, rows, n_rows) for name, value in params.items()}


def _rows_of(value, rows, n_rows):
    per_row = hasattr(value, "__len__") and not isinstance(value, str | dict) and np.shape(value)[:1] == (n_rows,)
    if not per_row:
        return value
    if hasattr(value, "iloc"):
        return value.iloc[rows]
    return [value[i] for i in rows] if isinstance(value, list) else value[rows]


__all__ = [
    "MAX_SEED",
    "get_tags",
    "is_own",
    "member_map",
    "refuse_metadata",
    "routed_to_members",
    "rows_of_params",
    "sample_without_replacement",
    "seeded_copy",
    "takes_weight",
]
