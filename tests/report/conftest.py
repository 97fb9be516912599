"""Documents like those of real competitions, made by small simulations."""

import copy

import numpy as np
import pytest

from hyperplan.report._confusion import cells_of, confusion_parts

HOSTILE = '<script>alert("x")</script>&amp; "prix" \'€\' 价格 {braces} {{ jinja }} 100% ' + "long" * 30
MODELS = [
    ("LogisticRegression", "Logistic regression", "linear", 20, 0.862),
    ("HistGradientBoostingClassifier", "Histogram boosting", "boosting", 70, 0.871),
    ("RandomForestClassifier", "Random forest", "forest", 60, 0.868),
    ("LinearSVC", "Linear support vectors", "svm", 22, 0.853),
    ("DecisionTreeClassifier", "Decision tree", "tree", 30, 0.812),
    ("PocketPerceptron", "Pocket perceptron", "linear", 25, 0.781),
    ("DummyClassifier", "Most frequent class", "baseline", 0, 0.5),
]


def candidate(name, label, family, simplicity, score, width=0.022, **changes):
    row = {
        "name": name,
        "label": label,
        "family": family,
        "simplicity": simplicity,
        "status": "ok",
        "reason": "",
        "score": score,
        "low": score - width,
        "high": score + width,
        "folds": [score] * 10,
        "group": None,
        "is_chosen": False,
        "is_best": False,
        "is_baseline": family == "baseline",
        "difference": None,
        "fit_seconds": 0.004 * (1 + simplicity**2 / 40),
        "predict_seconds": 0.0004 * (1 + simplicity),
        "settings": {"alpha": 0.01, "max_iter": 1000} if family == "linear" else {"max_depth": 6} if simplicity else {},
        "tried": 1 + simplicity // 5,
        "certificate": {"holds": True, "summary": "gap 3.1e-06 below tol 1e-04"}
        if family in ("linear", "svm")
        else None,
    }
    return row | changes


def ranked(rows, sign=1, tie=0.012, rope=0.005):
    """Candidates in order, with groups, differences from the best, and the simplest of the tied chosen."""
    rows = sorted(rows, key=lambda row: -sign * row["score"])
    best, letter, head = rows[0], "A", rows[0]
    for rank, row in enumerate(rows, 1):
        if sign * (head["score"] - row["score"]) > tie:
            letter, head = chr(ord(letter) + 1), row
        row["rank"], row["group"], row["is_best"] = rank, letter, row is best
        if row is not best:
            mean, half = row["score"] - best["score"], 0.6 * (row["high"] - row["low"]) / 2
            verdict = "tied" if letter == "A" else "worse"
            p = float(np.exp(-3.0 * abs(mean) / half))
            row["difference"] = {
                "mean": mean,
                "low": mean - half,
                "high": mean + half,
                "p": p,
                "p_adjusted": min(1.0, 3 * p),
                "verdict": verdict,
            }
    min((row for row in rows if row["group"] == "A"), key=lambda row: row["simplicity"])["is_chosen"] = True
    return rows


def chosen_of(rows, why="simplest_tied", **changes):
    row = next(row for row in rows if row["is_chosen"])
    score = {key: row[key] for key in ("low", "high")} | {
        "value": row["score"],
        "method": "bootstrap_bias_corrected",
        "level": 0.95,
    }
    chosen = {"name": row["name"], "label": row["label"], "settings": row["settings"], "why": why, "score": score}
    return chosen | {"other_metrics": [], "holdout": None} | changes


def columns():
    return [
        {
            "name": "Age",
            "kind": "number",
            "why": "88 distinct numbers",
            "missing": 0.199,
            "distinct": 88,
            "edges": list(range(0, 85, 5)),
            "counts": [44, 20, 18, 96, 122, 108, 88, 66, 47, 39, 32, 16, 15, 8, 4, 2],
            "top": None,
        },
        {
            "name": "Fare",
            "kind": "number",
            "why": "",
            "missing": 0.0,
            "distinct": 248,
            "edges": [51.2329 * i for i in range(11)],
            "counts": [732, 106, 31, 2, 11, 6, 0, 0, 0, 3],
            "top": None,
        },
        {
            "name": "Sex",
            "kind": "category",
            "why": "2 texts",
            "missing": 0.0,
            "distinct": 2,
            "edges": None,
            "counts": None,
            "top": [["male", 577], ["female", 314]],
        },
        {
            "name": "Embarked",
            "kind": "category",
            "why": "3 texts",
            "missing": 0.0022,
            "distinct": 3,
            "edges": None,
            "counts": None,
            "top": [["Southampton", 644], ["Cherbourg", 168], ["Queenstown", 77]],
        },
        {
            "name": "Cabin",
            "kind": "category",
            "why": "147 texts",
            "missing": 0.771,
            "distinct": 147,
            "edges": None,
            "counts": None,
            "top": [["B96 B98", 4], ["G6", 4], ["C23 C25 C27", 4], ["C22 C26", 3], ["F33", 3]],
        },
        {
            "name": "PassengerId",
            "kind": "id",
            "why": "a different value in each row",
            "missing": 0.0,
            "distinct": 891,
            "edges": None,
            "counts": None,
            "top": None,
        },
        {
            "name": "Boarded",
            "kind": "date",
            "why": "dates",
            "missing": 0.0,
            "distinct": 14,
            "edges": None,
            "counts": None,
            "top": None,
        },
    ]


def base(rows, **changes):
    document = {
        "schema": "hyperplan/report/1",
        "hyperplan": "0.1.0",
        "created": "2026-11-16T12:00:00Z",
        "title": "titanic.csv",
        "task": "classification",
        "metric": {"name": "roc_auc", "label": "ROC AUC", "greater_is_better": True, "best": 1.0, "unit": ""},
        "data": {
            "rows": 891,
            "labelled": 891,
            "unlabelled": 0,
            "test_rows": 418,
            "target": {"name": "Survived", "classes": ["0", "1"], "counts": [549, 342]},
            "columns": columns(),
        },
        "protocol": {
            "folds": 5,
            "repeats": 2,
            "kind": "stratified",
            "tuning": "successive halving inside each training part",
            "interval": "corrected_t",
            "level": 0.95,
            "rope": 0.005,
            "correction": "holm",
            "seed": 0,
            "jobs": 2,
            "budget": 60.0,
            "used": 58.1,
        },
        "leaderboard": rows,
        "chosen": chosen_of(rows),
        "classification": None,
        "regression": None,
        "importances": {"method": "permutation", "columns": []},
        "partial_dependence": [],
        "learning_curve": None,
        "bias_variance": None,
        "diagnosis": [],
        "audit": [],
        "receipt": {
            "data_sha256": "4a437fde05fe5264e1701a7387ac6fb75393772ba38bb2c9c566405af5af4bd7",
            "seed": 0,
            "machine": "x86_64, 2 cores",
            "python": "3.13.1",
            "packages": {"numpy": "2.3.4", "numba": "0.62.1"},
        },
    }
    return document | changes


def floats(values):
    return [float(value) for value in values]


def curves_of(name, truth, score):
    """ROC, PR and PR-gain of one class by brute force."""
    order = np.argsort(-score, kind="stable")
    hits, total = np.cumsum(truth[order]), np.arange(1, len(truth) + 1)
    tpr, fpr = hits / hits[-1], (total - hits) / (total[-1] - hits[-1])
    precision, share = hits / total, hits[-1] / total[-1]
    keep = tpr >= share
    gain = lambda value: (value - share) / ((1 - share) * np.maximum(value, 1e-9))  # noqa: E731
    return (
        {"class": name, "fpr": floats([0, *fpr]), "tpr": floats([0, *tpr]), "auc": float(np.trapezoid(tpr, fpr))},
        {
            "class": name,
            "recall": floats(tpr),
            "precision": floats(precision),
            "average_precision": float(precision[truth[order] > 0].mean()),
        },
        {
            "class": name,
            "recall_gain": floats(gain(tpr[keep])),
            "precision_gain": floats(gain(precision[keep])),
            "auprg": 0.71,
        },
    )


def binary_part(seed=0, rows=891):
    random = np.random.default_rng(seed)
    logit = random.normal(-0.6, 1.9, rows)
    probability = 1 / (1 + np.exp(-logit))
    truth = (random.random(rows) < probability).astype(int)
    roc, pr, gain = curves_of("1", truth, probability)
    bins = np.minimum((probability * 10).astype(int), 9)
    observed = np.array([truth[bins == b].mean() for b in range(10)])
    counts = np.bincount(bins, minlength=10)
    half = 1.96 * np.sqrt(observed * (1 - observed) / counts) + 0.5 / counts
    at = np.round(np.linspace(0, 1, 51), 2)
    flag = probability[None, :] >= at[:, None]
    found = (flag * truth).sum(1)
    precision = [float(f / n) if n else None for f, n in zip(found, flag.sum(1))]
    recall = found / truth.sum()
    return {
        "classes": ["0", "1"],
        "positive": "1",
        "prevalence": float(truth.mean()),
        "roc": [roc],
        "pr": [pr],
        "pr_gain": [gain],
        "calibration": {
            "predicted": floats([probability[bins == b].mean() for b in range(10)]),
            "observed": floats(observed),
            "counts": [int(c) for c in counts],
            "low": floats(np.maximum(observed - half, 0)),
            "high": floats(np.minimum(observed + half, 1)),
            "brier": float(np.mean((truth - probability) ** 2)),
        },
        "confusion": [[487, 62], [91, 251]],
        "thresholds": {
            "threshold": floats(at),
            "precision": precision,
            "recall": floats(recall),
            "specificity": floats(((1 - flag) * (1 - truth)).sum(1) / (1 - truth).sum()),
            "f1": [None if p is None or p + r == 0 else float(2 * p * r / (p + r)) for p, r in zip(precision, recall)],
            "share_flagged": floats(flag.mean(1)),
        },
    }


def importances(names, top=0.12):
    means = [top * 0.6**i for i in range(len(names))]
    rows = [{"name": n, "mean": m, "low": m * 0.8 - 0.002, "high": m * 1.2 + 0.002} for n, m in zip(names, means)]
    return {"method": "permutation", "columns": rows}


def dependence(name, low, high, start, end, target_class="1"):
    grid = np.linspace(low, high, 30)
    mean = start + (end - start) / (1 + np.exp(-8 * ((grid - low) / (high - low) - 0.45)))
    density = np.exp(-8 * ((grid - low) / (high - low) - 0.35) ** 2)
    return {
        "name": name,
        "kind": "number",
        "grid": floats(grid),
        "mean": floats(mean),
        "low": floats(mean - 0.04 * abs(end)),
        "high": floats(mean + 0.04 * abs(end)),
        "target_class": target_class,
        "density": floats(density),
    }


def categories(name, grid, mean, target_class="1"):
    return {
        "name": name,
        "kind": "category",
        "grid": grid,
        "mean": mean,
        "low": [m - 0.03 for m in mean],
        "high": [m + 0.03 for m in mean],
        "target_class": target_class,
        "density": [1.0] * len(grid),
    }


def learning_curve(last, sign=1, reach=0.06):
    sizes = [71, 142, 285, 427, 570, 712]
    bend = np.array([1.0, 0.6, 0.35, 0.2, 0.12, 0.08]) * reach * sign
    train, validation = last + bend * 0.7 + 0.01 * sign, last - bend
    band = np.abs(bend) * 0.5 + reach * 0.1
    named = {
        "train": train,
        "train_low": train - band / 2,
        "train_high": train + band / 2,
        "validation": validation,
        "validation_low": validation - band,
        "validation_high": validation + band,
    }
    return {"sizes": sizes} | {name: floats(values) for name, values in named.items()}


def finding(code, severity, columns=(), **values):
    return {"code": code, "severity": severity, "columns": list(columns), "values": values}


def binary():
    rows = ranked([candidate(*model) for model in MODELS])
    chosen = chosen_of(
        rows,
        other_metrics=[
            {"name": "accuracy", "label": "Accuracy", "value": 0.828, "low": 0.806, "high": 0.85},
            {"name": "f1", "label": "F1", "value": 0.768, "low": 0.735, "high": 0.801},
            {"name": "neg_brier_score", "label": "Brier score", "value": 0.129, "low": 0.118, "high": 0.14},
        ],
    )
    return base(
        rows,
        chosen=chosen,
        classification=binary_part(),
        importances=importances(["Sex", "Age", "Fare", "Cabin", "Embarked", "Boarded"]),
        partial_dependence=[
            categories("Sex", ["male", "female"], [0.21, 0.72]),
            dependence("Age", 0, 80, 0.55, 0.3),
            dependence("Fare", 0, 512.3, 0.3, 0.58),
        ],
        learning_curve=learning_curve(0.862),
        bias_variance={"loss": "zero_one", "error": 0.172, "bias": 0.141, "variance": 0.031, "noise": None},
        diagnosis=[finding("D02", "info", gap=0.01)],
        audit=[
            finding("A09", "warning", ["Cabin"], share=0.771, columns_n=1),
            finding("A03", "info", ["PassengerId"], distinct=891),
        ],
    )


def multiclass(number=4):
    random = np.random.default_rng(3)
    names = [f"species {i}" for i in range(number)]
    truth = random.integers(0, number, 900)
    score = random.normal(0, 1, (900, number))
    score[np.arange(900), truth] += np.linspace(1.2, 3, number)[truth]
    guess = score.argmax(1)
    confusion = np.zeros((number, number), int)
    np.add.at(confusion, (truth, guess), 1)
    parts = [curves_of(name, (truth == i).astype(int), score[:, i]) for i, name in enumerate(names)]
    part = {
        "classes": names,
        "positive": None,
        "prevalence": None,
        "roc": [p[0] for p in parts],
        "pr": [p[1] for p in parts],
        "pr_gain": [p[2] for p in parts],
        "calibration": binary_part()["calibration"],
        "confusion": [[int(c) for c in row] for row in confusion],
        "thresholds": None,
    }
    rows = ranked([candidate(*model) for model in MODELS])
    document = base(
        rows,
        title="iris and others.parquet",
        metric={
            "name": "balanced_accuracy",
            "label": "Balanced accuracy",
            "greater_is_better": True,
            "best": 1.0,
            "unit": "",
        },
        classification=part,
        importances=importances(["petal length", "petal width"]),
        partial_dependence=[dependence("petal length", 1, 7, 0.1, 0.9, names[0])],
        diagnosis=[
            finding("D01", "warning", train=0.99, validation=0.86),
            finding("D05", "warning"),
            finding("D07", "error"),
        ],
    )
    document["data"]["target"] = {"name": "species", "classes": names, "counts": [int(c) for c in np.bincount(truth)]}
    return document


def regression():
    random = np.random.default_rng(1)
    predicted = np.exp(random.normal(12.1, 0.45, 900))
    true = predicted + random.normal(0, 1, 900) * 0.14 * predicted
    spread = 0.25 * predicted
    counts, edges = np.histogram(true - predicted, 24)
    names = {"Linear regression": 61200.0, "Histogram boosting": 47300.0, "Random forest": 48100.0, "Mean": 115400.0}
    families = ("linear", "boosting", "forest", "baseline")
    rows = [
        candidate(label.replace(" ", "") + "Regressor", label, family, 20 * i, score, width=1900.0)
        for i, ((label, score), family) in enumerate(zip(names.items(), families))
    ]
    rows = ranked(rows, sign=-1, tie=1000.0)
    document = base(
        rows,
        title="california_housing.csv",
        task="regression",
        metric={
            "name": "neg_root_mean_squared_error",
            "label": "RMSE",
            "greater_is_better": False,
            "best": 0.0,
            "unit": "$",
        },
        chosen=chosen_of(
            rows, holdout={"rows": 4128, "value": 47912.0, "low": 46100.0, "high": 49800.0, "method": "bootstrap"}
        ),
        regression={
            "true": floats(true),
            "predicted": floats(predicted),
            "lower": floats(predicted - spread),
            "upper": floats(predicted + spread),
            "coverage": float(np.mean(np.abs(true - predicted) <= spread)),
            "level": 0.9,
            "residual_edges": floats(edges),
            "residual_counts": [int(c) for c in counts],
            "residual_std": float(np.std(true - predicted)),
        },
        importances=importances(["median_income", "latitude", "longitude", "ocean_proximity"], 52000.0),
        partial_dependence=[
            dependence("median_income", 0.5, 15, 130000.0, 420000.0, None),
            dependence("latitude", 32.5, 42, 290000.0, 160000.0, None),
        ],
        learning_curve=learning_curve(47300.0, -1, 9000.0),
        bias_variance={"loss": "squared", "error": 2.24e9, "bias": 1.1e9, "variance": 1.14e9, "noise": None},
    )
    document["protocol"] |= {"kind": "plain", "rope": 500.0}
    document["data"]["rows"] = 20640
    counts, edges = np.histogram(true, 30)
    document["data"]["target"] = {
        "name": "median_house_value",
        "edges": floats(edges),
        "counts": [int(c) for c in counts],
        "mean": 206855.8,
        "std": 115395.6,
    }
    return document


def only_baselines():
    rows = ranked([candidate("DummyClassifier", "Most frequent class", "baseline", 0, 0.5, width=0.0)])
    return base(rows, chosen=chosen_of(rows, "only"))


def nothing_beats_baseline():
    rows = ranked([candidate(*model[:4], 0.524 - 0.004 * i, width=0.03) for i, model in enumerate(MODELS)], tie=1.0)
    return base(rows)


def failed():
    document = binary()
    gone = {"score": None, "low": None, "high": None, "fit_seconds": None, "predict_seconds": None, "certificate": None}
    document["leaderboard"] += [
        candidate("MLPClassifier", "Neural network", "network", 90, 0.5, status="failed", reason="ValueError: NaN")
        | gone,
        candidate("SVC", "Kernel support vectors", "kernel", 80, 0.5, status="skipped", reason="20 s were left") | gone,
    ]
    return document


def bare():
    """Only what a document must have."""
    document = base(ranked([candidate(*MODELS[0]), candidate(*MODELS[6])]))
    for key in ("classification", "regression", "importances", "partial_dependence", "learning_curve", "bias_variance"):
        del document[key]
    del document["diagnosis"], document["audit"], document["chosen"]["holdout"], document["chosen"]["other_metrics"]
    for row in document["leaderboard"]:
        for key in ("certificate", "tried", "settings", "predict_seconds", "folds", "reason"):
            del row[key]
    document["receipt"], document["protocol"] = {}, {"folds": 5, "repeats": 1, "kind": "plain", "level": 0.95}
    return document


def crowded():
    """40 candidates, 30 classes, 200 columns, hostile and long names everywhere."""
    document = multiclass(30)
    random = np.random.default_rng(5)
    names = [f"{HOSTILE} {i}" for i in range(30)]
    part = document["classification"]
    part["classes"] = document["data"]["target"]["classes"] = names
    part |= {"confusion": None, **confusion_parts(cells_of(part["confusion"]), names)}
    for kind in ("roc", "pr", "pr_gain"):
        for i, curve in enumerate(part[kind]):
            curve["class"] = names[i]
    document["leaderboard"] = rows = ranked(
        [candidate(f"Model{i}", f"{HOSTILE} {i}", "boosting", i, 0.9 - 0.01 * i) for i in range(39)]
        + [candidate("DummyClassifier", HOSTILE, "baseline", 0, 0.1)]
    )
    document["chosen"] = chosen_of(rows, settings={HOSTILE: HOSTILE})
    columns = [
        {
            "name": f"{HOSTILE} {i}",
            "kind": "category" if i % 3 else "number",
            "why": HOSTILE,
            "missing": float(random.random()),
            "distinct": 40 + i,
            "edges": None if i % 3 else floats(np.linspace(0, 10.0 ** (i % 13 - 6), 11)),
            "counts": None if i % 3 else [int(c) for c in random.integers(0, 50, 10)],
            "top": [[f"{HOSTILE} {j}", 50 - j] for j in range(6)] if i % 3 else None,
        }
        for i in range(200)
    ]
    document["data"]["columns"], document["title"] = columns, HOSTILE
    document["importances"] = importances([column["name"] for column in columns])
    document["partial_dependence"] = [
        categories(HOSTILE, [f"{HOSTILE} {i}" for i in range(12)], floats(np.linspace(0.1, 0.9, 12)), HOSTILE),
        dependence(HOSTILE, -3e-7, 5e-7, 0.1, 0.9, HOSTILE),
        dependence("year", 1990, 2024, 0.2, 0.5, HOSTILE),
        dependence("constant", 3.0, 3.0 + 1e-12, 0.2, 0.5, HOSTILE),
    ]
    document["audit"] = [
        finding("A01", "error", names, share=0.5, name=HOSTILE),
        finding("Z99", "warning", [HOSTILE], text=HOSTILE),
    ]
    document["data"]["target"]["name"] = document["receipt"]["machine"] = HOSTILE
    return document


BUILDERS = {
    build.__name__: build
    for build in (binary, multiclass, regression, only_baselines, nothing_beats_baseline, failed, bare, crowded)
}


@pytest.fixture(params=BUILDERS)
def document(request):
    """Each kind of document in turn."""
    return copy.deepcopy(BUILDERS[request.param]())


@pytest.fixture
def build():
    """``build("binary")``: a document by the name of its builder."""
    return lambda name: BUILDERS[name]()


@pytest.fixture
def hostile():
    """A name with markup, quotes, braces and other scripts in it."""
    return HOSTILE
