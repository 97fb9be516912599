"""`compete` and `explore` in Python: parameters, words, pickles, notebooks, files, packages that are not there."""

import dataclasses
import html
import inspect
import pickle
import re
import typing
from html.parser import HTMLParser

import numpy as np
import pytest

import hyperplan
from hyperplan._texts import FOLDER, LANGUAGES, OPTION, area_texts, speaking_to_command, text
from hyperplan._texts.extras import EXTRAS, MissingExtraError, required
from hyperplan.cli import build_parser
from hyperplan.compete import Competition, CompetitionError, Settings, SettingsError, TableError, compete, read_table
from hyperplan.compete._parameters import with_settings
from hyperplan.datasets import table_path
from hyperplan.explore import Exploration, ExploreSettings, explore

pandas = pytest.importorskip("pandas")
AREAS = sorted({path.stem for path in FOLDER.rglob("*.toml")})
THERE = "import os, sys; os.chdir(sys.argv[1])\n"
BLOCKED = THERE + "for name in {names!r}: sys.modules[name] = None\n"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": rng.normal(size=90), "colour": rng.choice(["red", "<b>blue</b>"], 90)})
    frame["bought"] = (frame["size"] + 0.3 * rng.normal(size=90) > 0).astype("boolean")
    frame.loc[:4, "bought"] = None
    return frame


@pytest.fixture(scope="module")
def result(table) -> Competition:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperplan.compete._contest.LEVELS", (2,))  # done long before its time is up
        return compete(table, target="bought", time=60, candidates=["LogisticRegression"], n_jobs=1)


@pytest.fixture(scope="module")
def exploration(table) -> Exploration:
    return explore(table, time=5, methods=["k_means"], n_jobs=1)


# --- parameters


@pytest.mark.parametrize(
    ("function", "kind", "elsewhere"),
    [(compete, Settings, {"table", "test", "out"}), (explore, ExploreSettings, {"table", "out"})],
)
def test_every_setting_is_a_parameter_with_its_default_a_type_and_a_word_about_it(function, kind, elsewhere):
    """The table, the rows to test and the folder of the results are given otherwise in Python."""
    parameters = inspect.signature(function).parameters
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    assert set(typing.get_type_hints(function)) == {*parameters, "return"}
    for item in dataclasses.fields(kind):
        if item.name in elsewhere:
            continue
        one = parameters[item.name]
        assert one.kind is one.KEYWORD_ONLY, item.name
        expected = None if item.default is dataclasses.MISSING else item.default  # of a dictionary
        assert one.default == expected and type(one.default) is type(expected), item.name
    documented = re.findall(r"^    (\w[\w, *]*) : ", function.__doc__, re.MULTILINE)
    assert set(parameters) <= {name.strip() for names in documented for name in names.split(",")}


def settings_of(**given) -> Settings:
    """What a function gets of the parameters of `compete`."""

    @with_settings(Settings)
    def ask(*, target=None, time=60.0, drop=(), columns=None, settings=None):
        return settings

    return ask(**given)


def test_a_parameter_that_is_given_wins_over_the_record_even_if_it_is_the_default():
    whole = Settings(target="price", time=30, drop=("a",), columns={"b": "text"}, table="t.csv", out="there")
    assert settings_of(settings=whole) == whole
    assert settings_of(settings=whole, time=60.0, drop=[], columns={}) == dataclasses.replace(
        whole, time=60.0, drop=(), columns={}
    )
    assert settings_of(settings=whole, columns=None).columns == {"b": "text"}
    assert settings_of(settings=whole, target=None).target is None
    assert settings_of() == Settings()


def test_a_parameter_nobody_knows_is_an_error_of_python(table):
    with pytest.raises(TypeError, match=r"compete\(\) got an unexpected keyword argument 'tarjet'"):
        compete(table, tarjet="bought")
    with pytest.raises(TypeError, match=r"explore\(\) got an unexpected keyword argument 'target'"):
        explore(table, target="bought")
    with pytest.raises(SettingsError, match='setting "folds" must be a whole number'):
        compete(table, target="bought", folds=1)


# --- words


def all_texts(found, path=""):
    if isinstance(found, dict):
        return [pair for key, value in found.items() for pair in all_texts(value, f"{path}.{key}")]
    return [(path, found)] if isinstance(found, str) else []


def parameter_names() -> set[str]:
    from hyperplan.compete._verify import verify

    functions = (compete, explore, verify, Competition.save, Exploration.save)
    return {name for function in functions for name in inspect.signature(function).parameters}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("area", AREAS)
def test_texts_name_options_for_the_command_and_parameters_for_python(area, language):
    with speaking_to_command():
        spoken = dict(all_texts(area_texts(area, language)))
    known = {option for parser in _parsers() for option in parser._option_string_actions}
    for path, pattern in all_texts(area_texts(area, language)):
        assert not re.search(r"--[a-z]", pattern), path
        for option in OPTION.finditer(spoken[path]):
            assert option[0].partition(" ")[0] in known, (path, option[0])
    assert area_texts(area, language) is not spoken


def _parsers():
    import argparse

    found = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return [parser for action in found for parser in action.choices.values()]


def test_errors_speak_of_parameters_here_and_of_options_there(table):
    with pytest.raises(CompetitionError, match=r"target='COLUMN'; the columns are size, colour, bought") as caught:
        compete(table)
    with speaking_to_command():
        assert "--target COLUMN;" in caught.value.message() and "--target COLONNE" in caught.value.message("fr")
    assert "target='COLONNE'" in caught.value.message("fr")
    with pytest.raises(CompetitionError, match=r"cannot be given as time_column= as well") as caught:
        compete(table, target="bought", time_column="bought")
    with speaking_to_command():
        assert "given as --time-column as well" in str(pickle.loads(pickle.dumps(caught.value)))
    assert text("audit.A03.advice").count("drop_leaks=True") == 1
    assert "time=120." in text("report.next.time.one", count=1, more=120)


def test_every_parameter_that_an_error_of_a_competition_names_exists():
    texts = [
        *all_texts(area_texts("compete")["errors"]),
        *all_texts(area_texts("audit")),
        *all_texts(area_texts("report")),
    ]
    named = {name for _, pattern in texts for name in re.findall(r"\b([a-z_]+)=(?=[.{'\d)]|True|$| )", pattern)}
    assert {"target", "time", "drop_leaks", "group", "folder"} <= named
    assert named - parameter_names() - {"force", "example"} == set()


# --- packages that are not there


def test_a_package_of_an_extra_is_said_by_the_same_error():
    for package, extra in EXTRAS.items():
        assert f"pip install 'hyperplan[{extra}]'" in str(MissingExtraError(package))
    error = MissingExtraError("pandas")
    assert isinstance(error, ImportError) and error.name == "pandas"
    assert str(pickle.loads(pickle.dumps(error))) == str(error) and "n’est pas installé" in error.message("fr")
    with pytest.raises(ImportError, match="pip install 'duckdb_nowhere'"):
        required("duckdb_nowhere")


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["pandas"], "from hyperplan.compete import compete; compete([[1.0]], [1], time=1)"),
        (["pandas"], "from hyperplan.explore import explore; explore([[1.0]])"),
        (["pandas"], "from hyperplan.compete import read_table; read_table('t.csv')"),
        (["pandas"], "from hyperplan.compete import Competition; c = Competition.__new__(Competition); c.table()"),
        (["pandas"], "from hyperplan.compete import TablePreparation; TablePreparation().fit([[1.0]])"),
        (["pandas"], "from hyperplan.datasets import load_penguins; load_penguins(as_frame=True)"),
        (["matplotlib", "matplotlib.figure"], "from hyperplan.evaluation._drawing import new_axes; new_axes()"),
        (["jinja2"], "from hyperplan.report._page import _environment, TEMPLATES; _environment(TEMPLATES)"),
        (["pyarrow"], "from hyperplan.compete import read_table; open('t.parquet', 'wb').write(b'PAR1' + bytes(50) + "
                      "b'PAR1'); read_table('t.parquet')"),
        (["openpyxl"], "import zipfile; from hyperplan.compete import read_table\n"
                       "with zipfile.ZipFile('t.xlsx', 'w') as z: z.writestr('xl/workbook.xml', 'x'); "
                       "z.writestr('[Content_Types].xml', 'x')\nread_table('t.xlsx')"),
        (["rich", "rich.console"], "from hyperplan.cli import main; sys.exit(main(['compete', 't.csv']))"),
    ],
)  # fmt: skip
def test_without_a_package_every_door_says_which_extra_has_it(run_python, tmp_path, names, code):
    package = names[0]
    done = run_python(BLOCKED.format(names=names) + code, tmp_path, check=False)
    assert done.returncode in (1, 2)
    assert f"{package} is needed for this and is not installed: run  pip install 'hyperplan[" in done.stderr
    assert ("hyperplan._texts.extras.MissingExtraError" in done.stderr) is (package != "rich")


# --- pickles


def test_a_competition_comes_back_from_a_pickle_whole(result, tmp_path, run_python):
    data = pickle.dumps(result)
    again = pickle.loads(data)
    assert str(again) == str(result) and again.document == result.document
    assert again.contest.crew is None and result.contest.crew is None
    for name, values in result.question.problem.typed.items():
        np.testing.assert_array_equal(again.question.problem.typed[name], values)
    frame = result.question.frame
    np.testing.assert_array_equal(again.best.predict_proba(frame), result.best.predict_proba(frame))
    pandas.testing.assert_frame_equal(again.predictions["unlabelled"], result.predictions["unlabelled"])
    (tmp_path / "result.pickle").write_bytes(data)
    code = (
        "import pickle; r = pickle.load(open('result.pickle', 'rb')); r.save('out'); print(len(r.table()), "
        "r.best.predict(r.question.frame).dtype)"
    )
    assert run_python(THERE + code, tmp_path).stdout.split() == [str(len(result.table())), "bool"]
    assert (tmp_path / "out" / "receipt.json").is_file()


def test_a_pickle_holds_the_table_once(result):
    problem = result.question.problem
    doubled = len(pickle.dumps(vars(result) | {"contest": None}))
    once = len(pickle.dumps(result)) - len(pickle.dumps(result.contest.entries))
    assert once < doubled - sum(values.nbytes for values in problem.typed.values())


def test_an_exploration_comes_back_from_a_pickle_without_models_nobody_asks(exploration, table):
    again = pickle.loads(pickle.dumps(exploration))
    assert str(again) == str(exploration) and repr(again) == repr(exploration)
    pandas.testing.assert_frame_equal(again.table(), exploration.table())
    np.testing.assert_array_equal(again.predict(table), exploration.predict(table))
    assert all(e.model is None for e in again._found.contest.entries if e is not again._found.contest.chosen)


# --- notebooks


class Cells(HTMLParser):
    """Texts of a page, its elements, and whether each is closed in turn."""

    def __init__(self, page: str):
        super().__init__()
        self.open, self.words, self.elements = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_notebook_shows_answer_leaderboard_and_intervals_with_the_chosen_row_marked(result):
    page = Cells(result._repr_html_())
    assert page.open == [] and set(result.answer()) <= set(page.words)
    done = [row for row in result.document["leaderboard"] if row["status"] == "ok"]
    marked = [attrs["style"] for tag, attrs in page.elements if tag == "tr" and "style" in attrs]
    assert len(marked) == len(done) and ["box-shadow" in style for style in marked] == [r["is_chosen"] for r in done]
    assert sum(tag == "line" for tag, _ in page.elements) == sum(row["low"] is not None for row in done) > 0
    assert not {"script", "style", "link"} & {tag for tag, _ in page.elements}
    fixed = re.findall(r"(?:[^-]color|fill|stroke):?=?\"?(#[0-9a-f]{3,6}|white|black)", result._repr_html_())
    assert set(fixed) <= {"#2e9d53"}  # everything else has the colour of the page


def test_names_of_a_table_are_text_in_a_notebook(table):
    from hyperplan.compete._notebook import notebook_table

    bad = "<img src=x onerror=alert(1)>"
    shown = notebook_table([bad], bad, [bad], [(True, [bad])])
    assert "<img" not in shown and shown.count(html.escape(bad)) == 4


def test_an_exploration_has_a_notebook_view(exploration):
    page = Cells(exploration._repr_html_())
    assert page.open == [] and set(exploration.answer()) <= set(page.words) and "K-means" in page.words


# --- files


def test_load_takes_the_folder_of_a_competition_its_model_folder_and_the_file(result, table, tmp_path):
    folder = result.save(tmp_path / "hyperplan-report")
    expected = result.best.predict(table)
    for path in (folder, folder / "model", folder / "model" / "model.hyperplan", str(folder)):
        np.testing.assert_array_equal(hyperplan.load(path).predict(table), expected)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no model in this folder"):
        hyperplan.load(tmp_path / "empty")
    assert hyperplan.persistence.describe(folder)["class"] == "hyperplan.compete.TableModel"


def test_save_and_load_are_at_the_top_and_the_packages_keep_their_names():
    from hyperplan.persistence import load, save

    assert hyperplan.load is load and hyperplan.save is save
    assert inspect.ismodule(hyperplan.compete) and hyperplan.compete.compete is compete
    for function in (load, save, Competition.report, Competition.save, Competition.table, Exploration.predict):
        assert set(function.__annotations__) == {*inspect.signature(function).parameters, "return"} - {"self"}


# --- tables from memory


FORMS = {
    "array": lambda t: t[["size", "two"]].to_numpy(),
    "list of rows": lambda t: t[["size", "colour"]].to_numpy().tolist(),
    "dictionary": lambda t: {"size": t["size"].tolist(), "colour": t["colour"].tolist()},
    "list of dictionaries": lambda t: t[["size", "colour"]].to_dict("records"),
    "fields": lambda t: t[["size", "two"]].to_records(index=False),
    "one column": lambda t: t["size"].to_numpy(),
    "series": lambda t: t["size"],
    "masked": lambda t: np.ma.masked_greater(t[["size", "two"]].to_numpy(), 1.5),
    "sparse": lambda t: pytest.importorskip("scipy.sparse").csr_array(t[["size", "two"]].to_numpy()),
    "polars": lambda t: pytest.importorskip("polars").DataFrame({"size": t["size"].to_numpy()}),
    "pyarrow": lambda t: pytest.importorskip("pyarrow").table({"size": t["size"].to_numpy()}),
    "nullable": lambda t: t[["size"]].assign(n=pandas.array([None, *range(89)], dtype="Int64")),
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_of_every_form_are_learnt_from_and_predicted(form, table):
    from hyperplan.compete import TableModel, TablePipeline, TablePreparation, guess_columns
    from hyperplan.compete._frames import as_frame
    from hyperplan.linear_model import LogisticRegression

    X, y = FORMS[form](table.assign(two=table["size"] ** 2)), np.arange(90) % 2
    frame = as_frame(X)
    assert len(frame) == 90 and all(isinstance(name, str) for name in frame.columns)
    if form == "masked":
        assert frame["x0"].isna().any()
    pipeline = TablePipeline(TablePreparation(guess_columns(frame)), LogisticRegression()).fit(frame, y)
    model = TableModel(pipeline, "y", ("0", "1"), labels=np.array([0, 1]))
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(frame))
    assert model.fit(X, y).predict(X).dtype == y.dtype


@pytest.mark.parametrize("X", [np.zeros((3, 2, 2)), 5, None])
def test_what_is_no_table_is_said(X):
    with pytest.raises((CompetitionError, TableError)):
        compete(X, [1, 2, 3])


def test_a_settings_file_is_no_surprise_in_python(tmp_path):
    """`target` of the record and a table from a file, without a competition: the wrong one is named."""
    frame = read_table(table_path("penguins"))
    with pytest.raises(CompetitionError, match="did you mean species"):
        compete(frame, settings=Settings(target="specie"))
