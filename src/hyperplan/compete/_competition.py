"""The result of a competition, for people who work in Python."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hyperplan._texts.extras import required
from hyperplan.compete._contest import Contest, silent
from hyperplan.compete._kept_columns import kept_columns, with_kept
from hyperplan.compete._quality import INTERVAL_LEVEL, residual_quantiles
from hyperplan.compete._question import Question
from hyperplan.compete._standings import Standings
from hyperplan.compete._table_model import TableModel, in_label_order
from hyperplan.compete._training import summarise

if TYPE_CHECKING:
    from pandas import DataFrame


class Competition:
    """What `compete` returns.

    Attributes
    ----------
    best : TableModel
        The chosen model, fitted on all labelled rows; takes tables as they are.
    document : dict
        Everything the report shows, as JSON has it.
    predictions : dict
        ``"test"`` and ``"unlabelled"``: frames with a row per row to predict.
    question, contest, standings
        What was asked, all trials, and the comparison, for a closer look.

    Examples
    --------
    >>> from hyperplan.compete import Competition, compete
    >>> result = compete(table, target="species")  # doctest: +SKIP
    >>> result.best.predict(table)  # doctest: +SKIP
    """

    best: TableModel
    document: dict
    predictions: dict[str, "DataFrame"]
    question: Question
    contest: Contest
    standings: Standings

    def __init__(self, question: Question, contest: Contest, standings: Standings, extras: dict, document: dict):
        self.question, self.standings, self.document = question, standings, document
        self.contest = replace(contest, crew=None, report=silent)  # the workers have gone, and nobody is told any more
        problem = question.problem
        residuals = None if problem.classes else residual_quantiles(problem, standings.chosen)
        ids = [column.name for column in question.columns if column.kind == "id"]
        known = {"level": INTERVAL_LEVEL, "training": summarise(problem.columns, problem.typed, ids)}
        target, pipeline = question.settings.target, extras["pipeline"]
        if problem.classes:
            assert question.labels is not None
            fitted = in_label_order(pipeline, problem.classes, question.labels)
            self.best = TableModel(pipeline, target, fitted.names, labels=fitted.labels, codes=fitted.codes, **known)
        else:
            self.best = TableModel(pipeline, target, (), residuals, **known)
        self.predictions = {name: self._frame(values, name) for name, values in extras.get("predictions", {}).items()}

    def __getstate__(self) -> dict:
        """What a pickle holds: not the second, typed copy of the table, which is made again, and no workers."""
        contest = replace(self.contest, problem=self.contest.problem._replace(typed={}, unlabelled=None))
        return {**vars(self), "question": self.question.without_copies(), "contest": contest}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        self.question = self.question.with_copies()
        self.contest.problem = self.question.problem

    def __repr__(self) -> str:
        score = self.document["chosen"]["score"]
        return (
            f"Competition({self.document['title']}: {self.document['chosen']['label']}, "
            f"{self.document['metric']['label']} {score['value']:.4g})"
        )

    def __str__(self) -> str:
        return "\n".join(self.answer())

    def _repr_html_(self) -> str:
        """The answer and the leaderboard with its intervals, for notebooks."""
        from hyperplan.compete._notebook import competition_view

        return competition_view(self.document, self.answer(), self.question.settings.lang)

    def answer(self, language: str | None = None) -> list[str]:
        """The answer in three sentences."""
        from hyperplan.report import answer_sentences

        return answer_sentences(self.document, language or self.question.settings.lang)

    def table(self) -> "DataFrame":
        """The leaderboard as a frame."""
        pandas = required("pandas")
        keys = (
            "rank",
            "label",
            "score",
            "low",
            "high",
            "group",
            "is_chosen",
            "fit_seconds",
            "tried",
            "status",
            "reason",
        )
        rows = [{key: row.get(key) for key in keys} for row in self.document["leaderboard"]]
        return pandas.DataFrame(rows).rename(columns={"label": "model", "is_chosen": "chosen"})

    def report(self, path: str | PathLike, language: str | None = None, *, force: bool = False) -> Path:
        """Write the HTML report; returns its path.  An older report is replaced, any other file only with `force`."""
        from hyperplan.report import write_report

        return write_report(self.document, path, language or self.question.settings.lang, force=force)

    def save(self, folder: str | PathLike, table: str | None = None) -> Path:
        """Write the whole folder of results in one step; returns its path.

        Earlier results are replaced, except for settings that somebody edited; a folder that holds anything else, or
        results that were changed, is refused.
        """
        from hyperplan.compete._output import write_results

        return write_results(self, folder, table)

    def best_frame_columns(self) -> list[str]:
        """Names of the columns of ``predictions.csv``."""
        return [*self.best.training.ids, *prediction_columns(self.best)]

    def _frame(self, values: np.ndarray, which: str) -> "DataFrame":
        """Predictions of the workers as people want them: what identifies a row, then the columns of an answer."""
        question, codes = self.question, self.best.codes
        table = question.test if which == "test" else question.frame[question.is_unlabelled]
        kept = kept_columns(table, self.best.training.ids)
        answers = prediction_frame(self.best, values[:, codes] if self.best.classes else values)
        return with_kept(table, kept, answers)[0]


def prediction_columns(model: TableModel) -> list[str]:
    """Label and probabilities, or number and interval, whose level is in the names."""
    fitted = model._answering()
    if fitted.names:
        return ["prediction", *(f"probability_{name}" for name in fitted.names)]
    ends = ("lower", "upper") if fitted.residuals is not None else ()  # not known of a model that was fitted again
    return ["prediction", *(f"{end}_{100 * model.level:.6g}" for end in ends)]


def prediction_frame(model: TableModel, values: np.ndarray) -> "DataFrame":
    """A frame with the columns of ``predictions.csv`` from what `predict_proba` or `predict` of the model says."""
    pandas = required("pandas")
    fitted = model._answering()
    if fitted.names:
        columns = [fitted.labels[values.argmax(axis=1)], *values.T]
    else:
        columns = [values, *(values + end for end in (fitted.residuals if fitted.residuals is not None else ()))]
    return pandas.DataFrame(dict(zip(prediction_columns(model), columns)))
