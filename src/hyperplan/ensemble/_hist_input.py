"""Tables for histogram boosting: which columns are categories, and every column as numbers.

Categories become codes 0, 1, ... in the order of their values, and then, where statistics of the target stand for
them, the numbers of `_target_statistics`.  At prediction a category that training did not see is, by the estimator's
`unseen_category`, missing, an error, or (where statistics stand for categories) as good as the prior.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._base import FLOATS, check_design
from hyperplan.ensemble._target_statistics import TargetStatistics, encode_rows

UNSEEN = -1  # code of an unseen category, until the policy has decided


class Columns(NamedTuple):
    """How raw columns become numbers: categories by column (None for numbers), and a transformer for data frames.

    `ordered` are the columns whose categories statistics of the target stand for, `statistics` these once learned.
    """

    is_categorical: np.ndarray | None
    categories: list
    transformer: object
    order: np.ndarray | None  # columns of the transformer's output in the order of the input
    ordered: np.ndarray | None = None
    statistics: TargetStatistics | None = None

    def feature_of_columns(self):
        """The feature that each encoded column comes from; None if they are the features."""
        if self.statistics is None or self.statistics.prior.shape[0] == 1:
            return None
        return self.statistics.source


NUMBERS_ONLY = Columns(None, [], None, None)


def categorical_mask(X, categorical_features):
    """Boolean mask of the categorical columns, or None if there is none."""
    names = getattr(X, "columns", None) if hasattr(X, "dtypes") or hasattr(X, "schema") else None
    if isinstance(categorical_features, str):  # "from_dtype"
        return None if names is None else _some(_category_types(X))
    if categorical_features is None:
        return None
    wanted = np.asarray(categorical_features)
    if wanted.size == 0:
        return None
    kinds = {type(item).__name__ for item in wanted} if wanted.dtype.kind == "O" else {wanted.dtype.name}
    if wanted.dtype.kind not in "ibUO" or (wanted.dtype.kind == "O" and kinds != {"str"}):
        raise ValueError(
            f"categorical_features must be an array-like of bool, int or str, got: {', '.join(sorted(kinds))}."
        )
    n_features = X.shape[1] if hasattr(X, "shape") else np.shape(X)[1]
    if wanted.dtype.kind == "b":
        if wanted.shape[0] != n_features:
            raise ValueError(
                f"categorical_features set as a boolean mask must have shape (n_features,), got: {wanted.shape}"
            )
        return _some(wanted)
    if wanted.dtype.kind == "i":
        if wanted.max() >= n_features or wanted.min() < 0:
            raise ValueError("categorical_features set as integer indices must be in [0, n_features - 1]")
        return np.isin(np.arange(n_features), wanted)
    if names is None:
        raise ValueError(
            "categorical_features should be passed as an array of integers or as a boolean mask when the model is "
            "fitted on data without feature names."
        )
    names = list(names)
    for name in wanted:
        if name not in names:
            raise ValueError(
                f"categorical_features has an item value '{name}' which is not a valid feature name of the training "
                f"data. Observed feature names: {names}"
            )
    return np.isin(names, wanted)


def _some(mask):
    mask = np.asarray(mask, dtype=bool)
    return mask if mask.any() else None


def _category_types(X):
    types = X.dtypes
    types = list(types) if not hasattr(types, "tolist") else types.tolist()
    return [getattr(kind, "name", "") == "category" or str(kind).startswith(("Categorical", "Enum")) for kind in types]


def learn_columns(estimator, X, mask, max_bins):
    """Numbers of the training table and the `Columns` to treat further tables alike."""
    if mask is None:
        return _numbers(estimator, X, reset=True), NUMBERS_ONLY
    is_frame = hasattr(X, "columns")
    if not is_frame and np.asarray(X).dtype.kind in "fiub":
        X = _numbers(estimator, X, reset=True)
        found = [np.unique(X[:, j]) if mask[j] else None for j in range(X.shape[1])]
        found = [None if c is None else c[: c.shape[0] - np.isnan(c[-1:]).sum()] for c in found]
        columns = Columns(mask, found, None, None, _ordered_columns(estimator, found, max_bins))
        return encode_numbers(X, columns), columns
    return _learn_frame(estimator, X, mask, max_bins)


def _numbers(estimator, X, reset):
    return check_design(estimator, X, reset=reset, accept_sparse=False, dtype=FLOATS, ensure_all_finite=False)


def encode_numbers(X, columns):
    """Codes 0, 1, ... in place of numerical categories, `UNSEEN` for unknown ones.  X itself when it holds codes."""
    out = None
    for j in np.flatnonzero(columns.is_categorical):
        known, column = columns.categories[j], X[:, j]
        if known.shape[0] == 0:
            codes = np.where(np.isnan(column), np.nan, UNSEEN)
        elif known[0] == 0 and known[-1] == known.shape[0] - 1:  # codes already, unless at prediction
            with np.errstate(invalid="ignore"):
                strange = (column < 0) | (column >= known.shape[0]) | (column != np.floor(column))
                strange &= ~np.isnan(column)
            if not strange.any():
                continue
            codes = np.where(strange, UNSEEN, column)
        else:
            codes = np.minimum(np.searchsorted(known, column), known.shape[0] - 1).astype(X.dtype)
            codes[known[codes.astype(np.intp)] != column] = UNSEEN
            codes[np.isnan(column)] = np.nan
        out = X.copy() if out is None else out
        out[:, j] = codes
    return X if out is None else out


def _learn_frame(estimator, X, mask, max_bins):
    """Frames with categories of any type, by scikit-learn's encoder."""
    from hyperplan._base.preprocessing import ColumnTransformer, FunctionTransformer, OrdinalEncoder

    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=UNSEEN, encoded_missing_value=np.nan, dtype=np.float64
    )
    numbers = FunctionTransformer(_as_floats)
    transformer = ColumnTransformer([("encoder", encoder, mask), ("numbers", numbers, ~mask)])
    transformer.set_output(transform="default")
    encoded = np.asarray(transformer.fit_transform(X))
    order = np.empty(mask.shape[0], dtype=np.intp)
    order[np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])] = np.arange(mask.shape[0])
    estimator.n_features_in_ = transformer.n_features_in_
    if hasattr(transformer, "feature_names_in_"):
        estimator.feature_names_in_ = transformer.feature_names_in_
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    found = [None] * mask.shape[0]
    for j, known in zip(np.flatnonzero(mask), transformer.named_transformers_["encoder"].categories_):
        last = known[-1] if len(known) else None
        found[j] = known[:-1] if isinstance(last, float) and math.isnan(last) else known
    columns = Columns(mask, found, transformer, order, _ordered_columns(estimator, found, max_bins))
    return encoded[:, order], columns


def _as_floats(X):
    from hyperplan._base import check_array

    return check_array(X, dtype=np.float64, ensure_all_finite=False, ensure_min_features=0)


def _ordered_columns(estimator, categories, max_bins):
    """Columns to be encoded by statistics of the target; an error if another one has too many categories."""
    counts = np.array([0 if known is None else len(known) for known in categories])
    encoding = estimator.categorical_encoding
    if encoding != "native":
        found = np.flatnonzero(counts > (max_bins if encoding == "auto" else 0))
        return found if found.size else None
    if estimator.unseen_category == "prior":
        raise ValueError(
            "unseen_category='prior' gives an unseen category the prior of the target statistics: it needs "
            "categorical_encoding='ordered' or 'auto'."
        )
    names = getattr(estimator, "feature_names_in_", None)
    for j in np.flatnonzero(counts > max_bins):
        which = f"at index {j}" if names is None else repr(names[j])
        raise ValueError(
            f"Categorical feature {which} is expected to have a cardinality <= {max_bins} but actually has a "
            f"cardinality of {counts[j]}. Set categorical_encoding='ordered', group rare categories, or leave the "
            "feature out of categorical_features."
        )
    return None


def apply_columns(estimator, X, columns: Columns):
    """Numbers of a table to predict, treated as the training table was."""
    if columns.transformer is not None:
        encoded = np.asarray(columns.transformer.transform(X))[:, columns.order]
    else:
        encoded = _numbers(estimator, X, reset=False)
        if columns.is_categorical is not None:
            encoded = encode_numbers(encoded, columns)
    if columns.is_categorical is not None:
        encoded = _settle_unseen(estimator, X, encoded, columns)
    return encoded if columns.statistics is None else encode_rows(encoded, columns.statistics)


def _settle_unseen(estimator, X, encoded, columns):
    """Unseen categories by the estimator's policy: NaN, an error, or the code after the last (of no training row)."""
    for j in np.flatnonzero(columns.is_categorical):
        unseen = encoded[:, j] == UNSEEN
        if not unseen.any():
            continue
        if estimator.unseen_category == "error":
            _refuse_unseen(estimator, X, j, np.flatnonzero(unseen))
        by_prior = estimator.unseen_category == "prior"
        encoded[unseen, j] = len(columns.categories[j]) if by_prior else np.nan  # encoding made a copy to mark it
    return encoded


def _refuse_unseen(estimator, X, column, rows):
    names = getattr(estimator, "feature_names_in_", None)
    name = "" if names is None else f" ({str(names[column])!r})"
    values = np.asarray(X)[rows, column]
    raise ValueError(
        f"Column {column}{name} has categories that the training rows did not have, in {len(rows)} row"
        f"{'s' if len(rows) > 1 else ''}: the first is {values[0]!r} in row {rows[0]}. Map them to known ones, or set "
        "unseen_category='missing' to treat them as missing values."
    )


def category_counts(columns: Columns, n_features):
    """Number of categories by encoded column, None for numbers: what `fit_bins` wants."""
    if columns.is_categorical is None:
        return None
    counts = [None if c is None else len(c) for c in columns.categories]
    for j in () if columns.statistics is None else columns.statistics.features:
        counts[j] = None
    return counts + [None] * (n_features - len(counts))


def monotone_directions(estimator, monotonic_cst):
    """-1, 0 or 1 for every feature."""
    n = estimator.n_features_in_
    if monotonic_cst is None:
        return np.zeros(n, dtype=np.int8)
    if isinstance(monotonic_cst, dict):
        names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"{type(estimator).__name__} was not fitted on data with feature names. Pass monotonic_cst as an "
                "integer array instead."
            )
        unknown = sorted(set(monotonic_cst) - set(names))
        if unknown:
            shown = [*unknown[:5], "..."] if len(unknown) > 5 else unknown
            raise ValueError(f"monotonic_cst contains {len(unknown)} unexpected feature names: {shown}.")
        for name, direction in monotonic_cst.items():
            if direction not in (-1, 0, 1):
                raise ValueError(f"monotonic_cst['{name}'] must be either -1, 0 or 1. Got {direction!r}.")
        return np.array([monotonic_cst.get(name, 0) for name in names], dtype=np.int8)
    strange = np.setdiff1d(monotonic_cst, [-1, 0, 1])
    if strange.size:
        raise ValueError(f"monotonic_cst must be an array-like of -1, 0 or 1. Observed values: {strange.tolist()}.")
    directions = np.asarray(monotonic_cst, dtype=np.int8)
    if directions.shape[0] != n:
        raise ValueError(f"monotonic_cst has shape {directions.shape} but the input data X has {n} features.")
    return directions


def interaction_groups(interaction_cst, n_features):
    """Groups of features that may meet on a path, as rows of a 0/1 array; no row without constraints."""
    if interaction_cst is None:
        return np.zeros((0, n_features), dtype=np.uint8)
    if isinstance(interaction_cst, str):
        pairs = [(i, j) for i in range(n_features) for j in range(i + 1, n_features)]
        interaction_cst = [(i,) for i in range(n_features)] if interaction_cst == "no_interactions" else pairs
    try:
        groups = [set(group) for group in interaction_cst]
    except TypeError:
        raise ValueError(
            f"Interaction constraints must be a sequence of tuples or lists, got: {interaction_cst!r}."
        ) from None
    for group in groups:
        if any(not isinstance(i, int | np.integer) or not 0 <= i < n_features for i in group):
            raise ValueError(
                f"Interaction constraints must consist of integer indices in [0, n_features - 1] = "
                f"[0, {n_features - 1}], specifying the position of features, got invalid indices: {group!r}"
            )
    rest = set(range(n_features)).difference(*groups)
    groups += [rest] if rest else []
    return np.array([[i in group for i in range(n_features)] for group in groups], dtype=np.uint8)
