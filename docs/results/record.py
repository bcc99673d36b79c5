"""Run the commands of `runs.json` and store what they print, for the page of results.

    python docs/results/record.py [NAME ...]

Each command runs in the root folder of the repository with one thread. Its output is written to
`NAME.json` in this folder, with the command, the date, the commit and the versions of the packages.
Without names, all commands run; those on benchmark data need the environment variable
`SKLRANK_DATA` (see benchmarks/README.md). Without the folder, such a file is not replaced.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PACKAGES = (
    "sklrank",
    "scikit-learn",
    "numpy",
    "scipy",
    "lightgbm",
    "xgboost",
    "catboost",
    "river",
    "vowpalwabbit",
    "napkinxc",
    "dask",
)
# Data that need no folder.
FREE = ("bundled", "generated", "bundled and generated")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def runs():
    """Return the entries of `runs.json`."""
    return json.loads((FOLDER / "runs.json").read_text(encoding="utf-8"))


def versions():
    """Return the versions of Python and of the packages that are installed."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit():
    """Return the short name of the commit whose scripts run, or "unknown" without a repository."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def machine():
    """Return the kind of processor and the number of processors."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def record(run):
    """Run the command of an entry, and store the entry with what was printed."""
    program, *arguments = run["command"].split()
    if program != "python":
        raise ValueError(f"command of {run['name']} must start with python, got {program!r}.")
    started_from, start = commit(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD, "MPLBACKEND": "Agg"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result = {
        **run,
        "date": date.today().isoformat(),
        "seconds": round(time.perf_counter() - start),
        "machine": machine(),
        "commit": started_from,
        "versions": versions(),
        "output": done.stdout.rstrip().splitlines(),
    }
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    (FOLDER / f"{run['name']}.json").write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [run["name"] for run in runs()]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"runs.json has no entries named {sorted(unknown)}")
    for run in runs():
        if arguments.names and run["name"] not in arguments.names:
            continue
        if run["data"] not in FREE and not os.environ.get("SKLRANK_DATA"):
            print(f"{run['name']}: left out, SKLRANK_DATA is not set")
            continue
        print(run["name"], flush=True)
        record(run)


if __name__ == "__main__":
    main()
