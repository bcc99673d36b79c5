"""Figures 5.1, 5.2, 6.1 and 6.2 of Valizadegan (2010): learning from bandit feedback.

Each model makes one pass over the samples of a data set, in a new random order for each seed: it
shows one class for each sample and learns whether that was right. The *played error* is the share
of rounds in which the class shown was wrong, the *greedy error* the share in which the class of the
greatest score was wrong. They differ by the classes shown to explore, and an exploration rate that
is good for one may be bad for the other.

- Chapter 5: Banditron, Banditron with positive weights and exponential gradient, each with its best
  fixed exploration rate in hindsight (Figure 5.1), and by rate (Figures 5.2 and 6.1). The models
  have no intercept, as in the papers. The step size of exponential gradient is that of Eq. 5.12
  times 1e-5, as in the experiments there; "full steps" are those without this factor.
- Chapter 6: schedules that tune the exploration rate, beside the best and the worst fixed rate
  (Figure 6.2).
- In addition: LinUCBClassifier with its default parameters, which standardizes the samples itself.

Data: `SKLRANK_DATA` names a folder with `multiclass/NAME.npz`, which has the arrays X and y, or
those of a split, X_train, y_train, X_test and y_test. digits is part of scikit-learn; SynSep and
SynNonSep are generated. Without that folder these three are used.

Run:  python examples/paper_banditron.py [--seeds 50] [--sets digits SynSep] [--plot FILE]
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from _keyword_documents import make_keyword_documents
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_digits

from sklrank.linear_model import BanditronClassifier, LinUCBClassifier

FILES = ("letter", "pendigits", "optdigits", "nursery")
GENERATED = {"SynSep": 0.0, "SynNonSep": 0.05}
SETS = (*FILES, "digits", *GENERATED)
RATES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
MAPS = {
    "Banditron": {},
    "positive weights": {"mirror_map": "positive"},
    "exponential gradient": {"mirror_map": "entropy"},
    "EG, full steps": {"mirror_map": "entropy", "learning_rate": "theory"},
}
SCHEDULES = ("ag0", "ag1", "ag2", "ag3")
COVARIANCES = ("full", "diagonal")
N_POINTS = 60


def load(name, n_generated):
    if name == "digits":
        return load_digits(return_X_y=True)
    if name in GENERATED:
        return make_keyword_documents(n_generated, label_noise=GENERATED[name], random_state=0)
    folder = os.environ.get("SKLRANK_DATA")
    if not folder:
        sys.exit("SKLRANK_DATA must name the folder of the data sets, see the docstring")
    with np.load(Path(folder) / "multiclass" / f"{name}.npz") as data:
        if "X" in data:
            return data["X"].astype(float), data["y"]
        X = np.vstack([data["X_train"], data["X_test"]]).astype(float)
        return X, np.concatenate([data["y_train"], data["y_test"]])


# -- Runs.


def play(model, X, y, seed):
    """Return played and greedy errors `(2, N_POINTS)` after equal parts of the rounds."""
    order = np.random.RandomState(seed).permutation(len(y))
    X, y, model = X[order], y[order], clone(model).set_params(random_state=seed)
    errors, greedy_wrong, classes = [], 0, np.unique(y)
    for rows in np.array_split(np.arange(len(y)), N_POINTS):
        scores = model.progressive_fit(X[rows], y[rows], classes=classes)
        greedy_wrong += np.sum(model.classes_[scores.argmax(axis=1)] != y[rows])
        errors.append((model.error_rate_, greedy_wrong / model.n_rounds_))
    return np.transpose(errors)


def error_curves(models, X, y, arguments):
    """Return the errors `(n_seeds, 2, N_POINTS)` of each model, by its name."""
    jobs = [(name, seed) for name in models for seed in range(arguments.seeds)]
    runs = Parallel(n_jobs=arguments.jobs)(
        delayed(play)(models[name], X, y, seed) for name, seed in jobs
    )
    curves = {name: [] for name in models}
    for (name, _), run in zip(jobs, runs):
        curves[name].append(run)
    return {name: np.array(runs) for name, runs in curves.items()}


def banditron(exploration, **parameters):
    return BanditronClassifier(exploration=exploration, fit_intercept=False, **parameters)


def run(name, arguments):
    """Return the number of rounds and the curves of a data set.

    The keys are (title, rate) for fixed rates, and names of schedules or covariances.
    """
    X, y = load(name, arguments.generated)
    models = {
        (title, rate): banditron(rate, **parameters)
        for title, parameters in MAPS.items()
        for rate in RATES
    }
    models |= {schedule: banditron(schedule) for schedule in SCHEDULES}
    models |= {covariance: LinUCBClassifier(covariance=covariance) for covariance in COVARIANCES}
    return len(y), error_curves(models, X, y, arguments)


# -- Tables.


def final_errors(curves, key, error=0):
    """Return the error of each seed after all rounds; 0 is the played error, 1 the greedy one."""
    return curves[key][:, error, -1]


def rates_by_error(curves, title):
    """Return the fixed rates of a model, that of the smallest mean played error first."""
    return sorted(RATES, key=lambda rate: final_errors(curves, (title, rate)).mean())


def print_line(title, curves, key, reference=None):
    played, greedy = final_errors(curves, key), final_errors(curves, key, 1)
    line = f"  {title:<40}{played.mean():>8.3f}{played.std():>7.3f}{greedy.mean():>9.3f}"
    if reference is not None:
        line += f"{played.mean() - reference:>+12.3f}"
    print(line)


def print_tables(name, n_rounds, curves):
    print(f"\n{name}: {n_rounds} rounds")
    print(f"  {'':<40}{'played':>8}{'+-':>7}{'greedy':>9}{'- best rate':>12}")
    for title in MAPS:
        best = rates_by_error(curves, title)[0]
        print_line(f"{title}, best rate {best:g}", curves, (title, best))
    rates = rates_by_error(curves, "Banditron")
    reference = final_errors(curves, ("Banditron", rates[0])).mean()
    print_line(f"Banditron, worst rate {rates[-1]:g}", curves, ("Banditron", rates[-1]), reference)
    for schedule in SCHEDULES:
        print_line(f"Banditron, {schedule}", curves, schedule, reference)
    for covariance in COVARIANCES:
        print_line(f"LinUCB, {covariance}", curves, covariance, reference)
    print("  played (greedy) error by exploration rate")
    for title in MAPS:
        ends = [curves[title, rate][:, :, -1].mean(axis=0) for rate in RATES]
        cells = [f"{played:.2f} ({greedy:.2f})" for played, greedy in ends]
        print(f"  {title:<22}" + "".join(f"{cell:>13}" for cell in cells))
    print(f"  {'':<22}" + "".join(f"{rate:>13g}" for rate in RATES))


def print_summary(results):
    """Compare schedules and LinUCB with the best fixed rate in hindsight, over all data sets."""
    print("\nPlayed error minus that of Banditron's best fixed rate in hindsight")
    print(f"  {'':<20}{'mean':>8}{'largest':>9}{'data sets <= 0':>18}")
    for key in (*SCHEDULES, *COVARIANCES):
        differences = []
        for _, curves in results.values():
            best = rates_by_error(curves, "Banditron")[0]
            reference = final_errors(curves, ("Banditron", best)).mean()
            differences.append(final_errors(curves, key).mean() - reference)
        differences = np.array(differences)
        below = f"{np.sum(differences <= 0)} of {len(differences)}"
        title = f"LinUCB, {key}" if key in COVARIANCES else key
        print(f"  {title:<20}{differences.mean():>+8.3f}{differences.max():>+9.3f}{below:>18}")


# -- Figures.


def band(ax, x, values, label, color=None):
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    (line,) = ax.plot(x, mean, label=label, color=color)
    ax.fill_between(x, mean - deviation, mean + deviation, alpha=0.2, color=line.get_color())


def draw(results, path):
    """Plot a row for each data set: by rounds (5.1), by rate (5.2, 6.1), and schedules (6.2)."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(results), 3, figsize=(15, 3.6 * len(results)), squeeze=False, layout="constrained"
    )
    for (name, (n_rounds, curves)), (by_round, by_rate, by_schedule) in zip(results.items(), axes):
        x = n_rounds * np.arange(1, N_POINTS + 1) / N_POINTS
        for number, title in enumerate(MAPS):
            best, color = rates_by_error(curves, title)[0], f"C{number}"
            band(by_round, x, curves[title, best][:, 0], f"{title}, {best:g}", color)
            ends = np.stack([curves[title, rate][:, :, -1] for rate in RATES], axis=-1)
            band(by_rate, RATES, ends[:, 0], title, color)
            by_rate.plot(RATES, ends[:, 1].mean(axis=0), linestyle=":", color=color)
        rates = rates_by_error(curves, "Banditron")
        for word, rate in (("best", rates[0]), ("worst", rates[-1])):
            band(by_schedule, x, curves["Banditron", rate][:, 0], f"{word} rate, {rate:g}")
        for key in (*SCHEDULES, *COVARIANCES):
            band(by_schedule, x, curves[key][:, 0], key)
        by_round.set(title=f"{name}: best fixed rates", xlabel="rounds", ylabel="played error")
        by_rate.set(title=f"{name}: by rate (dotted: greedy error)", xlabel="rate", xscale="log")
        by_schedule.set(title=f"{name}: schedules, and LinUCB by covariance", xlabel="rounds")
        for ax in (by_round, by_rate, by_schedule):
            ax.set_ylim(0, 1)
        for ax in (by_round, by_rate):
            ax.legend(fontsize="x-small")
        by_schedule.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path, dpi=80)
    print(f"\nFigures: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="random orders of the samples")
    available = SETS if os.environ.get("SKLRANK_DATA") else SETS[len(FILES) :]
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(available))
    parser.add_argument(
        "--generated", type=int, default=10_000, help="samples of SynSep and SynNonSep"
    )
    parser.add_argument("--jobs", type=int, default=1, help="parallel processes")
    parser.add_argument("--plot", metavar="FILE", help="file for the figures")
    arguments = parser.parse_args()
    if arguments.seeds < 1 or arguments.generated < N_POINTS:
        parser.error(f"--seeds must be 1 or more, --generated {N_POINTS} or more")
    print("One pass; share of wrong rounds: means over seeds, +- standard deviations")
    results = {}
    for name in arguments.sets:
        results[name] = run(name, arguments)
        print_tables(name, *results[name])
    print_summary(results)
    if arguments.plot:
        draw(results, arguments.plot)


if __name__ == "__main__":
    main()
