"""``hyperplan compete``: a table and a question in; a leaderboard, a report and a model out."""

import sys
from pathlib import Path

from hyperplan._core.compiling import compile_watch, working_time
from hyperplan._core.process_age import command_start
from hyperplan._texts.extras import required

TAKEN = {"out_exists", "out_unlisted", "out_mixed", "out_changed"}  # reasons to write somewhere else
EXAMPLE = {"target": "sex"}  # categories, missing values, and rows whose sex nobody knows


def run(table, example, **options) -> int:
    """Read, compete, show, write; errors are sentences, not stack traces."""
    began = working_time() - command_start.seconds
    required("pandas")
    required("jinja2")
    rich = required("rich.console")
    from hyperplan._texts import text
    from hyperplan.compete._errors import SpokenError

    console, language = rich.Console(), options.get("lang") or "en"
    try:
        settings = _settings(table, example, options)
        language = settings.lang
        return _compete(console, settings, began)
    except SpokenError as error:
        print(f"hyperplan: {error.message(language)}", file=sys.stderr)
    except MemoryError:
        print(f"hyperplan: {text('compete.errors.memory', language)}", file=sys.stderr)
    return 2


def _settings(table, example, options):
    """What the command line says, on top of what a settings file says."""
    from hyperplan.compete import CompetitionError, Settings
    from hyperplan.datasets import table_path

    if example:
        return Settings(table=str(table_path("penguins"))).changed(**{**EXAMPLE, **given(options)})
    if table is None:
        raise CompetitionError("no_table")
    if str(table).endswith(".toml"):
        return settings_of(table, Settings).changed(**given(options))
    return Settings(table=str(table)).changed(**given(options))


def settings_of(path, kind):
    """The settings of a file, with paths that are found from here."""
    from hyperplan._texts import text
    from hyperplan.compete import read_settings
    from hyperplan.compete._places import settled

    settings = read_settings(path, kind)
    return settled(settings, path, lambda **told: print(text("compete.notes.path_both", settings.lang, **told)))


def given(options) -> dict:
    """The options that somebody gave."""
    told = {name: value for name, value in options.items() if value is not None}
    return {**told, "drop": tuple(told["drop"])} if "drop" in told else told


def _compete(console, settings, began: float) -> int:
    from hyperplan._texts import text
    from hyperplan.cli import _warmup
    from hyperplan.compete import CompetitionError, compete, read_table, table_notes
    from hyperplan.compete._interrupt import CtrlC
    from hyperplan.compete._new_rows import read_new_rows
    from hyperplan.compete._output import check_folder, write_results
    from hyperplan.compete._question import target_name
    from hyperplan.compete._tables import is_query

    language = settings.lang
    if settings.table is None:
        raise CompetitionError("no_table")
    check_folder(settings.out, inputs_of(settings))
    frame = read_table(settings.table, **settings.reading)
    test = None if settings.test is None else read_new_rows(settings.test, frame.columns, settings.reading)
    for note in table_notes(frame, language):
        console.print(note, style="dim", highlight=False, markup=False)
    target_name(frame, settings)  # complains before anything is compiled
    _warmup.run("compete", quiet=True)  # what cannot be compiled fails again in the competition, and is reported there
    title = settings.target if is_query(settings.table) else Path(settings.table).name
    with Progress(console, settings, began) as progress:
        spent = working_time() - began
        result = compete(frame, test=test, settings=located(settings), report=progress, title=title, spent=spent)
        result.document["protocol"]["compiling"] = round(compile_watch.seconds, 2)
        folder, failure, notes = None, None, []
        with CtrlC():  # nobody wants half of what is there already
            progress(phase="writing")
            try:
                folder = saved(
                    lambda out: write_results(result, out, settings.table, notes.append), settings, notes.append
                )
            except CompetitionError as error:  # a full disk does not take the answer away
                failure = error
    if result.contest.was_interrupted:
        console.print(text("compete.progress.interrupted", language), style="yellow")
    _show(console, result, language)
    for note in notes:
        console.print(note, style="yellow", highlight=False, markup=False, soft_wrap=True)
    if failure is not None:
        raise failure
    _show_files(console, result, language, folder, working_time() - began)
    return 0


def inputs_of(settings) -> list:
    """The files that are read."""
    from hyperplan.compete._places import source_files

    return [*source_files(settings.table), *source_files(getattr(settings, "test", None))]


def located(settings):
    """Settings for the record: what was read is found from any folder."""
    from hyperplan.compete._places import whole_table

    tables = {key: getattr(settings, key, None) for key in ("table", "test")}
    return settings.changed(**{key: whole_table(value) for key, value in tables.items() if value is not None})


def saved(save, settings, tell) -> Path:
    """Have results written to their folder, or beside it if something of somebody's came in while they were made."""
    from hyperplan._texts import text
    from hyperplan.compete import CompetitionError

    try:
        return save(settings.out)
    except CompetitionError as error:
        if error.key not in TAKEN:
            raise
        reason = error.message(settings.lang)
    places = (Path(f"{settings.out}-{k}") for k in range(2, 1000))
    folder = save(next(place for place in places if not place.exists()))
    tell(text("compete.notes.out_elsewhere", settings.lang, reason=reason, folder=folder))
    return folder


def _show(console, result, language) -> None:
    """The leaderboard and the answer."""
    from hyperplan._texts import text
    from hyperplan.cli._fitting import has_column
    from hyperplan.report._answer import rope_text
    from hyperplan.report._names import readable
    from hyperplan.report._wording import Wording

    wording = Wording(language)
    document = readable(result.document, wording)
    table = leaderboard(document, language, console.width)
    console.print(table)
    for line in absent(document, language):
        console.print(line, style="yellow", highlight=False, markup=False)
    is_grouped = any(row.get("group") for row in document["leaderboard"])
    if is_grouped and has_column(table, text("compete.table.group", language)):
        console.print(text("compete.table.legend", language, rope=rope_text(document, wording)), style="dim")
    console.print()
    for sentence in result.answer(language):
        console.print(f"• {sentence}", highlight=False, markup=False)
    console.print()


def _show_files(console, result, language, folder, seconds) -> None:
    """Where what is, and how long it took."""
    from hyperplan._texts import text
    from hyperplan.cli._compiling import compiling_note

    for name, frame in result.predictions.items():
        first = "test" if "test" in result.predictions else "unlabelled"
        path = folder / ("predictions.csv" if name == first else f"predictions_{name}.csv")
        console.print(
            text("compete.done.predictions", language, count=len(frame), path=path), soft_wrap=True, markup=False
        )
    budget = result.document["protocol"]["budget"]
    used = text("compete.done.used", language, seconds=f"{seconds:.0f}", budget=f"{budget:.0f}")
    console.print(used, style="dim")
    if note := compiling_note(language):
        console.print(note, style="dim", soft_wrap=True, markup=False, highlight=False)
    report = text("compete.done.report", language, path=folder / "report.html")
    console.print(report, style="bold", soft_wrap=True, markup=False)


def leaderboard(document, language, width: int = 80):
    """The leaderboard as a table for the terminal; where there is no room, costs, intervals and groups go first."""
    from hyperplan._texts import text
    from hyperplan.cli._fitting import fitting_table, has_column
    from hyperplan.report._answer import splits_text
    from hyperplan.report._wording import Wording

    done = [row for row in document["leaderboard"] if row["status"] == "ok"]
    level, splits = round(100 * document["protocol"]["level"]), splits_text(document, Wording(language))
    values = {"metric": document["metric"]["label"], "splits": splits}
    columns = _columns(values["metric"], done, language)
    styles = ["bold green" if row["is_chosen"] else "" for row in done]
    table = fitting_table(text("compete.table.title_plain", language, **values), columns, styles, width)
    if has_column(table, text("compete.table.interval", language)):
        table.title.plain = text("compete.table.title", language, level=level, **values)
    return table


def _columns(metric: str, done: list[dict], language) -> list:
    """The columns of the leaderboard, with what goes first where there is no room."""
    from hyperplan._texts import area_texts
    from hyperplan.cli._fitting import Column
    from hyperplan.report._views_models import common_decimals
    from hyperplan.report._wording import Wording

    words, wording, decimals = area_texts("compete", language)["table"], Wording(language), common_decimals(done)
    intervals = ["-" if row["low"] is None else wording.interval(row["low"], row["high"], decimals) for row in done]
    notes = [next((words[key] for key in ("chosen", "best", "baseline") if row[f"is_{key}"]), "") for row in done]
    columns = [
        Column(words["model"], [row["label"] for row in done], is_text=True),
        Column(metric, [wording.number(row["score"], decimals) for row in done]),
        Column(words["interval"], intervals, drop=2),
        Column(words["fit"], [wording.number(row["fit_seconds"], 2) for row in done], is_extra=True),
        Column(words["tried"], [str(row["tried"]) for row in done], is_extra=True),
        Column(words["group"], [row["group"] or "-" for row in done], drop=1, justify="center"),
        Column("", notes, justify="left", is_text=True),
    ]
    return [column for column in columns if set(column.cells) != {"-"}]  # nothing was compared


def absent(document, language) -> list[str]:
    """Who is not on the leaderboard, by reason."""
    from hyperplan._texts import area_texts, text

    reasons, by_reason = area_texts("compete", language)["reasons"], {}
    for row in document["leaderboard"]:
        if row["status"] != "ok":
            by_reason.setdefault(row["reason"], []).append(row["label"])
    return [
        text("compete.table.absent", language, names=", ".join(names), reason=reasons.get(reason, reason))
        for reason, names in by_reason.items()
    ]


class Progress:
    """A live bar with the model that was tried last and the time left; call it with the events of a competition."""

    def __init__(self, console, settings, began):
        from hyperplan.report._wording import Wording

        self._console, self._settings, self._began = console, settings, began
        self._words, self._wording = [], Wording(settings.lang)

    def __enter__(self):
        from rich.progress import BarColumn, TextColumn

        columns = (TextColumn("{task.fields[phase]}"), BarColumn(bar_width=24), TextColumn("{task.description}"))
        self._bar = clock_bar(*columns, console=self._console, tick=self._tick)
        self._bar.start()
        self._task = self._bar.add_task("", total=self._settings.time, phase="")
        return self

    def _tick(self, task) -> None:
        """The clock runs on while nothing happens."""
        from hyperplan._texts import text

        elapsed = working_time() - self._began
        left = text("compete.progress.eta", self._settings.lang, seconds=max(0, round(self._settings.time - elapsed)))
        task.completed = min(elapsed, self._settings.time)
        task.description = ", ".join([*self._words, left])

    def __exit__(self, *_):
        self._bar.stop()

    def __call__(self, phase, **event):
        """Show an event; what was guessed is printed once."""
        from hyperplan._texts import text
        from hyperplan.compete import leaking_columns

        language = self._settings.lang
        if phase == "guessed":
            for line in guesses(event["question"], language) + readings(event["findings"], language):
                self._bar.console.print(line, highlight=False, markup=False)
            leaks = leaking_columns([found for found in event["findings"] if found.severity != "info"])
            if leaks:
                hint = text("compete.guesses.leaks", language, names=", ".join(leaks))
                self._bar.console.print(hint, style="yellow", highlight=False, markup=False)
            return
        self._words = [self._wording.word("model", event["entry"].candidate.label)] if "entry" in event else []
        self._bar.update(self._task, phase=text(f"compete.progress.{phase}", language))


def clock_bar(*columns, console, tick):
    """A bar that asks `tick` to set it before each drawing."""
    from rich.progress import Progress

    class ClockBar(Progress):
        def get_renderables(self):
            for task in self.tasks:
                tick(task)
            yield from super().get_renderables()

    return ClockBar(*columns, console=console, transient=True)


def guesses(question, language) -> list[str]:
    """What was guessed, in a few lines."""
    from hyperplan._texts import area_texts, text
    from hyperplan.report._wording import Wording

    words, problem = area_texts("compete", language), question.problem
    lines = [text("compete.guesses.title", language, file="settings.toml")]
    name, task = question.settings.target, words["tasks"][problem.task]
    lines.append("  " + text("compete.guesses.target", language, name=name, task=task))
    metric = Wording(language).word("metric", problem.measure.label)
    lines.append("  " + text("compete.guesses.metric", language, metric=metric))
    counts = {"labelled": problem.n_rows, "unlabelled": int(question.is_unlabelled.sum())}
    columns = {"columns": len(question.columns), "used": len(problem.columns)}
    lines.append("  " + text("compete.guesses.rows", language, **counts, **columns))
    splits = {"splits": len(problem.splits), "repeats": max(1, len(problem.splits) // problem.n_folds)}
    divides = question.settings.time_column or question.settings.group
    kind = words["split_kinds"][question.kind] + (f" ({divides})" if divides else "")
    lines.append("  " + text("compete.guesses.folds", language, folds=problem.n_folds, **splits, kind=kind))
    return lines + kinds_of_columns(question.columns, question.settings.drop, language)


def readings(findings, language) -> list[str]:
    """How values were read that do not speak for themselves, and which classes are left out: a line each."""
    from hyperplan._texts import area_texts, text

    codes = area_texts("compete", language)["readings"]
    found = sorted((finding for finding in findings if finding.code in codes), key=lambda finding: finding.code)
    return ["  " + text(f"compete.readings.{finding.code}", language, **finding.values) for finding in found]


def kinds_of_columns(columns, dropped, language) -> list[str]:
    """Which columns are of which kind, a line for each, and which are left out."""
    from hyperplan._texts import area_texts, text

    words, by_kind, lines = area_texts("compete", language), {}, []
    for column in columns:
        if column.name not in dropped:
            by_kind.setdefault(column.kind, []).append(column.name)
    for kind, names in by_kind.items():
        shown = ", ".join(names[:8]) + (f", ... ({len(names)})" if len(names) > 8 else "")
        lines.append("  " + text("compete.guesses.kind", language, kind=words["kinds"][kind], names=shown))
    if dropped:
        lines.append("  " + text("compete.guesses.dropped", language, names=", ".join(dropped)))
    return lines
