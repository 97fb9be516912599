"""What else one could have done with a table and a minute: the rivals, each in its usual form.

Each is called with the training frame, the target's values, the frame to predict, whether classes are asked, the name
of the metric and the seconds it may take, and returns probabilities (a column per class in sorted order) or numbers.
Text columns with a value of its own in more than half of the rows are left out: none of the rivals reads text.
"""

import numpy as np

MOST_CATEGORIES = 250  # of a column in scikit-learn's histogram boosting; the rarer ones become one
FLAML_METRICS = {"roc_auc": "roc_auc", "neg_log_loss": "log_loss", "r2": "r2", "neg_root_mean_squared_error": "rmse"}
THREADS = 2


def features(train, test, names):
    """Both frames with texts and the columns `names` as categories, the same ones in both."""
    import pandas

    train, test = train.copy(), test.copy()
    for column in train.columns:
        if column not in names and pandas.api.types.is_numeric_dtype(train[column]):
            continue
        if column not in names and train[column].nunique() > len(train) / 2:
            train, test = train.drop(columns=column), test.drop(columns=column)
            continue
        levels = pandas.CategoricalDtype(sorted(train[column].dropna().astype(str).unique()))
        for frame in (train, test):
            frame[column] = frame[column].astype(str).where(frame[column].notna()).astype(levels)
    return train, test


def _answer(model, test, is_class):
    return model.predict_proba(test) if is_class else np.asarray(model.predict(test), dtype=np.float64)


def lightgbm(train, y, test, is_class, metric, seconds):
    """LightGBM with its defaults."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = (LGBMClassifier if is_class else LGBMRegressor)(n_jobs=THREADS, verbose=-1, random_state=0)
    plain = {name: f"x{j}" for j, name in enumerate(train.columns)}  # it refuses some characters in names
    return _answer(model.fit(train.rename(columns=plain), y), test.rename(columns=plain), is_class)


def histogram_boosting(train, y, test, is_class, metric, seconds):
    """scikit-learn's HistGradientBoosting with its defaults."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = (HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor)(random_state=0)
    train, test = _fewer_categories(train, test)
    return _answer(model.fit(train, y), test, is_class)


def _fewer_categories(train, test):
    train, test = train.copy(), test.copy()
    for column in train.select_dtypes("category"):
        common = train[column].value_counts().index[:MOST_CATEGORIES]
        if train[column].nunique() > MOST_CATEGORIES:
            for frame in (train, test):
                frame[column] = frame[column].astype(object).where(frame[column].isin(common), "other")
                frame[column] = frame[column].astype("category").cat.set_categories([*common, "other"])
    return train, test


def linear(train, y, test, is_class, metric, seconds):
    """scikit-learn's logistic or ridge regression on imputed, scaled and one-hot columns."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    prepare = make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
    )
    model = make_pipeline(prepare, LogisticRegression(max_iter=1000) if is_class else Ridge())
    return _answer(model.fit(train, y), test, is_class)


def flaml(train, y, test, is_class, metric, seconds):
    """FLAML with the same seconds, the same metric and its default list of learners."""
    from flaml import AutoML

    model = AutoML()
    goal = FLAML_METRICS.get(metric, _balanced_error)
    if metric == "roc_auc" and len(np.unique(y)) > 2:
        goal = "roc_auc_ovr"
    task = "classification" if is_class else "regression"
    model.fit(train, y, task=task, metric=goal, time_budget=seconds, n_jobs=THREADS, seed=0, verbose=0)
    return _answer(model, test, is_class)


def _balanced_error(X_val, y_val, estimator, labels, X_train, y_train, *_, **__):
    from sklearn.metrics import balanced_accuracy_score

    loss = 1 - balanced_accuracy_score(y_val, estimator.predict(X_val))
    return loss, {"loss": loss}


RIVALS = {
    "lightgbm": lightgbm,
    "histogram_boosting": histogram_boosting,
    "linear": linear,
    "flaml": flaml,
}
PACKAGES = {"lightgbm": "lightgbm", "histogram_boosting": "sklearn", "linear": "sklearn", "flaml": "flaml"}
