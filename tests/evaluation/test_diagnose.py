"""Data made so that the truth is known: each verdict is found, with numbers, and nothing is found where nothing is."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from hyperplan._base import is_classifier
from hyperplan._texts import LANGUAGES
from hyperplan.ensemble import RandomForestClassifier, RandomForestRegressor
from hyperplan.evaluation import diagnose
from hyperplan.evaluation._diagnose_columns import Columns
from hyperplan.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from hyperplan.naive_bayes import GaussianNB
from hyperplan.preprocessing import PolynomialFeatures, StandardScaler
from hyperplan.testing import all_estimators, construct
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSES = dict(all_estimators(composite=True))
LEARNERS = [name for kind in ("classifier", "regressor") for name, _ in all_estimators(kind, composite=True)]


def line(n=300, p=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1, p + 1) / p + noise * rng.normal(size=n)


def parabola(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, X[:, 0] ** 2 + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


def ring(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-6 * ((X**2).sum(axis=1) - 2))), "out", "in")


def odds(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-X @ np.array([2.0, -1.0, 1.0, 0.5, 0.0])))).astype(int)


def noise(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 5)), rng.normal(size=n)


def few_rows_many_columns(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 60))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=80)


def with_the_answer(X, y):
    return np.column_stack([X, 3.0 * y + 1.0]), y


def rare(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(4.2 - 1.5 * X[:, 0] - X[:, 1]))).astype(int)


def finding(diagnosis, code):
    return next((one for one in diagnosis.findings if one.code == code), None)


def check_shown(diagnosis):
    """Whatever was found can be said in both languages and written as JSON."""
    for one in diagnosis.findings:
        assert json.loads(json.dumps(one.as_dict(), allow_nan=False))["code"] == one.code
        for language in LANGUAGES:
            assert all(diagnosis.say(one, part, language) for part in ("title", "message", "advice"))
    assert diagnosis.measurements.n_fits % diagnosis.measurements.scores["model"].size == 0


UNDER = {
    "line on a parabola": (parabola, LinearRegression(), "→ PolynomialFeatures"),
    "line around a ring": (ring, LogisticRegression(), "→ PolynomialFeatures"),
    "stump": (parabola, DecisionTreeRegressor(max_depth=1), "↑ max_depth (1)"),
    "strong ridge": (line, Ridge(alpha=1e4), "↓ alpha (1e+04)"),
    "strong lasso": (line, make_pipeline(StandardScaler(), Lasso(alpha=0.8)), "↓ lasso__alpha (0.8)"),
    "theirs, strong penalty": (odds, TheirLogisticRegression(C=1e-4), "↑ C (0.0001)"),
    "a third of all rows as neighbours": (parabola, KNeighborsRegressor(100), "↓ n_neighbors (100)"),
}


@pytest.mark.parametrize("case", UNDER)
def test_underfit(case):
    make, model, move = UNDER[case]
    diagnosis = diagnose(model, *make())
    found = finding(diagnosis, "D02")
    assert diagnosis.verdicts == ("underfit",) and found.severity == "warning"
    assert move in found.values["moves"].split(", ")
    assert found.values["rival_score"] == pytest.approx(found.values["validation"] + found.values["gain"])
    assert found.values["gain"] > 0.02
    check_shown(diagnosis)


OVER = {
    "deep tree": (line, DecisionTreeRegressor(), "↓ max_depth (None)"),
    "one neighbour": (odds, KNeighborsClassifier(1), "↑ n_neighbors (1)"),
    "least squares, few rows": (few_rows_many_columns, LinearRegression(), "→ Ridge"),
    "narrow kernel": (odds, SVC(C=1e4, gamma=10.0), "↓ gamma (10)"),
    "polynomial": (
        lambda: odds(120),
        make_pipeline(PolynomialFeatures(3), LogisticRegression(C=1e6, max_iter=5000)),
        "↓ polynomialfeatures__degree (3)",
    ),
}


@pytest.mark.parametrize("case", OVER)
def test_overfit(case):
    make, model, move = OVER[case]
    diagnosis = diagnose(model, *make())
    found = finding(diagnosis, "D03")
    assert diagnosis.verdict == "overfit" and set(diagnosis.verdicts) <= {"overfit", "unstable"}
    assert move in found.values["moves"].split(", ")
    assert found.values["train"] > found.values["validation"]
    assert finding(diagnosis, "D07").values["gap"] > 0.1
    check_shown(diagnosis)


def test_unstable():
    """Where an average of such models is better, it says so: the forest's error is that of a tree without the part."""
    X, y = line()
    tree = diagnose(DecisionTreeRegressor(), X, y)
    found = finding(tree, "D04")
    assert "unstable" in tree.verdicts and found.values["share"] > 30
    assert "→ RandomForestRegressor" in found.values["moves"]
    assert tree.measurements.variance == pytest.approx(found.values["share"] / 100 * tree.measurements.error)
    forest = diagnose(RandomForestRegressor(30), X, y)
    assert forest.measurements.variance < tree.measurements.variance / 3
    assert forest.verdicts == ("fine",)


LEAKS = {
    "classes": (odds, LogisticRegression()),
    "classes, forest": (odds, RandomForestClassifier(20)),
    "number": (line, Ridge(alpha=1e-6)),
}


@pytest.mark.parametrize("case", LEAKS)
def test_leaking(case):
    make, model = LEAKS[case]
    X, y = with_the_answer(*make())
    diagnosis = diagnose(model, X, y)
    found = finding(diagnosis, "D05")
    assert diagnosis.verdict == "leaking" and found.severity == "error"
    assert found.columns == (f"x{X.shape[1] - 1}",) and found.values["share"] > 98
    assert "unstable" not in diagnosis.verdicts
    check_shown(diagnosis)


def test_a_category_that_names_the_class_leaks():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    X, y = odds(300)
    table = pandas.DataFrame(X, columns=list("abcde")).assign(stamp=np.where(y, "approved", "refused"))
    columns = make_column_transformer((OneHotEncoder(), ["stamp"]), remainder="passthrough")
    diagnosis = diagnose(make_pipeline(columns, LogisticRegression()), table, y)
    assert diagnosis.verdict == "leaking" and finding(diagnosis, "D05").columns == ("stamp",)


def test_columns_of_all_kinds():
    """Missing values of every kind, words, dates and nullable numbers; a table of either library."""
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2020-01-01", periods=4)
    table = pandas.DataFrame(
        {
            "number": [1.5, np.nan, 3.0, 4.0],
            "nullable": pandas.array([1, None, 3, 4], dtype="Int64"),
            "word": ["a", None, "b", "a"],
            "category": pandas.Categorical(["u", "v", None, "u"]),
            "day": days.where([True, True, False, True]),
            "flag": [True, False, True, True],
            "mixed": [1, "x", None, 2.0],
        }
    )
    columns = Columns(table)
    coded = [columns.names[j] for j in range(len(columns)) if columns.get(j)[1]]
    assert coded == ["word", "category", "mixed"]
    matrix = columns.matrix()
    missing = [[1], [1], [1], [2], [2], [], [2]]
    assert [np.flatnonzero(np.isnan(column)).tolist() for column in matrix.T] == missing
    assert matrix[[0, 3], 2].tolist() == [matrix[0, 2]] * 2 != [matrix[2, 2]] * 2
    polars = pytest.importorskip("polars")
    theirs = Columns(polars.DataFrame({"word": ["a", None, "b"], "number": [1.0, None, 2.0]}))
    assert theirs.names == ["word", "number"] and np.isnan(theirs.matrix()[1]).all()


def test_repeated_rows_are_too_good():
    """Labels are coins; only because each row occurs six times can anybody predict them."""
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(60, 4)), (6, 1)), np.tile(rng.integers(0, 2, 60), 6)
    diagnosis = diagnose(KNeighborsClassifier(1), X, y)
    assert "too_good" in diagnosis.verdicts and "leaking" not in diagnosis.verdicts
    rows = np.tile(np.arange(60), 6)
    honest = diagnose(KNeighborsClassifier(1), X, y, groups=rows)
    assert "too_good" not in honest.verdicts and "useless" in honest.verdicts


@pytest.mark.parametrize("model", [Ridge(), RandomForestRegressor(20), DecisionTreeRegressor()], ids=str)
def test_useless(model):
    diagnosis = diagnose(model, *noise())
    assert "useless" in diagnosis.verdicts and not {"leaking", "too_good", "underfit"} & set(diagnosis.verdicts)
    assert finding(diagnosis, "D01").values["gain_low"] < 0.1
    check_shown(diagnosis)


FINE = {
    "least squares": (line, LinearRegression()),
    "logistic": (odds, LogisticRegression()),
    "theirs": (odds, make_pipeline(StandardScaler(), TheirLogisticRegression())),
    "forest on a ring": (ring, RandomForestClassifier(30)),
    "right polynomial": (parabola, make_pipeline(PolynomialFeatures(2), LinearRegression())),
    "tiny": (lambda: line(20, 2, 0.3), LinearRegression()),
    "search": (lambda: line(100), GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)),
}


@pytest.mark.parametrize("case", FINE)
def test_fine(case):
    make, model = FINE[case]
    diagnosis = diagnose(model, *make())
    assert diagnosis.verdicts == ("fine",)
    assert finding(diagnosis, "D13") is not None
    assert all(one.severity == "info" for one in diagnosis.findings)
    check_shown(diagnosis)


def test_advice_names_the_only_thing_that_was_seen_to_help():
    X, _ = ring()
    diagnosis = diagnose(GaussianNB(), X, (X[:, 0] * X[:, 1] > 0) * 1)
    assert diagnosis.verdict == "underfit"
    found = finding(diagnosis, "D02").values
    assert f"→ {found['rival']}" in found["moves"].split(", ")
    assert "var_smoothing" not in found["moves"]  # next to nothing already


def test_rare_classes_are_seen_by_the_right_score():
    X, y = rare()
    assert diagnose(LogisticRegression(), X, y, try_advice=False).verdicts == ("useless",)  # by accuracy
    assert diagnose(LogisticRegression(), X, y, scoring="roc_auc", try_advice=False).verdicts == ("fine",)


def test_certain_probabilities_are_off():
    diagnosis = diagnose(DecisionTreeClassifier(), *odds(200), try_advice=False)
    found = finding(diagnosis, "D12")
    assert found.values["confidence"] == 100 and found.values["difference"] > 10
    assert finding(diagnose(LogisticRegression(), *odds(200), try_advice=False), "D12") is None


def test_fits_that_were_cut_short():
    X, y = odds(200)
    short = make_pipeline(StandardScaler(), TheirLogisticRegression(C=100.0, max_iter=2))
    found = finding(diagnose(short, X, y, try_advice=False), "D11")
    assert found.values == {"failed": 10, "fits": 10, "value": "2", "bound": "2"}
    assert finding(diagnose(SVC(), X, y, try_advice=False), "D11") is None  # max_iter=-1 is no limit


def test_more_rows_help_a_nearest_neighbour():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    diagnosis = diagnose(KNeighborsRegressor(1), X, np.sin(8 * X).sum(axis=1), try_advice=False)
    found = finding(diagnosis, "D09")
    assert found.values["full"] - found.values["half"] == pytest.approx(found.values["gain"])
    assert found.values["gain"] > 0.02


def test_losses_and_other_scores():
    X, y = parabola(200)
    diagnosis = diagnose(LinearRegression(), X, y, scoring="neg_mean_squared_error")
    assert diagnosis.verdicts == ("underfit",)
    assert finding(diagnosis, "D01").values["score"] < 0

    def score(model, X, y):
        return -float(np.abs(model.predict(X) - y).mean())

    diagnosis = diagnose(LinearRegression(), X, y, scoring=score)  # the best possible value is not known
    assert diagnosis.verdicts == ("underfit",)


def test_several_targets():
    X, y = line(150)
    diagnosis = diagnose(LinearRegression(), X, np.column_stack([y, -y + X[:, 0]]))
    assert diagnosis.verdicts == ("fine",)


def test_numbers_depend_on_nothing_but_the_seed():
    X, y = odds(150)
    model = RandomForestClassifier(5)  # without a seed of its own
    first, second, other = (
        diagnose(model, X, y, n_jobs=jobs, random_state=seed) for jobs, seed in [(1, 0), (2, 0), (1, 1)]
    )
    for name, scores in first.measurements.scores.items():
        assert scores.tobytes() == second.measurements.scores[name].tobytes()
    assert first.findings == second.findings
    assert first.measurements.variance != other.measurements.variance
    assert model.random_state is None and not hasattr(model, "estimators_")


def test_trace_hears_of_each_fit():
    told = []
    diagnosis = diagnose(Ridge(), *line(60), trace=lambda *step: told.append(step), n_jobs=2)
    assert [count for count, _ in told] == list(range(1, diagnosis.measurements.n_fits + 1))
    assert diagnosis.measurements.n_fits == 80  # ten splits: itself, half, baseline, reference, two and two copies
    short = diagnose(Ridge(), *line(60), cv=KFold(3), try_advice=False)
    assert short.measurements.n_fits == 9


def test_shown_in_words():
    pytest.importorskip("pandas")
    diagnosis = diagnose(DecisionTreeRegressor(max_depth=1), *parabola(150), language="fr")
    assert str(diagnosis).startswith("DecisionTreeRegressor : sous-apprentissage")
    assert repr(diagnosis) == str(diagnosis) and "D02 [attention]" in str(diagnosis)
    frame = diagnosis.frame()
    assert list(frame["code"]) == [one.code for one in diagnosis.findings]
    assert "Donnez plus de liberté" in " ".join(frame["advice"])
    html = diagnosis._repr_html_()
    assert html.startswith("<p>DecisionTreeRegressor") and "<table" in html


@pytest.mark.parametrize(
    ("model", "X", "y", "options", "message"),
    [
        (StandardScaler(), np.ones((9, 1)), np.ones(9), {}, "needs a classifier or a regressor, got StandardScaler"),
        (Ridge(), np.ones(9), np.ones(9), {}, "X must be a table of rows and columns"),
        (Ridge(), np.ones((9, 1)), np.ones(8), {}, "inconsistent numbers of samples"),
        (LogisticRegression(), np.ones((9, 1)), np.ones((9, 2)), {}, "y must be one column of classes"),
        (Ridge(), np.ones((9, 1)), np.ones(9), {"cv": 10}, "cv=10 folds need between 2 and 9"),
        (Ridge(), np.ones((9, 1)), np.ones(9), {"language": "de"}, "language must be one of 'en', 'fr'"),
        (Ridge(), np.ones((9, 1)), np.ones(9), {"level": 95}, "level must lie strictly between 0 and 1"),
        (Ridge(), np.full((9, 1), np.nan), np.ones(9), {}, "NaN"),
    ],
)
def test_bad_input(model, X, y, options, message):
    with pytest.raises(ValueError, match=message):
        diagnose(model, X, y, **options)


OPTIONS = {
    "LogisticRegressionCV": {"l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False},
    "RadiusNeighborsClassifier": {"radius": 20.0, "outlier_label": "most_frequent"},  # all rows have neighbours
    "RadiusNeighborsRegressor": {"radius": 20.0},
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_can_be_diagnosed_and_every_trial_be_fitted(name):
    """Advice that the estimator refuses would be no advice: each copy must have scores."""
    model = construct(CLASSES[name], **OPTIONS.get(name, {}))
    few = {key: 5 for key in ("n_estimators", "max_iter") if "Boost" in name and key in model.get_params()}
    model.set_params(**few)
    X, y = line(240 if name.startswith("KNeighbors") else 60, 3, 0.5)  # each fold has as many rows as neighbours
    if model.__sklearn_tags__().input_tags.positive_only:
        X = np.round(np.abs(X)).clip(max=1.0)
    if model.__sklearn_tags__().target_tags.positive_only:
        y = np.exp(y)
    if model.__sklearn_tags__().target_tags.single_output is False:
        y = np.column_stack([y, -y])
    elif is_classifier(model):
        y = (y > 0).astype(int)
    diagnosis = diagnose(model, X, y, cv=2, n_repeats=1)
    found = diagnosis.measurements
    assert set(found.labels) <= set(found.scores)
    assert not {"leaking", "too_good"} & set(diagnosis.verdicts)
    check_shown(diagnosis)
