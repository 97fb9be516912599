"""Properties of penalties and projections on arbitrary points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperplan._math.penalties import Penalty, soft_threshold
from hyperplan._solvers.projected import (
    box,
    box_hyperplane,
    l1_ball,
    l2_ball,
    project_hyperplane,
    simplex,
)

numbers = st.floats(-100, 100, allow_nan=False)
strengths = st.floats(0, 10)
vectors = st.integers(1, 8).flatmap(lambda d: arrays(np.float64, d, elements=numbers))
pairs = st.integers(1, 8).flatmap(
    lambda d: st.tuples(arrays(np.float64, d, elements=numbers), arrays(np.float64, d, elements=numbers))
)
quick = settings(max_examples=150, deadline=None)


@quick
@given(z=vectors, l1=strengths, l2=strengths, step=st.floats(0.01, 5))
def test_prox_solves_its_problem(z, l1, l2, step):
    penalty = Penalty("any", l1, l2)
    w = penalty.prox(z, step)
    # optimality of 1/2 |w - z|^2 / step + Omega(w); rounding of z / step
    assert penalty.subdifferential_distance(w, (w - z) / step) <= 1e-12 * (1 + np.abs(z).max()) * (1 + l2) / min(
        step, 1
    )


@quick
@given(points=pairs, l1=strengths, l2=strengths)
def test_prox_never_spreads_points(points, l1, l2):
    penalty = Penalty("any", l1, l2)
    a, b = points
    assert np.linalg.norm(penalty.prox(a) - penalty.prox(b)) <= np.linalg.norm(a - b) * (1 + 1e-12) + 1e-12


@quick
@given(z=vectors, threshold=strengths)
def test_moreau_soft_threshold_and_clip_add_up(z, threshold):
    np.testing.assert_allclose(soft_threshold(z, threshold) + np.clip(z, -threshold, threshold), z, atol=1e-12)


@quick
@given(points=pairs, l1=strengths, l2=st.floats(1e-3, 10))
def test_fenchel_young(points, l1, l2):
    penalty = Penalty("any", l1, l2)
    w, u = points
    slack = 1e-9 * (1 + np.abs(w).max() * np.abs(u).max() * w.size)
    assert penalty.value(w) + penalty.conjugate(u) >= u @ w - slack
    slope = l1 * np.sign(w) + l2 * w
    assert penalty.value(w) + penalty.conjugate(slope) == pytest.approx(slope @ w, rel=1e-9, abs=1e-9)


@quick
@given(u=vectors, l1=strengths)
def test_conjugate_of_l1_is_an_indicator(u, l1):
    inside = np.abs(u).max() <= l1
    assert Penalty("l1", l1).conjugate(u) == (0.0 if inside else np.inf)


def constraints(d):
    normal = np.where(np.arange(d) % 2, -1.0, 1.0)
    return [box(-1.0, 2.0), simplex(), simplex(3.0), l1_ball(2.0), l2_ball(1.5), box_hyperplane(0.0, 1.0, normal, 0.0)]


@quick
@given(points=pairs)
def test_projections_satisfy_the_variational_inequality(points):
    z, other = points
    size = 1 + np.abs(z).max() + np.abs(other).max()
    for constraint in constraints(z.size):
        x, inside = constraint.project(z), constraint.project(other)
        np.testing.assert_allclose(constraint.project(x), x, atol=1e-9)
        # <z - P z, s - P z> <= 0 for every s of the set, up to rounding of products
        assert (z - x) @ (inside - x) <= 1e-10 * size**2
        corner = constraint.lowest(other)
        np.testing.assert_allclose(constraint.project(corner), corner, atol=1e-9)
        assert other @ corner <= other @ x + 1e-10 * size**2


@quick
@given(points=pairs, offset=numbers)
def test_hyperplane_projection(points, offset):
    z, normal = points
    if np.linalg.norm(normal) < 1e-3:
        return
    x = project_hyperplane(z, normal, offset)
    assert normal @ x == pytest.approx(offset, abs=1e-9 * (1 + np.abs(normal).sum() * (np.abs(x).max() + 1)))
