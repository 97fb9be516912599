"""``hyperplan predict``: score new rows with the model of a competition."""

import sys

from hyperplan._texts.extras import required


def run(model, table, out, force, keep, keep_all, warnings, no_escape, lang) -> int:
    """Load, check the columns, predict, say what is odd, write beside and rename."""
    required("pandas")
    if str(out).lower().endswith((".parquet", ".feather")):
        required("pyarrow")
    from hyperplan._texts import text
    from hyperplan.compete._errors import SpokenError
    from hyperplan.compete._predict_words import closing_lines, note_lines

    try:
        answers = _answered(model, table, out, force, (keep, keep_all), warnings, no_escape, lang)
    except SpokenError as error:
        print(f"hyperplan: {error.message(lang)}", file=sys.stderr)
        return 2
    except MemoryError:
        print(f"hyperplan: {text('compete.errors.memory', lang)}", file=sys.stderr)
        return 2
    for line in note_lines(answers, lang):
        print(line, file=sys.stderr)
    for line in closing_lines(answers, out, lang):
        print(line)
    return 0


def _answered(model, table, out, force, keep, warnings, no_escape, lang):
    """The answers, written; what is in the way of that is said before the work."""
    from hyperplan.compete._kept_columns import kept_columns
    from hyperplan.compete._new_rows import read_new_rows, reading_of
    from hyperplan.compete._output import check_one, write_one
    from hyperplan.compete._places import source_files
    from hyperplan.compete._predict import id_columns, load_model, model_file, predict_table
    from hyperplan.compete._predict_words import COLUMN, warning_cells
    from hyperplan.compete._table_output import check_ending, write_table

    ending = check_ending(out)
    never = [*source_files(table), model_file(model)]
    check_one(out, force=force, never=never)
    loaded = load_model(model)
    frame = read_new_rows(table, [column.name for column in loaded.columns], reading_of(model))
    kept = kept_columns(frame, id_columns(loaded), *keep)
    progress = _Progress(len(frame), lang)
    answers = predict_table(loaded, frame, kept, progress, reserved=[COLUMN] if warnings else ())
    if warnings:
        said = warning_cells(answers.notes, len(frame), lang)
        answers = answers._replace(frame=answers.frame.assign(**{COLUMN: said}))
    write_one(out, lambda beside: write_table(answers.frame, beside, escape=not no_escape, ending=ending), force=force,
              never=never)  # fmt: skip
    return answers


class _Progress:
    """A line on a terminal that counts the rows; nothing elsewhere."""

    def __init__(self, total: int, lang: str):
        self.total, self.lang = total, lang

    def __call__(self, done: int) -> None:
        if not sys.stderr.isatty():
            return
        from hyperplan.report._wording import Wording

        said = Wording(self.lang, "predict").say("progress", done=done, total=self.total)
        print(f"\r{said}", end="\n" if done >= self.total else "", file=sys.stderr, flush=True)
