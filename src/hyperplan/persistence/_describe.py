"""What is in a model file, read without making the model."""

import numpy as np

from hyperplan.persistence._archive import found_file, opened
from hyperplan.persistence._decode import check_document, only_model_file_errors, read_arrays
from hyperplan.persistence._errors import ModelFileError

SEVERAL = ("steps", "estimators_", "transformer_list")  # attributes with parts of a model
MAX_SHOWN = 100  # items of a list, and levels of nesting, before it is cut
MAX_VALUES = 100_000  # shown in all: parts that are shared count each time


def describe(path) -> dict:
    """What a model file holds: plain values only, ready for JSON.

    Parameters
    ----------
    path : str or path-like
        The file, or a folder as `load` takes it.

    Returns
    -------
    about : dict
        ``class`` and ``parameters`` of the model (nested models as such dictionaries, long arrays as words),
        ``n_features`` and ``columns`` it was fitted on and the ``classes`` it tells apart (None where not known), the
        ``format`` and the ``versions`` of the packages it was written with, ``file_bytes`` and ``unpacked_bytes``.
        No time of writing: the same model always gives the same file.

    Examples
    --------
    >>> import os, tempfile
    >>> from hyperplan.linear_model import Ridge
    >>> from hyperplan.persistence import describe, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Ridge(alpha=0.5).fit([[0.0], [1.0]], [0.0, 1.0]), folder)
    ...     about = describe(folder)
    >>> about["class"], about["parameters"]["alpha"], about["n_features"]
    ('hyperplan.linear_model.Ridge', 0.5, 1)
    """
    with opened(path) as archive, only_model_file_errors():
        manifest, document = archive.manifest, archive.document()
        check_document(document)
        about = _about(document, read_arrays(document, archive))
    return {
        **about,
        "format": manifest["version"],
        "versions": dict(manifest["versions"]),
        "file_bytes": found_file(path).stat().st_size,
        "unpacked_bytes": sum(entry["size"] for entry in manifest["members"].values()),
    }


def _about(document, arrays):
    sheet = _Sheet(document, arrays)
    root, shown = sheet.node(document["root"]), sheet.shown(document["root"])
    return {
        **(shown if root[0] == "object" else {"class": None, "parameters": {}}),
        "n_features": sheet.fitted(root, "n_features_in_"),
        "columns": sheet.fitted(root, "feature_names_in_"),
        "classes": sheet.fitted(root, "classes_"),
    }


class _Sheet:
    """A document, and how its values are shown."""

    def __init__(self, document, arrays):
        self._arrays = arrays
        self._objects, self._classes = document["objects"], document["classes"]
        self._count = 0

    def node(self, written):
        """``(kind, content)`` of a reference; (None, None) of a plain value."""
        if not isinstance(written, list):
            return None, None
        if len(written) != 1 or type(written[0]) is not int or not 0 <= written[0] < len(self._objects):
            raise ModelFileError("The file is damaged or forged: a reference leads nowhere.")
        return self._objects[written[0]]

    def shown(self, written, depth=0):
        """A value as JSON: itself, a list, a dictionary, or words."""
        kind, content = self.node(written)
        self._count += 1
        if kind is None or self._count > MAX_VALUES:
            return written if kind is None else "..."
        if kind == "object" and depth < MAX_SHOWN:
            return self._model(content, depth)
        if kind in ("list", "tuple") and isinstance(content, list) and depth < MAX_SHOWN:
            items = [self.shown(each, depth + 1) for each in content[:MAX_SHOWN]]
            return items + ["..."] if len(content) > MAX_SHOWN else items
        if kind == "objects" and isinstance(content, list) and len(content) == 3 and isinstance(content[2], list):
            return [self.shown(each, depth + 1) for each in content[2]] if depth < MAX_SHOWN else "..."
        if kind in ("array", "scalar"):
            return self._numbers(self._arrays[written[0]])
        return f"{content}" if isinstance(content, str) else kind

    def _numbers(self, array):
        """Few numbers as such, many as words."""
        if array.size > MAX_SHOWN:
            return f"array of shape {array.shape}"
        if array.dtype.kind not in "biufU" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
            array = array.astype(str)
        return array.tolist()

    def _model(self, content, depth):
        """Class and parameters of an object."""
        name, parameters, state = self._parts(content)
        shown = {key: self.shown(state[key], depth + 1) for key in parameters if key in state}
        return {"class": name, "parameters": shown}

    def _parts(self, content):
        is_whole = isinstance(content, list) and len(content) == 2 and isinstance(content[1], dict)
        if not is_whole or type(content[0]) is not int or not 0 <= content[0] < len(self._classes):
            raise ModelFileError("The file is damaged or forged: an object has another form.")
        return (*self._classes[content[0]], content[1])

    def fitted(self, node, name):
        """An attribute of the model, or of the first (for classes: last) step of a pipeline; None without one."""
        for _ in range(MAX_SHOWN):
            kind, content = node
            if kind != "object":
                return None
            _, _, state = self._parts(content)
            if name in state:
                return self.shown(state[name])
            node = self._step(state, -1 if name == "classes_" else 0)
        return None

    def _step(self, state, position):
        """A step, a member of an ensemble, what a search found best or what is frozen; (None, None) otherwise."""
        if state.keys() == {"estimator"}:
            return self.node(state["estimator"])
        for inner in ("best_estimator_", "regressor_"):
            if inner in state:
                return self.node(state[inner])
        kind, steps = self.node(next((state[name] for name in SEVERAL if name in state), None))
        if kind != "list" or not isinstance(steps, list) or not steps:
            return None, None
        kind, step = self.node(steps[position])
        return self.node(step[1]) if kind == "tuple" and isinstance(step, list) and len(step) == 2 else (kind, step)
