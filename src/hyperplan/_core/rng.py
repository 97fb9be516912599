"""One seed per task: what is random depends on the seed and the task's number, never on threads."""

import numpy as np


def task_seeds(seed: int, n_tasks: int) -> np.ndarray:
    """`n_tasks` independent uint64 seeds; the first k are the same for any n_tasks >= k.

    >>> from hyperplan._core.rng import task_seeds
    >>> bool((task_seeds(0, 3) == task_seeds(0, 5)[:3]).all())
    True
    """
    children = np.random.SeedSequence(int(seed)).spawn(n_tasks)
    return np.array([child.generate_state(1, np.uint64)[0] for child in children], dtype=np.uint64)


def kernel_state(seed: int) -> np.ndarray:
    """The one-element array that the kernels of `_rng_kernels` advance."""
    return np.array([seed], dtype=np.uint64)
