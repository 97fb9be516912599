"""The `hyperplan` command.

Only the standard library is imported here: ``hyperplan --help`` must answer at once.  Each command lives in its own
module, loaded when it is called.
"""

import argparse
import importlib
import os
import sys

import hyperplan
from hyperplan._core.endings import Ended, EndSignals
from hyperplan._core.process_age import command_start

ENDED = "compete.errors.ended"


def build_parser() -> argparse.ArgumentParser:
    """The command line, as one table."""
    parser = argparse.ArgumentParser(prog="hyperplan", description=(hyperplan.__doc__ or "").splitlines()[0])
    parser.add_argument("--version", action="version", version=f"hyperplan {hyperplan.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    _add_compete(commands)
    _add_explore(commands)
    _add_predict(commands)
    _add_verify(commands)
    _add_reproduce(commands)

    warmup = commands.add_parser("warmup", help="compile every kernel once, into the kernel cache")
    warmup.add_argument("--family", metavar="NAME", help="only one family, e.g. linear_model, or what compete uses")

    commands.add_parser("doctor", help="versions, CPU, threads, BLAS, kernel cache, memory")

    cache = commands.add_parser("cache", help="show or clear the kernel cache")
    cache.add_argument("--clear", action="store_true", help="remove all compiled kernels")
    cache.add_argument("--prune", action="store_true", help="remove the kernels of other versions of the sources")
    return parser


def _add_compete(commands) -> None:
    compete = commands.add_parser("compete", help="compare all models on a table, honestly, and write a report")
    compete.add_argument(
        "table", nargs="?", metavar="TABLE", help="CSV, Parquet, Excel, SQLite... or a settings file .toml"
    )
    add = compete.add_argument
    add("--target", metavar="COL", help="column to predict")
    add("--test", metavar="FILE", help="rows to predict")
    add("--task", choices=("auto", "classification", "regression"), help="what is asked (guessed)")
    add("--metric", metavar="M", help="what models are compared by, a scikit-learn scorer (guessed)")
    add("--positive", metavar="VALUE", help="the class that counts as positive, of two")
    add("--time", type=float, metavar="SECONDS", help="budget (60)")
    add("--out", metavar="DIR", help="folder of the results (hyperplan-report)")
    add("--lang", choices=("en", "fr"), help="language (en)")
    add("--seed", type=int, help="same seed, same splits and searches (0)")
    add("--n-jobs", type=int, metavar="N", help="worker processes (all cores)")
    add("--folds", type=int, metavar="K", help="parts of the cross-validation (5)")
    add("--group", metavar="COL", help="rows with the same value stay together")
    add("--time-column", metavar="COL", help="later rows are predicted from earlier ones")
    add("--drop", action="append", metavar="COL", help="a column to leave out; may be repeated")
    add("--drop-leaks", action="store_true", default=None, help="leave out columns that give the target away")
    add("--example", action="store_true", help="compete on the Palmer penguins, which come with the package")


def _add_explore(commands) -> None:
    explore = commands.add_parser("explore", help="look at a table without a question: maps, groups, outliers")
    explore.add_argument(
        "table", nargs="?", metavar="TABLE", help="CSV, Parquet, Excel, SQLite... or a settings file .toml"
    )
    add = explore.add_argument
    add("--time", type=float, metavar="SECONDS", help="budget (60)")
    add("--out", metavar="DIR", help="folder of the results (hyperplan-explore)")
    add("--lang", choices=("en", "fr"), help="language (en)")
    add("--seed", type=int, help="same seed, same samples and starts (0)")
    add("--n-jobs", type=int, metavar="N", help="threads (all cores)")
    add("--drop", action="append", metavar="COL", help="a column that distances do not see; may be repeated")
    add("--colour", metavar="COL", help="column that colours the maps (guessed); it may be one that is left out")
    add("--example", action="store_true", help="explore the Palmer penguins, which come with the package")


def _add_predict(commands) -> None:
    predict = commands.add_parser("predict", help="predict the rows of a table with the model of a competition")
    predict.add_argument("model", metavar="MODEL", help="folder of a competition, or its model file")
    predict.add_argument("table", metavar="TABLE", help="rows to predict")
    add = predict.add_argument
    add(
        "--out",
        default="predictions.csv",
        metavar="FILE",
        help="where answers go, .csv, .csv.gz, .tsv, .parquet or .feather (%(default)s)",
    )
    add("--force", action="store_true", help="replace that file if it exists; never the table itself")
    kept = predict.add_mutually_exclusive_group()
    kept.add_argument(
        "--keep",
        action="append",
        metavar="COL,...",
        help="columns of the table to put beside the answers (its identifiers); may be repeated",
    )
    kept.add_argument("--keep-all", action="store_true", help="put every column of the table beside the answers")
    add("--warnings", action="store_true", help="add a column that says what is odd about a row")
    add("--no-escape", action="store_true", help="leave texts as they are that a spreadsheet would run as a formula")
    predict.add_argument("--lang", choices=("en", "fr"), default="en", help="language (%(default)s)")


def _add_verify(commands) -> None:
    verify = commands.add_parser("verify", help="make a row of a leaderboard again from its receipt")
    verify.add_argument("receipt", metavar="RECEIPT", help="receipt.json, or the folder it is in")
    verify.add_argument("--table", metavar="FILE", help="where the table is now")
    verify.add_argument(
        "--model", metavar="NAME", help="which row, by its class or by the name that is printed (the chosen model)"
    )
    verify.add_argument("--split", type=int, metavar="K", help="only this split")
    verify.add_argument("--lang", choices=("en", "fr"), default="en", help="language (%(default)s)")


def _add_reproduce(commands) -> None:
    reproduce = commands.add_parser("reproduce", help="make published experiments again, and say what agrees")
    add = reproduce.add_argument
    add("what", choices=("thesis",), help="thesis: RISIMAP and Isostretch (2004)")
    add("--data", metavar="FOLDER", help="where the published tables are (HYPERPLAN_DATA)")
    add("--out", default="hyperplan-thesis", metavar="DIR", help="folder of the results (%(default)s)")
    add("--quick", action="store_true", help="fewer settings and folds: about a minute")


def main(arguments=None) -> int:
    """Run one command; the exit status is 0 when it did what was asked."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a letter that a terminal does not have is no reason to stop
            stream.reconfigure(errors="replace")
    command_start.note(is_process=arguments is None)
    options = vars(build_parser().parse_args(arguments))
    language = options.get("lang") or "en"
    command = importlib.import_module(f"hyperplan.cli._{options.pop('command')}")
    from hyperplan._texts import speaking_to_command

    with EndSignals(is_sent_again=False) as ending:
        try:
            with speaking_to_command():
                return command.run(**options)
        except BaseException as error:
            return _failed(error if ending.number is None else Ended(ending.number), language)


def _failed(error: BaseException, language: str) -> int:
    """Say what ended a command; returns the exit status."""
    from hyperplan._texts.extras import MissingExtraError

    if isinstance(error, Ended):
        return _ended(error, language)
    if isinstance(error, MissingExtraError):
        print(f"hyperplan: {error.message(language)}", file=sys.stderr)
        return 2
    if isinstance(error, KeyboardInterrupt):
        print("hyperplan: stopped", file=sys.stderr)
        return 130
    if isinstance(error, BrokenPipeError):  # nobody reads on, as before ``| head``
        _silence(sys.stdout)
        return 141
    if not isinstance(error, Exception) or os.environ.get("HYPERPLAN_TRACEBACK"):
        raise error
    print(f"hyperplan: {_unexpected(error, language)}", file=sys.stderr)
    return 3


def _ended(error: Ended, language: str) -> int:
    """One line about a signal; the terminal may be gone, which is what one of them tells."""
    from hyperplan._texts import text

    for stream, line in ((sys.stdout, ""), (sys.stderr, f"hyperplan: {text(ENDED, language, name=error.name)}\n")):
        try:
            stream.write(line)
            stream.flush()
        except OSError:
            _silence(stream)
    return error.code


def _silence(stream) -> None:
    """What is left to say goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _unexpected(error: Exception, language: str) -> str:
    """What to say of an error that nobody foresaw: whose fault it is, where it came from, how to see more."""
    import traceback

    from hyperplan._texts import text

    last = traceback.extract_tb(error.__traceback__)[-1]
    found = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    place = f"{os.path.basename(last.filename)}:{last.lineno}"
    return text("compete.errors.unexpected", language, found=found, place=place)
