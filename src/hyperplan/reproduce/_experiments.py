"""The experiments with a classifier: each takes a table and a plan, and returns numbers that JSON can hold.

``tick`` is called as work proceeds, as often as the experiment's entry in `_thesis.EXPERIMENTS` says.
"""

import time

import numpy as np

from hyperplan.metrics import balanced_error_rate
from hyperplan.reproduce import _methods as methods
from hyperplan.reproduce._protocol import (
    SCALINGS,
    answers,
    chosen_inside,
    cross_validated,
    gaussian,
    hide,
    paired_difference,
    scaled,
)
from hyperplan.svm import SVC

GRAPH_KS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 44, 46, 47, 48)
TUNING_C = (0.1, 1.0, 10.0, 100.0, 1000.0)
TUNING_GAMMA = (0.003, 0.01, 1 / 30, 0.1, 0.3, 1.0)


def summary(errors) -> dict:
    """Means over the seeds and their spread, one number per dimension."""
    spread = {"ddof": 1} if len(errors.error) > 1 else {}
    return {
        "error": errors.error.mean(axis=0).tolist(),
        "spread": errors.error.std(axis=0, **spread).tolist(),
        "ber": errors.ber.mean(axis=0).tolist(),
        "ber_spread": errors.ber.std(axis=0, **spread).tolist(),
    }


def graph(table, tick) -> dict:
    """Components of the graph of neighbours, for each number of them."""
    X = methods.same_distances(table.X)
    ks = [k for k in GRAPH_KS if k < len(X)]
    found = [methods.n_bridges(X, k) + 1 for k in ks]
    tick()
    return {"k": ks, "components": found}


def curves(method, table, grid, tick, *, ks=None, dims=None, scaling="variance", keep=None) -> dict:
    """Errors against neighbourhood and dimension; ``keep(label, compute)`` remembers what one neighbourhood gave."""
    X = table.X if method == "raw" else methods.same_distances(table.X)
    ks, dims = list(grid.ks if ks is None else ks), list(grid.dims if dims is None else dims)
    keep, rows = keep or (lambda label, compute: compute()), []
    for k in ks:
        rows.append(keep(f"k = {k}", lambda k=k: _curve(method, X, table.y, grid, k, dims, scaling)))
        tick()
    found = {name: [row[name] for row in rows] for name in rows[0]}
    return {"k": ks, "d": dims, "scaling": scaling, **found}


def _curve(method, X, y, grid, k, dims, scaling) -> dict:
    """Errors of one neighbourhood by dimension, and how many coordinates there are."""
    parts, count = [], 0
    for group in [dims] if method in (*methods.NESTED, "raw") else [[d] for d in dims]:
        made = methods.source(method, X, k=k, d=max(group))
        protocol = {"n_folds": grid.folds, "seeds": grid.seeds, "scaling": scaling}
        parts.append(summary(cross_validated(made, y, group, **protocol)))
        count = max(count, made(np.full(len(X), -1)).shape[1])
    return {name: [value for part in parts for value in part[name]] for name in parts[0]} | {"available": count}


def others(table, grid, at, connected, umap_dims, tick) -> dict:
    """The same curve for methods without bridges and stretching, at the neighbourhood of the comparison."""
    k, _ = at
    found = {"raw": curves("raw", table, grid, tick, ks=[0], dims=[table.X.shape[1]])}
    for method in ("pca", "kernel_pca"):
        found[method] = curves(method, table, grid, tick, ks=[0])
    found["lle"] = curves("lle", table, grid, tick, ks=[k])
    found["isomap"] = curves("isomap", table, grid, tick, ks=[connected])
    found["umap"] = curves("umap", table, grid, tick, ks=[k], dims=umap_dims)
    return found


def compared(table, grid, at, connected, tick) -> dict:
    """All methods at one setting fixed beforehand, row by row against RISIMAP."""
    k, d = at
    rotated, found, wrong = methods.same_distances(table.X), {}, {}
    for method in methods.LABELS:
        X = table.X if method == "raw" else rotated
        near, count = (connected if method == "isomap" else k), (X.shape[1] if method == "raw" else d)
        made = methods.source(method, X, k=near, d=count)
        errors = cross_validated(made, table.y, [count], n_folds=grid.folds, seeds=grid.seeds)
        wrong[method] = errors.wrong[0]
        found[method] = {name: values[0] for name, values in summary(errors).items()}
        found[method] |= {"k": near if method in methods.WITH_NEIGHBOURS else None, "d": count}
        difference, deviation = paired_difference(wrong[method], wrong["risimap"])
        found[method] |= {"difference": difference, "standard_error": deviation}
        tick()
    return found


def same_as_isomap(table, ks, d, tick) -> dict:
    """Largest difference between the coordinates of RISIMAP and Isomap where the graph is connected."""
    X, gaps = table.X, []
    for k in ks:
        ours, theirs = (methods.embedded(name, X, k=k, d=d) for name in ("risimap", "isomap"))
        columns = min(ours.shape[1], theirs.shape[1])
        gaps.append(float(np.abs(np.abs(ours[:, :columns]) - np.abs(theirs[:, :columns])).max()))
        tick()
    return {"k": list(ks), "largest_difference": gaps, "copies": len(X) - len(methods.different_rows(X)[0])}


def on_unit_range(table):
    """The table divided by its largest entry."""
    return table._replace(X=table.X / float(np.abs(table.X).max()))


def scalings(table, grid, ks, tick) -> dict:
    """RISIMAP under each scaling of the coordinates, gamma being one over their number.

    "input" divides the table by its largest entry beforehand, which makes it a table of numbers up to one.
    """
    found = {how: curves("risimap", table, grid, tick, ks=ks, scaling=how) for how in SCALINGS}
    unit = curves("risimap", on_unit_range(table), grid, tick, ks=ks, scaling="none")
    return found | {"input": unit | {"scaling": "input"}}


def gammas(table, grid, k, dims, n_gammas, tick) -> dict:
    """Error against gamma, for coordinates as they are and with unit variances; and with gamma chosen by inner folds.

    Division by a constant is the same as another gamma, so that the first curve holds all global scalings.
    """
    X, found = methods.same_distances(table.X), []
    Y = methods.embedded("risimap", X, k=k, d=max(dims))
    for how in ("none", "variance"):
        for d in dims:
            part = scaled(Y, how)[:, :d]
            unit = 1.0 / (part.shape[1] * float(part.var(axis=0).mean()))  # gamma at which distances are about one
            values = (unit * np.logspace(-2, 2, n_gammas)).tolist()
            protocol = {"n_folds": grid.folds, "seeds": grid.seeds, "scaling": "none"}
            runs = [cross_validated(lambda _, p=part: p, table.y, [d], gamma=g, **protocol) for g in values]
            default = cross_validated(lambda _, p=part: p, table.y, [d], **protocol)
            inner = [
                chosen_inside(part, table.y, n_folds=min(20, grid.folds), seed=seed, grid=[(1.0, g) for g in values])
                for seed in range(min(grid.seeds, 3))
            ]
            found.append(
                {
                    "scaling": how,
                    "k": k,
                    "d": d,
                    "gamma": values,
                    "error": [float(run.error.mean()) for run in runs],
                    "spread": [float(run.error.std()) for run in runs],
                    "default_gamma": 1.0 / part.shape[1],
                    "default_error": float(default.error.mean()),
                    "chosen_error": float(np.mean([one[0] for one in inner])),
                    "chosen_gamma": float(np.median([g for one in inner for _, g in one[2]])),
                }
            )
            tick()
    return {"curves": found}


def readings(table, grid, settings, tick) -> dict:
    """Isostretch as it may be read: lengthened before or after the paths, with held-out labels hidden or leaked."""
    X, found = methods.same_distances(table.X), []
    for k, d in settings:
        plain = methods.source("risimap", X, k=k, d=d)
        protocol = {"n_folds": min(20, grid.folds), "seeds": grid.seeds}
        base = cross_validated(plain, table.y, [d], **protocol)
        found.append({"k": k, "d": d, "reading": "risimap", "labels": "not used", **_first(base), **_gap(base, base)})
        for when in ("before", "after"):
            hidden = methods.source("isostretch", X, k=k, d=d, stretch=when)
            leaked = methods.embedded("isostretch", X, table.y, k=k, d=d, stretch=when)
            for labels, made in (("hidden", hidden), ("leaked", lambda _, Y=leaked: Y)):
                errors = cross_validated(made, table.y, [d], **protocol)
                row = {"k": k, "d": d, "reading": when, "labels": labels}
                found.append({**row, **_first(errors), **_gap(errors, base)})
            tick()
    return {"rows": found}


def _first(errors):
    return {name: values[0] for name, values in summary(errors).items()}


def _gap(errors, base):
    difference, deviation = paired_difference(errors.wrong[0], base.wrong[0])
    return {"difference": difference, "standard_error": deviation}


def challenge(table, settings, tick) -> dict:
    """Balanced errors as the challenge counted them: on the rows trained with, and on rows whose labels were hidden."""
    X, y = methods.same_distances(table.X), table.y
    train, valid = np.arange(table.n_train), np.arange(table.n_train, len(y))
    found = []
    for method in ("risimap", "isostretch"):
        for k, d in settings:
            seen = scaled(methods.embedded(method, X, y, k=k, d=d), "variance")
            known = answers_about_all(seen, y)
            blind = scaled(methods.embedded(method, X, hide(y, valid), k=k, d=d), "variance")
            said = answers(gaussian(blind), y, valid)
            row = {"method": method, "k": k, "d": seen.shape[1], "asked": d}
            row |= {"train": _ber(y, known, train), "valid": _ber(y, known, valid)}
            found.append({**row, "valid_unseen": float(balanced_error_rate(y[valid], said))})
            tick()
    return {"rows": found}


def answers_about_all(Y, y):
    """Answers of a machine about the rows it was trained with."""
    K = gaussian(Y)
    return SVC(C=1.0, kernel="precomputed").fit(K, y).predict(K)


def _ber(y, said, rows):
    return float(balanced_error_rate(y[rows], said[rows]))


def tuning(table, settings, n_folds, tick) -> dict:
    """The best of a grid of C and gamma, judged by the folds that chose it, and judged by folds that did not.

    Coordinates are as they are after the table was divided by its largest entry, and with unit variances.
    """
    found, grid = [], [(c, g) for c in TUNING_C for g in TUNING_GAMMA]
    X = methods.same_distances(on_unit_range(table).X)
    for k, d in settings:
        Y = methods.embedded("risimap", X, k=k, d=d)
        for how in ("input", "variance"):
            part = scaled(Y, "none" if how == "input" else how)
            errors = {
                setting: float(
                    cross_validated(
                        lambda _, p=part: p,
                        table.y,
                        [d],
                        n_folds=n_folds,
                        seeds=1,
                        scaling="none",
                        C=setting[0],
                        gamma=setting[1],
                    ).error[0, 0]
                )
                for setting in grid
            }
            best = min(errors, key=errors.get)
            honest, _, _ = chosen_inside(part, table.y, n_folds=n_folds, seed=0, grid=grid)
            row = {"k": k, "d": d, "scaling": how, "best": errors[best], "C": best[0], "gamma": best[1]}
            found.append({**row, "honest": honest, "tried": len(grid)})
            tick()
    return {"rows": found}


def madelon(table, ks, dims, n_rows, tick, keep) -> dict:
    """Errors on the validation rows and seconds: of the table, and of one filled up to the size of the thesis."""
    found = []
    for k in ks:
        for method in ("risimap", "isostretch"):
            found.append(keep(f"{method}, k = {k}", lambda k=k, method=method: _validated(method, table, k, dims)))
        tick()
    whole = keep("whole", lambda: _whole(filled(table.X, n_rows), ks[0], max(dims)))
    tick()
    return {"rows": found, "whole": whole, "n": len(table.y)}


def _validated(method, table, k, dims) -> dict:
    """Balanced errors on the validation rows by dimension, and seconds."""
    y, valid = table.y, np.arange(table.n_train, len(table.y))
    began = time.perf_counter()
    Y = methods.embedded(method, table.X, hide(y, valid), k=k, d=max(dims), eigen_solver="dense")
    middle, Y = time.perf_counter(), scaled(Y, "variance")
    bers = [float(balanced_error_rate(y[valid], answers(gaussian(Y[:, :d]), y, valid))) for d in dims]
    seconds = {"embedding_seconds": middle - began, "seconds": time.perf_counter() - began}
    return {"method": method, "k": k, "d": list(dims), "ber": bers, **seconds}


def _whole(X, k, d) -> dict:
    """Seconds that one map takes; a small one before has the kernels loaded."""
    methods.embedded("risimap", X[:300], k=k, d=2, eigen_solver="dense")
    began = time.perf_counter()
    methods.embedded("risimap", X, k=k, d=d, eigen_solver="dense")
    return {"rows": len(X), "columns": X.shape[1], "k": k, "d": d, "seconds": time.perf_counter() - began}


def filled(X, n_rows) -> np.ndarray:
    """The rows and, up to `n_rows`, further ones whose entries are drawn column by column: for time, not for errors."""
    rng = np.random.default_rng(0)
    more = max(0, n_rows - len(X))
    drawn = np.take_along_axis(X, rng.integers(0, len(X), size=(more, X.shape[1])), axis=0)
    return np.concatenate([X, drawn])
