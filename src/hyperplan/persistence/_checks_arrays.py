"""What all checks of loaded objects use: classes by name, ranges of index arrays, and layouts of arrays."""

import functools

import numpy as np
import scipy.sparse as sp


def full_name(cls):
    """Module and name of a class: checks are found by name, so that loading a ridge regression imports no trees."""
    return f"{cls.__module__}.{cls.__qualname__}"


def are(things, *names):
    """Whether all things are of (a class below) one of these classes: records and trees are checked as such."""
    return all(any(full_name(cls) in names for cls in kind.__mro__) for kind in {type(thing) for thing in things})


def outside(index, least, n):
    """Whether a number is below `least` or not below n."""
    return index.size > 0 and (index.min() < least or index.max() >= n)


def attribute(owner, name):
    """An attribute or a field of a record, without calling properties; None if there is none."""
    return getattr(owner, name, None) if isinstance(owner, tuple) else vars(owner).get(name)


def arrays_problem(owner, layout):
    """``layout``: name to (kinds of dtype, shape), where a size of None is any."""
    for name, (kinds, shape) in layout.items():
        array = getattr(owner, name, None)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.ndim != len(shape):
            return f"{name} is not the array it should be"
        if any(wanted is not None and size != wanted for size, wanted in zip(array.shape, shape)):
            return f"{name} has the wrong shape {array.shape}"
    return None


def layout_problem(owner, text):
    """What is wrong with the sizes of arrays, by a text such as ``"theta_: f c d; order: i n <n"``.

    After the name come kinds of dtype (s: may also be sparse, 0: may have no rows) and a letter for each dimension: d
    is `n_features_in_`, c the number of `classes_`, others are what they are where they first appear.  ``<n`` says that
    all numbers are from 0 to n - 1.  What is absent or None is not checked: Python stumbles over it.
    """
    classes = attribute(owner, "classes_")
    sizes = {"d": attribute(owner, "n_features_in_"), "c": len(classes) if isinstance(classes, np.ndarray) else None}
    for name, kinds, letters, limit in _parsed(text):
        array = attribute(owner, name)
        if array is None:
            continue
        is_known = isinstance(array, np.ndarray) or ("s" in kinds and sp.issparse(array))
        if not is_known or array.dtype.kind not in kinds or array.ndim != len(letters):
            return f"{name} is not the array it should be"
        if "0" in kinds and array.shape[0] == 0:
            continue
        if any(size != sizes.setdefault(letter, size) for size, letter in zip(array.shape, letters)):
            return f"{name} has the wrong shape {array.shape}"
        if limit and outside(array, 0, sizes[limit]):
            return f"{name} leads outside"
    return None


@functools.cache
def _parsed(text):
    """(name, kinds, letters, limit) of each part of a layout."""
    found = []
    for part in text.split(";"):
        name, _, rest = part.strip().partition(": ")
        kinds, *letters = rest.split()
        limit = letters.pop()[1:] if letters[-1].startswith("<") else ""
        found.append((name, kinds, letters, limit))
    return found
