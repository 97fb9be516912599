"""`save` and `load`: a model as one file that holds numbers and names, and no code."""

import contextlib
import os
import platform
import warnings
from typing import Any

import numpy as np
import scipy

import hyperplan
from hyperplan._base.plumbing import SKLEARN_VERSION
from hyperplan._core.lazy import collector_paused
from hyperplan.persistence._archive import DOCUMENT, Member, file_of, opened, to_json, write_archive
from hyperplan.persistence._arrays import is_worth_deflating, pool_chunks, pool_size
from hyperplan.persistence._decode import decode
from hyperplan.persistence._encode import encode
from hyperplan.persistence._errors import ModelFileError, ModelVersionWarning


def save(model: Any, path: str | os.PathLike, *, force: bool = False) -> None:
    """Write a model to a file that `load` reads without running any code from it.

    The file is a zip of JSON and .npy arrays.  It is written beside `path` and renamed, so that there is never half a
    file, and the same model always gives the same bytes.

    Parameters
    ----------
    model : object
        An estimator of this package, fitted or not, or a pipeline of such with scikit-learn's preprocessing.
    path : str or path-like
        The file; in an existing folder, ``model.zip``.  An older model is replaced.
    force : bool, default=False
        Replace any other file, too; that is a `FileExistsError` otherwise.

    Raises
    ------
    ModelFileError
        If the model holds something that cannot be saved (a function, a foreign object); the message says where.

    Examples
    --------
    >>> import os, tempfile
    >>> import hyperplan
    >>> from hyperplan.linear_model import Ridge
    >>> model = Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hyperplan.save(model, os.path.join(folder, "ridge.zip"))
    ...     again = hyperplan.load(os.path.join(folder, "ridge.zip"))
    >>> bool((again.predict([[3.0]]) == model.predict([[3.0]])).all())
    True
    """
    with collector_paused():
        graph = encode(model)
        text = to_json(graph.document)
    members = [Member(DOCUMENT, len(text), [text], True)]
    for i, pool in enumerate(graph.pools):
        size = pool_size(pool.dtype, pool.length)
        members.append(Member(f"arrays/{i}.npy", size, pool_chunks(pool), is_worth_deflating(pool)))
    write_archive(file_of(path), members, {"versions": versions()}, force)


def load(path: str | os.PathLike, *, max_bytes: int | None = None) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is executed: classes and functions are looked up by name in a fixed list, objects are made
    without calling them.  A checksum for each part finds damage; it does not say who wrote the file, so a file from a
    stranger can still hold a model that predicts what the stranger wants.

    Parameters
    ----------
    path : str or path-like
        The file, a folder with ``model.zip``, or the folder that `hyperplan compete` writes (or its ``model``).
    max_bytes : int, optional
        Refuse files that unpack to more; by default to more than four fifths of the free memory.

    Returns
    -------
    model : object
        Equal to what was saved, and predicting the same to the bit.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or no model in the folder.
    ModelFileError
        If the file is not a model, incomplete, changed, from a newer version, or holds what may not be loaded.
    """
    with opened(path, max_bytes) as archive:
        written = archive.manifest["versions"]
        _check_version(written)
        with collector_paused(), _naming_the_version(written):
            document = archive.document()
            model = decode(document, archive)
    _warn_of_scikit_learn(document, written)
    return model


def versions() -> dict:
    """What this process would write a file with."""
    return {
        "hyperplan": hyperplan.__version__,
        "scikit-learn": SKLEARN_VERSION,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }


def _series(version):
    """Major and minor number; zeros where there are none."""
    numbers = [int(part) if part.isascii() and part.isdigit() and len(part) < 9 else 0 for part in version.split(".")]
    return tuple((numbers + [0, 0])[:2])


def _check_version(written):
    theirs = written.get("hyperplan", "")
    if _series(theirs) > _series(hyperplan.__version__):
        raise ModelFileError(
            f"The file was written by hyperplan {theirs:.20}, this is {hyperplan.__version__}: install the newer one."
        )


@contextlib.contextmanager
def _naming_the_version(written):
    """Errors about files of another version say which."""
    theirs = written.get("hyperplan", "")
    try:
        yield
    except ModelFileError as error:
        if _series(theirs) == _series(hyperplan.__version__):
            raise
        raise ModelFileError(
            f"{error}  The file was written by hyperplan {theirs:.20}: load it there, or fit the model again."
        ) from error


def _warn_of_scikit_learn(document, written):
    theirs = written.get("scikit-learn", "")
    has_any = any(name.startswith("sklearn.") for name, _ in document["classes"])
    if has_any and _series(theirs) != _series(SKLEARN_VERSION):
        warnings.warn(
            f"The file holds objects of scikit-learn {theirs:.20}, this is {SKLEARN_VERSION}: they may behave "
            "otherwise. Check predictions, or fit and save again.",
            ModelVersionWarning,
            stacklevel=3,
        )
