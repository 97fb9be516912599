"""The result of an exploration, for people who work in Python, and the folder it is written to."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperplan._texts.extras import required
from hyperplan.compete._document import machine, versions
from hyperplan.compete._frames import as_frame
from hyperplan.compete._output import write_folder
from hyperplan.compete._places import whole_table
from hyperplan.compete._settings import write_settings
from hyperplan.compete._table_output import write_numbers
from hyperplan.explore._contest import placed
from hyperplan.explore._judge import coded
from hyperplan.explore._settings import ExploreSettings

if TYPE_CHECKING:
    from pandas import DataFrame

RECEIPT = "hyperplan/explore-receipt/1"


class Exploration:
    """What `explore` returns.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Group of each row: 1, 2, ... from the largest on, 0 for none; all 1 if there are no groups to believe in.
    coordinates : DataFrame
        Two columns per map: ``pca_1``, ``pca_2``, ``isomap_1``, ...; missing for rows that were not placed in time.
    outlier_factors : ndarray of shape (n_rows,)
        Local outlier factor of each row: about 1 in a crowd.
    document : dict
        Everything the report shows, as JSON has it.
    settings : ExploreSettings
        What was asked for.

    Examples
    --------
    >>> from hyperplan.explore import Exploration, explore
    >>> result = explore(table)  # doctest: +SKIP
    >>> result.report("report.html")  # doctest: +SKIP
    """

    labels: np.ndarray
    coordinates: "DataFrame"
    outlier_factors: np.ndarray
    document: dict
    settings: ExploreSettings

    def __init__(self, found: Any, document: dict):
        self.document, self.settings = document, found.settings
        self.labels, self.outlier_factors = found.labels, found.factors
        self.coordinates = _frame_of(found.maps)
        self._found = found

    def __getstate__(self) -> dict:
        """What a pickle holds: of the models only the one that new rows are asked of."""
        contest = self._found.contest
        entries = [entry if entry is contest.chosen else replace(entry, model=None) for entry in contest.entries]
        return {**vars(self), "_found": replace(self._found, contest=replace(contest, entries=entries))}

    def __repr__(self) -> str:
        count = int(self.labels.max()) if self._found.contest.chosen else 0
        return f"Exploration({self.document['title']}: {count or 'no'} groups, {len(self.labels)} rows)"

    def _repr_html_(self) -> str:
        """The answer and the best clustering of each method, for notebooks."""
        from hyperplan.explore._notebook import exploration_view

        return exploration_view(self.document, self.answer(), self.settings.lang)

    def __str__(self) -> str:
        return "\n".join(self.answer())

    def answer(self, language: str | None = None) -> list[str]:
        """The answer in three sentences."""
        from hyperplan.explore._answer import answer_sentences

        return answer_sentences(self.document, language or self.settings.lang)

    def table(self) -> "DataFrame":
        """The clusterings that were compared, as a frame; ``best`` marks the one that stands for its method."""
        pandas = required("pandas")
        keys = ["name", "groups", "silhouette", "calinski_harabasz", "separation", "excess", "stability"]
        keys += ["grouped", "verdict", "is_chosen", "is_best", "settings", "reason"]
        rows = [{key: row.get(key) for key in keys} for row in self.document["clusterings"]]
        return pandas.DataFrame(rows).rename(columns={"name": "method", "is_chosen": "chosen", "is_best": "best"})

    def predict(self, table: Any) -> np.ndarray:
        """Groups of new rows, by the clustering that was chosen; all 1 if there are no groups."""
        frame, chosen = as_frame(table, self.settings.reading), self._found.contest.chosen
        points = self._found.space.points(frame)
        if chosen is None:
            return np.ones(len(frame), dtype=np.intp)
        return coded(placed(chosen.model, points), chosen.codes)

    def report(self, path: str | PathLike, language: str | None = None, *, force: bool = False) -> Path:
        """Write the HTML report; returns its path.  An older report is replaced, any other file only with `force`."""
        from hyperplan.explore._page import write_report

        return write_report(self.document, path, language or self.settings.lang, force=force)

    def save(self, folder: str | PathLike, table: str | None = None, tell: Callable | None = None) -> Path:
        """Write the whole folder of results in one step; returns its path.

        Earlier results are replaced; a folder that holds anything else is refused.  `tell` is called with what is to be
        said about that, which is a warning otherwise.
        """
        settings = self.settings.changed(
            out=os.path.abspath(folder), table=None if table is None else whole_table(table)
        )
        return write_folder(folder, lambda beside: self._fill(beside, settings), settings, tell)

    def _fill(self, folder, settings) -> dict:
        pandas = required("pandas")
        dump: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False}
        (folder / "report.json").write_text(json.dumps(self.document, **dump), encoding="utf-8")
        self.report(folder / "report.html")
        rows = pandas.Series(np.arange(1, len(self.labels) + 1), name="row")
        clusters = pandas.DataFrame({"row": rows, "cluster": self.labels, "outlier_factor": self.outlier_factors})
        write_numbers(clusters, folder / "clusters.csv")
        places = pandas.concat([rows, self.coordinates], axis=1)
        write_numbers(places, folder / "coordinates.csv")
        write_settings(settings, folder / "settings.toml", self._found.columns, self._found.frame.attrs.get("reading"))
        return self.receipt(settings.table)

    def receipt(self, table: str | None = None) -> dict:
        """What the results were made from, and digests of them."""
        document, settings = self.document, self.settings
        return {
            "schema": RECEIPT,
            "created": document["created"],
            "table": table,
            "data_sha256": document["receipt"]["data_sha256"],
            "settings": {
                "seed": settings.seed,
                "drop": list(settings.drop),
                "colour": settings.colour,
                "reading": settings.reading,
                "columns": {column.name: column.kind for column in self._found.columns},
            },
            "budget": {"seconds": settings.time, **{key: document["protocol"][key] for key in ("used", "jobs")}},
            "sample_sha256": _digest(self._found.arena),
            "labels_sha256": _digest(self.labels),
            "maps_sha256": {drawn.name: _digest(drawn.coordinates) for drawn in self._found.maps},
            "machine": machine(),
            "versions": versions(),
        }


def _digest(values: np.ndarray) -> str:
    """SHA-256 of the bits of an array."""
    plain = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return hashlib.sha256(np.ascontiguousarray(plain).tobytes()).hexdigest()


def _frame_of(maps):
    pandas = required("pandas")
    return pandas.DataFrame(
        {f"{drawn.name}_{k + 1}": drawn.coordinates[:, k] for drawn in maps for k in range(2)},
    )
