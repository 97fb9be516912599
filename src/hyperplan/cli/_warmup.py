"""``hyperplan warmup``: compile every kernel once, so that nobody waits for the compiler later.

The registry is the package itself: every estimator that a family exports is fitted on tiny data, in the dtypes, memory
orders and sparse formats it accepts and once per string option in its parameter table; then on data of many rows and
of many columns, because the size decides which algorithm runs.  What is already in the cache costs milliseconds.  When
all is done a stamp with the digest of the package's sources is left in the cache: the next warm-up finds it and has
nothing to do.
"""

import concurrent.futures
import contextlib
import hashlib
import importlib
import inspect
import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import sys
import threading
import time
import warnings
from pathlib import Path

from hyperplan._core import jit
from hyperplan._core.compiling import compile_watch
from hyperplan._core.parallel import cpu_count
from hyperplan.cli._cache import STAMP_NAME, measure
from hyperplan.cli._warmup_compete import candidate_names, warm_candidate
from hyperplan.cli._warmup_explore import method_names, warm_method

FAMILIES = (
    *("linear_model", "svm", "preprocessing", "optimize", "tree", "ensemble"),
    *("kernels", "neighbors", "naive_bayes", "discriminant_analysis", "mixture", "multiclass", "calibration"),
    *("decomposition", "random_projection", "cluster", "manifold"),
)
OPTION_NAMES = (
    "solver",
    "algorithm",
    "loss",
    "objective",
    "penalty",
    "selection",
    "precompute",
    "kernel",
    "gcv_mode",
    "multi_class",
    "covariance_type",
)
SAME_AT_ANY_SIZE = ("naive_bayes", "discriminant_analysis", "mixture")  # families that need no large fits
ENGINE_OPTIONS = ("solver", "loss", "penalty", "criterion", "l1_ratio")  # those that decide with the size what runs
TALL, WIDE = (70_000, 32), (600, 2_100)  # sizes beyond which no other algorithm is chosen (tests/cli/test_warmup.py)
TALL_TREES, WIDE_TREES = (80_000, 12), (600, 120)  # the same for trees, which decide earlier and hold rows out
TALL_KERNELS = (3_000, 32)  # the same for methods that need all pairs of rows
PAIRS_AGAIN = (1_100, 13)  # the same for those that look at all pairs in each of many steps
OWN_SHAPES = {
    **dict.fromkeys(("DensityModes", "LargeMarginNearestNeighbor", "NeighborhoodComponentsAnalysis"), (PAIRS_AGAIN,)),
    **dict.fromkeys(("OPTICS", "SpectralClustering"), (TALL_KERNELS,)),  # look at pairs of rows
    "DBSCAN": ((20_000, 5), TALL_KERNELS),  # a tree that several threads grow, and pairs
    "MDS": (PAIRS_AGAIN,),
    "SpectralEmbedding": ((1_100, 5), (1_100, 32)),  # neighbours by a tree and by products
    "UMAP": ((5_000, 5), TALL_KERNELS),
    "QuantileRegressor": (TALL_KERNELS,),  # SciPy solves what is wider, or sparse
    **dict.fromkeys(("KernelPCA", "MultipleKernelSVC"), ()),  # hold all kernel values: nothing is for large data
    "NumberOfClusters": (),  # runs other clusterers
}
SPARSE, SPARSE_ROW = (4_000, 2_500), 20  # the same for sparse data, and its values per row
TREES = ("tree", "ensemble")
FEW_MODELS = {"n_alphas": 5, "Cs": 2, "cv": 2, "max_nodes": 50, "n_features_to_select": 3, "max_iter": 5}
FEW_TREES = {"n_estimators": 2, "max_iter": 3, "max_depth": 4}
LARGE_SECONDS = 4.0  # an estimator's large fits with options stop then; those of the plain estimator are all done
# whole large fits of these would take minutes
MANY_STEPS = ("HuberRegressor", "KernelPerceptron", "MDS", "OrdinalRegression", "ProbitRegression")

COMMANDS = {"compete": (candidate_names, warm_candidate), "explore": (method_names, warm_method)}
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
REJECTED = (ValueError, TypeError, AttributeError, ArithmeticError, MemoryError)  # a combination an estimator refuses


def run(family: str | None, quiet: bool = False) -> int:
    """Warm the whole package, one family, or what ``hyperplan compete`` or ``hyperplan explore`` fit."""
    if family not in (None, *COMMANDS, *FAMILIES):
        known = ", ".join((*FAMILIES, *COMMANDS))
        print(f"hyperplan: no family {family!r}; choose one of {known}", file=sys.stderr)
        return 2
    started, key = time.perf_counter(), family or "all"
    home = jit.writable_cache_home()
    digest = package_digest()
    if home is not None and _is_warm(home, key, digest):
        if not quiet:
            print(f"kernels are warm ({measure(home).current.entries} compiled, nothing to do)")
        return 0
    if home is None and quiet:  # nobody would find what is compiled here: each process compiles what it needs
        return 0
    listed, warm = COMMANDS.get(family, (None, warm_one))
    names = selected(family) if listed is None else listed()
    with progress(len(names)) as advance:
        failed = {name: error for name, error in _fit_everywhere(names, advance, warm) if error}
    compile_watch.add(time.perf_counter() - started)
    for name, error in failed.items():
        print(f"hyperplan: warming {name} failed: {error}", file=sys.stderr)
    if failed:
        return 1
    if home is not None:
        try:
            _write_stamp(home, key, digest)
        except OSError as error:  # a full disk: what could not be kept is compiled again when it is needed
            compile_watch.trouble = error.strerror or str(error)
        print(f"{measure(home).current.entries} kernels compiled and cached in {time.perf_counter() - started:.1f} s")
    return 0


def estimators() -> dict[str, type]:
    """``{"family.Class": class}`` for every estimator of the package."""
    from hyperplan.testing import all_estimators

    return {f"{cls.__module__.split('.')[1]}.{name}": cls for name, cls in all_estimators()}


def selected(family: str | None) -> list[str]:
    """Names to warm."""
    return [name for name in estimators() if family is None or name.startswith(f"{family}.")]


def package_digest() -> str:
    """Digest of all sources and of the machine: what the stamp stands for."""
    stamp = hashlib.sha256(jit.source_digest(Path(jit.__file__).resolve()).encode())
    for path in sorted(jit.PACKAGE_ROOT.rglob("*.py")):
        stamp.update(path.read_bytes())
    return stamp.hexdigest()[:16]


def _is_warm(home: Path, key: str, digest: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        stamp = json.loads((home / STAMP_NAME).read_text())
        folders = stamp.get("folders", [])
        return digest in (stamp.get(key), stamp.get("all")) and all((home / name).is_dir() for name in folders)
    return False


def _write_stamp(home: Path, key: str, digest: str) -> None:
    known = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads((home / STAMP_NAME).read_text())
    known = {name: value for name, value in known.items() if value == digest}
    known.update({key: digest, "folders": [name for name in sorted(jit.current_digests()) if (home / name).is_dir()]})
    beside = home / f"{STAMP_NAME}.{os.getpid()}"
    beside.write_text(json.dumps(known))
    beside.replace(home / STAMP_NAME)


@contextlib.contextmanager
def progress(total: int):
    """Yields ``advance(name, step)``: a bar with rich, one line per estimator without it."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield lambda name, step: print(f"compiled {name}", flush=True) if step else None
        return
    columns = (
        TextColumn("compiling"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=total)
        yield lambda name, step: bar.update(task, description=name, advance=step)


def _fit_everywhere(names: list[str], advance, warm):
    """Warm each estimator in one of several fresh processes; yields ``(name, error message)`` as they finish."""
    workers = min(cpu_count(), len(names))
    spawn = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with concurrent.futures.ProcessPoolExecutor(workers, spawn, _end_with_parent) as pool:
        try:
            running = {pool.submit(warm, name): name for name in names}
            waiting = list(names)
            advance(", ".join(waiting[:workers]), 0)
            for future in concurrent.futures.as_completed(running):
                waiting.remove(running[future])
                advance(", ".join(waiting[:workers]), 1)
                yield running[future], future.result()
        except BaseException:
            for child in set(multiprocessing.active_children()) - before:  # nobody waits for what they compile
                child.kill()
            raise


def _end_with_parent() -> None:
    """Have this process end when the one that started it is gone, for whatever reason."""
    gone = multiprocessing.parent_process().sentinel

    def wait():
        multiprocessing.connection.wait([gone])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def warm_one(name: str) -> str:
    """Fit one estimator in every way; returns "" or what went wrong with the plainest one."""
    family, _, class_name = name.partition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator = getattr(importlib.import_module(f"hyperplan.{family}"), class_name)
            _use(_built(estimator), *next(_inputs(estimator)))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        spent = 0.0
        for options in _accepted(estimator):
            for X, y in _inputs(estimator):
                _try(estimator, options, X, y)
            if not options or not options.keys().isdisjoint(ENGINE_OPTIONS):
                few = _limits(estimator, family, is_plain=not options)
                for X, y in _large_inputs(estimator, is_plain=not options):
                    began = time.perf_counter()
                    if spent < LARGE_SECONDS or not options:
                        _try(estimator, {**few, **options}, X, y, is_large=True)
                    spent += time.perf_counter() - began
    return ""


def _limits(estimator, family, is_plain) -> dict:
    """Settings that make large fits short; the plain estimator goes through all its phases, if it fits one model."""
    limits = FEW_TREES if family in TREES else FEW_MODELS
    few = {name: value for name, value in limits.items() if name in estimator().get_params()}
    if is_plain and family not in TREES and few.keys() <= {"max_iter"} and estimator.__name__ not in MANY_STEPS:
        return {}
    return few


def _try(estimator, options, X, y, is_large=False) -> bool:
    """Use an estimator; whether it accepts the combination."""
    with contextlib.suppress(*REJECTED):
        _use(_built(estimator, **options), X, y, is_large)
        return True
    return False


def _built(estimator, **options):
    """An estimator that can be fitted on tiny data."""
    from hyperplan.testing import construct

    return construct(estimator, **options)


def _accepted(estimator):
    """The variants that an estimator accepts: an option that it refuses by itself comes with the first that helps."""
    singles, first = list(_variants(estimator)), next(_inputs(estimator))
    for options in singles:
        pairs = ({**options, **other} for other in singles if not options.keys() & other.keys())
        yield from itertools.islice(filter(lambda chosen: _try(estimator, chosen, *first), pairs), 1)


def _use(model, X, y, is_large=False):
    """Call everything that runs a kernel: fit, predict, transform; on tiny data also fit with weights, partial_fit."""
    model.fit(X, y)
    for method in (*ANSWERS, "kneighbors", "radius_neighbors"):
        if hasattr(model, method):
            getattr(model, method)(X)
    if is_large:
        return
    if "sample_weight" in inspect.signature(model.fit).parameters:
        import numpy as np

        model.fit(X, y, sample_weight=np.linspace(1.0, 2.0, X.shape[0]))
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)


def _variants(estimator):
    """Keyword sets: the defaults, then each string option of the parameter table by itself."""
    yield {}
    for name, rule in getattr(estimator, "_params", {}).items():
        if name in OPTION_NAMES:
            for option in _options(rule):
                yield {name: option}
        elif name == "fit_intercept":
            yield {name: False}
        elif name == "l1_ratio":
            yield {name: 0.5}
            yield {name: 1.0}


def _options(rule):
    for part in getattr(rule, "rules", [rule]):
        yield from (option for option in getattr(part, "options", ()) if isinstance(option, str))


def _inputs(estimator):
    """Tiny training sets ``(X, y)``: both orders, float32, sparse; two and three classes, two targets.

    Read-only arrays and strided targets need no turn of their own: they reach kernels as writable, contiguous ones.
    """
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X = _suited(estimator, rng.normal(size=(24, 3)))
    for y in _targets(estimator, X @ [1.0, -1.0, 0.5] + rng.normal(size=24)):
        for values in (X, X.astype(np.float32)):
            yield values, y
            yield np.asfortranarray(values), y
            yield sp.csr_array(values), y
            yield sp.csc_array(values), y
        yield _suited(estimator, rng.normal(size=(24, 40))), y


def _suited(estimator, X):
    """Whole numbers without a sign for estimators of counts and categories."""
    import numpy as np

    return np.floor(np.abs(X)) if estimator().__sklearn_tags__().input_tags.positive_only else X


def _targets(estimator, score):
    """Targets that follow a score: two and three classes; grades; positive numbers (which all take), one and two.

    The numbers are so large that penalties of order one leave columns in the model: else a lasso has nothing to do.
    """
    import numpy as np

    from hyperplan._base import is_classifier

    positive = 100.0 * np.exp(score / (np.abs(score).max() + 1.0))
    pair = np.column_stack([positive, positive[::-1]])
    tags = estimator().__sklearn_tags__()
    if tags.estimator_type == "ranker":
        return [np.digitize(score, [-0.7, 0.7])]
    if is_classifier(estimator()) or (tags.target_tags.required and tags.estimator_type is None):
        return [(score > 0).astype(np.intp), np.digitize(score, [-0.7, 0.7])]
    return [positive, pair] if tags.target_tags.single_output else [pair]


def _large_inputs(estimator, is_plain):
    """Training sets of many rows, of many columns, and sparse ones; the other layouts only for a plain estimator.

    Trees make sparse data dense, preprocessing looks at columns one by one, neighbours of sparse rows come from
    products of sparse matrices: nothing of its own runs.
    """
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    family = estimator.__module__.split(".")[1]
    if family in SAME_AT_ANY_SIZE:
        return
    own = {
        "preprocessing": (TALL,),
        "manifold": (TALL_KERNELS,),
        **dict.fromkeys(("kernels", "neighbors", "decomposition"), (TALL_KERNELS, WIDE)),
        **dict.fromkeys(TREES, (TALL_TREES, WIDE_TREES)),
    }
    needs_pairs = family == "svm" and not estimator.__name__.startswith("Linear")
    shapes = (TALL_KERNELS,) if needs_pairs else own.get(family, (TALL, WIDE))
    shapes = OWN_SHAPES.get(estimator.__name__, shapes)
    others = []
    for shape in shapes:
        X = rng.normal(size=shape)
        first, *more = _targets(estimator, X[:, :5] @ [1.0, -1.0, 0.5, 0.3, 0.2] + rng.normal(size=shape[0]))
        yield X, first
        others += [(X, y) for y in more] + [(X.astype(np.float32), first)]
        others += [(np.asfortranarray(X), first)] if shape == shapes[0] else []
    takes_sparse = family not in own or family == "kernels"
    if takes_sparse and not needs_pairs and estimator.__name__ not in OWN_SHAPES:
        n, d = SPARSE
        columns = rng.integers(d, size=n * SPARSE_ROW, dtype=np.int32)  # as SciPy numbers all but huge matrices
        starts = np.arange(0, columns.size + 1, SPARSE_ROW, dtype=np.int32)
        parts = (rng.uniform(0.5, 1.5, size=columns.size), columns, starts)
        X = sp.csr_array(parts, shape=SPARSE)
        first, *more = _targets(estimator, X @ rng.normal(size=d))
        yield X, first
        others += [(X, y) for y in more]
    yield from others if is_plain else []
