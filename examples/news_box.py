"""A news box served by three processes: a log, a nightly merge, and the policy of the next day.

Each visitor is shown one of eight articles. Three server processes choose it, and write the
visitor, the article and its propensity into a SQLite database before the article is shown. Clicks
arrive later. At noon, one article is withdrawn (`available`). Each server has a copy of the model
of the morning, and learns the clicks of its own visitors during the day. In the night, two articles
are replaced, and the learner process

- merges the models of the servers: `merge(others, base=morning)`;
- compares two policies on the log of the day, by `sklrank.off_policy`, with models that have not
  seen this log: "bandit", the article with the best upper bound of LinUCB, and "popular", the
  article with the most clicks, both with 25 % exploration. The better one serves the next day.

By day, the learner follows the log and learns all clicks. It saves its model together with the
number of the last click that it has learned. The merged model is close to that of the learner,
which has scaled the visitors of all servers by the same statistics.

With --kill, a server and the learner are killed in the middle of the second day, and started again.
A server repeats what is in its log, and the learner continues with the next click: the log and the
models are the same as without --kill.

The table compares the clicks per visitor with those of a single process, whose model learns the
clicks of all visitors. The visitors and their clicks are simulated.

Run:  python examples/news_box.py [--days 4] [--visitors 1200] [--kill] [--plot FILE]
"""

import argparse
import multiprocessing
import os
import pickle
import sqlite3
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from sklrank.feedback import Exploration
from sklrank.linear_model import LinUCBClassifier
from sklrank.off_policy import OffPolicyWarning, policy_value

N_SERVERS, N_FEATURES, N_ARTICLES, N_NEW = 3, 5, 8, 2
N_LAUNCH = 300  # visitors who are shown random articles, before the first day
EPSILON = 0.25
LEARN_EVERY = 10  # number of visitors between two updates of a server's model
WAIT = 0.02  # seconds

SCHEMA = """
CREATE TABLE IF NOT EXISTS shown (
    day INTEGER, server INTEGER, visitor INTEGER, features BLOB, article TEXT, propensity REAL,
    PRIMARY KEY (day, server, visitor));
CREATE TABLE IF NOT EXISTS clicks (
    id INTEGER PRIMARY KEY, day INTEGER, server INTEGER, visitor INTEGER, click REAL,
    UNIQUE (day, server, visitor));
"""
REWARDED = (
    "SELECT id, features, article, propensity, click, visitor FROM clicks "
    "JOIN shown USING (day, server, visitor)"
)


# -- The world: visitors, articles and clicks, drawn from the numbers of the visitor.


def articles_of(day):
    """Return the names of the articles of a day."""
    return np.array([f"article-{i:03}" for i in range(N_NEW * day, N_NEW * day + N_ARTICLES)])


def is_available(visitors, n_visitors):
    """Return which articles may be shown to visitors of a server, given their numbers."""
    available = np.ones((len(visitors), N_ARTICLES), dtype=bool)
    available[np.array(visitors) >= n_visitors / 2, 0] = False
    return available


def click_rates(X, articles):
    """Return the true click rates of articles, `(n_visitors, n_articles)`."""
    tastes = [np.random.default_rng([7, int(name[-3:])]).normal(size=6) for name in articles]
    return 1 / (1 + np.exp(1.6 - np.column_stack([X, np.ones(len(X))]) @ np.transpose(tastes)))


def draw_visitor(day, server, n):
    """Return the features of a visitor, a number that decides on the click, and its delay."""
    random = np.random.default_rng([day, server, n])
    return random.normal(size=(1, N_FEATURES)), random.random(), random.geometric(0.05)


def click_of(day, server, n, article):
    """Return 1.0 if this visitor clicks on the article, else 0.0."""
    X, draw, _ = draw_visitor(day, server, n)
    return float(draw < click_rates(X, [article])[0, 0])


class Arrivals:
    """Numbers of the visitors of a server whose clicks have arrived, in order of arrival."""

    def __init__(self, day, server):
        self.day, self.server, self.waiting = day, server, []

    def add(self, n):
        self.waiting.append((n + draw_visitor(self.day, self.server, n)[2], n))

    def until(self, time):
        """Return the visitors whose click, or the end of the wait for it, came until this time."""
        due = sorted(pair for pair in self.waiting if pair[0] <= time)
        self.waiting = [pair for pair in self.waiting if pair[0] > time]
        return [n for _, n in due]


# -- Storage.


def connect(folder):
    database = sqlite3.connect(folder / "log.db", timeout=60, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(SCHEMA)
    return database


def save(thing, path):
    """Write a file that is complete whenever the process is killed."""
    partial = path.with_suffix(f".{os.getpid()}.partial")
    with open(partial, "wb") as file:
        pickle.dump(thing, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def load(path, wait=False):
    while wait and not path.exists():
        time.sleep(WAIT)
    return pickle.loads(path.read_bytes())


def learn(model, rows):
    """Let the model learn rows of `REWARDED`."""
    if rows:
        _, features, articles, propensities, clicks, *_ = zip(*rows)
        X = np.array([np.frombuffer(blob) for blob in features])
        actions = np.searchsorted(model.classes_, articles)
        model.partial_fit_feedback(
            X, Exploration(actions, np.array(propensities)), np.array(clicks)
        )
    return model


# -- Policies.


def popularity(database, articles):
    """Return the click rates of the articles, shrunk to that of all."""
    query = (
        "SELECT article, SUM(click), COUNT(*) FROM clicks JOIN shown USING (day, server, visitor)"
    )
    sums = {name: (s, n) for name, s, n in database.execute(query + " GROUP BY article")}
    mean = sum(s for s, _ in sums.values()) / max(1, sum(n for _, n in sums.values()))
    counts = [sums.get(name, (0.0, 0)) for name in articles.tolist()]
    return np.array([[(s + 20 * mean) / (n + 20) for s, n in counts]])


def show(morning, model, X, available, seed):
    """Return the index of the article to show, and its propensity."""
    if morning["policy"] == "bandit":
        shown = model.explore(X, available=available, random_state=seed)
        return shown.actions[0], shown.propensities[0]
    chances = popular_propensities(morning["popular"], available)[0]
    action = np.random.default_rng(seed).choice(N_ARTICLES, p=chances)
    return action, chances[action]


def popular_propensities(popular, available):
    """Return the probabilities with which articles are shown by their click rates (1, n)."""
    chances = EPSILON * available / available.sum(axis=1, keepdims=True)
    best = np.where(available, popular, -1.0).argmax(axis=1)
    chances[np.arange(len(chances)), best] += 1 - EPSILON
    return chances


# -- Processes.


def serve(folder, server, days, n_visitors):
    """Serve the visitors of all days. What was done before the process was killed is repeated."""
    database = connect(folder)
    for day in range(1, days + 1):
        result = folder / f"server-{server}-{day}.pkl"
        if not result.exists():
            morning = load(folder / f"morning-{day}.pkl", wait=True)
            save(serve_day(database, morning, day, server, n_visitors), result)


def serve_day(database, morning, day, server, n_visitors):
    model = morning["model"]
    key, arrivals, arrived = (day, server), Arrivals(day, server), []
    done = database.execute("SELECT COUNT(*) FROM shown WHERE day = ? AND server = ?", key)
    n_done = done.fetchone()[0]
    for n in range(n_visitors + 1):
        arrived += arrivals.until(n if n < n_visitors else np.inf)
        if n % LEARN_EVERY == 0 or n == n_visitors:
            learn(model, [record_click(database, day, server, visitor) for visitor in arrived])
            arrived = []
        if n < n_visitors:
            if n >= n_done:
                X = draw_visitor(day, server, n)[0]
                available, seed = is_available([n], n_visitors), [day, server, n]
                action, propensity = show(morning, model, X, available, seed)
                row = (*key, n, X.tobytes(), str(model.classes_[action]), float(propensity))
                database.execute("INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?)", row)
            arrivals.add(n)
    return model


def record_click(database, *key):
    """Write the click of a visitor, unless it was written before, and return its row."""
    where = " WHERE day = ? AND server = ? AND visitor = ?"
    article = database.execute("SELECT article FROM shown" + where, key).fetchone()[0]
    row = (*key, click_of(*key, article))
    columns = "(day, server, visitor, click)"
    database.execute(f"INSERT OR IGNORE INTO clicks {columns} VALUES (?, ?, ?, ?)", row)
    return database.execute(REWARDED + where, key).fetchone()


def follow(folder, days, n_visitors):
    """Learn all clicks in the order in which they arrive, and prepare each next day."""
    database, file = connect(folder), folder / "learner.pkl"
    state = load(file)
    while state["day"] <= days:
        day = state["day"]
        results = [folder / f"server-{server}-{day}.pkl" for server in range(N_SERVERS)]
        is_closed = all(result.exists() for result in results)
        where = " WHERE id > ? ORDER BY id LIMIT 200"
        rows = database.execute(REWARDED + where, (state["last"],)).fetchall()
        if rows:
            learn(state["model"], rows)
            state["last"] = rows[-1][0]
        elif is_closed:
            night(folder, database, day, n_visitors, list(map(load, results)), state["model"])
            state = {**state, "day": day + 1, "model": with_articles(state["model"], day + 1)}
        else:
            time.sleep(WAIT)
            continue
        save(state, file)


def with_articles(model, day):
    """Return the model with the articles of a day."""
    known, today = set(model.classes_.tolist()), articles_of(day)
    model.explore(np.zeros((1, N_FEATURES)), classes=sorted(known | set(today)), random_state=0)
    return model.drop_classes(sorted(known - set(today)))


def night(folder, database, day, n_visitors, servers, follower):
    """Merge the models of the servers, and choose the policy of the next day."""
    morning = load(folder / f"morning-{day}.pkl")
    model, *others = servers
    model.merge(others, base=morning["model"])

    log = database.execute(REWARDED + " WHERE day = ? ORDER BY server, visitor", (day,)).fetchall()
    _, features, articles, propensities, clicks, visitors = zip(*log)
    available = is_available(visitors, n_visitors)
    X = np.array([np.frombuffer(blob) for blob in features])
    shown = Exploration(np.searchsorted(model.classes_, articles), np.array(propensities))
    policies = {
        "bandit": morning["model"].propensities(X, available=available),
        "popular": popular_propensities(morning["popular"], available),
    }
    scores, estimates = morning["model"].decision_function(X), {}
    with warnings.catch_warnings():
        # The table has the effective sample sizes.
        warnings.simplefilter("ignore", OffPolicyWarning)
        for name, policy in policies.items():
            estimates[name] = policy_value(
                np.array(clicks), shown, policy, method="dr", reward_model=scores
            )
    rates = click_rates(X, model.classes_)
    report = {
        "estimates": estimates,
        "truth": {name: (policy * rates).sum(axis=1).mean() for name, policy in policies.items()},
        "difference": np.abs(model.decision_function(X) - follower.decision_function(X)).max(),
    }
    tomorrow = {
        "model": with_articles(model, day + 1),
        "policy": max(estimates, key=lambda name: estimates[name].value),
        "popular": popularity(database, articles_of(day + 1)),
        "report": report,
    }
    save(tomorrow, folder / f"morning-{day + 1}.pkl")


def launch(folder):
    """Show random articles to a few visitors, and save the model of the first morning."""
    database, articles, arrivals = connect(folder), articles_of(0), []
    for n in range(N_LAUNCH):
        X = draw_visitor(0, 0, n)[0]
        article = articles[np.random.default_rng([1, n]).integers(N_ARTICLES)]
        row = (0, 0, n, X.tobytes(), str(article), 1 / N_ARTICLES)
        database.execute("INSERT INTO shown VALUES (?, ?, ?, ?, ?, ?)", row)
        arrivals.append(record_click(database, 0, 0, n))
    model = LinUCBClassifier(kernel="linear", exploration=EPSILON, drift_threshold=None)
    model.explore(np.zeros((1, N_FEATURES)), classes=articles, random_state=0)
    model = with_articles(learn(model, arrivals), 1)
    popular = popularity(database, articles_of(1))
    save({"model": model, "policy": "popular", "popular": popular}, folder / "morning-1.pkl")
    save({"model": model, "day": 1, "last": arrivals[-1][0]}, folder / "learner.pkl")
    database.close()


def run(folder, days, n_visitors, kill=False):
    """Run the service. Return the number of processes that were started again."""
    launch(folder)
    context = multiprocessing.get_context("spawn")
    tasks = [(serve, (folder, server, days, n_visitors)) for server in range(N_SERVERS)]
    tasks.append((follow, (folder, days, n_visitors)))
    processes = [context.Process(target=task, args=arguments) for task, arguments in tasks]
    for process in processes:
        process.start()
    database, n_started = connect(folder), 0
    while any(process.exitcode != 0 for process in processes):
        time.sleep(WAIT)
        if kill:
            count = "SELECT COUNT(*) FROM shown WHERE day = 2 AND server = 1"
            if database.execute(count).fetchone()[0] > n_visitors // 3:
                kill = False
                processes[1].kill()
                processes[-1].kill()
        for i, (task, arguments) in enumerate(tasks):
            if processes[i].exitcode not in (None, 0):
                processes[i] = context.Process(target=task, args=arguments)
                processes[i].start()
                n_started += 1
    database.close()
    return n_started


# -- Comparison.


def mean_rates(database, day):
    """Return the mean of the true click rates of the articles shown on a day."""
    query = "SELECT features, article FROM shown WHERE day = ?"
    features, articles = zip(*database.execute(query, (day,)))
    X, names = np.array([np.frombuffer(blob) for blob in features]), articles_of(day)
    return click_rates(X, names)[np.arange(len(X)), np.searchsorted(names, articles)].mean()


def single_process(folder, days, n_visitors):
    """Return the mean click rate of each day if one process serves the visitors of all servers."""
    model, rates = load(folder / "morning-1.pkl")["model"], []
    for day in range(1, days + 1):
        morning, names, waiting, shown = (
            load(folder / f"morning-{day}.pkl"),
            articles_of(day),
            [],
            {},
        )
        arrivals = [Arrivals(day, server) for server in range(N_SERVERS)]
        model = with_articles(model, day) if day > 1 else model
        total = 0.0
        for n in range(n_visitors + 1):
            for server in range(N_SERVERS):
                arrived = arrivals[server].until(n if n < n_visitors else np.inf)
                waiting += [shown[server, visitor] for visitor in arrived]
            if n % LEARN_EVERY == 0 or n == n_visitors:
                learn(model, waiting)
                waiting = []
            for server in range(N_SERVERS if n < n_visitors else 0):
                X = draw_visitor(day, server, n)[0]
                available, seed = is_available([n], n_visitors), [day, server, n]
                action, propensity = show(morning, model, X, available, seed)
                click = click_of(day, server, n, names[action])
                shown[server, n] = (0, X.tobytes(), names[action], propensity, click)
                arrivals[server].add(n)
                total += click_rates(X, names)[0, action]
        rates.append(total / (N_SERVERS * n_visitors))
    return rates


def plot(service, single, reports, file):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    days = np.arange(1, len(service) + 1)
    left.plot(days, service, "o-", label="three servers, merged every night")
    left.plot(days, single, "s--", label="a single process")
    left.set(title="Click rate of the articles shown", xlabel="Day", ylabel="Clicks per visitor")
    left.set(xticks=days, ylim=(0, None))
    left.legend(loc="lower right")
    for shift, (name, marker) in zip((-0.08, 0.08), {"bandit": "o", "popular": "s"}.items()):
        values = [report["estimates"][name] for report in reports]
        errors = [1.96 * value.standard_error for value in values]
        points = right.errorbar(
            days + shift,
            [value.value for value in values],
            errors,
            fmt=marker,
            capsize=3,
            label=name,
        )
        truth = [report["truth"][name] for report in reports]
        color = points.lines[0].get_color()
        right.plot(days + shift, truth, "_", markersize=18, color=color)
    right.plot([], [], "_", markersize=18, color="gray", label="true rate")
    right.set(title="Policies, estimated on the log of the day", xlabel="Day", xticks=days)
    right.set(ylim=(0, None), ylabel="Clicks per visitor")
    right.legend(loc="lower right")
    figure.savefig(file, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--visitors", type=int, default=1200, help="of each server on a day")
    parser.add_argument("--kill", action="store_true", help="kill a server and the learner")
    parser.add_argument("--plot", metavar="FILE", help="where to save the plot")
    arguments = parser.parse_args()
    days, n_visitors = arguments.days, arguments.visitors
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_started = run(folder, days, n_visitors, arguments.kill)
        database = connect(folder)
        n_shown = database.execute("SELECT COUNT(*) FROM shown WHERE day > 0").fetchone()[0]
        service = [mean_rates(database, day) for day in range(1, days + 1)]
        database.close()
        single = single_process(folder, days, n_visitors)
        nights = [load(folder / f"morning-{day + 1}.pkl") for day in range(1, days + 1)]
        policies = [load(folder / f"morning-{day}.pkl")["policy"] for day in range(1, days + 1)]

    print(f"{n_shown} of {N_SERVERS * days * n_visitors} visitors are in the log;", end=" ")
    print(f"processes started again: {n_started}\n")
    print("              clicks per visitor    estimates on the log (n_eff)    merged model")
    print("day  policy   servers   single      bandit         popular          - learner's")
    reports = [tomorrow["report"] for tomorrow in nights]
    for day, (rate, alone, report, policy) in enumerate(zip(service, single, reports, policies), 1):
        bandit, popular = (
            f"{found.value:.3f} ({found.effective_sample_size:.0f})"
            for found in (report["estimates"][kind] for kind in ("bandit", "popular"))
        )
        print(
            f"{day:<5}{policy:<9}{rate:.4f}    {alone:.4f}      {bandit:<15}{popular:<17}"
            f"{report['difference']:.0e}"
        )
    means = np.mean(service), np.mean(single)
    print("\nAll days: {:.4f} and {:.4f} clicks per visitor,".format(*means), end=" ")
    print(f"{means[0] / means[1] - 1:+.1%}")
    if arguments.plot:
        plot(service, single, reports, arguments.plot)


if __name__ == "__main__":
    main()
