"""The documentation names everything that is public, and its results are complete records."""

import importlib.util
import inspect
import json
import re
from datetime import date
from pathlib import Path

import pytest

import sklrank

FUNCTIONS = ("expected_failed_checks", "show_versions")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").rglob("plot_*.py"))
RUNS = json.loads((DOCS / "results" / "runs.json").read_text(encoding="utf-8"))
DESCRIPTION = {"name", "task", "title", "command", "data", "reading"}
RESULTS = sorted(
    set((DOCS / "results").glob("*.json"))
    - {DOCS / "results" / name for name in ("runs.json", "charts.json")}
)


def rows_of_weights():
    """Return the estimators of each argument of `fit` in the table of weights."""
    text = (DOCS / "guide" / "weights.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| (?:`(\w+)` of `fit`|none) \|", text, flags=re.MULTILINE)
    return [(name, argument) for names, argument in rows for name in re.findall(r"`(\w+)`", names)]


def test_the_table_of_weights_has_all_arguments():
    listed = [(name, argument) for name, argument in rows_of_weights() if argument]
    found = []
    for name in public_names():
        package, _, last = name.rpartition(".")
        member = getattr(importlib.import_module(package), last)
        if inspect.isclass(member) and hasattr(member, "fit"):
            arguments = inspect.signature(member.fit).parameters
            found += [
                (last, each) for each in ("sample_weight", "query_weight") if each in arguments
            ]
    assert sorted(listed) == sorted(found)
    without = {name for name, argument in rows_of_weights() if not argument}
    assert without == {"BanditronClassifier", "LinUCBClassifier"}


def public_names():
    for package in {*sklrank.__all__, "dask"} - {"__version__", *FUNCTIONS}:
        yield f"sklrank.{package}"
        for member in importlib.import_module(f"sklrank.{package}").__all__:
            yield f"sklrank.{package}.{member}"


# Users rarely choose these.
WEAK_LEARNERS = {"HistogramTreeClassifier"}


def test_api_reference_lists_each_public_name_once():
    text = "".join(path.read_text() for path in (DOCS / "api").glob("*.rst"))
    listed = re.findall(r"^   ~?(sklrank\.\S+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted([*public_names(), *(f"sklrank.{name}" for name in FUNCTIONS)])


def test_each_estimator_has_a_line_in_choosing():
    text = (DOCS / "choosing.md").read_text()
    for name in public_names():
        _, package, *member = name.split(".")
        if member and re.search(r"(Ranker|Classifier|Regressor|Refiner|Boost)$", member[0]):
            assert f"`{package}.{member[0]}`" in text or member[0] in WEAK_LEARNERS


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_runs_name_a_script_of_the_repository(run):
    assert set(run) == DESCRIPTION
    assert all(isinstance(value, str) and value.strip() for value in run.values())
    program, script, *_ = run["command"].split()
    assert program == "python" and (ROOT / script).is_file()


def test_names_of_runs_are_unique():
    assert len({run["name"] for run in RUNS}) == len(RUNS)


@pytest.fixture
def results_page(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("results_page")


def test_pages_of_results_have_a_section_for_each_run(results_page):
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / "results").glob("*.md")]
    tasks = [results_page.MARK.search(text)[1] for text in pages]
    assert sorted(tasks) == sorted({run["task"] for run in RUNS})
    lines = [line for task in tasks for line in results_page.page(task).splitlines()]
    recorded = {path.stem for path in RESULTS}
    for run in RUNS:
        start = lines.index(f"(result-{run['name'].replace('_', '-')})=")
        assert lines[start + 1] == f"## {run['title']}"
        missing = f"Not recorded yet: `{run['command']}` prints it."
        assert (lines[start + 3] == missing) == (run["name"] not in recorded)


def test_charts_show_recorded_figures(results_page):
    charts = results_page.read("charts.json")
    recorded = {result["name"]: result for result in results_page.results() if "output" in result}
    assert set(charts) <= set(recorded)
    for name, chart in charts.items():
        tables = results_page.printed_tables(recorded[name])
        groups = results_page.results_charts.groups_of(chart, tables)
        assert all(len(points) > 1 for points in groups.values())
        assert all(set(chart["ours"][:1]) <= set(points) for points in groups.values())
    assert results_page.summary().count("\n") == len(charts) + 1


def test_chart_of_many_labels_has_all_recorded_points(results_page, tmp_path):
    chart = importlib.import_module("growth_chart")
    chart.draw(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").stat().st_size > 10_000
    tables = results_page.printed_tables(results_page.read("many_labels.json"))
    for (_, (header, *rows)), size in zip(tables, ("labels", "columns"), strict=True):
        assert {size, *chart.MEASURES} <= set(header)
        assert {row[0] for row in rows} == set(chart.STYLES)


def test_cells_of_charts_have_values_and_errors(results_page):
    value_and_error = results_page.results_charts.value_and_error
    assert value_and_error("0.760 +- 0.012 (0.108)") == (0.76, 0.012)
    assert value_and_error("1,797") == (1797.0, 0.0)
    assert value_and_error(".5", ".1") == (0.5, 0.1)
    assert value_and_error("") == (None, 0.0)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_are_records_of_the_current_command(path):
    """A command that changes must run again; a description may change without."""
    result = json.loads(path.read_text(encoding="utf-8"))
    provenance = {"date", "seconds", "machine", "commit", "versions"}
    assert set(result) == {*DESCRIPTION, *provenance, "output"}
    run = next(run for run in RUNS if run["name"] == path.stem)
    assert {name: result[name] for name in ("name", "command")} == {
        name: run[name] for name in ("name", "command")
    }
    assert date.fromisoformat(result["date"]).year >= 2026
    assert result["seconds"] >= 0
    assert {"Python", "sklrank", "scikit-learn", "numpy"} <= set(result["versions"])
    assert all(isinstance(line, str) for line in result["output"])
    assert any(re.search(r"\d", line) for line in result["output"])
    # Output must not depend on the folder in which a command ran.
    assert not re.search(r"(?<![\w.:/])/(home|root|tmp|work|Users)/", "\n".join(result["output"]))


def test_gallery_has_at_least_twenty_examples():
    assert len(GALLERY) >= 20


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery_examples_need_no_data_and_draw_a_figure(path):
    text = path.read_text(encoding="utf-8")
    title, *_ = re.findall(r'\A"""\n=+\n(.+)\n=+\n', text)
    assert len(title) < 60
    assert "plt.subplots" in text or "Display" in text
    for forbidden in ("SKLRANK_DATA", "fetch_", "urlopen", "argparse"):
        assert forbidden not in text


def test_papers_name_tests_that_exist():
    """A row of docs/papers.md that claims a test names it, as `test_name` of `tests/path.py`."""
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    found = {}
    for row in rows:
        named = re.findall(r"`(test_\w+)` of `(tests/[\w/]+\.py)`", row)
        # Every mention of a test is such a name, and a claim without a name is none.
        assert len(named) == len(re.findall(r"`test_", row))
        assert named or not re.search(r"\b[Tt]est\b", row), row
        for name, path in named:
            found.setdefault(path, set()).add(name)
    assert len(found) > 10
    for path, names in found.items():
        source = (ROOT / path).read_text(encoding="utf-8")
        assert names <= set(re.findall(r"^def (test_\w+)\(", source, re.MULTILINE)), path
