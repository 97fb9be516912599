"""The published tables, read from a folder of the user: they are not ours to ship.

Each table may lie as one file of arrays (``<name>/<name>.npz`` with X_train, y_train, X_valid, y_valid), or as the
text files of the UCI repository; both in a folder of its name.
"""

import csv
import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

VARIABLE = "HYPERPLAN_DATA"
CHALLENGE = ("arcene", "madelon")
UCI = "{0}/{0}.npz, or UCI's {0}_train.data, {0}_train.labels, {0}_valid.data and {0}_valid.labels in the folder {0}"
SOURCES = {
    "ionosphere": "ionosphere/ionosphere.csv.gz, or UCI's ionosphere.data in the folder ionosphere",
    **{name: UCI.format(name) for name in CHALLENGE},
    "faces": "isomap_faces_32/isomap_faces_32.npz with X (698 x 1024) and pose_light (698 x 3)",
    "digits": "mnist/mnist.npz with X_train (60000 x 784) and y_train",
}


class Table(NamedTuple):
    """Rows, labels coded from 0, and how many rows at the start are the training part of the challenge."""

    X: np.ndarray
    y: np.ndarray
    n_train: int


def data_folder(folder=None) -> Path | None:
    """The folder that was given, else that of the variable, if it exists."""
    folder = folder or os.environ.get(VARIABLE)
    if folder is None:
        return None
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(f"the folder of the tables does not exist: {path}")
    return path


def load(name: str, folder):
    """A table by name, or None when it is not in the folder."""
    if folder is None:
        return None
    return {"ionosphere": _ionosphere, "faces": _faces, "digits": _digits}.get(name, _challenge(name))(Path(folder))


def coded(labels) -> np.ndarray:
    """Labels as 0, 1, ...: -1, a class of the challenge, means "unknown" to semi-supervised methods."""
    return np.unique(np.asarray(labels).ravel(), return_inverse=True)[1].astype(np.int64)


def _challenge(name):
    def read(folder):
        packed = folder / name / f"{name}.npz"
        if packed.is_file():
            with np.load(packed, allow_pickle=False) as arrays:
                parts = [(arrays[f"X_{part}"], arrays[f"y_{part}"]) for part in ("train", "valid")]
        else:
            files = [folder / name / f"{name}_{part}" for part in ("train", "valid")]
            if not all(file.with_suffix(end).is_file() for file in files for end in (".data", ".labels")):
                return None
            parts = [(np.loadtxt(f.with_suffix(".data")), np.loadtxt(f.with_suffix(".labels"))) for f in files]
        X = np.concatenate([np.asarray(rows, dtype=np.float64) for rows, _ in parts])
        return Table(X, coded(np.concatenate([labels for _, labels in parts])), len(parts[0][0]))

    return read


def _ionosphere(folder):
    for name in ("ionosphere.csv.gz", "ionosphere.csv", "ionosphere.data"):
        path = folder / "ionosphere" / name
        if path.is_file():
            with (gzip.open if name.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
                rows = [row for row in csv.reader(lines) if row and row[-1] in ("g", "b")]  # a header line is left out
            X = np.array([row[:-1] for row in rows], dtype=np.float64)
            return Table(X, coded([row[-1] for row in rows]), len(X))
    return None


def _faces(folder):
    path = folder / "isomap_faces_32" / "isomap_faces_32.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        X = np.asarray(arrays["X"], dtype=np.float64)
        return Table(X.reshape(len(X), -1), np.asarray(arrays["pose_light"], dtype=np.float64), len(X))


def _digits(folder):
    path = folder / "mnist" / "mnist.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        images, digit = arrays["X_train"], arrays["y_train"]
        X = images.reshape(len(images), -1)[digit == 2].astype(np.float64) / 255.0
    return Table(X, np.full(len(X), 2), len(X))


def swiss_roll(n, seed=0) -> Table:
    """A rolled sheet: the angle (1.5 to 4.5 pi) and the height are its two true coordinates, kept as `y`."""
    rng = np.random.default_rng(seed)
    angle, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    X = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    return Table(X, np.column_stack([angle, height]), n)
