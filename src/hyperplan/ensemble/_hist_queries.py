"""Which rows belong to which query, and how relevant they are: checks with errors that say where."""

import numpy as np

from hyperplan._base import column_or_1d, holdout_split

MAX_GRADE = 52  # 2^y - 1 is exact in double precision up to here


def query_codes(n_samples, qid=None, group=None, suffix=""):
    """Query 0, 1, ... of each row, from identifiers of the rows or from sizes of consecutive blocks.

    Without either, all rows belong to one query.  `suffix` completes the names of the arguments in errors.
    """
    if qid is not None and group is not None:
        raise ValueError(f"Both qid{suffix} and group{suffix} are given: leave one of them out, they say the same.")
    if group is not None:
        return _blocks(column_or_1d(group), n_samples, f"group{suffix}")
    if qid is None:
        return np.zeros(n_samples, dtype=np.intp)
    qid = column_or_1d(qid)
    if qid.shape[0] != n_samples:
        raise ValueError(
            f"qid{suffix} has {qid.shape[0]} entries but X{suffix} has {n_samples} rows: give the query of each row, "
            f"or the sizes of consecutive queries as group{suffix}."
        )
    if qid.dtype.kind == "f" and (missing := np.flatnonzero(np.isnan(qid))).size:
        raise ValueError(f"qid{suffix}[{missing[0]}] is NaN: every row must belong to a query.")
    return np.unique(qid, return_inverse=True)[1].astype(np.intp, copy=False)


def _blocks(sizes, n_samples, name):
    wrong = np.flatnonzero(~(sizes > 0) | (sizes != np.floor(sizes))) if sizes.dtype.kind in "iuf" else np.arange(1)
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] is {sizes[wrong[0]]!s}: {name} lists the sizes of consecutive queries, integers of at "
            "least 1."
        )
    sizes = sizes.astype(np.intp)
    ends = np.cumsum(sizes)
    if ends[-1] > n_samples:
        late = int(np.searchsorted(ends, n_samples, side="right"))
        raise ValueError(
            f"{name} adds up to {ends[-1]} rows but there are {n_samples}: query {late} would end at row {ends[late]}."
        )
    if ends[-1] < n_samples:
        raise ValueError(
            f"{name} adds up to {ends[-1]} rows but there are {n_samples}: rows from {ends[-1]} on have no query."
        )
    return np.repeat(np.arange(sizes.shape[0]), sizes)


def check_relevance(y, name="y"):
    """Relevance as float64; an error names the first row whose relevance is not an integer of at least 0."""
    if y.dtype.kind not in "biuf":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"Unknown label type: {name} must hold grades of relevance, integers of at least 0, got {y.dtype}."
            ) from None
    y = np.ascontiguousarray(y, dtype=np.float64)
    wrong = np.flatnonzero((y < 0) | (y != np.floor(y)))
    if wrong.size:
        what = "negative" if y[wrong[0]] < 0 else "not an integer"
        raise ValueError(
            f"{name}[{wrong[0]}] = {y[wrong[0]]:g} is {what}: relevance is graded 0 (irrelevant), 1, 2, ...; for "
            "targets that are numbers use HistGradientBoostingRegressor."
        )
    return y


def gain_table(label_gain):
    """Gains of the grades 0, 1, ...: ``2^y - 1``, or what the caller gives."""
    if label_gain is None:
        return 2.0 ** np.arange(MAX_GRADE + 1) - 1.0
    table = np.asarray(label_gain, dtype=np.float64)
    if table.ndim != 1 or not np.isfinite(table).all() or table.min(initial=0.0) < 0 or (np.diff(table) < 0).any():
        raise ValueError(
            f"label_gain must list one finite gain of at least 0 per grade, none smaller than the one before; got "
            f"{label_gain!r}."
        )
    return table


def gains(y, table, name="y"):
    """Gain of each row; an error names the first row whose grade has none."""
    grade = y.astype(np.intp)
    wrong = np.flatnonzero(grade >= table.shape[0])
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] = {grade[wrong[0]]} but only grades 0 to {table.shape[0] - 1} have a gain: set "
            "label_gain to a list with the gain of every grade."
        )
    return table[grade]


def hold_out_queries(codes, fraction, seed):
    """Sorted rows of the training queries and of the held-out ones: `fraction` (or that number) of the queries."""
    n_queries = int(codes.max()) + 1
    if n_queries < 2:
        raise ValueError(
            "early_stopping=True holds out whole queries, but there is only one: pass qid or group, or give X_val and "
            "y_val, or set validation_fraction=None to watch the training rows, or early_stopping=False."
        )
    _, held = holdout_split(np.arange(n_queries), fraction, seed, stratify=False)
    chosen = np.isin(codes, held)
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
