"""Scores of groups against their definitions; labels of estimators made group numbers."""

import numpy as np
import pytest

from hyperplan.explore._judge import NO_GROUPS, Judge, coded, group_codes, number_of_neighbours
from hyperplan.metrics import calinski_harabasz_score, silhouette_score


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 2)) + 5.0 * (np.arange(60) % 3)[:, None]


def separation(points, labels, k):
    """Share of the links to the k nearest that stay in a group, corrected for chance, pair by pair."""
    kept = total = 0
    for i, row in enumerate(points):
        distances = ((points - row) ** 2).sum(axis=1)
        distances[i] = np.inf
        for j in np.argsort(distances)[:k]:
            kept += labels[i] == labels[j] and labels[i] > 0
            total += 1
    chance = sum((labels == code).mean() ** 2 for code in range(1, labels.max() + 1))
    return (kept / total - chance) / (1 - chance)


@pytest.mark.parametrize("n_outside", [0, 9])
def test_scores_are_what_they_are_defined_as(points, n_outside):
    labels = np.arange(60) % 3 + 1
    labels[:n_outside] = 0
    found = Judge(points).scores(labels)
    inside = labels > 0
    silhouette = silhouette_score(points[inside], labels[inside])
    assert found.n_groups == 3 and found.grouped == pytest.approx(inside.mean())
    assert found.silhouette == pytest.approx(silhouette * inside.mean(), rel=1e-9)  # same sums in another order
    assert found.calinski_harabasz == pytest.approx(calinski_harabasz_score(points[inside], labels[inside]), rel=1e-9)
    assert found.separation == pytest.approx(separation(points, labels, number_of_neighbours(60)), abs=1e-12)


def test_separation_does_not_ask_for_a_shape():
    """Two rings, one in the other: neighbours agree, silhouette does not see it."""
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    found = Judge(np.concatenate([ring, 3 * ring])).scores(np.repeat([1, 2], 200))
    assert found.separation > 0.99 and found.silhouette < 0.3


def test_one_group_has_no_scores(points):
    judge = Judge(points)
    assert judge.scores(np.ones(60, dtype=int)) == NO_GROUPS._replace(grouped=1.0)
    assert judge.scores(np.zeros(60, dtype=int)) == NO_GROUPS


def test_groups_are_numbered_by_size_and_tiny_ones_are_none():
    raw = np.array([7] * 40 + [-1] * 5 + [2] * 50 + [0] * 2)
    codes = group_codes(raw)
    assert codes == {2: 1, 7: 2}
    assert coded(raw, codes).tolist() == [2] * 40 + [0] * 5 + [1] * 50 + [0] * 2
    assert coded(np.array([9, -1, 2]), codes).tolist() == [0, 0, 1]  # a label that was not seen before
    assert coded(np.array([-1, -1]), {}).tolist() == [0, 0]


@pytest.mark.parametrize(("n", "expected"), [(2, 1), (3, 2), (12, 3), (100, 5), (200, 10), (10**6, 10)])
def test_few_rows_have_few_neighbours(n, expected):
    assert number_of_neighbours(n) == expected
