"""Verdicts are rules: each can come out either way."""

import pytest

from hyperplan.reproduce._verdicts import verdicts


def curves(errors, ks=(5, 40), dims=(10, 100), spread=0.01):
    return {
        "k": list(ks),
        "d": list(dims),
        "error": errors,
        "spread": [[spread] * len(dims)] * len(ks),
        "available": [110] * len(ks),
    }


def scalings(errors, **grid):
    return {how: curves(errors, **grid) for how in ("none", "global", "range", "variance", "input")}


def verdict(results, start):
    (found,) = [one for one in verdicts(results) if one.claim.startswith(start)]
    return found


@pytest.mark.parametrize("components, expected", [([4, 3, 1], "agrees"), ([1, 1, 1], "**differs**")])
def test_pieces(components, expected):
    results = {"arcene_graph": {"k": [2, 5, 48], "components": components}}
    found = verdict(results, "ARCENE's graph")
    assert found.verdict == expected and ("one from k = 48" in found.measured) == (expected == "agrees")


@pytest.mark.parametrize(
    "errors, best, rise", [([[0.15, 0.3]] * 2, "partly", "agrees"), ([[0.3, 0.3]] * 2, "**differs**", "**differs**")]
)
def test_best_dimension_and_rise(errors, best, rise):
    results = {"arcene_risimap": curves(errors), "arcene_scaling": scalings(errors)}
    assert verdict(results, "ARCENE, best error").verdict == best
    assert verdict(results, "ARCENE, too many").verdict == rise


def test_the_grid_of_the_thesis_decides_and_larger_neighbourhoods_do_not():
    errors = [[0.2, 0.3], [0.2, 0.3], [0.9, 0.0]]
    results = {"arcene_risimap": curves(errors, ks=(5, 40, 100)), "arcene_scaling": scalings([[0.2, 0.3]] * 2)}
    found = verdict(results, "ARCENE, best error")
    assert "20.0 % at 10 dimensions (mean over k up to 40)" in found.measured


def test_a_rise_under_one_scaling_only_agrees_partly():
    results = {"arcene_risimap": curves([[0.2, 0.3]] * 2), "arcene_scaling": scalings([[0.2, 0.2]] * 2)}
    assert verdict(results, "ARCENE, too many").verdict == "partly"


@pytest.mark.parametrize("spread, expected", [((0.01, 0.05), "agrees"), ((0.05, 0.01), "**differs**")])
def test_neighbourhoods_differ_least_at_the_best_dimension(spread, expected):
    errors = [[0.2 + sign * spread[0], 0.3 + sign * spread[1]] for sign in (-1, 1)]
    results = {"arcene_risimap": curves(errors), "arcene_scaling": scalings(errors)}
    assert verdict(results, "ARCENE, neighbourhoods differ").verdict == expected


@pytest.mark.parametrize("least, expected", [(0.44, "**differs**"), (0.2, "agrees")])
def test_gamma_of_a_number_of_points(least, expected):
    """The error at the gamma next to 1/877.5 counts, not that of others."""
    one = {"scaling": "variance", "k": 6, "d": 60, "gamma": [1e-5, 1e-3, 1e-1], "error": [0.1, least, 0.1]}
    found = verdict({"arcene_gamma": {"curves": [one]}}, "ARCENE, gamma = 1/k")
    assert found.verdict == expected and "gamma = 0.001" in found.measured


@pytest.mark.parametrize("far, expected", [(0.22, "agrees"), (0.35, "**differs**")])
def test_flat_in_the_neighbourhood(far, expected):
    assert (
        verdict({"arcene_risimap": curves([[0.2, 0.2], [far, far]])}, "ARCENE, the neighbourhood").verdict == expected
    )


@pytest.mark.parametrize("gap, expected", [(0.01, "agrees"), (-0.01, "agrees"), (-0.05, "**differs**")])
def test_not_better(gap, expected):
    row = {"difference": gap, "standard_error": 0.01, "k": 19, "d": 30}
    assert verdict({"ionosphere_methods": {"isostretch": row}}, "Ionosphere, Isostretch").verdict == expected


@pytest.mark.parametrize(
    "late, unscaled, expected", [(0.05, 0.06, "agrees"), (0.03, 0.06, "partly"), (0.03, 0.03, "**differs**")]
)
def test_best_dimension_of_ionosphere(late, unscaled, expected):
    grid = {"dims": (5, 12, 30), "spread": 0.002}
    results = {"ionosphere_risimap": curves([[0.08, 0.05, late]] * 2, **grid)}
    results["ionosphere_scaling"] = scalings([[0.08, 0.05, unscaled]] * 2, **grid)
    assert verdict(results, "Ionosphere, best dimension").verdict == expected


@pytest.mark.parametrize("lowest, expected", [(0.005, "agrees"), (0.03, "**differs**")])
def test_tuning(lowest, expected):
    row = {"k": 15, "d": 30, "scaling": "none", "best": lowest, "C": 1.0, "gamma": 0.1, "honest": 0.04, "tried": 30}
    assert verdict({"ionosphere_tuning": {"rows": [row]}}, "Ionosphere, a brief search").verdict == expected


@pytest.mark.parametrize("bend, expected", [(2, "agrees"), (3, "**differs**")])
def test_elbow(bend, expected):
    results = {"roll": {"elbow": {"isomap": bend, "mds": 3}, "bridges": 0}}
    assert verdict(results, "The residual variance of the Swiss roll").verdict == expected


def test_the_inner_folds_are_those_of_the_best_setting():
    """The lowest of several honest estimates would be chosen by looking."""
    row = {"k": 15, "d": 30, "scaling": "input", "best": 0.03, "C": 1.0, "gamma": 0.1, "honest": 0.06, "tried": 30}
    rows = [row, row | {"best": 0.05, "honest": 0.02}]
    for name in ("ionosphere", "arcene"):
        (found,) = verdicts({f"{name}_tuning": {"rows": rows}})
        assert "6.0 % with inner folds" in found.measured and "2.0 %" not in found.measured


def test_no_experiment_no_verdict():
    assert verdicts({}) == []
