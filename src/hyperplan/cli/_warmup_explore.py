"""What an exploration compiles: each clustering method takes part in one of its own, on a small table and a larger."""

import contextlib
import warnings

import numpy as np

TABLES = ((120, 2), (900, 6))  # rows and numbers


def method_names() -> list[str]:
    """Names of the clustering methods."""
    from hyperplan.explore._methods import methods

    return [method.name for method in methods()]


def warm_method(name: str) -> str:
    """Explore small tables with one clustering method; returns "" or what went wrong."""
    from hyperplan.explore import explore

    with warnings.catch_warnings(), _once():
        warnings.simplefilter("ignore")
        try:
            for rows, numbers in TABLES:
                result = explore(_table(rows, numbers), methods=[name], time=600)
                failed = [row["reason"] for row in result.document["clusterings"] if row["verdict"] == "failed"]
                failed += [f"{item['name']}: {item['reason']}" for item in result.document["absent_maps"]]
                if failed:
                    return failed[0]
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""


@contextlib.contextmanager
def _once():
    """Fits on other rows and on tables without groups are done once each: the next would compile nothing more."""
    from hyperplan.explore import _contest

    usual = _contest.REFITS, _contest.DRAWS
    _contest.REFITS = _contest.DRAWS = 1
    try:
        yield
    finally:
        _contest.REFITS, _contest.DRAWS = usual


def _table(rows: int, numbers: int):
    """Three groups of numbers, some of them missing, and a category."""
    import pandas

    rng = np.random.default_rng(0)
    groups = np.arange(rows) % 3
    table = {f"number {k}": rng.normal(size=rows) + 6.0 * (groups == k % 3) for k in range(numbers)}
    table["number 0"] = np.where(rng.random(rows) < 0.05, np.nan, table["number 0"])
    return pandas.DataFrame({**table, "category": np.array(["a", "b", "c"])[groups]})
