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


def verdict(results, start):
    (found,) = [one for one in verdicts(results) if one.claim.startswith(start)]
    return found


@pytest.mark.parametrize("components, expected", [([4, 3, 1], "agrees"), ([1, 1, 1], "**differs**")])
def test_pieces(components, expected):
    results = {"arcene_graph": {"k": [2, 5, 48], "components": components}, "arcene_risimap": curves([[0.2, 0.3]] * 2)}
    found = verdict(results, "ARCENE's graph")
    assert found.verdict == expected and ("one from k = 48" in found.measured) == (expected == "agrees")


@pytest.mark.parametrize(
    "errors, best, rise", [([[0.15, 0.3]] * 2, "partly", "agrees"), ([[0.3, 0.3]] * 2, "**differs**", "**differs**")]
)
def test_best_dimension_and_rise(errors, best, rise):
    results = {"arcene_graph": {"k": [5], "components": [3]}, "arcene_risimap": curves(errors)}
    assert verdict(results, "ARCENE, best error").verdict == best
    assert verdict(results, "ARCENE, too many").verdict == rise


@pytest.mark.parametrize("far, expected", [(0.22, "agrees"), (0.35, "**differs**")])
def test_flat_in_the_neighbourhood(far, expected):
    assert (
        verdict({"arcene_risimap": curves([[0.2, 0.2], [far, far]])}, "ARCENE, the neighbourhood").verdict == expected
    )


@pytest.mark.parametrize("gap, expected", [(0.01, "agrees"), (-0.01, "agrees"), (-0.05, "**differs**")])
def test_not_better(gap, expected):
    row = {"difference": gap, "standard_error": 0.01, "k": 19, "d": 30}
    results = {"ionosphere_methods": {"isostretch": row}}
    results |= {f"ionosphere_{name}": curves([[0.1, 0.2]] * 2) for name in ("risimap", "isostretch")}
    assert verdict(results, "Ionosphere, Isostretch").verdict == expected


@pytest.mark.parametrize("late, expected", [(0.05, "agrees"), (0.03, "**differs**")])
def test_best_dimension_of_ionosphere(late, expected):
    results = {"ionosphere_risimap": curves([[0.08, 0.05, late]] * 2, dims=(5, 12, 30), spread=0.002)}
    assert verdict(results, "Ionosphere, best dimension").verdict == expected


@pytest.mark.parametrize("lowest, expected", [(0.005, "agrees"), (0.03, "**differs**")])
def test_tuning(lowest, expected):
    row = {"k": 15, "d": 30, "scaling": "none", "best": lowest, "C": 1.0, "gamma": 0.1, "honest": 0.04, "tried": 30}
    assert verdict({"ionosphere_tuning": {"rows": [row]}}, "Ionosphere, a brief search").verdict == expected


@pytest.mark.parametrize("bend, expected", [(2, "agrees"), (3, "**differs**")])
def test_elbow(bend, expected):
    results = {"roll": {"elbow": {"isomap": bend, "mds": 3}, "bridges": 0}}
    assert verdict(results, "The residual variance of the Swiss roll").verdict == expected


def test_no_experiment_no_verdict():
    assert verdicts({}) == []
