"""Trees in words and pictures, against scikit-learn's text on scikit-learn's trees."""

import numpy as np
import pytest
import sklearn.tree as reference
from sklearn.datasets import load_diabetes, load_iris

from hyperplan.tree import export_graphviz, export_text, plot_tree, rules

IRIS, FLOWERS = load_iris(return_X_y=True)
PATIENTS, PROGRESS = load_diabetes(return_X_y=True)


def trees():
    weight = np.linspace(0.1, 2, len(FLOWERS))
    classifier, regressor = reference.DecisionTreeClassifier, reference.DecisionTreeRegressor
    return {
        "classes": classifier(random_state=0).fit(IRIS, FLOWERS),
        "weights": classifier(max_depth=2, criterion="entropy", random_state=0).fit(IRIS, FLOWERS, weight),
        "strings": classifier(max_depth=3, random_state=0).fit(IRIS, np.array(["a", "b", "c"])[FLOWERS]),
        "numbers": regressor(max_depth=4, random_state=0).fit(PATIENTS, PROGRESS),
        "two numbers": regressor(max_depth=3, random_state=0).fit(PATIENTS, np.c_[PROGRESS, PROGRESS**2]),
        "one leaf": classifier().fit(IRIS, np.zeros(len(IRIS), dtype=int)),
    }


TREES = trees()


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("options", [{}, {"max_depth": 1}, {"show_weights": True, "spacing": 2, "decimals": 4}])
def test_text_is_the_reference_text(name, options):
    assert export_text(TREES[name], **options) == reference.export_text(TREES[name], **options)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"filled": True, "rounded": True, "proportion": True},
        {"leaves_parallel": True, "rotate": True, "fontname": "sans"},
        {"special_characters": True, "label": "root", "node_ids": True, "class_names": True},
        {"max_depth": 1, "filled": True, "impurity": False, "label": "none", "precision": 1},
    ],
)
def test_dot_is_the_reference_dot(name, options):
    assert export_graphviz(TREES[name], **options) == reference.export_graphviz(TREES[name], **options)


def test_text_names_every_output_of_a_leaf():
    both = reference.DecisionTreeClassifier(max_depth=1).fit(IRIS[:, 2:], np.c_[FLOWERS == 0, FLOWERS > 1])
    assert "class: [True, False]" in export_text(both)


def test_dot_file_is_written_whole(tmp_path):
    target = tmp_path / "tree.dot"
    target.write_text("old")
    assert export_graphviz(TREES["classes"], target) is None
    assert target.read_text() == export_graphviz(TREES["classes"])
    assert list(tmp_path.iterdir()) == [target]


def test_rules_partition_the_rows():
    """Each rule, read back as a condition, selects exactly its leaf's rows."""
    model = TREES["classes"]
    found = rules(model, feature_names=["a", "b", "c", "d"], decimals=6)
    assert len(found) == model.get_n_leaves()
    columns = dict(zip("abcd", IRIS.astype(np.float32).T))
    covered = np.zeros(len(IRIS), dtype=int)
    for rule in found:
        condition, outcome = rule.removeprefix("if ").split(" then ")
        inside = np.ones(len(IRIS), dtype=bool)
        for part in condition.split(" and "):
            for piece in _comparisons(part):
                inside &= eval(piece, {"__builtins__": {}}, columns)
        covered += inside
        assert inside.sum() == int(outcome.split("(")[1].split()[0])
        assert (model.predict(IRIS[inside]) == int(outcome.split()[0])).all()
    assert (covered == 1).all()


def _comparisons(part):
    """``1 < a <= 2`` as two comparisons (arrays cannot be chained)."""
    words = part.split()
    return [part] if len(words) == 3 else [" ".join(words[:3]), " ".join(words[2:])]


def test_rules_of_one_leaf():
    assert rules(TREES["one leaf"]) == ["always then 0 (150 rows, share 1.000)"]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("options", [{}, {"max_depth": 2, "filled": True, "node_ids": True, "class_names": True}])
def test_boxes_do_not_overlap(name, options):
    figure = pytest.importorskip("matplotlib.figure", reason="the picture needs matplotlib").Figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure(figsize=(12, 8)))
    notes = plot_tree(TREES[name], ax=canvas.figure.add_subplot(), **options)
    canvas.draw()
    boxes = [note.get_bbox_patch().get_window_extent() for note in notes if note.get_bbox_patch() is not None]
    assert boxes
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_bad_names_are_refused():
    with pytest.raises(ValueError, match="feature_names must contain 4 elements, got 1"):
        export_text(TREES["classes"], feature_names=["a"])
    with pytest.raises(ValueError, match="Length of feature_names, 1 does not match number of features, 4"):
        export_graphviz(TREES["classes"], feature_names=["a"])
    with pytest.raises(TypeError, match="is not an estimator instance"):
        export_graphviz(TREES["classes"].tree_)
    with pytest.raises(ValueError, match="decimals must be an integer >= 0"):
        export_text(TREES["classes"], decimals=-1)
