"""From columns to a matrix: what models are given."""

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

from hyperplan.compete import TablePipeline, TablePreparation, guess_columns
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
