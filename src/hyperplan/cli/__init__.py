"""The `hyperplan` command.

Only the standard library is imported here: ``hyperplan --help`` must answer at once.  Each command lives in its own
module, loaded when it is called.
"""

import argparse
import importlib
import sys

import hyperplan


def build_parser() -> argparse.ArgumentParser:
    """The command line, as one table."""
    parser = argparse.ArgumentParser(prog="hyperplan", description=(hyperplan.__doc__ or "").splitlines()[0])
    parser.add_argument("--version", action="version", version=f"hyperplan {hyperplan.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    demo = commands.add_parser("demo", help="fit the linear family on a real table, show scores with intervals")
    demo.add_argument("--out", default="hyperplan-demo", metavar="DIR", help="where the picture goes (%(default)s)")
    demo.add_argument(
        "--repeats", type=_positive, default=5, help="repetitions of 5-fold cross-validation (%(default)s)"
    )

    warmup = commands.add_parser("warmup", help="compile every kernel once, into the kernel cache")
    warmup.add_argument(
        "--family", metavar="NAME", help="only one family, e.g. linear_model, or what the demo uses: demo"
    )

    commands.add_parser("doctor", help="versions, CPU, threads, BLAS, kernel cache, memory")

    cache = commands.add_parser("cache", help="show or clear the kernel cache")
    cache.add_argument("--clear", action="store_true", help="remove all compiled kernels")
    cache.add_argument("--prune", action="store_true", help="remove the kernels of other versions of the sources")
    return parser


def main(arguments=None) -> int:
    """Run one command; the exit status is 0 when it did what was asked."""
    options = vars(build_parser().parse_args(arguments))
    command = importlib.import_module(f"hyperplan.cli._{options.pop('command')}")
    try:
        return command.run(**options)
    except MissingExtra as error:
        print(f"hyperplan: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hyperplan: stopped", file=sys.stderr)
        return 130


class MissingExtra(RuntimeError):
    """An optional dependency is not installed; the message says which command installs it."""


def require_extra(module: str, extra: str):
    """Import an optional dependency, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtra(f"this command needs {package}: run  pip install 'hyperplan[{extra}]'") from None


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value
