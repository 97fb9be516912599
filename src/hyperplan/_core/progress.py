"""A progress bar that listens to a `Trace`: ``Trace(ProgressBar(total))``.  Needs the package rich."""


class ProgressBar:
    """Observer of steps that draws one line: iteration, objective, residual.

    Parameters
    ----------
    total : int or None
        Number of iterations at most; None when unknown.
    description : str, default="fitting"
        Word in front of the bar.
    console : rich.console.Console, default=None
        Where to draw; None means standard error, so that printed results stay clean.

    Examples
    --------
    >>> import io
    >>> from rich.console import Console
    >>> from hyperplan._core.progress import ProgressBar
    >>> from hyperplan._core.trace import Trace
    >>> with ProgressBar(3, console=Console(file=io.StringIO())) as bar:
    ...     trace = Trace(bar)
    ...     stops = [trace(t, 1.0 / t, 0.1) for t in (1, 2, 3)]
    >>> stops
    [False, False, False]
    """

    def __init__(self, total=None, description="fitting", console=None):
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        except ImportError:
            raise ImportError("Progress bars need the package rich: pip install 'hyperplan[cli]'") from None
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("objective {task.fields[objective]:.6g}  residual {task.fields[residual]:.2e}"),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
        )
        self._task = self._bar.add_task(description, total=total, objective=float("nan"), residual=float("nan"))
        self._bar.start()

    def __call__(self, step) -> bool:
        """Show a step; never asks to stop."""
        self._bar.update(self._task, completed=step.iteration, objective=step.objective, residual=step.residual)
        return False

    def close(self):
        """Leave the finished bar on the screen."""
        self._bar.stop()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
