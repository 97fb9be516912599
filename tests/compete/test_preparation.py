"""From columns to a matrix: what models are given."""

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

from hyperplan.compete import TablePipeline, TablePreparation, guess_columns
from hyperplan.compete._columns import Column
from hyperplan.compete._preparation import category_positions, paired_columns
from hyperplan.linear_model import ElasticNet, Ridge


@pytest.fixture
def many_categories():
    rng = np.random.default_rng(0)
    table = {"place": [f"p{k}" for k in rng.integers(400, size=1600)], "size": rng.normal(size=1600)}
    return pandas.DataFrame(table)


def test_sparse_rows_have_short_indices(many_categories):
    X = TablePreparation(guess_columns(many_categories)).fit_transform(many_categories)
    assert sp.issparse(X) and X.shape[1] > 300
    assert X.indices.dtype == X.indptr.dtype == np.int32


@pytest.mark.parametrize("model", [ElasticNet(alpha=0.01), Ridge()], ids=lambda model: type(model).__name__)
def test_linear_models_take_many_categories(model, many_categories):
    y = many_categories["size"].to_numpy() * 2.0
    pipeline = TablePipeline(TablePreparation(guess_columns(many_categories)), model).fit(many_categories, y)
    assert np.corrcoef(pipeline.predict(many_categories), y)[0, 1] > 0.99


def codes_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    table = pandas.DataFrame({
        "first": [f"a{i}" for i in rng.integers(0, 60, n)],
        "size": rng.normal(size=n),
        "second": [f"b{i}" for i in rng.integers(0, 70, n)],
        "few": [f"c{i}" for i in rng.integers(0, 5, n)],
    })  # fmt: skip
    table.loc[3, "first"] = None
    kinds = {"first": "category", "size": "number", "second": "category", "few": "category"}
    columns = [Column(name, kind, "", "object", 0.0, table[name].nunique()) for name, kind in kinds.items()]
    return table, columns


def test_pairs_of_columns_with_many_categories():
    table, columns = codes_table()
    prepare = TablePreparation(columns, "pairs").fit(table)
    found, plain = prepare.transform(table), TablePreparation(columns, "native").fit_transform(table)
    assert prepare.feature_names_ == ["first", "size", "second", "few", "first and second"]
    np.testing.assert_array_equal(found[:, :4], plain)
    assert category_positions(columns, "pairs") == [0, 2, 3, 4] and category_positions(columns) == [0, 2, 3]
    codes = {}
    for row, (a, b) in enumerate(zip(table["first"], table["second"])):
        if pandas.isna(a):
            assert np.isnan(found[row, 4])
        else:
            assert codes.setdefault((a, b), found[row, 4]) == found[row, 4]
    assert sorted(codes.values()) == list(range(len(codes)))
    new = table.iloc[[0, 1]].assign(second=["b-unseen", table["second"][1]])
    assert np.isnan(prepare.transform(new)[0, 4]) and prepare.transform(new)[1, 4] == found[1, 4]


def test_pairs_are_of_the_columns_with_the_most_categories():
    columns = [Column(f"c{i}", "category", "", "object", 0.0, 40 + i) for i in range(30)]
    assert [column.distinct for column in paired_columns(columns)] == list(range(61, 70))
    assert paired_columns(columns[:10]) == []
