"""Rows set aside to watch an iterative fit (early stopping)."""

import numpy as np


def holdout_split(y, fraction, random_state, *, stratify):
    """Sorted training and validation row numbers, drawn as scikit-learn's shuffle splitters draw them."""
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit  # slow to import, seldom needed

    splitter = StratifiedShuffleSplit if stratify else ShuffleSplit
    split = splitter(test_size=fraction, random_state=random_state).split(np.zeros((len(y), 1)), y)
    train, validation = next(split)
    return np.sort(train), np.sort(validation)
