"""``hyperplan reproduce thesis``: published experiments again, and a page that says what agrees."""

import sys

from hyperplan._texts.extras import required


def run(what, data, out, quick) -> int:
    """Run what is not there yet, with a bar; say what is missing and where the page is."""
    required("matplotlib")
    rich = required("rich.console")
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from hyperplan.reproduce import FULL, QUICK, reproduce_thesis
    from hyperplan.reproduce._tables import SOURCES, VARIABLE

    console = rich.Console()
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=32), TextColumn("{task.percentage:3.0f} %"))
    try:
        with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
            task = bar.add_task("preparing", total=None)

            def report(done, total, name):
                bar.update(task, completed=done, total=total, description=name.replace("_", " "))

            made = reproduce_thesis(data, out, plan=QUICK if quick else FULL, report=report)
    except (OSError, ValueError) as error:
        print(f"hyperplan: {error}", file=sys.stderr)
        return 2
    for name in made.missing:
        console.print(f"left out: {name} (needs {SOURCES[name]})", style="yellow", markup=False, soft_wrap=True)
    if made.missing:
        console.print(f"Say where the tables are with --data FOLDER or the variable {VARIABLE}.", style="yellow")
    counts = f"{made.n_made} experiments made, {made.n_reused} were there already, {made.seconds:.0f} s"
    console.print(counts, style="dim", highlight=False)
    page = made.folder / "README.md"
    console.print(f"Page: {page}", style="bold", soft_wrap=True, markup=False)
    return 0
