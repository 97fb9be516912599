"""A competition for a number: intervals, groups, time, leaks, rows without a target, mixed up input."""

import numpy as np
import pytest

from hyperplan.compete import CompetitionError, Settings, compete, read_table
from hyperplan.compete._compete import _asked, as_frame
from hyperplan.compete._question import make_question
from hyperplan.report import check_document

pandas = pytest.importorskip("pandas")


def houses(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "surface": rng.uniform(20, 200, n_rows).round(1),
            "town": rng.choice(["Lyon", "Nice", "Brest"], n_rows),
            "street": rng.integers(1, 15, n_rows),
            "sold": pandas.date_range("2020-01-01", periods=n_rows, freq="D").astype(str),
        }
    )
    price = 3 * frame["surface"] + 50 * (frame["town"] == "Nice") + 25 * rng.normal(size=n_rows)
    return frame.assign(price=price.round(2))


@pytest.fixture(scope="module")
def result():
    """A competition of ridge, tree and mean; 20 rows have no price."""
    frame = houses()
    frame.loc[5:24, "price"] = np.nan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperplan.compete._contest.LEVELS", (4,))
        return compete(frame, target="price", time=60, candidates=["Ridge", "DecisionTreeRegressor"], lang="fr")


def test_the_best_model_is_much_better_than_the_mean(result):
    check_document(result.document)
    assert result.document["task"] == "regression" and result.document["metric"]["name"] == "r2"
    table = result.table().set_index("model")
    assert table.loc["Ridge regression", "score"] > 0.95 and table.loc["Mean", "score"] < 0.05
    assert table[table["chosen"]]["score"].iloc[0] > 0.95
    assert result.answer()[0].startswith("Pour")
    assert {finding["code"] for finding in result.document["diagnosis"]} >= {"D01", "D07"}
    assert result.document["regression"]["coverage"] == pytest.approx(0.9, abs=0.06)


def test_predictions_come_with_intervals_that_cover(result):
    frame = result.predictions["unlabelled"]
    assert list(frame.columns) == ["prediction", "lower_90", "upper_90"] and len(frame) == 20
    assert (frame["lower_90"] < frame["prediction"]).all() and (frame["prediction"] < frame["upper_90"]).all()
    new = houses(300, seed=1)
    low, high = result.best.predict_interval(new)
    assert 0.8 < ((low <= new["price"]) & (new["price"] <= high)).mean() < 0.98
    with pytest.raises(AttributeError, match="predict_proba"):
        result.best.predict_proba(new)


def test_explanations_put_the_surface_first(result):
    names = [row["name"] for row in result.document["importances"]["columns"]]
    assert names[:2] == ["surface", "town"]
    shown = {row["name"]: row for row in result.document["partial_dependence"]}
    rise = shown["surface"]["mean"][-1] - shown["surface"]["mean"][0]
    assert rise == pytest.approx(3 * (shown["surface"]["grid"][-1] - shown["surface"]["grid"][0]), rel=0.1)
    curve = result.document["learning_curve"]
    assert curve["sizes"] == sorted(curve["sizes"]) and len(curve["validation"]) == len(curve["sizes"])


def test_what_a_text_does_is_not_shown_by_examples():
    """Each name occurs once: that of one passenger says nothing about the others."""
    from hyperplan.compete import candidates
    from hyperplan.compete._explain import explain

    frame = houses(120)
    words = np.array(["sunny", "quiet", "large", "old", "garden"])
    rng = np.random.default_rng(0)
    frame["remark"] = [f"house {k}: {' '.join(words[rng.permutation(5)[:4]])} near number {k}" for k in range(120)]
    frame["price"] += 400 * frame["remark"].str.contains("garden")
    problem = make_question(frame, Settings(target="price")).problem
    assert {column.name: column.kind for column in problem.columns}["remark"] == "text"
    importances, shown = explain(problem, candidates("regression", ["Ridge"])[1], {}, 0, 60.0)
    assert next(row["mean"] for row in importances["columns"] if row["name"] == "remark") > 0
    assert "remark" not in {row["name"] for row in shown} and "surface" in {row["name"] for row in shown}


def test_groups_stay_together_and_are_not_learnt_from():
    problem = make_question(houses(), Settings(target="price", group="street")).problem
    assert "street" not in {column.name for column in problem.columns}
    for train, test in problem.splits:
        assert not set(problem.groups[train]) & set(problem.groups[test])
    assert sorted(np.concatenate([split.test for split in problem.splits[: problem.n_folds]])) == list(range(200))


def test_later_rows_are_predicted_from_earlier_ones():
    question = make_question(houses().sample(frac=1, random_state=0), Settings(target="price", time_column="sold"))
    assert question.kind == "time" and len(question.problem.splits) == 5
    for train, test in question.problem.splits:
        assert question.problem.order[train].max() < question.problem.order[test].min()


def test_leaks_are_left_out_only_with_consent():
    noisy = houses()["price"] + 150 * np.random.default_rng(1).normal(size=200)
    frame = as_frame(houses().assign(price=noisy, tax=0.05 * noisy))
    kept, findings = _asked(frame, Settings(target="price"), None)
    assert "tax" in {column.name for column in kept.problem.columns}
    assert {"A03", "A04"} & {finding.code for finding in findings}
    dropped, settled = _asked(frame, Settings(target="price", drop_leaks=True), None)
    assert {column.name for column in kept.problem.columns} - {c.name for c in dropped.problem.columns} == {"tax"}
    assert dropped.settings.drop == ("tax",)
    before, after = ({f.code: f.severity for f in part if "tax" in f.columns} for part in (findings, settled))
    assert "info" not in before.values() and set(after.values()) == {"info"}


def test_kinds_of_the_settings_are_applied_with_the_way_values_are_written():
    frame = as_frame(houses().assign(code=lambda frame: [f"1,{n:03d}" for n in range(len(frame))]))
    asked = Settings(target="price", columns={"code": "number", "street": "category"})
    problem = make_question(frame, asked).problem
    np.testing.assert_array_equal(problem.typed["code"][:3], [1000.0, 1001.0, 1002.0])
    assert problem.typed["street"].dtype == object
    assert {column.name: column.why for column in problem.columns}["street"] == "asked"


def test_infinite_mixed_and_empty_columns_do_no_harm():
    frame = houses(80)
    frame["surface"] = frame["surface"].astype(float)
    frame.loc[3, "surface"] = np.inf
    frame["mixed"] = ["1", 2, "three", None] * 20
    frame["empty"] = np.nan
    question, findings = _asked(as_frame(frame), Settings(target="price"), None)
    from hyperplan.compete import candidates
    from hyperplan.compete._trial import Trial, run_trial

    for candidate in candidates("regression", ["Ridge", "DecisionTreeRegressor"]):
        outcome = run_trial(question.problem, Trial(candidate, 0))
        assert np.isfinite(outcome.prediction).all() and np.isfinite(outcome.score)
    assert "empty" not in {column.name for column in question.problem.columns}
    assert any("empty" in finding.columns for finding in findings)


def test_infinite_targets_count_as_missing():
    frame = houses(60)
    frame.loc[:4, "price"] = np.inf
    question = make_question(frame, Settings(target="price"))
    assert question.problem.n_rows == 55 and not question.is_labelled[:5].any()


def test_arrays_lists_and_lengths():
    rng = np.random.default_rng(0)
    with pytest.raises(CompetitionError, match="X has 30 rows and y has 29"):
        compete(rng.normal(size=(30, 2)), np.arange(29))
    frame = as_frame(rng.normal(size=(30, 2)))
    assert list(frame.columns) == ["x0", "x1"]
    assert list(as_frame(pandas.DataFrame({0: [1], 1: [2]})).columns) == ["0", "1"]
    with pytest.raises(ValueError, match="no candidate named Oracle"):
        compete(houses(40), target="price", candidates=["Oracle"])


def test_many_columns_are_prepared_in_one_go():
    """Ten thousand columns: what is learnt of each is what is learnt of it alone."""
    from hyperplan.compete import TablePreparation, guess_columns

    rng = np.random.default_rng(0)
    wide = pandas.DataFrame(rng.normal(size=(30, 500)), columns=[f"c{j}" for j in range(500)])
    wide.iloc[3:5, 7] = np.nan
    columns = guess_columns(wide)
    matrix = TablePreparation(columns, "linear").fit(wide).transform(wide)
    assert matrix.shape == (30, 501) and not hasattr(matrix, "toarray")
    alone = TablePreparation(columns[7:8], "linear").fit(wide).transform(wide)
    np.testing.assert_array_equal(matrix[:, 7:9], alone)
    np.testing.assert_array_equal(alone[:, 1], np.isin(np.arange(30), [3, 4]))


def test_many_categories_make_a_sparse_matrix_with_the_same_numbers():
    from hyperplan.compete import TablePreparation, guess_columns

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=2000), "code": rng.choice([f"v{j}" for j in range(400)], 2000)})
    prepare = TablePreparation(guess_columns(frame), "linear").fit(frame)
    matrix = prepare.transform(frame)
    assert matrix.shape == (2000, len(prepare.feature_names_)) and matrix.format == "csr"
    dense = matrix.toarray()
    np.testing.assert_allclose(dense[:, 0], (frame["a"] - frame["a"].mean()) / frame["a"].std(ddof=0), atol=1e-12)
    place = prepare.feature_names_.index(f"code = {frame['code'][11]}")
    np.testing.assert_array_equal(dense[:, place] == 1, frame["code"] == frame["code"][11])


def test_read_and_compete_agree_on_the_table(tmp_path):
    """A path is as good as the frame that it holds."""
    houses(40).to_csv(tmp_path / "houses.csv", index=False)
    pandas.testing.assert_frame_equal(as_frame(tmp_path / "houses.csv"), read_table(tmp_path / "houses.csv"))


def test_parts_whose_test_rows_are_of_one_class_are_judged_by_probabilities():
    frame = houses(100).assign(block=np.arange(100) // 10, dear=np.where((np.arange(100) // 10) % 2, "yes", "no"))
    grouped = make_question(frame, Settings(target="dear", group="block", folds=10))
    assert grouped.metric.value == grouped.problem.metric == "neg_log_loss"
    assert make_question(frame, Settings(target="dear", folds=10)).metric.value == "roc_auc"
    with pytest.raises(CompetitionError, match="all test rows are of one class; choose metric='neg_log_loss'"):
        make_question(frame, Settings(target="dear", group="block", folds=10, metric="roc_auc"))


def test_times_before_which_there_was_one_class_are_not_judged():
    frame = houses(100).assign(dear=np.where(np.arange(100) < 40, "no", np.array(["no", "yes"])[np.arange(100) % 2]))
    problem = make_question(frame, Settings(target="dear", time_column="sold")).problem
    assert 0 < len(problem.splits) == problem.n_folds < 5
    assert all(len(np.unique(problem.y[split.train])) == 2 for split in problem.splits)
    with pytest.raises(CompetitionError, match="cannot be divided by 'sold'"):
        make_question(houses(100).assign(sold="2020-01-01"), Settings(target="price", time_column="sold"))


def many_columns(count=16, rows=240):
    """Every column counts, the last ones most."""
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame({f"c{k:02d}": rng.normal(size=rows) for k in range(count)})
    sizes = np.linspace(1.0, 3.0, count)
    return frame.assign(y=frame.to_numpy() @ sizes + 0.1 * rng.normal(size=rows))


def test_all_columns_are_measured_however_many_matter():
    from hyperplan.compete import candidates
    from hyperplan.compete._explain import explain

    problem = make_question(many_columns(), Settings(target="y")).problem
    importances, shown = explain(problem, candidates("regression", ["Ridge"])[1], {}, 0, 60.0)
    assert importances["unmeasured"] == [] and importances["rows"] == 48
    means = {row["name"]: row["mean"] for row in importances["columns"]}
    assert len(means) == 16 and list(means.values()) == sorted(means.values(), reverse=True)
    assert {"c12", "c13", "c14", "c15"} <= set(list(means)[:7]) and len(shown) == 6


def test_columns_that_time_did_not_suffice_for_are_named():
    from hyperplan.compete import candidates
    from hyperplan.compete._explain import explain

    problem = make_question(many_columns(30), Settings(target="y")).problem
    importances, _ = explain(problem, candidates("regression", ["Ridge"])[1], {}, 0, -1.0)
    measured = [row["name"] for row in importances["columns"]]
    assert 6 <= len(measured) < 30 and sorted(measured + importances["unmeasured"]) == sorted(
        column.name for column in problem.columns
    )
    assert {"c29", "c28", "c27"} <= set(measured)  # the first by an estimate over all columns


@pytest.mark.parametrize("count, shown", [(3, {"a", "b", "c"}), (6, {"a"})])
def test_each_of_a_few_classes_has_a_curve_and_many_have_one(count, shown):
    from hyperplan.compete import candidates
    from hyperplan.compete._explain import explain

    rng = np.random.default_rng(0)
    codes = np.append(np.arange(300) % count, np.zeros(20, dtype=int))
    frame = pandas.DataFrame({"x": codes + rng.normal(size=320), "kind": np.array(list("abcdef"))[codes]})
    problem = make_question(frame, Settings(target="kind")).problem
    _, curves = explain(problem, candidates("classification", ["LogisticRegression"])[1], {}, 0, 60.0)
    assert {part["target_class"] for part in curves} == shown and {part["name"] for part in curves} == {"x"}
    if count == 3:
        np.testing.assert_allclose(sum(np.array(part["mean"]) for part in curves), 1.0)
