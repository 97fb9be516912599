"""The JSON document of an exploration: everything the report shows, as plain numbers and texts."""

import datetime
import platform

import numpy as np

import hyperplan
from hyperplan.compete._audit_sample import as_floats, draw_rows
from hyperplan.compete._columns_values import typed_values
from hyperplan.compete._document import column_glance, finite, machine, versions
from hyperplan.explore._contest import LEAST_DRAWS, SEPARATED, STABLE
from hyperplan.explore._describe import agreement_with
from hyperplan.explore._form import SCHEMA
from hyperplan.explore._maps import intrinsic_dimension
from hyperplan.explore._outliers import STRANGE
from hyperplan.metrics import adjusted_rand_score

DRAWN = 1500  # dots on a map
LEVELS, SHADES = 8, 5  # colours of a category (the last stands for all others), and of a number


def make_document(found, title: str, sha256: str, used: dict) -> dict:
    """Assemble the document.

    Parameters
    ----------
    found : Found
        What was found.
    title, sha256 : str
        Name and digest of the table.
    used : dict
        ``seconds``, ``jobs`` and ``was_interrupted``.
    """
    shown = _shown_rows(found)
    document = {
        "schema": SCHEMA,
        "hyperplan": hyperplan.__version__,
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "title": title,
        "data": _data(found),
        "space": _space(found),
        "sample": len(found.arena),
        "clusterings": _clusterings(found.contest),
        "groups": found.described,
        "undescribed": found.undescribed,
        "ungrouped": int((found.labels == 0).sum()) if found.contest.chosen else 0,
        "differences": found.differences,
        "like_groups": found.like_groups,
        "shown": {"rows": (shown + 1).tolist(), "groups": found.labels[shown].tolist()},
        "colour": _colour(found, shown),
        "maps": [_map(drawn, shown) for drawn in found.maps],
        "absent_maps": found.absent_maps,
        "dimension": _dimension(found.maps, found.local_dimension),
        "outliers": _outliers(found),
        "audit": [finding.as_dict() for finding in found.findings],
        "protocol": _protocol(found, used),
        "receipt": {
            "data_sha256": sha256,
            "machine": machine(),
            "python": platform.python_version(),
            "packages": versions(),
        },
    }
    return finite(document)


def _shown_rows(found) -> np.ndarray:
    """Rows that are drawn: some of those that every map has a place for."""
    placed = np.ones(len(found.frame), dtype=bool)
    for drawn in found.maps:
        placed &= np.isfinite(drawn.coordinates[:, 0])
    rows = np.flatnonzero(placed)
    return rows[draw_rows(len(rows), DRAWN, found.settings.seed)]


def _data(found) -> dict:
    used = {column.name for column in found.space.columns}
    columns = [column_glance(found.frame, column, k) for k, column in enumerate(found.columns)]
    return {
        "rows": len(found.frame),
        "unseen": found.unseen,
        "columns": [glance | {"used": glance["name"] in used} for glance in columns],
    }


def _space(found) -> dict:
    space = found.space
    return {"features": len(space.origins), "dimensions": space.n_dimensions, "kept": space.kept,
            "used": len(space.columns), "learnt_on": space.learnt_on}  # fmt: skip


def _clusterings(contest) -> list[dict]:
    best = {id(contest.best_of(method)) for method in dict.fromkeys(entry.method for entry in contest.entries)}
    return [_clustering(entry, contest.chosen, id(entry) in best) for entry in contest.entries]


def _clustering(entry, chosen, is_best: bool) -> dict:
    row = {
        "name": entry.method.name,
        "settings": entry.settings,
        "verdict": entry.verdict,
        "is_chosen": entry is chosen,
        "is_best": is_best,
        "seconds": round(entry.seconds, 4),
        "reason": entry.reason,
        "groups": entry.scores.n_groups,
        **{name: round(value, 6) for name, value in entry.scores._asdict().items() if name != "n_groups"},
    }
    if entry.agreements:
        ends = {"stability_low": min(entry.agreements), "stability_high": max(entry.agreements)}
        row |= {"stability": round(entry.stability, 6)} | ends
    if entry.null:
        for name in ("silhouette", "separation"):
            null = [getattr(scores, name) for scores in entry.null]
            row[f"null_{name}"] = {"mean": float(np.mean(null)), "low": min(null), "high": max(null)}
        row |= {"excess": entry.excess, "telling": entry.telling if len(entry.null) >= LEAST_DRAWS else None}
    if chosen is not None and entry.labels is not None:
        row["agreement"] = float(adjusted_rand_score(chosen.labels, entry.labels))
    return row


def _map(drawn, shown) -> dict:
    return {
        "name": drawn.name,
        "learnt_on": drawn.learnt_on,
        "placed": int(np.isfinite(drawn.coordinates[:, 0]).sum()),
        "values": drawn.values,
        **{axis: [float(f"{value:.5g}") for value in drawn.coordinates[shown, k]] for k, axis in enumerate("xy")},
    }


def _dimension(maps, local: float | None) -> dict:
    """The estimate of the map that measures along the surface, if there is one, else of principal components."""
    curves = [drawn for drawn in maps if drawn.curve]
    judge = next((drawn for drawn in reversed(curves)), None)
    return {
        "estimate": intrinsic_dimension(judge.curve, local) if judge else None,
        "by": judge.name if judge else None,
        "local": local,
        "curves": [{"name": drawn.name, "values": drawn.curve} for drawn in curves],
    }


def _outliers(found) -> dict:
    factors = found.factors
    judged = int(np.isfinite(factors).sum())
    expected = None if found.expected is None else found.expected * judged
    return {
        "limit": STRANGE,
        "count": int((np.nan_to_num(factors) > STRANGE).sum()),
        "judged": judged,
        "learnt_on": found.factors_learnt_on,
        "expected": expected,
        "rows": found.strangest,
    }


def _colour(found, shown) -> dict | None:
    """What colours the second set of maps: codes of the rows that are drawn, and what the codes mean."""
    column = found.colour
    if column is None:
        return None
    used = column.name in {used.name for used in found.space.columns}
    colour = {"name": column.name, "kind": column.kind, "used": used, "levels": None, "edges": None,
              "agreement": agreement_with(found.frame, column, found.labels)}  # fmt: skip
    values = typed_values(found.frame[column.name].iloc[shown], column)
    coded = _levels(values) if values.dtype == object else _shades(as_floats(values))
    return colour | coded


def _levels(values) -> dict:
    import pandas

    codes, names = pandas.factorize(values)
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")
    rank = np.empty(len(names) + 1, dtype=np.intp)
    rank[order], rank[-1] = np.arange(len(names)), -1
    levels = [str(names[k])[:60] for k in order]
    most = LEVELS if len(levels) <= LEVELS else LEVELS - 1
    others = [""] if len(levels) > most else []
    return {"codes": np.minimum(rank[codes], most).tolist(), "levels": levels[:most] + others}


def _shades(values) -> dict:
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0.0, 1.0, SHADES + 1))) if known.any() else np.zeros(2)
    edges = np.append(edges, edges) if len(edges) == 1 else edges
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return {"codes": np.where(known, codes, -1).tolist(), "edges": edges.tolist()}


def _protocol(found, used: dict) -> dict:
    return {
        "seed": found.settings.seed,
        "jobs": used["jobs"],
        "budget": float(found.settings.time),
        "used": round(used["seconds"], 2),
        "compiling": round(used["compiling"], 2),
        "refits": found.contest.n_refits,
        "draws": found.contest.n_draws,
        "stable": STABLE,
        "separated": SEPARATED,
        "was_interrupted": used["was_interrupted"],
    }
