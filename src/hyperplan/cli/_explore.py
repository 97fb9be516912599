"""``hyperplan explore``: a table without a question in; maps, groups, outliers and a report out."""

import sys
from pathlib import Path

from hyperplan._core.compiling import compile_watch, working_time
from hyperplan._core.process_age import command_start
from hyperplan._texts.extras import required


def run(table, example, **options) -> int:
    """Read, explore, show, write; errors are sentences, not stack traces."""
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
        return _explore(console, settings, began)
    except SpokenError as error:
        print(f"hyperplan: {error.message(language)}", file=sys.stderr)
    except MemoryError:
        print(f"hyperplan: {text('explore.errors.memory', language)}", file=sys.stderr)
    return 2


def _settings(table, example, options):
    """What the command line says, on top of what a settings file says."""
    from hyperplan.cli._compete import given, settings_of
    from hyperplan.datasets import table_path
    from hyperplan.explore import ExploreError, ExploreSettings

    if example:
        return ExploreSettings(table=str(table_path("penguins"))).changed(**given(options))
    if table is None:
        raise ExploreError("no_table")
    if str(table).endswith(".toml"):
        return settings_of(table, ExploreSettings).changed(**given(options))
    return ExploreSettings(table=str(table)).changed(**given(options))


def _explore(console, settings, began: float) -> int:
    from hyperplan._texts import text
    from hyperplan.cli import _warmup
    from hyperplan.cli._compete import inputs_of, located, saved
    from hyperplan.compete import read_table, table_notes
    from hyperplan.compete._interrupt import CtrlC
    from hyperplan.compete._output import check_folder
    from hyperplan.compete._tables import is_query
    from hyperplan.explore import ExploreError
    from hyperplan.explore._explore import read_columns, run_exploration

    if settings.table is None:
        raise ExploreError("no_table")
    check_folder(settings.out, inputs_of(settings))
    frame = read_table(settings.table, **settings.reading)
    for note in table_notes(frame, settings.lang):
        console.print(note, style="dim", highlight=False, markup=False)
    read = read_columns(frame, settings)  # complains before anything is compiled
    _warmup.run("explore", quiet=True)  # what cannot be compiled fails again in the exploration, and is reported there
    title = "SQL" if is_query(settings.table) else Path(settings.table).name
    with Progress(console, settings, began) as progress:
        spent = working_time() - began
        result = run_exploration(frame, located(settings), None, progress, title, spent, read)
        result.document["protocol"]["compiling"] = round(compile_watch.seconds, 2)
        with CtrlC():  # nobody wants half of what is there already
            progress(phase="writing")
            notes = []
            folder = saved(lambda out: result.save(out, settings.table, notes.append), settings, notes.append)
    if result.document["protocol"]["was_interrupted"]:
        console.print(text("explore.progress.interrupted", settings.lang), style="yellow")
    for note in notes:
        console.print(note, style="yellow", highlight=False, markup=False, soft_wrap=True)
    _show(console, result, settings, folder, working_time() - began)
    return 0


def _show(console, result, settings, folder, seconds) -> None:
    from hyperplan._texts import text
    from hyperplan.cli._compiling import compiling_note
    from hyperplan.cli._fitting import has_column

    language = settings.lang
    table = clusterings(result.document, language, console.width)
    console.print(table)
    if has_column(table, text("explore.table.separation", language)):
        console.print(text("explore.table.legend", language), style="dim")
    console.print()
    for sentence in result.answer(language):
        console.print(f"• {sentence}", highlight=False, markup=False)
    console.print()
    for name in ("clusters", "coordinates"):
        line = text(f"explore.done.{name}", language, path=folder / f"{name}.csv")
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    used = text("explore.done.used", language, seconds=f"{seconds:.0f}", budget=f"{settings.time:.0f}")
    console.print(used, style="dim")
    if note := compiling_note(language):
        console.print(note, style="dim", soft_wrap=True, markup=False, highlight=False)
    report = text("explore.done.report", language, path=folder / "report.html")
    console.print(report, style="bold", soft_wrap=True, markup=False)


def clusterings(document, language, width: int = 80):
    """The best clustering of each method, as a table for the terminal; where there is no room, some measures go."""
    from hyperplan._texts import area_texts
    from hyperplan.cli._fitting import Column, fitting_table
    from hyperplan.report._wording import UNKNOWN, Wording

    words, wording = area_texts("explore", language)["table"], Wording(language, "explore")
    rows = sorted((row for row in document["clusterings"] if row["is_best"]), key=lambda row: not row["is_chosen"])
    measures = {name: [_measure(row, name, wording) for row in rows] for name in _DROPS}
    columns = [
        Column(words["method"], [wording.word("method", row["name"]) for row in rows], is_text=True),
        *(Column(words[name], cells, drop=_DROPS[name]) for name, cells in measures.items() if set(cells) != {UNKNOWN}),
        Column(words["verdict"], [_verdict(row, wording) for row in rows], justify="left", is_text=True),
    ]
    return fitting_table(words["title"], columns, ["bold green" if row["is_chosen"] else "" for row in rows], width)


_DROPS = {"groups": 0, "stability": 1, "separation": 2, "silhouette": 3}  # what a narrow terminal leaves out first


def _measure(row: dict, name: str, wording) -> str:
    """A number about a clustering; the separation with that of tables without groups."""
    from hyperplan.report._wording import UNKNOWN

    if row["groups"] < 2:
        return UNKNOWN
    shown = wording.number(row.get(name), 0 if name == "groups" else 2)
    null = (row.get("null_separation") or {}).get("mean")
    return f"{shown} ({wording.number(null, 2)})" if name == "separation" else shown


def _verdict(row: dict, wording) -> str:
    """Why a method has no clustering, or what is to be thought of the one it has."""
    why = wording.word("reason", row["reason"]) if row["verdict"] == "failed" else ""
    return why or wording.word("verdict", row["verdict"])


class Progress:
    """A live bar with what is being done and the time left; call it with the events of an exploration."""

    def __init__(self, console, settings, began):
        from hyperplan.report._wording import Wording

        self._console, self._settings, self._began = console, settings, began
        self._words, self._wording = [], Wording(settings.lang, "explore")

    def __enter__(self):
        from rich.progress import BarColumn, TextColumn

        from hyperplan.cli._compete import clock_bar

        columns = (TextColumn("{task.fields[phase]}"), BarColumn(bar_width=24), TextColumn("{task.description}"))
        self._bar = clock_bar(*columns, console=self._console, tick=self._tick)
        self._bar.start()
        self._task = self._bar.add_task("", total=self._settings.time, phase="")
        return self

    def _tick(self, task) -> None:
        """The clock runs on while nothing happens."""
        elapsed = working_time() - self._began
        left = self._wording.say("progress.eta", seconds=max(0, round(self._settings.time - elapsed)))
        task.completed = min(elapsed, self._settings.time)
        task.description = ", ".join([*self._words, left])

    def __exit__(self, *_):
        self._bar.stop()

    def __call__(self, phase, **event):
        """Show an event; what was guessed is printed once."""
        if phase == "guessed":
            from hyperplan.cli._compete import readings

            lines = guesses(event["columns"], event["used"], event["shape"], self._settings)
            for line in lines + readings(event["findings"], self._settings.lang):
                self._bar.console.print(line, highlight=False, markup=False)
            return
        self._words = [self._wording.word(key, event[key]) for key in ("method", "map") if key in event]
        self._bar.update(self._task, phase=self._wording.say(f"progress.{phase}"))


def guesses(columns, used, shape: tuple[int, int], settings) -> list[str]:
    """What was guessed of a table of this shape, in a few lines."""
    from hyperplan._texts import text
    from hyperplan.cli._compete import kinds_of_columns
    from hyperplan.report._wording import Wording

    language, wording = settings.lang, Wording(settings.lang, "explore")
    lines = [text("explore.guesses.title", language, file="settings.toml")]
    rows, width = shape
    counted, counting = wording.count("rows", rows), wording.say("guesses.columns", count=width, used=len(used))
    lines.append("  " + text("explore.guesses.rows", language, rows=counted, columns=counting))
    if width > len(columns):
        lines.append("  " + wording.count("guesses.unseen", width - len(columns)))
    lines += kinds_of_columns(columns, settings.drop, language)
    if settings.colour:
        lines.append("  " + text("explore.guesses.colour", language, name=settings.colour))
    return lines
