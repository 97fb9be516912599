"""Workloads of neighbours: all distances in many dimensions, trees in few, a radius, votes."""

import numpy as np

from cases._case import Case
from cases.linear import THREADS, make, same


def blobs(rng, n, d, k, q, dtype="f8"):
    """Clouds of uneven sizes and shapes; the first n rows are searched for the neighbours of q others."""
    centres = rng.uniform(-10, 10, (k, d)) * (1 if d < 20 else 0.35)
    label = rng.choice(k, n + q, p=rng.dirichlet(np.full(k, 5.0)))
    X = centres[label] + rng.standard_normal((n + q, d)) * rng.uniform(0.4, 1.2, (k, d))[label]
    X = X.astype(dtype)
    return {"X": X[:n].copy(), "y": label[:n], "Xt": X[n:].copy(), "yt": label[n:]}


def recall(model, data, output):
    """Share of the true neighbours among those found, for the first 200 queries."""
    rows = np.asarray(output[1])[:200]
    X, Q = data.X.astype(np.float64), data.Xt[:200].astype(np.float64)
    squares = (Q**2).sum(axis=1)[:, None] - 2 * Q @ X.T + (X**2).sum(axis=1)
    truth = np.argpartition(squares, rows.shape[1], axis=1)[:, : rows.shape[1]]
    return {"recall": float(np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(rows.tolist(), truth.tolist())]))}


def accuracy(model, data, output):
    return {"accuracy": float((output == data.yt).mean())}


def pairs(model, data, output):
    """Entries of the graph (all must agree)."""
    return {"pairs": float(output.nnz)}


class Faiss:
    """faiss-cpu's flat index (exact)."""

    def __init__(self, k):
        self.k = k

    def fit(self, X, y=None):
        import faiss

        faiss.omp_set_num_threads(THREADS)
        self.index = faiss.IndexFlatL2(X.shape[1])
        self.index.add(np.ascontiguousarray(X, dtype=np.float32))
        return self

    def kneighbors(self, X):
        squares, rows = self.index.search(np.ascontiguousarray(X, dtype=np.float32), self.k)
        return np.sqrt(np.maximum(squares, 0)), rows


class Tree:
    """SciPy's cKDTree, or pykdtree."""

    def __init__(self, k, kind="scipy"):
        self.k, self.kind = k, kind

    def fit(self, X, y=None):
        if self.kind == "pykdtree":
            from pykdtree.kdtree import KDTree

            self.tree = KDTree(X)
        else:
            from scipy.spatial import cKDTree

            self.tree = cKDTree(X)
        return self

    def kneighbors(self, X):
        options = {} if self.kind == "pykdtree" else {"workers": THREADS}
        return self.tree.query(X, k=self.k, **options)


class Graph:
    """The graph of a radius, by the method that all libraries with scikit-learn's names have."""

    def __init__(self, library, radius):
        self.library, self.radius = library, radius

    def fit(self, X, y=None):
        self.model = make(f"{self.library}.neighbors.NearestNeighbors", radius=self.radius, n_jobs=THREADS)(None).fit(X)
        return self

    def graph(self, X):
        return self.model.radius_neighbors_graph(X, mode="distance")


def case(sizes, quality, apply, contenders):
    return Case(
        generate=blobs,
        sizes=sizes,
        contenders=contenders,
        quality=quality,
        lower_is_better=False,
        apply=apply,
        slack=1e-3,
    )


NEAREST = {"n_neighbors": 10, "n_jobs": THREADS}
IN_SPACE = {
    "small": {"n": 1000, "d": 3, "k": 5, "q": 500},
    "medium": {"n": 100_000, "d": 3, "k": 30, "q": 100_000},
    "large": {"n": 500_000, "d": 3, "k": 30, "q": 500_000},
}
MANY = {
    "small": {"n": 5000, "d": 20, "k": 5, "q": 500, "dtype": "f4"},
    "medium": {"n": 10_000, "d": 100, "k": 20, "q": 10_000, "dtype": "f4"},
    "large": {"n": 20_000, "d": 100, "k": 20, "q": 20_000, "dtype": "f4"},
}
SOME = {
    "small": {"n": 1000, "d": 10, "k": 5, "q": 500},
    "medium": {"n": 20_000, "d": 10, "k": 20, "q": 10_000},
    "large": {"n": 100_000, "d": 10, "k": 20, "q": 50_000},
}
CASES = {
    "knn_brute": case(
        MANY,
        recall,
        "kneighbors",
        {**same("neighbors.NearestNeighbors", algorithm="brute", **NEAREST), "faiss": lambda data: Faiss(10)},
    ),
    "knn_tree": case(
        IN_SPACE,
        recall,
        "kneighbors",
        {
            **same("neighbors.NearestNeighbors", algorithm="kd_tree", **NEAREST),
            "scipy": lambda data: Tree(10),
            "pykdtree": lambda data: Tree(10, "pykdtree"),
        },
    ),
    "knn_classify": case(SOME, accuracy, "predict", same("neighbors.KNeighborsClassifier", n_jobs=THREADS)),
    "radius_graph": case(
        {**IN_SPACE, "large": {"n": 200_000, "d": 3, "k": 30, "q": 200_000}},
        pairs,
        "graph",
        {
            "hyperplan": lambda data: Graph("hyperplan", 0.2),
            "sklearn": lambda data: Graph("sklearn", 0.2),
        },
    ),
}
