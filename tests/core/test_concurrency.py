"""Fits at the same time, in threads, in processes and after a fork: no abort, no hang, the same numbers.

Each case runs in a process of its own with a time limit: an abort or a deadlock there fails one test, not the run.
"""

import sys

import pytest

WORK = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from hyperplan.linear_model import ElasticNet, LinearRegression, LogisticRegression, Ridge
from hyperplan.svm import LinearSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 12))
y = X @ rng.normal(size=12) + rng.normal(size=6000)
MODELS = [LinearRegression(), Ridge(), ElasticNet(alpha=0.1), LogisticRegression(), LinearSVC()]

def work(i):
    model = MODELS[i % len(MODELS)]
    target = (y > 0).astype(int) if hasattr(model, "decision_function") or i % len(MODELS) > 2 else y
    fitted = type(model)(**model.get_params()).fit(X, target)
    return np.ravel(fitted.coef_).tobytes() + np.ravel(fitted.intercept_).tobytes()
"""
TREES = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from hyperplan.ensemble import AdaBoostClassifier, GradientBoostingRegressor, HistGradientBoostingClassifier
from hyperplan.ensemble import RandomForestClassifier
from hyperplan.tree import DecisionTreeRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 12))
y = X @ rng.normal(size=12) + rng.normal(size=6000)
MODELS = [
    DecisionTreeRegressor(max_depth=8, random_state=0), RandomForestClassifier(8, max_depth=8, random_state=0),
    AdaBoostClassifier(n_estimators=4, random_state=0), HistGradientBoostingClassifier(max_iter=5, random_state=0),
    GradientBoostingRegressor(n_estimators=3, subsample=0.5, random_state=0),
]

def work(i):
    model = MODELS[i % len(MODELS)]
    numbers = model.__sklearn_tags__().estimator_type == "regressor"
    fitted = type(model)(**model.get_params()).fit(X, y if numbers else (y > 0).astype(int))
    return (fitted.predict(X) if numbers else fitted.predict_proba(X)).tobytes()
"""
N_TASKS = 20
CASES = {
    "python threads": """
import threading
expected = [work(i) for i in range(N)]
found = [None] * N
def run(k):
    for i in range(k, N, 4): found[i] = work(i)
threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
""",
    "first calls in python threads": """
from concurrent.futures import ThreadPoolExecutor
found = list(ThreadPoolExecutor(4).map(work, range(N)))
expected = [work(i) for i in range(N)]
""",
    "joblib threading": """
from joblib import Parallel, delayed
expected = [work(i) for i in range(N)]
found = Parallel(n_jobs=4, backend="threading")(delayed(work)(i) for i in range(N))
""",
    "joblib loky": """
from joblib import Parallel, delayed
import cloudpickle_work
expected = [cloudpickle_work.work(i) for i in range(N)]
found = Parallel(n_jobs=2, backend="loky")(delayed(cloudpickle_work.work)(i) for i in range(N))
""",
    "after a fork": """
import multiprocessing
expected = [work(i) for i in range(N)]  # the thread pools of the parent exist now
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map(work, range(N))
""",
    "fork while threads are fitting": """
import multiprocessing, threading
expected = [work(i) for i in range(N)]
stop = threading.Event()
def busy():
    while not stop.is_set(): work(0); work(2)
threads = [threading.Thread(target=busy) for _ in range(2)]
[t.start() for t in threads]
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map_async(work, range(N)).get(90)
stop.set(); [t.join() for t in threads]
""",
}


OF_TREES = ("first calls in python threads", "joblib threading", "joblib loky", "fork while threads are fitting")


@pytest.mark.parametrize(
    "work, case",
    [*((WORK, c) for c in CASES), *((TREES, c) for c in OF_TREES)],
    ids=[*(f"linear-{c}" for c in CASES), *(f"trees-{c}" for c in OF_TREES)],
)
def test_fits_at_the_same_time_give_the_same_bits(work, case, run_python, tmp_path):
    if "fork" in case and sys.platform != "linux":
        pytest.skip("fork is the rule on Linux only")
    (tmp_path / "cloudpickle_work.py").write_text(work)
    code = work + f"N = {N_TASKS}\n" + CASES[case] + "assert found == expected\nprint('equal')"
    assert run_python(code, timeout=120, PYTHONPATH=tmp_path).stdout.strip() == "equal"


def test_inside_another_pool_we_use_one_thread(run_python):
    code = """
from joblib import Parallel, delayed
from hyperplan._core.parallel import effective_n_jobs
print(Parallel(n_jobs=2, backend="threading")(delayed(effective_n_jobs)() for _ in range(2)),
      Parallel(n_jobs=2, backend="loky")(delayed(effective_n_jobs)() for _ in range(2)))
"""
    assert run_python(code).stdout.split() == ["[1,", "1]", "[1,", "1]"]
