"""The tables that the competition is measured on, read from a folder that the caller names.

Left out for everybody: columns that give the target away (the parts of a sum, what was written down afterwards), row
numbers, and dates, which the rivals do not read.  Nothing else is done to a table: kinds of columns, missing values and
rare categories are the contenders' task.
"""

import pathlib
from typing import NamedTuple

import numpy as np

COVERTYPE_ROWS = 30_000  # drawn once; all classes in their natural shares
HELD_OUT = 0.3


class Table(NamedTuple):
    """Files (their rows one below the other), the target, columns left out, and columns of numbers that are names."""

    files: tuple[str, ...]
    target: str
    left_out: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


AMAZON = ("RESOURCE", "MGR_ID", "ROLE_ROLLUP_1", "ROLE_ROLLUP_2", "ROLE_DEPTNAME", "ROLE_TITLE", "ROLE_FAMILY_DESC",
          "ROLE_FAMILY", "ROLE_CODE")  # fmt: skip
PMLB = ("201_pol", "225_puma8NH", "503_wind", "529_pollen", "547_no2", "churn", "coil2000", "contraceptive", "crx",
        "diabetes", "dna", "flare", "magic", "pendigits", "phoneme", "satimage", "segmentation", "tic_tac_toe",
        "vehicle", "wdbc")  # fmt: skip
TABLES = {
    "adult": Table(("adult/adult_train.csv.gz", "adult/adult_test.csv.gz"), "income"),
    "titanic": Table(("titanic/titanic3_1309.csv.gz",), "survived", ("boat", "body")),
    "california_housing": Table(("california_housing/california_housing.csv.gz",), "median_house_value"),
    "bike_sharing": Table(
        ("bike_sharing/bike_sharing_hour.csv.gz",), "cnt", ("instant", "casual", "registered", "dteday")
    ),
    "wine_quality": Table(
        ("wine_quality/wine_quality_red.csv.gz", "wine_quality/wine_quality_white.csv.gz"), "quality"
    ),
    "covertype": Table(("covertype/covertype_92962.npz",), "y"),
    "amazon_access": Table(("amazon_access/amazon_access_train.csv.gz",), "ACTION", (), AMAZON),
    "creditcard_fraud": Table(("creditcard_fraud_subset/creditcard_fraud_subset.csv.gz",), "Class"),
    **{name: Table((f"pmlb/{name}.csv.gz",), "target") for name in PMLB},
}


def read(name: str, folder):
    """``(frame, target)`` of a table."""
    import pandas

    table = TABLES[name]
    parts = [_read_file(pathlib.Path(folder) / file) for file in table.files]
    frame = pandas.concat(parts, ignore_index=True).drop(columns=list(table.left_out))
    if name == "covertype":
        frame = frame.iloc[np.sort(np.random.default_rng(0).permutation(len(frame))[:COVERTYPE_ROWS])]
    return frame.reset_index(drop=True), table.target


def _read_file(path):
    import pandas

    if path.suffix != ".npz":
        return pandas.read_csv(path, na_values=["?"])
    with np.load(path) as arrays:
        frame = pandas.DataFrame(arrays["X"], columns=[f"x{j}" for j in range(arrays["X"].shape[1])])
        return frame.assign(y=arrays["y"])


def parts(frame, target: str, seed: int, share: float = HELD_OUT):
    """``(rows to learn from, rows held out)``; a target with few values is dealt evenly."""
    rng = np.random.default_rng([seed, len(frame)])
    order = rng.permutation(len(frame))
    values, counts = np.unique(frame[target].to_numpy()[order], return_inverse=True, return_counts=True)[1:]
    if counts.min() > 1:
        order = order[np.argsort(values, kind="stable")]
    is_held = np.zeros(len(frame), dtype=bool)
    is_held[order] = np.diff(np.floor(np.arange(len(frame) + 1) * share + 0.5)) > 0
    return frame[~is_held].reset_index(drop=True), frame[is_held].reset_index(drop=True)
