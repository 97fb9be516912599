"""Labels of classes: models count with codes, people read names, and answers are the values that the table had."""

import numpy as np

from hyperplan.compete._columns_values import as_words

WHOLE = 2**63  # whole numbers from here on do not fit into 64 bits


def label_values(own, plain, codes: np.ndarray, names, is_file: bool = False, y=None) -> np.ndarray:
    """The value of the table behind each class.

    A class may have several spellings, such as ``yes`` and ``" yes"``: the one that its name was made from counts, and
    of several the most frequent.  A class that somebody put together from others has its name only.

    Parameters
    ----------
    own, plain : pandas.Series
        The target as it was given and as the table has it, one value for each labelled row.
    codes : ndarray
        Of the class of each of these rows.
    names : sequence of str
        Of the classes, by code.
    is_file : bool, default=False
        Whether the target was read from a file: there whole numbers beside gaps are floats only because of the gaps.
    y : object, default=None
        What `own` was made from; an array of text comes back as such, not as objects.

    Returns
    -------
    labels : ndarray
        By code, in the type of the target; objects where there is no common type.

    Examples
    --------
    >>> import numpy as np, pandas
    >>> from hyperplan.compete._labels import label_values
    >>> own = pandas.Series([1, 0, 1], dtype="int8")
    >>> label_values(own, own.astype(float), np.array([1, 0, 1]), ("0", "1"))
    array([0, 1], dtype=int8)
    """
    import pandas

    places, values = pandas.factorize(own, use_na_sentinel=False)
    counts, first = np.bincount(places), np.unique(places, return_index=True)[1]
    words = as_words(plain.iloc[first])
    found: dict[int, int] = {}
    for place in np.argsort(-counts, kind="stable"):
        code = int(codes[first[place]])
        if words[place] == names[code]:
            found.setdefault(code, int(place))
    if len(found) < len(names):
        listed = [values[found[code]] if code in found else name for code, name in enumerate(names)]
        return _as_objects(listed)
    labels = _as_array(values[[found[code] for code in range(len(names))]], own.dtype)
    if isinstance(y, np.ndarray) and y.dtype.kind in "US":
        return labels.astype(y.dtype.kind)
    return labels.astype(np.int64) if is_file and _is_whole(labels) else labels


def _is_whole(labels: np.ndarray) -> bool:
    return labels.dtype.kind == "f" and bool((labels == np.round(labels)).all() and (np.abs(labels) < WHOLE).all())


def _as_array(values, dtype) -> np.ndarray:
    """Values of a pandas type in the NumPy type of the same meaning; objects where there is none."""
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        return _as_array(dtype.categories.take(values.codes), dtype.categories.dtype)
    plain = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "biufMm":
        return np.asarray(values, dtype=plain)
    return _as_objects(list(values))


def _as_objects(listed: list) -> np.ndarray:
    """Python's truth values and numbers in the NumPy type of their own, everything else as it is."""
    kinds = {type(value) for value in listed}
    if len(kinds) == 1 and (kinds <= {bool, float} or all(isinstance(value, np.generic) for value in listed)):
        return np.array(listed)
    if kinds == {int} and max(map(abs, listed)) < WHOLE:
        return np.array(listed, dtype=np.int64)
    labels = np.empty(len(listed), dtype=object)
    labels[:] = listed
    return labels


def label_order(labels: np.ndarray) -> np.ndarray:
    """Codes in the order of the labels, as everything that follows scikit-learn expects it; as they are without one."""
    try:
        return np.argsort(labels, kind="stable")
    except TypeError:  # of labels that cannot be compared, such as words and numbers
        return np.arange(len(labels))
