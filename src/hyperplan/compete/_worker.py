"""A worker: a process of its own that runs what it is sent, so that a fit which hangs or crashes ends nobody else.

``python -m hyperplan.compete._worker`` reads requests from its standard input and answers on its standard output, as
pickles between the two processes only: ``(function name, arguments)``, then ``(True, result)`` or ``(False, reason)``;
before an answer there may be word of kernels that are being compiled, during which no time runs.
"""

import importlib
import os
import pickle
import select
import sys
import threading
import warnings

from hyperplan.compete._crew import COMPILING


def main() -> int:
    """Answer requests until the parent closes the pipe."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a model prints is no answer
    warnings.simplefilter("ignore")
    from hyperplan._core.compiling import compile_watch
    from hyperplan._core.parallel import thread_limit

    lock = threading.Lock()

    def send(*answer):
        with lock:
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()

    compile_watch.tell = lambda is_on: send(COMPILING, is_on, compile_watch.trouble)
    problem = None
    with thread_limit(1):
        while True:
            try:
                name, arguments = pickle.load(requests)
            except EOFError:
                return 0
            if name == "problem":
                with open(arguments, "rb") as file:
                    problem = pickle.load(file)
                answer = (True, None)
            else:
                answer = _answer(problem, name, arguments)
            send(*answer)


def _end_with_parent() -> None:
    """End when nobody can send requests any more, in the middle of a fit too: the parent was killed."""
    if hasattr(select, "poll"):
        ends = select.poll()
        ends.register(sys.stdin.fileno(), 0)  # nothing but the end of the pipe is waited for
        ends.poll()
        os._exit(0)


def _answer(problem, name, arguments):
    """The result of ``module.function(problem, *arguments)``, or why there is none."""
    module, _, function = name.partition(".")
    try:
        return True, getattr(importlib.import_module(f"hyperplan.compete.{module}"), function)(problem, *arguments)
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    raise SystemExit(main())
