"""Off-policy evaluation beside the printed figures of the Open Bandit Pipeline, and its speed.

1. Thompson sampling evaluated on the random logs of the Open Bandit data, whose wheel (1.3 MB) is
   downloaded unless OBP_WHEEL is its path, and random choice on the logs of Thompson sampling.
2. Digits as a bandit problem: relative error of each method, mean and standard deviation over runs,
   by the protocol of the pipeline's `examples/multiclass`.
3. Its synthetic bandit data, by the protocol of `examples/synthetic`.
4. True values of policies learned from synthetic logs, by the protocol of `examples/opl`, and of
   LinUCB, which replays the log.
5. Seconds and memory for a million samples with 100 labels.
6. Squared errors and coverage on eight kinds of logs, which have moderate, large and heavy-tailed
   weights: thresholds chosen by `policy_value` beside none, and "sndr" beside "dr".

    python benchmarks/off_policy.py [--quick] [--only 1 3]
"""

import tracemalloc
import warnings

import numpy as np
from _common import Stopwatch, print_table, run_parts
from _open_bandit import find_wheel, read_log, thompson_sampling
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, train_test_split

from sklrank.feedback import Exploration
from sklrank.linear_model import LinUCBClassifier
from sklrank.off_policy import OffPolicyClassifier, OffPolicyWarning, policy_value

METHODS = ("dm", "ips", "snips", "dr", "sndr", "switch-dr", "dr-os")
PRINTED = {
    "digits": (0.436541, 0.030288, 0.022764, 0.016156, 0.022082, 0.034657, 0.015868),
    "synthetic": (0.074390, 0.009481, 0.006665, 0.006175, 0.006118, 0.006175, 0.021951),
}
# The settings of the pipeline's examples.
LOGISTIC = LogisticRegression(C=100, max_iter=10_000)
FOREST = RandomForestClassifier(30, max_depth=5, min_samples_leaf=10, random_state=12345)
BOOSTING = GradientBoostingClassifier(
    n_estimators=30, learning_rate=0.01, max_depth=5, min_samples_leaf=10, random_state=12345
)


def open_bandit(quick):
    wheel, rows, notes = find_wheel(), [], []
    for campaign in ("all", "men", "women"):
        log, clicks, positions = read_log(wheel, "random", campaign)
        policy = thompson_sampling(wheel, campaign, 10_000 if quick else 100_000)[positions]
        values = [policy_value(clicks, log, policy, method=m) for m in ("ips", "snips")]
        found = [f"{each.value:.6f}" for each in values]
        rows.append([campaign, *found, f"{values[0].value / clicks.mean():.4f}"])
    for campaign in ("all", "men", "women"):
        log, clicks, _ = read_log(wheel, "bts", campaign)
        n_items = log.actions.max() + 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", OffPolicyWarning)
            found = policy_value(
                clicks, log, np.full((len(clicks), n_items), 1 / n_items), method="ips"
            )
        values = (found.value, found.effective_sample_size, found.max_weight, found.mean_weight)
        notes.append([campaign, *(f"{value:.5g}" for value in values), len(caught)])
        notes += [[f"  {each.message}"] + 5 * [""] for each in caught]
    columns = ["campaign", "ips", "snips", "ips / clicks of the log"]
    print_table("1. Thompson sampling from random logs", columns, rows)
    columns = ["campaign", "ips", "effective n", "largest w", "mean w", "warnings"]
    print_table("   Random choice from logs of Thompson sampling", columns, notes)


def relative_errors(rewards, log, policy, truth, model, X):
    options = {"reward_model": model, "X": X, "cv": KFold(3, shuffle=True, random_state=12345)}
    values = [
        policy_value(rewards, log, policy, method=method, **options).value for method in METHODS
    ]
    return np.abs(np.array(values) / truth - 1)


def mixture(labels, n_labels, share):
    """Return the probabilities of these labels with a share, and else of a random label."""
    return share * np.eye(n_labels)[labels] + (1 - share) / n_labels


def draw(probabilities, random):
    return (random.random_sample((len(probabilities), 1)) > probabilities.cumsum(axis=1)).sum(
        axis=1
    )


def print_errors(number, name, errors):
    errors = np.array(errors)
    spread = errors.std(axis=0, ddof=1)
    rows = [
        [method, f"{mean:.4f}", f"{sd:.4f}", f"{sd / len(errors) ** 0.5:.4f}", f"{printed:.4f}"]
        for method, mean, sd, printed in zip(METHODS, errors.mean(axis=0), spread, PRINTED[name])
    ]
    columns = ["relative error", "mean", "std", "std of mean", "printed mean"]
    print_table(f"{number}. {name}, {len(errors)} runs", columns, rows)


def digits(quick):
    X, y = load_digits(return_X_y=True)
    errors = []
    for run in range(3 if quick else 30):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.7, random_state=run)
        logging = mixture(LOGISTIC.fit(X_train, y_train).predict(X_test), 10, 0.4)
        policy = mixture(FOREST.fit(X_train, y_train).predict(X_test), 10, 0.9)
        rows = np.arange(len(y_test))
        actions = draw(logging, np.random.RandomState(run))
        log, truth = Exploration(actions, logging[rows, actions]), policy[rows, y_test].mean()
        rewards = (actions == y_test).astype(int)
        errors.append(relative_errors(rewards, log, policy, truth, BOOSTING, X_test))
    print_errors(2, "digits", errors)


def synthetic_logs(n_samples, n_labels, n_features, beta, seed):
    """Yield samples, logs, rewards and expected rewards, for training and for test.

    Logits are linear in the sample and an indicator of the label, both with a constant, and in
    their products, with uniform coefficients. They are standardized.
    """
    random = np.random.RandomState(seed)
    of_sample = random.uniform(-1, 1, 1 + n_features)
    of_label = random.uniform(-1, 1, 1 + n_labels)
    of_both = random.uniform(-1, 1, (1 + n_features, 1 + n_labels))
    labels = np.column_stack([np.ones(n_labels), np.eye(n_labels)])
    for _ in range(2):
        X = random.normal(size=(n_samples, n_features))
        with_constant = np.column_stack([np.ones(n_samples), X])
        logits = (with_constant @ of_sample)[:, None] + labels @ of_label
        logits = logits + with_constant @ of_both @ labels.T
        expected = 1 / (1 + np.exp((logits.mean() - logits) / logits.std()))
        logging = np.exp(beta * expected)
        logging /= logging.sum(axis=1, keepdims=True)
        actions, rows = draw(logging, random), np.arange(n_samples)
        log = Exploration(actions, logging[rows, actions])
        rewards = (random.random_sample(n_samples) < expected[rows, actions]).astype(int)
        yield X, log, rewards, expected


def synthetic(quick):
    errors = []
    for run in range(2 if quick else 20):
        train, test = synthetic_logs(1000 if quick else 10_000, 30, 5, -3.0, run)
        X, log, rewards, _ = train
        learner = LOGISTIC.fit(X, log.actions, sample_weight=rewards / log.propensities)
        X, log, rewards, expected = test
        # The policy of the example is the softmax of the probabilities.
        policy = softmax(learner.predict_proba(X), axis=1)
        truth = (policy * expected).sum(axis=1).mean()
        errors.append(relative_errors(rewards, log, policy, truth, LOGISTIC, X))
    print_errors(3, "synthetic", errors)


def learning(quick):
    values = {}
    # The example has run with the first of these seeds.
    for run in (12345, *range(1 if quick else 10)):
        train, test = synthetic_logs(2000 if quick else 10_000, 10, 5, -3.0, run)
        X, log, rewards, expected = train
        learners = {
            method: OffPolicyClassifier(LOGISTIC, method=method, reward_model=BOOSTING)
            for method in ("ips", "snips", "dm", "dr")
        }
        for learner in learners.values():
            learner.fit(X, rewards, exploration=log)
        replay = LinUCBClassifier(random_state=0)
        learners["LinUCB"] = replay.partial_fit_feedback(X, log, rewards, classes=range(10))
        X, _, _, expected = test
        found = {
            name: expected[np.arange(len(X)), each.predict(X)].mean()
            for name, each in learners.items()
        }
        found |= {"random": expected.mean(), "best": expected.max(axis=1).mean()}
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    printed = {"random": "0.500", "ips": "0.782"}
    rows = [
        [name, *(f"{value:.3f}" for value in (np.mean(each[1:]), np.std(each[1:]), each[0]))]
        for name, each in values.items()
    ]
    rows = [[*row, printed.get(row[0], "")] for row in rows]
    columns = ["value", "mean", "std", "seed 12345", "printed"]
    print_table("4. Policies learned from logs of a bad policy", columns, rows)


def speed(quick):
    n_samples, n_labels, random = 10**4 if quick else 10**6, 100, np.random.default_rng(0)
    policy = random.random((n_samples, n_labels))
    policy /= policy.sum(axis=1, keepdims=True)
    actions = random.integers(n_labels, size=n_samples)
    log, rewards = Exploration(actions, np.full(n_samples, 1 / n_labels)), random.random(n_samples)
    size = policy.nbytes + actions.nbytes + log.propensities.nbytes + rewards.nbytes
    even = np.broadcast_to(1 / n_labels, policy.shape)
    options = {"ips": {}, "snips": {}, "clipped": {}}
    options["dr"] = options["dr-os"] = options["switch-dr"] = {"reward_model": even}
    rows = []
    for method, others in options.items():
        with Stopwatch() as watch:
            policy_value(rewards, log, policy, method=method, **others)
        tracemalloc.start()
        policy_value(rewards, log, policy, method=method, **others)
        peak = 1 + tracemalloc.get_traced_memory()[1] / size
        tracemalloc.stop()
        rows.append([method, f"{watch.seconds:.2f}", f"{peak:.2f}"])
    title = f"5. {n_samples} samples, {n_labels} labels; dr with given predictions"
    print_table(title, ["", "seconds", "memory, in copies of the log"], rows)


def tempered(scores, temperature):
    return softmax(scores / temperature, axis=1)


def heavy_tailed(policy, random):
    """Return propensities that are far below the policy's for a few samples: a Pareto tail."""
    best = policy.argmax(axis=1)[:, None]
    share = np.take_along_axis(policy, best, axis=1)
    small = share / (1 + np.minimum(random.pareto(0.5, size=(len(policy), 1)), 250))
    logging = policy * (1 - small) / (1 - share)
    np.put_along_axis(logging, best, small, axis=1)
    return logging


# Number of labels, and the policy of the log, given its scores, the other policy and a generator.
KINDS = {
    "random, 10 labels": (10, lambda scores, policy, random: tempered(0 * scores, 1)),
    "random, 50 labels": (50, lambda scores, policy, random: tempered(0 * scores, 1)),
    "softmax": (10, lambda scores, policy, random: tempered(scores, 1)),
    "logistic, steep": (10, lambda scores, policy, random: tempered(scores, 0.2)),
    "heavy tails": (10, lambda scores, policy, random: heavy_tailed(policy, random)),
    "concentrated": (10, lambda scores, policy, random: mixture(scores.argmax(axis=1), 10, 0.95)),
    "rare clicks": (20, lambda scores, policy, random: tempered(scores, 1)),
    "amounts": (10, lambda scores, policy, random: tempered(scores, 1)),
}


def log_of_kind(kind, n_samples, seed):
    """Return samples, a log, its rewards, the policy to evaluate, and its value on the samples."""
    n_labels, logging_policy = KINDS[kind]
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_samples, 5))
    of_reward, of_policy, of_log, bent = random.normal(size=(4, 5, n_labels)) / 5**0.5
    expected = 1 / (1 + np.exp(-X @ of_reward - np.abs(X @ bent)))
    expected *= 0.03 if kind == "rare clicks" else 1
    policy = tempered(X @ (of_reward + of_policy), 0.4)
    logging = logging_policy(X @ (of_reward + of_log), policy, random)
    actions, rows = draw(logging, random), np.arange(n_samples)
    rewards = (random.random_sample(n_samples) < expected[rows, actions]).astype(float)
    if kind == "amounts":
        rewards *= random.lognormal(size=n_samples)
        expected = expected * np.exp(0.5)
    log = Exploration(actions, logging[rows, actions])
    return X, log, rewards, policy, (policy * expected).sum(axis=1).mean()


def thresholds(quick):
    n_runs, n_samples, summary, details = 5 if quick else 200, 1000, [], []
    pairs = {method: (("dr", np.inf), (method, "auto")) for method in ("switch-dr", "dr-os")}
    pairs["clipped"] = (("ips", np.inf), ("clipped", "auto"))
    pairs["sndr"] = (("dr", np.inf), ("sndr", np.inf))
    estimates = list(dict.fromkeys(each for pair in pairs.values() for each in pair))
    for kind in KINDS:
        errors, covers, largest = {}, {}, []
        for run in range(n_runs):
            X, log, rewards, policy, truth = log_of_kind(kind, n_samples, run)
            for method, threshold in estimates:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OffPolicyWarning)
                    found = policy_value(
                        rewards, log, policy, method=method, threshold=threshold,
                        reward_model=None if method in ("ips", "clipped") else Ridge(), X=X,
                    )  # fmt: skip
                errors.setdefault((method, threshold), []).append((found.value - truth) ** 2)
                covers.setdefault((method, threshold), []).append(found.low <= truth <= found.high)
            largest.append(found.max_weight)
        row = [kind, f"{np.median(largest):.0f}"]
        for before, after in pairs.values():
            old, new = np.array(errors[before]), np.array(errors[after])
            ratio = (new.mean() / old.mean()) ** 0.5
            # By the delta method.
            spread = (new / new.mean() - old / old.mean()).std(ddof=1) / n_runs**0.5 / 2 * ratio
            row.append(f"{ratio:.2f} +- {spread:.2f}")
        summary.append(row)
        details.append(
            [kind]
            + [
                f"{np.mean(errors[each]) ** 0.5:.4f} ({np.mean(covers[each]):.2f})"
                for each in estimates
            ]
        )
    columns = ["kind of log", "largest weight", *pairs]
    print_table(
        f"6. RMSE relative to that of dr, or of ips for clipped; {n_runs} runs", columns, summary
    )
    names = [
        method if threshold == np.inf else f"{method}, auto" for method, threshold in estimates
    ]
    title = "   RMSE of each, and the share of intervals that contain the value (.95 asked)"
    print_table(title, ["kind of log", *names], details)


PARTS = {1: open_bandit, 2: digits, 3: synthetic, 4: learning, 5: speed, 6: thresholds}


if __name__ == "__main__":
    run_parts(PARTS, __doc__)
