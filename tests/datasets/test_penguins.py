"""The penguins: shapes, published counts and means."""

import numpy as np
import pytest

from hyperplan.datasets import load_penguins


@pytest.mark.parametrize("target, width, kind", [("species", 8, "U"), ("sex", 9, "U"), ("body_mass_g", 9, "f")])
def test_penguins(target, width, kind):
    table = load_penguins(target=target)
    assert table.data.shape == (333, width) == (table.target.shape[0], len(table.feature_names))
    assert table.target.dtype.kind == kind and np.isfinite(table.data).all() and "CC0" in table.DESCR
    X, y = load_penguins(target=target, return_X_y=True)
    assert (table.data == X).all() and (y == table.target).all()


def test_penguins_have_the_published_counts_and_means():
    """Horst, Hill, Gorman (2020): of the complete rows 146 Adelie, 68 Chinstrap, 119 Gentoo; mean mass 4207 g."""
    assert np.unique(load_penguins().target, return_counts=True)[1].tolist() == [146, 68, 119]
    assert load_penguins(target="body_mass_g").target.mean() == pytest.approx(4207.057, abs=1e-3)


def test_penguins_as_frame():
    table = load_penguins(target="sex", as_frame=True)
    assert list(table.frame.columns) == [*table.feature_names, "sex"] and table.data.shape == (333, 9)
    with pytest.raises(ValueError, match="target must be one of"):
        load_penguins(target="island")
