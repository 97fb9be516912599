"""What a metric does, ours and scikit-learn's side by side: its value, its error, its warnings."""

import warnings

import numpy as np
import sklearn.metrics as reference

import hyperplan.metrics as ours

# Both add the same at most 10^4 terms in float64, in another order: the sums agree to 10^4 times 1.1e-16.
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def outcome(func, *arguments, **options):
    """``(value, kind of error, kinds of warnings)``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = func(*arguments, **options), None
        except Exception as problem:
            value, error = None, type(problem).__name__
    return value, error, sorted({item.category.__name__ for item in caught})


def assert_same_outcome(name, *arguments, of=reference, tolerance=CLOSE, **options):
    """Our function and the reference give the same values of the same types, or the same errors and warnings.

    Warnings of NumPy about a division that they let happen are not among what we repeat.
    """
    found = outcome(getattr(ours, name), *arguments, **options)
    value, error, warned = outcome(getattr(of, name), *arguments, **options)
    assert found[1:] == (error, [kind for kind in warned if kind != "RuntimeWarning"]), (name, found, value)
    assert_same_value(found[0], value, tolerance)


def assert_same_value(found, expected, tolerance=CLOSE):
    """Values, shapes and kinds of number."""
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_same_value(one, other, tolerance)
    elif expected is None or isinstance(expected, str):
        assert found == expected
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        assert_same_value(list(found.values()), list(expected.values()), tolerance)
    else:
        assert np.asarray(found).dtype.kind == np.asarray(expected).dtype.kind
        np.testing.assert_allclose(found, expected, **tolerance)
