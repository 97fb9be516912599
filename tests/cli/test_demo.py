"""The demo: its statistics, its data and its picture."""

import numpy as np
import pytest

from hyperplan.cli import main
from hyperplan.cli._picture import spread
from hyperplan.datasets import load_penguins


def test_labels_are_spread_without_crossing():
    heights = np.array([0.0, 0.1, 0.2, 5.0, 5.05])
    moved = spread(heights, 1.0)
    assert (np.diff(moved) >= 1.0 - 1e-12).all()  # the gap, up to rounding
    assert moved.mean() == pytest.approx(heights.mean())
    assert spread(np.array([1.0, 9.0]), 1.0).tolist() == [1.0, 9.0]


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


def test_the_demo_prints_two_tables_and_writes_one_picture(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "new" / "folder"), "--repeats", "1"]) == 0
    text = capsys.readouterr().out
    assert text.count("95 % interval") == 2 and "How heavy is a penguin?" in text and "female or male?" in text
    assert "holds" in text and "fails" not in text
    files = list((tmp_path / "new" / "folder").iterdir())
    assert [path.name for path in files] == ["penguins.png"]
    assert files[0].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and files[0].stat().st_size > 30_000
