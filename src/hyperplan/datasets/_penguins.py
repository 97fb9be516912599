"""The Palmer penguins: one small real table for a regression and for two classification questions."""

import csv
import gzip
import importlib.resources

import numpy as np

from hyperplan._base import Bunch
from hyperplan._texts.extras import required

MEASURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year")
CATEGORIES = ("species", "island", "sex")
TARGETS = ("species", "sex", "body_mass_g")

DESCRIPTION = """\
Palmer penguins: 344 penguins of three species (Adelie, Chinstrap, Gentoo) measured on three islands of the Palmer
Archipelago, Antarctica, 2007-2009.  The 11 rows with a missing value are left out, which leaves 333.  Categories that
serve as features are coded by one 0/1 column per level except the first.

Source: Gorman KB, Williams TD, Fraser WR (2014), PLoS ONE 9(3): e90081; Horst AM, Hill AP, Gorman KB (2020),
palmerpenguins.  Licence: CC0 1.0.
"""


def load_penguins(*, target="species", as_frame=False, return_X_y=False):
    """Load the Palmer penguins (333 complete rows).

    Parameters
    ----------
    target : {"species", "sex", "body_mass_g"}, default="species"
        The column to predict; all others become features.  "body_mass_g" makes it a regression.
    as_frame : bool, default=False
        Return pandas objects (needs ``pip install hyperplan[report]``).
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the record.

    Returns
    -------
    data : Bunch
        With `data` (float64, 333 rows), `target` (strings or float64), `feature_names`, `target_names`, `frame`
        (None unless `as_frame`), and `DESCR` (source and licence).  With `return_X_y` only the first two.

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> penguins = load_penguins(target="body_mass_g")
    >>> penguins.data.shape, penguins.feature_names[:3]
    ((333, 9), ['bill_length_mm', 'bill_depth_mm', 'flipper_length_mm'])
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {TARGETS}, got {target!r}")
    table = _complete_rows()
    columns = {name: table[name].astype(np.float64) for name in MEASURES if name != target}
    for name in CATEGORIES:
        if name != target:
            for level in np.unique(table[name])[1:]:
                columns[f"{name}_{level}"] = (table[name] == level).astype(np.float64)
    y = table[target].astype(np.float64) if target in MEASURES else table[target]
    X, frame, names = np.column_stack(list(columns.values())), None, list(columns)
    if as_frame:
        pandas = required("pandas")
        X, y = pandas.DataFrame(columns), pandas.Series(y, name=target)
        frame = X.assign(**{target: y})
    if return_X_y:
        return X, y
    classes = [] if target in MEASURES else [str(level) for level in np.unique(table[target])]
    return Bunch(data=X, target=y, frame=frame, feature_names=names, target_names=classes, DESCR=DESCRIPTION)


def _complete_rows() -> dict[str, np.ndarray]:
    """The table without its incomplete rows, as text columns by name."""
    source = importlib.resources.files("hyperplan.datasets") / "data" / "penguins.csv.gz"
    with source.open("rb") as packed, gzip.open(packed, "rt", encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    kept = [row for row in rows if "NA" not in row]
    return {name: np.array(values) for name, values in zip(header, zip(*kept))}
