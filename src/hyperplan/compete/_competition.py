"""The result of a competition, for people who work in Python."""

from hyperplan.compete._kept_columns import kept_columns, with_kept
from hyperplan.compete._quality import INTERVAL_LEVEL, residual_quantiles
from hyperplan.compete._table_model import TableModel, in_label_order
from hyperplan.compete._training import summarise


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

    def __init__(self, question, contest, standings, extras, document):
        self.question, self.contest, self.standings, self.document = question, contest, standings, document
        problem = question.problem
        residuals = None if problem.classes else residual_quantiles(problem, standings.chosen)
        ids = [column.name for column in question.columns if column.kind == "id"]
        known = {"level": INTERVAL_LEVEL, "training": summarise(problem.columns, problem.typed, ids)}
        target, pipeline = question.settings.target, extras["pipeline"]
        if problem.classes:
            fitted = in_label_order(pipeline, problem.classes, question.labels)
            self.best = TableModel(pipeline, target, fitted.names, labels=fitted.labels, codes=fitted.codes, **known)
        else:
            self.best = TableModel(pipeline, target, (), residuals, **known)
        self.predictions = {name: self._frame(values, name) for name, values in extras.get("predictions", {}).items()}

    def __repr__(self):
        score = self.document["chosen"]["score"]
        return (
            f"Competition({self.document['title']}: {self.document['chosen']['label']}, "
            f"{self.document['metric']['label']} {score['value']:.4g})"
        )

    def __str__(self):
        return "\n".join(self.answer())

    def _repr_html_(self):
        """The answer and the leaderboard, for notebooks."""
        import html

        sentences = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.answer())
        board = self.table()[["rank", "model", "score", "low", "high", "group", "chosen"]]
        shown = board[board["rank"].notna()].astype({"rank": int})
        return sentences + shown.to_html(index=False, float_format="{:.4g}".format, na_rep="", border=0)

    def answer(self, language: str | None = None) -> list[str]:
        """The answer in three sentences."""
        from hyperplan.report import answer_sentences

        return answer_sentences(self.document, language or self.question.settings.lang)

    def table(self):
        """The leaderboard as a frame."""
        import pandas

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

    def report(self, path, language: str | None = None):
        """Write the HTML report; returns its path."""
        from hyperplan.report import write_report

        return write_report(self.document, path, language or self.question.settings.lang)

    def save(self, folder, table: str | None = None):
        """Write the whole folder of results in one step; returns its path."""
        from hyperplan.compete._output import write_results

        return write_results(self, folder, table)

    def best_frame_columns(self) -> list[str]:
        """Names of the columns of ``predictions.csv``."""
        return [*self.best.training.ids, *prediction_columns(self.best)]

    def _frame(self, values, which: str):
        """Predictions of the workers as people want them: what identifies a row, then the columns of an answer."""
        question, codes = self.question, self.best.codes
        table = question.test if which == "test" else question.frame[~question.is_labelled]
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


def prediction_frame(model: TableModel, values):
    """A frame with the columns of ``predictions.csv`` from what `predict_proba` or `predict` of the model says."""
    import pandas

    fitted = model._answering()
    if fitted.names:
        columns = [fitted.labels[values.argmax(axis=1)], *values.T]
    else:
        columns = [values, *(values + end for end in (fitted.residuals if fitted.residuals is not None else ()))]
    return pandas.DataFrame(dict(zip(prediction_columns(model), columns)))
