"""Bridge to scikit-learn's callback protocol (1.9 and later): progress bars, monitors and early stopping.

Below 1.9 `CallbackSupportMixin` only checks and stores what `set_callbacks` is given, and `with_callbacks` changes
nothing.  `FitTask` reports one iterative fit: a root task with one subtask per iteration.
"""

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ImportError:  # scikit-learn below 1.9
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Accepts callbacks; they are called by scikit-learn 1.9 and later only."""

        def set_callbacks(self, *callbacks):
            """Keep callbacks for when scikit-learn can call them.

            Parameters
            ----------
            *callbacks : callback instances
                The callbacks.

            Returns
            -------
            self
                The estimator.
            """
            return self

    def with_callbacks(method):  # type: ignore[no-redef]
        """Return the method itself."""
        return method


class FitTask:
    """The calls of one fit: `begin`, then the object itself after each iteration, then `end`.

    Parameters
    ----------
    estimator : object
        The estimator being fitted (a `CallbackSupportMixin`).
    X, y : array-like
        Checked training data.
    metadata : dict or None
        What else went into the fit, for example ``{"sample_weight": w}``.
    max_iter : int
        Largest number of iterations.
    attributes : callable
        ``attributes(theta)`` gives the fitted attributes at an iterate.
    iterations : bool, default=True
        Whether iterations are reported, besides the fit as a whole.
    """

    def __init__(self, estimator, X, y, metadata, max_iter, attributes, iterations=True):
        self._estimator, self._attributes = estimator, attributes
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._context = self._current = None
        self._count = 0
        if HAS_CALLBACKS:
            self._context = estimator._init_callback_context(max_subtasks=max(max_iter, 1) + 1)
            self._reports = iterations and bool(getattr(estimator, "_skl_callbacks", ()))

    def begin(self, theta):
        """Announce the fit and its first iteration, which starts at `theta`."""
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
            self._start(theta)

    @property
    def reports(self) -> bool:
        """Whether a callback hears of iterations, after `begin`."""
        return self._current is not None

    def __call__(self, theta) -> bool:
        """Report the end of an iteration at `theta`; True when a callback asks to stop."""
        if self._current is None:
            return False
        self._count += 1
        stop = self._current.call_on_fit_task_end(estimator=self._estimator, **self._state(theta))
        self._start(theta)
        return bool(stop)

    def end(self, theta):
        """Close the fit; at least one iteration is always reported."""
        if self._context is None:
            return
        if self._current is not None:
            if self._count == 0:
                self(theta)
            self._current.call_on_fit_task_end(estimator=self._estimator)
        self._context.call_on_fit_task_end(estimator=self._estimator, **self._state(theta))

    def _start(self, theta):
        if self._reports and self._context is not None:
            self._current = self._context.subcontext(task_name="iteration")
            self._current.call_on_fit_task_begin(estimator=self._estimator, **self._state(theta))

    def _state(self, theta):
        return {**self._data, "reconstruction_attributes": lambda: self._attributes(theta)}
