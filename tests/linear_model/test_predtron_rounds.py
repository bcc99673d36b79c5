"""Predtrons against the algorithms as printed, with all predictions enumerated in every round.

The paper does not define how ties are broken. The slow statement breaks ties between different
losses as the tasks do. For ties between equal losses it computes all weights that the algorithm
allows, and the weights of the model must be among them.
"""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import Perceptron
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.preprocessing import scale
from sklrank.linear_model._mirror._maps import EntropicMap, EuclideanMap
from sklrank.linear_model._predtron._rounds import PredtronRounds, make_sums

from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker, PredtronQueryRanker
from sklrank.linear_model._predtron._losses import class_codes

ROUNDING = 1e-9
N_ROUNDS, N_FEATURES = 12, 30

# -- Mirror maps, by their definitions.


def exponent(p):
    return max(2.0, np.log(p))


def norms(theta, kind):
    """For each entry of `theta`, the number of the l_q norm that it belongs to."""
    return np.abs(theta) if kind == "p-norm" else np.linalg.norm(theta, axis=0)


def weights_of(theta, kind):
    if kind == "entropy":
        return np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
    if kind in ("euclidean", "positive") or not theta.any():
        return theta
    if kind == "schatten":
        left, values, right = np.linalg.svd(theta, full_matrices=False)
        return left * weights_of(values[np.newaxis], "p-norm") @ right
    parts = norms(theta, kind)
    q = exponent(parts.size)
    return theta * (parts / np.linalg.norm(parts.ravel(), q)) ** (q - 2)


# -- Algorithms 1, 2 and 3.


class SlowPredtron:
    """Slow statement of the algorithms; `x` is a row, or the matrix of a query's documents."""

    def __init__(self, model, n_scores, width):
        self.theta = np.zeros((n_scores, width))
        self.map = model.mirror_map
        self.loss_driven = model.update == "loss-driven"
        self.learning_rate = model.learning_rate
        self.history, self.losses = [], []

    @property
    def weights(self):
        return weights_of(self.theta, self.map)

    def play(self, x, step_row, predictions, losses, found):
        """Play a round; `step_row` is the row itself, or its unit vector under a kernel."""
        scores = self.weights @ x if x.ndim == 1 else x @ self.weights[0]
        similarities = predictions @ scores
        ties = similarities > similarities.max() - ROUNDING
        loss = losses[ties].max()
        self.losses.append(loss)
        size = self.learning_rate * (loss if self.loss_driven else 1.0)
        if loss > 0:
            no_loss = losses == 0
            best = similarities[no_loss].max()
            correct = predictions[no_loss & (similarities > best - ROUNDING)]
            if self.loss_driven:
                augmented = predictions[ties & (losses > loss - ROUNDING)]
            else:
                values = losses + similarities
                augmented = predictions[values > values.max() - ROUNDING]
            directions = (augmented[:, np.newaxis] - correct[np.newaxis]).reshape(
                -1, predictions.shape[1]
            )
            self.step(np.unique(directions, axis=0), size, step_row, found)
        self.history.append(self.weights)

    def step(self, directions, size, step_row, found):
        """Take the step of these directions that is nearest to the weights found."""
        candidates = []
        for d in directions:
            step = np.outer(d, step_row) if step_row.ndim == 1 else (d @ step_row)[np.newaxis]
            theta = self.theta - size * step
            theta = np.maximum(theta, 0) if self.map == "positive" else theta
            error = np.abs(weights_of(theta, self.map) - found).max()
            candidates.append((error, theta))
        _, self.theta = min(candidates, key=lambda candidate: candidate[0])


# -- Problems: all predictions of each round, with their losses.


def own_costs(true, predicted):
    return abs(true - predicted) ** 1.5 * (2 if predicted > true else 1)


COSTS = {
    "zero_one": lambda m: 1.0 - np.eye(m),
    "absolute": lambda m: np.abs(np.subtract.outer(np.arange(m), np.arange(m))) * 1.0,
    "vector": lambda m: (1.0 - np.eye(m)) * np.linspace(1, 0.3, m)[:, np.newaxis],
    "matrix": lambda m: np.triu(np.full((m, m), 0.4), 1) + np.tril(np.ones((m, m)), -1),
    "callable": lambda m: np.array([[own_costs(i, j) for j in range(m)] for i in range(m)]) * 1.0,
}
LOSS_ARGUMENTS = {
    "vector": lambda m: np.linspace(1, 0.3, m),
    "matrix": COSTS["matrix"],
    "callable": lambda m: own_costs,
}


def class_rounds(y, m, loss):
    costs = COSTS[loss](m)
    basis = np.array([[-1.0], [1.0]]) if m == 2 else np.eye(m)
    return [(basis, costs[label]) for label in y]


def with_rejection(vectors, costs, reject_cost):
    """Section 3: REJECT is the last prediction."""
    total = vectors.sum(axis=0)
    rejection = np.broadcast_to(reject_cost, len(costs))
    return np.vstack([vectors, total / np.linalg.norm(total)]), np.column_stack([costs, rejection])


def center_of_simplex(m):
    """Unit vectors from the center of a simplex to its corners, in the space of all classes."""
    vectors = np.eye(m) - 1 / m
    return vectors / np.linalg.norm(vectors[0])


def own_counts(tp, fp, fn, tn):
    return 2.0 * fn + np.maximum(fp - 1, 0) / (1 + tp)


COUNTS = {
    "zero_one": lambda tp, fp, fn, tn: 1.0 * (fp + fn > 0),
    "hamming": lambda tp, fp, fn, tn: 1.0 * (fp + fn),
    "error_set_size": lambda tp, fp, fn, tn: 1.0 * fp * fn,
    own_counts: own_counts,
}


def subset_rounds(Y, loss):
    m = Y.shape[1]
    sets = np.array(list(product([0, 1], repeat=m)))
    rounds = []
    for y in Y:
        losses = COUNTS[loss](sets @ y, sets @ (1 - y), (1 - sets) @ y, (1 - sets) @ (1 - y))
        rounds.append(((2.0 * sets - 1) / np.sqrt(m), losses))
    return rounds


class ReciprocalGain:
    """A user's loss: linear gains, and discounts 1/j that are constant from position 3 on."""

    def gains(self, relevance):
        return relevance

    def discounts(self, n_positions):
        return 1.0 / np.minimum(np.arange(1, n_positions + 1), 3)


def one_minus_share(totals):
    losses = (totals.max() - totals) / max(totals.max(), 1e-12)
    losses[losses < 1e-12] = 0.0
    return losses


# The parameters of each loss, and the losses of all rankings of a list, which are functions of the
# relevance `(n_items,)` and of the positions of the items, floats `(n_rankings, n_items)`.
RANKING_LOSSES = {
    "ndcg": ({}, lambda y, j: one_minus_share((1 / np.log2(1 + j)) @ (2.0**y - 1))),
    "ndcg@2": ({"k": 2}, lambda y, j: one_minus_share(((j <= 2) / np.log2(1 + j)) @ (2.0**y - 1))),
    "precision@2": (
        {"loss": "precision", "k": 2},
        lambda y, j: one_minus_share(1.0 * (j <= 2) @ (y > 0)),
    ),
    "own": (
        {"loss": ReciprocalGain()},
        lambda y, j: one_minus_share((1 / np.minimum(j, 3)) @ y),
    ),
}
POSITION_VALUES = {
    "power": lambda j: -(j**1.1),
    "linear": lambda j: -j,
    "reciprocal": lambda j: 1 / j,
}


def ranking_rounds(relevance, loss, representation):
    _, losses_of = RANKING_LOSSES[loss]
    rounds = []
    for y in relevance:
        m = len(y)
        positions = np.array(list(permutations(range(1, m + 1))), dtype=float)
        losses = losses_of(y, positions)
        f = POSITION_VALUES[representation]
        predictions = f(positions) / np.linalg.norm(f(np.arange(1.0, m + 1)))
        rounds.append((predictions, losses))
    return rounds


# -- Samples and queries, one round at a time.


def rows(seed):
    return np.random.RandomState(seed).normal(size=(N_ROUNDS, N_FEATURES))


def queries(seed):
    """Documents, their relevance and their queries, which have two to four documents."""
    random = np.random.RandomState(seed)
    qid = np.repeat(np.arange(N_ROUNDS), random.randint(2, 5, N_ROUNDS))
    return random.normal(size=(len(qid), N_FEATURES)), random.randint(4, size=len(qid)), qid


def all_weights(model):
    """Weights of the features and the constant."""
    coef = np.atleast_2d(model.coef_)
    if not getattr(model, "fit_intercept", False):
        return coef
    return np.column_stack([coef, model.intercept_])


def check_rows(model, X, y, rounds, atol=1e-10):
    """Check the weights after each round, their mean, mistakes and losses; all rows at once too."""
    whole = np.column_stack([X, np.ones(len(X))]) if model.fit_intercept else X
    n_scores = rounds[0][0].shape[1]
    slow = SlowPredtron(model, n_scores, whole.shape[1])
    model = clone(model)
    classes = None if np.ndim(y) == 2 else np.unique(y)
    for i, (x, (predictions, losses)) in enumerate(zip(whole, rounds)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes)
        slow.play(x, x, predictions, losses, all_weights(model))
        assert_allclose(all_weights(model), slow.weights, atol=atol)
    check_fit(model, slow, lambda model: model.fit(X, y), atol)


def check_queries(model, X, y, qid, rounds):
    slow = SlowPredtron(model, 1, X.shape[1])
    model = clone(model)
    for query, (predictions, losses) in enumerate(rounds):
        rows = qid == query
        model.partial_fit(X[rows], y[rows], qid[rows])
        slow.play(X[rows], X[rows], predictions, losses, all_weights(model))
        assert_allclose(all_weights(model), slow.weights, atol=1e-10)
    check_fit(model, slow, lambda model: model.fit(X, y, qid))


def check_fit(model, slow, fit, atol=1e-10):
    at_once, mean = fit(clone(model)), fit(clone(model).set_params(average=True))
    assert_array_equal(all_weights(at_once), all_weights(model))
    assert_allclose(all_weights(mean), np.mean(slow.history, axis=0), atol=atol)
    for fitted in (model, at_once, mean):
        assert fitted.n_rounds_ == len(slow.losses)
        assert fitted.n_mistakes_ == np.count_nonzero(slow.losses)
        assert_allclose(fitted.mean_loss_, np.mean(slow.losses))
    assert model.n_mistakes_ > 0


MAPS = ["euclidean", "p-norm", "group-norm"]
UPDATES = ["loss-augmented", "loss-driven"]
RATES = [0.3, 1.7]


def labels(m, seed):
    """Class labels, with every class at least once."""
    return np.random.RandomState(seed).permutation(np.arange(N_ROUNDS) % m)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mirror_map", [*MAPS, "schatten"])
def test_many_classes(mirror_map, rate):
    """With 12 classes the exponent of the Schatten norm is greater than 2."""
    assert exponent(12) > 2.4
    model = PredtronClassifier(
        loss="absolute", mirror_map=mirror_map, learning_rate=rate, shuffle=False
    )
    y = labels(12, seed=0)
    # Singular values near zero are accurate to the square root of the rounding error.
    check_rows(model, rows(12), y, class_rounds(y, 12, "absolute"), atol=1e-7)


@pytest.mark.filterwarnings("ignore:loss has no effect")
@pytest.mark.parametrize("mirror_map", MAPS)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("loss", COSTS)
def test_classes(loss, update, mirror_map):
    """Two and four classes, with two rates; each with an intercept for one of the updates."""
    for m, rate, update_with_intercept in zip([2, 4], RATES, UPDATES):
        model = PredtronClassifier(
            loss=LOSS_ARGUMENTS.get(loss, lambda m: loss)(m),
            update=update,
            mirror_map=mirror_map,
            learning_rate=rate,
            fit_intercept=update == update_with_intercept,
            shuffle=False,
        )
        y = labels(m, seed=m)
        check_rows(model, rows(m), y, class_rounds(y, m, loss))


@pytest.mark.parametrize("mirror_map", [*MAPS, "schatten", "positive", "entropy"])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("m", [2, 9])
def test_rejections(m, update, mirror_map):
    """REJECT is a prediction with its own losses and vector, in training and in prediction."""
    n_rejected = 0
    for seed, (loss, cost) in enumerate([("zero_one", 0.3), ("absolute", np.linspace(0, 0.7, m))]):
        model = PredtronClassifier(
            loss=loss,
            update=update,
            mirror_map=mirror_map,
            reject_cost=cost,
            fit_intercept=False,
            shuffle=False,
        )
        X, y = np.abs(rows(seed)), labels(m, seed)
        predictions, costs = with_rejection(np.eye(m), COSTS[loss](m), cost)
        rounds = [(predictions, costs[label]) for label in y]
        check_rows(model, X, y, rounds, atol=1e-8)
        model.fit(X, y)
        similarities = X @ model.coef_.T @ predictions.T
        found, best = model.predict(X), similarities.max(axis=1)
        index = np.where(found == -1, m, found)
        assert_allclose(similarities[np.arange(N_ROUNDS), index], best, atol=1e-9)
        n_rejected += np.count_nonzero(found == -1)
        lost = costs[y, index]
        assert_allclose(model.score(X, y), 1 - lost.mean())
        assert_allclose(
            np.atleast_2d(model.decision_function(X).T).T,
            X @ (np.diff(model.coef_, axis=0) if m == 2 else model.coef_).T,
            atol=1e-12,
        )
        # Between classes, steps with the Euclidean map keep the sum of the scores at zero.
        if mirror_map == "euclidean" and loss == "zero_one":
            assert n_rejected == 0
    assert n_rejected > 0 or mirror_map not in ("positive", "entropy")


REPRESENTATIONS = {
    "simplex": ("simplex", center_of_simplex),
    "ordinal": ("ordinal", lambda m: np.sign(np.arange(m)[:, None] - np.arange(m - 1) - 0.5)),
    "array": (np.random.RandomState(0).normal(size=(4, 3)), None),
    "callable": (
        lambda classes: np.vander(classes + 1.0, 3),
        lambda m: np.vander(1.0 + np.arange(m), 3),
    ),
}


@pytest.mark.parametrize("mirror_map", ["euclidean", "positive", "entropy"])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_representations_of_classes(name, update, mirror_map):
    """The steps and predictions are those of the algorithm with these vectors."""
    given, vectors_of = REPRESENTATIONS[name]
    y = labels(4, seed=3)
    model = PredtronClassifier(
        representation=given, loss="absolute", update=update, mirror_map=mirror_map, shuffle=False
    )
    vectors = given if vectors_of is None else vectors_of(4)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    if name == "simplex":
        # Its vectors are determined up to a rotation, which these inner products determine.
        model.fit(rows(3), y)
        own = class_codes("simplex", range(4))
        assert own.shape == (4, 3)
        assert_allclose(own @ own.T, vectors @ vectors.T, atol=1e-12)
        vectors = own
    costs = COSTS["absolute"](4)
    check_rows(model, rows(3), y, [(vectors, costs[label]) for label in y])
    model.fit(rows(3), y)
    similarities = (rows(3) @ model.coef_.T + model.intercept_) @ vectors.T
    assert_allclose(model.decision_function(rows(3)), similarities, atol=1e-10)
    assert_array_equal(model.predict(rows(3)), similarities.argmax(axis=1))


@pytest.mark.parametrize("update", UPDATES)
def test_predictions_that_are_no_classes(update):
    """Four classes, three predictions: each class has a correct one, and two classes share one."""
    y, vectors = labels(4, seed=4), np.array([[3.0, 0.2], [0.1, 1], [-1, -1.3]])
    costs = np.array([[0.0, 1, 2], [0, 1, 2], [1, 0, 1], [2, 1, 0]])
    model = PredtronClassifier(representation=vectors, loss=costs, update=update, shuffle=False)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    check_rows(model, rows(4), y, [(vectors, costs[label]) for label in y])
    predictions = model.fit(rows(4), y).predict(rows(4))
    assert_array_equal(model.predictions_, [0, 1, 2])
    assert_allclose(model.score(rows(4), y), 1 - costs[y, predictions].mean())
    by_function = clone(model).set_params(loss=lambda true, index: costs[true, index])
    assert_array_equal(by_function.fit(rows(4), y).coef_, model.coef_)
    rejecting = clone(model).set_params(reject_cost=0.1, mirror_map="positive")
    predictions, with_cost = with_rejection(vectors, costs, 0.1)
    check_rows(rejecting, rows(4), y, [(predictions, with_cost[label]) for label in y])


@pytest.mark.parametrize("mirror_map", MAPS)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("loss", COUNTS)
def test_label_sets(loss, update, mirror_map):
    """All 2^4 sets."""
    for rate, intercept in zip(RATES, [True, False]):
        Y = np.random.RandomState(1).randint(2, size=(N_ROUNDS, 4))
        model = PredtronClassifier(
            loss=loss,
            update=update,
            mirror_map=mirror_map,
            learning_rate=rate,
            fit_intercept=intercept,
            shuffle=False,
        )
        check_rows(model, rows(5), Y, subset_rounds(Y, loss))


# Each representation under one map for each update.
MAPS_OF_RANKINGS = pytest.mark.parametrize(
    ("update", "maps"), [("loss-augmented", MAPS), ("loss-driven", MAPS[::-1])]
)


@MAPS_OF_RANKINGS
@pytest.mark.parametrize("loss", RANKING_LOSSES)
def test_rankings_of_labels(loss, update, maps):
    """All 4! rankings."""
    relevance = np.random.RandomState(2).randint(4, size=(N_ROUNDS, 4))
    for representation, mirror_map, rate in zip(POSITION_VALUES, maps, RATES * 2):
        rounds = ranking_rounds(relevance, loss, representation)
        model = PredtronLabelRanker(
            representation=representation,
            update=update,
            mirror_map=mirror_map,
            learning_rate=rate,
            fit_intercept=rate < 1,
            **RANKING_LOSSES[loss][0],
            shuffle=False,
        )
        check_rows(model, rows(6), relevance, rounds)


@MAPS_OF_RANKINGS
@pytest.mark.parametrize("loss", RANKING_LOSSES)
def test_rankings_of_documents(loss, update, maps):
    """One vector of weights, and steps on sums of documents."""
    X, y, qid = queries(3)
    for representation, mirror_map, rate in zip(POSITION_VALUES, maps, RATES * 2):
        rounds = ranking_rounds([y[qid == q] for q in range(N_ROUNDS)], loss, representation)
        model = PredtronQueryRanker(
            representation=representation,
            update=update,
            mirror_map=mirror_map,
            learning_rate=rate,
            **RANKING_LOSSES[loss][0],
            shuffle=False,
        )
        check_queries(model, X, y, qid, rounds)


@pytest.mark.parametrize("mirror_map", [EntropicMap(3, 4), EuclideanMap.of(np.ones((3, 4)))])
def test_mean_of_no_rounds(mirror_map):
    """It is the initial weights."""
    rounds = PredtronRounds(mirror_map, 1.0, make_sums(mirror_map))
    assert_array_equal(rounds.weights, mirror_map.weights)


# -- Kernels: dual coefficients.


def own_kernel(A, B):
    return (A @ B.T / 10 + 1) ** 2


# Other kernel parameters have the same defaults as in scikit-learn.
KERNELS = {
    name: (name, lambda A, B, name=name: pairwise_kernels(A, B, metric=name))
    for name in ("linear", "rbf")
} | {"callable": (own_kernel, own_kernel)}

KERNEL_MODELS = {
    "classes": PredtronClassifier(loss="absolute", shuffle=False),
    "classes, bare": PredtronClassifier(fit_intercept=False, shuffle=False),
    "rejections": PredtronClassifier(
        reject_cost=[0.0, 0.3, 0.4], update="loss-driven", shuffle=False
    ),
    "sets": PredtronClassifier(loss="hamming", learning_rate=0.2, shuffle=False),
    "labels": PredtronLabelRanker(update="loss-driven", learning_rate=0.3, shuffle=False),
    "documents": PredtronQueryRanker(representation="linear", shuffle=False),
    "documents, k=2": PredtronQueryRanker(learning_rate=0.3, k=2, shuffle=False),
}


def rejection_rounds(y):
    predictions, costs = with_rejection(np.eye(3), COSTS["zero_one"](3), [0.0, 0.3, 0.4])
    return [(predictions, costs[label]) for label in y]


def kernel_problem(name):
    """Samples, targets, the rows of each round, and the rounds."""
    if name.startswith("documents"):
        X, y, qid = queries(4)
        rows_of = [np.flatnonzero(qid == q) for q in range(N_ROUNDS)]
        loss, representation = ("ndcg@2", "power") if "k=2" in name else ("ndcg", "linear")
        rounds = ranking_rounds([y[each] for each in rows_of], loss, representation)
        return X, (y, qid), rows_of, rounds
    X, y = rows(7), labels(3, seed=8)
    Y = np.random.RandomState(2).randint(4, size=(N_ROUNDS, 4))
    targets, rounds = {
        "classes": (y, class_rounds(y, 3, "absolute")),
        "classes, bare": (y, class_rounds(y, 3, "zero_one")),
        "rejections": (y, rejection_rounds(y)),
        "sets": (Y % 2, subset_rounds(Y % 2, "hamming")),
        "labels": (Y, ranking_rounds(Y, "ndcg", "power")),
    }[name]
    return X, (targets,), np.arange(N_ROUNDS)[:, np.newaxis], rounds


def all_duals(model, X):
    """Coefficients of all samples, zero for those that are no support vectors."""
    supports = [np.flatnonzero((X == vector).all(axis=1))[0] for vector in model.support_vectors_]
    duals = np.zeros((len(model.dual_coef_), len(X)))
    duals[:, supports] = model.dual_coef_
    return duals


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", KERNEL_MODELS)
def test_kernels(name, kernel):
    """Scores are sums of kernel values; steps change the coefficients of the round's rows."""
    X, targets, rows_of, rounds = kernel_problem(name)
    parameter, function = KERNELS[kernel]
    model = clone(KERNEL_MODELS[name]).set_params(kernel=parameter)
    values = function(X, X) + getattr(model, "fit_intercept", False)
    by_rows = not isinstance(model, PredtronQueryRanker)
    slow = SlowPredtron(model, rounds[0][0].shape[1] if by_rows else 1, len(X))
    for own, (predictions, losses) in zip(rows_of, rounds):
        extra = [range(3)] if isinstance(model, PredtronClassifier) and name != "sets" else []
        model.partial_fit(X[own], *[target[own] for target in targets], *extra)
        index, found = own[0] if by_rows else own, all_duals(model, X)
        step_row = np.eye(len(X))[index]
        slow.play(values[index], step_row, predictions, losses, found)
        assert_allclose(found, slow.theta, atol=1e-9)
        assert_allclose(np.ravel(model._scores(X)), np.ravel(values @ slow.theta.T), atol=1e-9)
    at_once = clone(model).fit(X, *targets)
    assert_allclose(all_duals(at_once, X), slow.theta, atol=1e-9)
    assert_allclose(at_once.mean_loss_, np.mean(slow.losses))
    assert at_once.n_mistakes_ == np.count_nonzero(slow.losses)
    mean = clone(model).set_params(average=True).fit(X, *targets)
    assert_allclose(all_duals(mean, X), np.mean(slow.history, axis=0), atol=1e-9)


@pytest.mark.parametrize("kernel", PAIRWISE_KERNEL_FUNCTIONS)
def test_every_kernel_of_scikit_learn(kernel):
    """Also those for nonnegative features only, with their default parameters."""
    X, y = np.abs(rows(7)), labels(3, seed=8)
    model = PredtronClassifier(kernel=kernel, shuffle=False).fit(X, y)
    values = pairwise_kernels(X, model.support_vectors_, metric=kernel) + 1
    assert_allclose(model.decision_function(X), values @ model.dual_coef_.T, atol=1e-9)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", KERNEL_MODELS)
def test_linear_kernel_is_the_linear_model(name, rate, average):
    """Two passes over more samples than one compiled call gets."""
    model = clone(KERNEL_MODELS[name]).set_params(learning_rate=rate, average=average, max_iter=2)
    X, targets, _, _ = kernel_problem(name)
    random = np.random.RandomState(0)
    X = np.vstack([X, random.normal(size=(250, N_FEATURES))])
    order = np.append(np.arange(len(targets[0])), random.randint(len(targets[0]), size=250))
    targets = [target[order] for target in targets]
    if name.startswith("documents"):
        targets[1] = np.append(np.arange(len(X) - 250), np.arange(250) // 3 + 1000)
    linear = clone(model).fit(X, *targets)
    dual = model.set_params(kernel="linear").fit(X, *targets)
    assert linear.n_mistakes_ == dual.n_mistakes_
    assert_allclose(dual._scores(X), linear._scores(X), rtol=1e-9, atol=1e-9)


# -- The perceptron.


@pytest.mark.parametrize(
    ("kind", "intercept"), [(np.asarray, True), (np.asarray, False), (sparse.csr_array, False)]
)
def test_perceptron_row_by_row(kind, intercept):
    """With half the rate: the paper's step is from -1 to 1, twice the classic one.

    (For sparse X, scikit-learn's intercept takes smaller steps.)
    """
    random = np.random.RandomState(0)
    X, y = random.normal(size=(25, 5)), random.randint(2, size=25)
    classic = Perceptron(shuffle=False, tol=None, fit_intercept=intercept)
    model = PredtronClassifier(learning_rate=0.5, fit_intercept=intercept, shuffle=False)
    for i in range(25):
        for learner in (classic, model):
            learner.partial_fit(kind(X[i : i + 1]), y[i : i + 1], [0, 1])
        assert_allclose(model.coef_, classic.coef_, atol=1e-12)
        assert_allclose(model.intercept_, classic.intercept_, atol=1e-12)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_perceptron_on_data(load):
    """Three passes, over even and odd digits in one of the two data sets."""
    X, y = load(return_X_y=True)
    X, y = scale(X), y % 2
    classic = Perceptron(shuffle=False, tol=None, max_iter=3).fit(X, y)
    model = PredtronClassifier(learning_rate=0.5, shuffle=False)
    for _ in range(3):
        model.partial_fit(X, y)
    assert_allclose(model.coef_, classic.coef_, atol=1e-9)
    assert_allclose(model.intercept_, classic.intercept_, atol=1e-9)
    assert_array_equal(model.predict(X), classic.predict(X))
