"""Write the pages of results from the JSON files that `docs/results/record.py` has written.

A page in `docs/results/` has a line `<!-- results: TASK -->`, which is replaced by the results of
this task: the chart of `charts.json`, then the recorded output of each command, folded, as tables
where it consists of aligned columns, else as printed. The line `<!-- summary -->` of the page
`results` is replaced by a table of our recommended class and the best other method in each chart.
"""

import json
import re
from itertools import groupby
from pathlib import Path

import results_charts

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "results"
CHARTS = "generated/charts"  # in the folder of the documentation
MARK = re.compile(r"<!-- results: (.+) -->")
SUMMARY = "<!-- summary -->"


def read(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def results():
    """Return the results, in the order of `runs.json`, with its titles.

    An entry of `runs.json` without a recorded result is returned itself; it has no "output".
    """
    paths = {run["name"]: FOLDER / f"{run['name']}.json" for run in read("runs.json")}
    return [
        {**(read(paths[run["name"]]) if paths[run["name"]].exists() else {}), **run}
        for run in read("runs.json")
    ]


def printed_tables(result):
    """Return the tables of an output, each with its caption: the line before it, up to a colon."""
    tables = []
    for block in blocks(result["output"]):
        before, rows, _ = as_table(block)
        if rows:
            caption = before[-1] if before else rows[0][0]
            tables.append((caption.partition(":")[0].strip(), rows))
    return tables


def cells(line):
    """Return the cells of a line, which are separated by two spaces or more."""
    return re.split(r"\s{2,}", line.strip())


def blocks(lines):
    """Yield runs of lines without a blank line between them."""
    for blank, run in groupby(lines, key=lambda line: not line.strip()):
        if not blank:
            yield list(run)


# Fewer rows are shown as printed.
N_ROWS = 4
NUMBER = re.compile(r"[+-]{0,2}\d[\d.,:/%]*\*?|-")
RULE = re.compile(r"-+( +-+)+")


def ruled_table(lines):
    """Return the lines before a table, its rows and the lines after it, if a rule marks columns."""
    for i, line in enumerate(lines):
        if i and RULE.fullmatch(line.strip()):
            spans = [match.span() for match in re.finditer(r"-+", line)]
            gaps = [place for place, character in enumerate(line) if character == " "]
            last = len(lines)
            for j in range(i + 1, len(lines)):
                if any(lines[j][gap : gap + 1].strip() for gap in gaps):
                    last = j
                    break
            # The last column extends to the end of the line.
            spans[-1] = (spans[-1][0], None)
            rows = [
                [each[start:end].strip() for start, end in spans]
                for each in (lines[i - 1], *lines[i + 1 : last])
            ]
            return lines[: i - 1], rows, lines[last:]
    return None


def split_row(line, n_numbers):
    """Return the text and the last numbers of a line, or None if it ends in fewer numbers."""
    parts = line.split()
    text, numbers = parts[:-n_numbers], parts[-n_numbers:]
    if not text or not all(NUMBER.fullmatch(number) for number in numbers):
        return None
    return [" ".join(text), *numbers]


def spaced_table(lines):
    """Return the lines before a table and its rows, if the cells of its header are spaced.

    The header of a table whose first column has none is indented. Two spaces or more separate the
    cells of a row; or all cells but the first are numbers.
    """
    for first in range(len(lines) - N_ROWS):
        indented = lines[first].startswith(" " * 10)
        header = [""] * indented + cells(lines[first])
        if len(header) < 2 or NUMBER.fullmatch(header[0]):
            continue
        rows = [cells(line) for line in lines[first + 1 :]]
        regular = all(
            len(row) == len(header) and all(NUMBER.match(cell) for cell in row[1:]) for row in rows
        )
        if not regular:
            rows = [split_row(line, len(header) - 1) for line in lines[first + 1 :]]
        if all(rows):
            return lines[:first], [header, *rows], []
    return None


def as_table(lines):
    """Return the lines before a table, its rows with the header first, and the lines after it."""
    return ruled_table(lines) or spaced_table(lines) or (lines, [], [])


def markdown_row(row):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def plain(lines):
    """Yield the lines of the page for printed lines that are no table: a caption, or a block."""
    if len(lines) == 1:
        text = re.sub(r"([\\`*_{}\[\]<>#|.])", r"\\\1", lines[0].strip())
        yield from ("```{rst-class} caption", "```", "", text, "")
    elif lines:
        yield from ("```text", *lines, "```", "")


def shown_output(lines):
    """Yield the lines of the page for printed lines."""
    for block in blocks(lines):
        before, rows, after = as_table(block)
        yield from plain(before)
        if rows:
            yield from ("```{rst-class} result", "```", "")
            yield markdown_row(rows[0])
            yield "| :-- |" + " --: |" * (len(rows[0]) - 1)
            yield from map(markdown_row, rows[1:])
            yield ""
        yield from plain(after)


def section(result):
    """Yield the lines of the page for a result."""
    yield from (f"({anchor(result)})=", f"## {result['title']}", "")
    if "output" not in result:
        yield from (f"Not recorded yet: `{result['command']}` prints it.", "")
        return
    chart = read("charts.json").get(result["name"])
    if chart:
        yield from (f"```{{image}} /{CHARTS}/{result['name']}.svg", ":class: chart")
        yield from (f":alt: {chart['label']} of each method", "```", "")
    yield from (result["reading"], "")
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    yield from (":::{dropdown} The figures", ":animate: fade-in", "")
    yield from shown_output(result["output"])
    yield from (":::", "", "```{rst-class} provenance", "```", "")
    yield (
        f"Printed by `{result['command']}` on {result['date']}, in {result['seconds']} seconds. "
        f"Data: {result['data']}. Machine: {result['machine']}. "
        f"Commit {result['commit']}. Versions: {versions}."
    )
    yield ""


def anchor(result):
    return "result-" + result["name"].replace("_", "-")


def page(task):
    """Return the sections of the results of a task, the one with a chart first."""
    found = [result for result in results() if result["task"] == task]
    if not found:
        raise ValueError(f"no run of runs.json has the task {task!r}")
    found.sort(key=lambda result: result["name"] not in read("charts.json"))
    return "\n".join(line for result in found for line in section(result))


def summary():
    """Return a table of the means of our recommended class and of the best other method."""
    charts = read("charts.json")
    lines = [
        "| task | measure | ours | best other method | data sets |",
        "| :-- | :-- | --: | --: | --: |",
    ]
    for result in results():
        chart = charts.get(result["name"])
        if not chart or "output" not in result:
            continue
        tables = printed_tables(result)
        means = results_charts.means(chart, tables)
        sign = "lower" if chart["lower"] else "higher"
        n_groups = len(results_charts.groups_of(chart, tables))
        if chart["ours"]:
            ours = chart["ours"][0]
            others = {name: mean for name, mean in means.items() if name not in chart["ours"]}
            best = (min if chart["lower"] else max)(others, key=others.get)
            cells = f"{ours}: {means[ours]:.3g}", f"{best}: {others[best]:.3g}"
        else:
            best = min(means, key=means.get)
            cells = f"ahead by {means[best]:.3g}", best.removeprefix("- ")
        lines.append(
            f"| {{ref}}`{result['task']} <{anchor(result)}>` | {chart['label']}, {sign} is better "
            f"| {cells[0]} | {cells[1]} | {n_groups} |"
        )
    return "\n".join(lines)


def write_page(app, docname, source):
    if MARK.search(source[0]):
        source[0] = MARK.sub(lambda match: page(match[1]), source[0])
    elif SUMMARY in source[0]:
        source[0] = source[0].replace(SUMMARY, summary())
    else:
        return
    for path in FOLDER.glob("*.json"):
        app.env.note_dependency(str(path))


def draw_charts(app):
    recorded = {result["name"]: result for result in results() if "output" in result}
    for name, chart in read("charts.json").items():
        path = DOCS / CHARTS / f"{name}.svg"
        results_charts.draw(chart, printed_tables(recorded[name]), path)


def setup(app):
    app.connect("builder-inited", draw_charts)
    app.connect("source-read", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
