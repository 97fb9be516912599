"""The number of threads never changes a bit of a fit, on data large enough for more than three chunks."""

import numpy as np
import pytest
from contract_common import ESTIMATORS, FAST, build, data, fit, fitted_state, output

import hyperplan
from hyperplan._core import parallel

ROWS, COLUMNS = 3 * 32_768 + 7, 33  # above three times the largest chunk, and not a multiple of anything
SMALLER = {  # where such data would take minutes: rows and columns that still make chunks
    "AdaBoostRegressor": (30_000, 9),
    "BaggingClassifier": (30_000, 9),
    "BaggingRegressor": (30_000, 9),
    "BlendingClassifier": (30_000, 9),
    "BlendingRegressor": (30_000, 9),
    "CIsomap": (1200, 5),
    "ClassMaps": (1200, 5),
    "ClassicalMDS": (1500, 9),
    "DBSCAN": (70_000, 2),
    "DensityModes": (600, 2),
    "ExtraTreesRegressor": (30_000, 9),
    "KernelDensity": (700, 3),
    "Isomap": (1200, 5),
    "Isostretch": (1200, 5),
    "KernelPCA": (1500, 9),
    "KNeighborsTransformer": (5000, 9),
    "KernelPerceptron": (1200, 9),
    "KernelRidge": (2700, 9),
    "LandmarkIsomap": (1200, 5),
    "LargeMarginNearestNeighbor": (1100, 9),
    "LocalOutlierFactor": (5000, 9),
    "LocallyLinearEmbedding": (5000, 5),
    "MDS": (1500, 5),
    "MultipleKernelSVC": (1100, 9),
    "GaussianMixtureIC": (500, 3),
    "MixtureClassifier": (70_000, 3),
    "MultiwayTreeClassifier": (5000, 9),
    "NadarayaWatsonClassifier": (700, 3),
    "NadarayaWatsonRegressor": (700, 3),
    "NeighborhoodComponentsAnalysis": (1100, 9),
    "NeighbourGraph": (5000, 9),
    "NuSVC": (2500, 9),
    "NuSVR": (2500, 9),
    "ObliqueTreeClassifier": (1500, 9),
    "ObliqueTreeRegressor": (1500, 9),
    "NumberOfClusters": (9000, 5),
    "OPTICS": (5000, 3),
    "OneClassSVM": (2500, 9),
    "RISIMAP": (1200, 5),
    "RadiusNeighborsTransformer": (5000, 9),
    "RandomForestRegressor": (30_000, 9),
    "SVC": (2500, 9),
    "SVR": (2500, 9),
    "SeparableCoordinates": (5000, 5),
    "SpectralEmbedding": (4200, 5),
    "SpectralClustering": (1200, 5),
    "StackingClassifier": (5000, 9),
    "StackingRegressor": (5000, 9),
    "SubsampledMap": (1200, 5),
    "SuperLearnerClassifier": (5000, 9),
    "SuperLearnerRegressor": (5000, 9),
    "UMAP": (3500, 9),
    "VotingClassifier": (30_000, 9),
    "VotingRegressor": (30_000, 9),
}
BY_MEMBER = "one task per member, and there are two"
BY_PRODUCT = "one matrix product; chunks of sparse ones are in reference/test_random_projection.py"
SERIAL = {
    "BlendingClassifier": BY_MEMBER,
    "BlendingRegressor": BY_MEMBER,
    "ClassicalMDS": "one decomposition of the rows; blocks of distances are in reference/test_mds.py",
    "GaussianRandomProjection": BY_PRODUCT,
    "KaneNelsonRandomProjection": BY_PRODUCT,
    "HistogramClassifier": "rows are counted in one pass",
    "GaussianMixtureIC": "many fits: the passes of each are those of GaussianMixture, which is tested on many rows",
    "MultiwayTreeClassifier": "nodes are searched one after the other",
    "ObliqueTreeClassifier": "nodes are searched one after the other",
    "ObliqueTreeRegressor": "nodes are searched one after the other",
    "Perceptron": "steps depend on each other, and with two classes there is one problem only",
    "SparseRandomProjection": BY_PRODUCT,
    "VotingClassifier": BY_MEMBER,
    "VotingRegressor": BY_MEMBER,
}


@pytest.fixture
def chunks(monkeypatch):
    """How many tasks each parallel call had."""
    counts = []
    pool, helpers = parallel._pool, parallel._helpers

    class CountingPool:
        def __init__(self, n_jobs):
            self.pool = pool(n_jobs)

        def map(self, func, items):
            counts.append(len(items))
            return self.pool.map(func, items)

        def submit(self, func, *arguments):
            counts.append(1)
            return self.pool.submit(func, *arguments)

    class CountingCrew:
        def __init__(self, n_jobs):
            self.crew = helpers(n_jobs)

        def put(self, order):
            counts.append(len(order[1]))  # a run of tasks for one thread
            self.crew.put(order)

    monkeypatch.setattr(parallel, "_pool", CountingPool)
    monkeypatch.setattr(parallel, "_helpers", CountingCrew)
    return counts


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_any_number_of_threads_gives_the_same_bits(name, chunks):
    n, d = SMALLER.get(name, (ROWS, COLUMNS))
    X, y = data(name, n=n, d=d)
    states, answers = [], []
    for n_jobs in (1, 2, 3, 4):
        with hyperplan.thread_limit(n_jobs):
            model = fit(build(name, **FAST), X, y)
            states.append(fitted_state(model))
            answers.append(output(model, X[:5000]).tobytes())
        if n_jobs == 1:
            assert chunks == []
    assert states[0] and all(state == states[0] for state in states[1:])
    assert len(set(answers)) == 1
    if name not in SERIAL:
        assert max(chunks, default=0) > 3, "nothing was computed in parallel: the data are too small for this test"


def test_a_fit_in_pieces_of_another_size_would_not_have_the_same_bits():
    """The comparison above can fail: sums over other chunks differ in their last bits."""
    values = np.random.default_rng(0).normal(size=10_007)
    by_hundreds = sum(values[part].sum() for part in parallel.spans(values.size, 100))
    by_thousands = sum(values[part].sum() for part in parallel.spans(values.size, 1000))
    assert by_hundreds != by_thousands
    assert by_hundreds == pytest.approx(by_thousands)
