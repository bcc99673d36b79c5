"""Tasks of Predtron: sorting and tables give the same results as enumeration.

A problem is a list of all predictions, each with its representation and its loss. The loss and the
direction of a task follow from that list by the definitions of the paper.
"""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from sklrank.linear_model._predtron._ranking_task import MAX_STATES, RankingTask
from sklrank.linear_model._predtron._tasks import ClassTask, SubsetTask

from sklrank.linear_model._predtron._losses import (
    SUBSET_LOSSES,
    SubsetLosses,
    class_codes,
    class_costs,
    without_basis,
)
from sklrank.linear_model._predtron._ranking_losses import (
    REPRESENTATIONS,
    discounts_of,
    gains_of,
    make_ranking_loss,
    position_values,
)

ROUNDING = 1e-9


def loss_range(losses):
    """The least loss that is not zero, infinite if all are, and the greatest."""
    return losses[losses > 0].min(initial=np.inf), losses.max()


def check_round(task, i, scores, representations, losses):
    """Check the task's loss and direction against the definitions; return the loss."""
    loss, direction = task.evaluate(i, scores)
    assert_allclose(np.linalg.norm(representations, axis=1), 1)
    similarities = representations @ scores
    ties = similarities > similarities.max() - ROUNDING
    worst_of_ties = losses[ties].max()
    assert_allclose(loss, worst_of_ties, rtol=1e-9, atol=1e-12)
    assert (loss == 0) == (worst_of_ties == 0)
    if loss == 0:
        assert not direction.any()
        return loss
    no_loss = losses == 0
    correct = np.flatnonzero(no_loss & (similarities > similarities[no_loss].max() - ROUNDING))
    if task.loss_driven:
        augmented = np.flatnonzero(ties & (losses > worst_of_ties - ROUNDING))
    else:
        values = losses + similarities
        augmented = np.flatnonzero(values > values.max() - ROUNDING)
    directions = representations[augmented][:, np.newaxis] - representations[correct][np.newaxis]
    errors = np.abs(directions - direction).max(axis=2).min(axis=1)
    assert errors.min() < ROUNDING
    if task.loss_driven:
        # Lemma 12: the surrogate, 1 + direction . scores, is at least 1.
        assert direction @ scores > -ROUNDING
    else:
        # Lemma 9: the surrogate is at least the loss.
        assert losses[augmented[errors.argmin()]] + direction @ scores > loss - ROUNDING
    # Lemma 10: the surrogate is self-bounding.
    assert direction @ direction <= 4 / loss_range(losses)[0] * loss + ROUNDING
    return loss


def draw_scores(random, n, kind):
    """Draw scores with many exact ties, with none, or so small that only losses count."""
    if kind == "tied":
        return random.randint(-1, 2, n).astype(float)
    return random.normal(size=n) * {"small": 0.01, "free": 1.0, "large": 30.0}[kind]


KINDS = ["tied", "small", "free", "large"]

CLASS_PROBLEMS = {
    "perceptron": (2, "zero_one", None),
    "uneven": (2, [1.0, 0.2], None),
    "multiclass": (4, "zero_one", None),
    "ordinal": (5, "absolute", None),
    "asymmetric": (3, [[0, 1, 2], [0.5, 0, 0], [3, 1, 0]], None),
    "reject": (2, "zero_one", 0.3),
    "reject, ordinal": (4, "absolute", [0.0, 0.1, 0.5, 1.5]),
}


def class_task(n_classes, loss, reject_cost, labels, loss_driven):
    """Return the task, and the costs and vectors of all predictions."""
    costs = class_costs(loss, range(n_classes), None, reject_cost)
    vectors = np.array([[-1.0], [1.0]])
    if reject_cost is not None:
        vectors = np.vstack([np.eye(n_classes), np.full(n_classes, 1 / np.sqrt(n_classes))])
    elif n_classes > 2:
        vectors = np.eye(n_classes)
    assert_allclose(
        class_codes("one_hot", range(n_classes), rejects=reject_cost is not None), vectors
    )
    return ClassTask(costs, without_basis(vectors), labels, loss_driven), costs, vectors


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("problem", CLASS_PROBLEMS)
def test_classes_by_enumeration(problem, kind, loss_driven):
    """Binary, multiclass and ordinal classes, also with more than one prediction without loss."""
    random = np.random.RandomState(0)
    labels = random.randint(CLASS_PROBLEMS[problem][0], size=25)
    task, costs, representations = class_task(*CLASS_PROBLEMS[problem], labels, loss_driven)
    assert (task.n_rounds, task.loss_driven) == (25, loss_driven)
    losses = [
        check_round(
            task, i, draw_scores(random, representations.shape[1], kind), representations, costs[y]
        )
        for i, y in enumerate(labels)
    ]
    assert np.count_nonzero(losses) > 0


def test_perceptron_learns_from_zero():
    """Ties are broken against the label, so zero weights make a mistake and take a step."""
    task, _, _ = class_task(2, "zero_one", None, np.array([0, 1]), loss_driven=False)
    for i, sign in enumerate([1, -1]):
        loss, direction = task.evaluate(i, [0.0])
        assert loss == 1
        # Against 2 rep(y): the paper's margin is twice the classic one.
        assert_array_equal(direction, [2 * sign])


def uneven_count(tp, fp, fn, tn):
    """Loss that is no sum over labels, with sets other than the true one that have no loss."""
    return np.maximum(fp - 1, 0) ** 2 / (1 + tp) + fn * (1 + (fp > 0)) + (tn == 0) * fp * 0.3


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", [*SUBSET_LOSSES, uneven_count])
def test_subsets_by_enumeration(loss, kind, loss_driven):
    """All 2^m sets, with none, some and all labels relevant."""
    random = np.random.RandomState(1)
    function = loss if callable(loss) else SUBSET_LOSSES[loss]
    for m in (1, 2, 6):
        Y = random.rand(8, m) < random.rand(8, 1)
        Y[0], Y[1] = False, True
        indptr = np.append(0, np.cumsum(Y.sum(axis=1)))
        tables = SubsetLosses(loss, m)
        tables.cover(Y.sum(axis=1))
        task = SubsetTask(
            indptr, np.nonzero(Y)[1].copy(), m, tables.offsets, tables.values, loss_driven
        )
        sets = np.array(list(product([False, True], repeat=m)))
        for i, y in enumerate(Y):
            counts = [
                np.sum(a & b, axis=1) for a, b in ((sets, y), (sets, ~y), (~sets, y), (~sets, ~y))
            ]
            losses = np.asarray(function(*counts), dtype=float)
            scores = draw_scores(random, m, kind)
            check_round(task, i, scores, (2.0 * sets - 1) / np.sqrt(m), losses)


class SteppedLoss:
    """A user's loss: gains are the relevance; discounts have two blocks and stay positive."""

    def gains(self, relevance):
        return relevance

    def discounts(self, n_positions):
        return np.array([3.0, 3.0, 1.0, 1.0, 1.0, 0.5])[:n_positions]


RANKING_PROBLEMS = {
    "ndcg": make_ranking_loss("ndcg"),
    "ndcg@1": make_ranking_loss("ndcg", 1),
    "ndcg@3": make_ranking_loss("ndcg", 3),
    "precision@1": make_ranking_loss("precision", 1),
    "precision@3": make_ranking_loss("precision", 3),
    "stepped": SteppedLoss(),
}


def ranking_losses(gains, discounts, positions):
    """Losses of all rankings; rounding errors of the best ones are set to zero."""
    totals = discounts[positions] @ gains
    differences = totals.max() - totals
    differences[differences < 1e-12] = 0.0
    return differences / max(totals.max(), 1e-12)


@pytest.mark.parametrize("max_states", [MAX_STATES, 0.0], ids=["table", "solver"])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("loss", RANKING_PROBLEMS)
def test_rankings_by_enumeration(loss, representation, max_states):
    """All permutations, for lists of several lengths in one task and for both updates."""
    random = np.random.RandomState(2)
    loss = RANKING_PROBLEMS[loss]
    sizes = np.repeat([6, 5, 2, 1, 0, 3], [1, 4, 4, 1, 1, 5])
    starts = np.append(0, np.cumsum(sizes))
    relevance = random.randint(4, size=starts[-1]).astype(float)
    relevance[starts[3] : starts[4]] = 0
    gains, discounts = gains_of(loss, relevance, starts), discounts_of(loss, 6)
    f = position_values(representation, 6)
    tasks = [RankingTask(gains, starts, discounts, f, d, max_states) for d in (False, True)]
    n_mistakes = 0
    for i, m in enumerate(sizes):
        positions = np.array(list(permutations(range(m))), dtype=int)
        losses = ranking_losses(gains[starts[i] : starts[i + 1]], discounts, positions)
        if m == 0 or losses.max() == 0:
            for task in tasks:
                assert task.evaluate(i, np.zeros(m))[0] == 0
            continue
        representations = f[positions] / np.linalg.norm(f[:m])
        for kind in KINDS:
            scores = draw_scores(random, m, kind)
            for task in tasks:
                n_mistakes += check_round(task, i, scores, representations, losses) > 0
    assert n_mistakes > 10


@pytest.mark.parametrize("loss", RANKING_PROBLEMS)
def test_correct_rankings_have_exactly_no_loss(loss):
    """Rounding errors make no mistakes, in whatever order items of equal discount are summed."""
    random = np.random.RandomState(3)
    loss = RANKING_PROBLEMS[loss]
    for highest in (3, 30, 1000):
        relevance = np.sort(highest * random.rand(6))[::-1]
        gains, discounts = gains_of(loss, relevance, np.array([0, 6])), discounts_of(loss, 6)
        shuffled = gains[list(permutations(range(6)))]
        # A ranking is correct if every block of equal discounts has its ideal gains.
        is_correct = np.full(720, True)
        for block in (discounts == discount for discount in set(discounts) - {0.0}):
            is_correct &= np.all(np.sort(shuffled[:, block]) == np.sort(gains[block]), axis=1)
        f = position_values("linear", 6)
        task = RankingTask(shuffled.ravel(), np.arange(721) * 6, discounts, f)
        costs = np.array([task.evaluate(i, np.arange(6.0, 0, -1))[0] for i in range(720)])
        assert np.all(costs >= 0)
        assert is_correct[0]
        assert not costs[is_correct].any()


def test_rounding_makes_no_negative_loss():
    """If discounts differ by rounding errors only, sums of differences may be negative."""
    random = np.random.RandomState(5)
    discounts = 0.7 * (1 - np.arange(6) * 2.0**-54)
    gains = np.concatenate([random.rand(6)[list(order)] for order in permutations(range(6))])
    task = RankingTask(gains, np.arange(721) * 6, discounts, position_values("linear", 6))
    losses = [task.evaluate(i, np.arange(6.0, 0, -1))[0] for i in range(720)]
    assert 0 <= min(losses) < max(losses) < 1e-14


@pytest.mark.parametrize("grades", [2, 3, 5])
@pytest.mark.parametrize("m", [20, 60])
def test_long_rankings_match_the_solver(m, grades):
    """The ranking of the table has the value of the optimal assignment (Lemma 3)."""
    random = np.random.RandomState(4)
    loss = make_ranking_loss("ndcg")
    starts, discounts, f = np.array([0, m]), discounts_of(loss, m), position_values("power", m)
    for scale in (0.01, 0.3, 10):
        scores = random.normal(size=m) * scale
        relevance = np.floor(grades * random.rand(m) ** 2)
        gains = gains_of(loss, relevance, starts)
        best = -np.sort(-gains) @ discounts
        values = np.outer(scores, f) / np.linalg.norm(f) - np.outer(gains, discounts) / best
        best_value = values[linear_sum_assignment(-values)].sum()
        for max_states in (MAX_STATES, 0.0):
            task = RankingTask(gains, starts, discounts, f, False, max_states)
            _, direction = task.evaluate(0, scores)
            # The positions follow from the direction and the correct ranking, which is sorted by
            # gain, then score.
            correct = np.empty(m)
            correct[np.lexsort((-scores, -gains))] = f / np.linalg.norm(f)
            augmented = direction + correct
            positions = np.rint((-augmented * np.linalg.norm(f)) ** (1 / 1.1)).astype(int)
            assert_array_equal(np.sort(positions), np.arange(1, m + 1))
            assert_allclose(values[np.arange(m), positions - 1].sum(), best_value, rtol=1e-9)


def test_no_loss():
    """Equal gains, no relevant items, no counted positions: no ranking is a mistake."""
    discounts, f, starts = np.array([3.0, 2, 1]), position_values("linear", 3), np.array([0, 3])
    for gains in (np.ones(3), np.zeros(3)):
        assert RankingTask(gains, starts, discounts, f).evaluate(0, [1, 3, 2])[0] == 0
    task = RankingTask(np.array([1.0, 0, 0]), starts, np.zeros(3), f)
    assert task.evaluate(0, [1, 3, 2])[0] == 0


def tasks_of_six_rounds():
    """Return, for each kind, a function that makes a task of some rounds, and their n_scores."""
    random = np.random.RandomState(0)
    costs, classes = class_costs("absolute", range(4)), random.randint(4, size=6)
    Y = random.rand(6, 5) < 0.5
    tables = SubsetLosses("hamming", 5)
    tables.cover(Y.sum(axis=1))
    sizes = np.array([3, 0, 20, 1, 7, 15])
    starts = np.append(0, np.cumsum(sizes))
    gains = gains_of(make_ranking_loss("ndcg"), random.randint(4, size=starts[-1]), starts)
    shared = discounts_of(make_ranking_loss("ndcg"), 20), position_values("power", 20)

    def class_task(driven, rounds=slice(None)):
        return ClassTask(costs, np.empty((0, 4)), classes[rounds], driven)

    def subset_task(driven, rounds=slice(None)):
        chosen = Y[rounds]
        indptr, labels = np.append(0, np.cumsum(chosen.sum(axis=1))), np.nonzero(chosen)[1].copy()
        return SubsetTask(indptr, labels, 5, tables.offsets, tables.values, driven)

    def ranking_task(driven, rounds=slice(None)):
        firsts, lasts = starts[:-1][rounds], starts[1:][rounds]
        items = [np.arange(first, last) for first, last in zip(firsts, lasts)]
        chosen_starts = np.append(0, np.cumsum(sizes[rounds]))
        return RankingTask(gains[np.concatenate(items)], chosen_starts, *shared, driven)

    return {
        "classes": (class_task, np.full(6, 4)),
        "subsets": (subset_task, np.full(6, 5)),
        "rankings": (ranking_task, sizes),
    }


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", ["classes", "subsets", "rankings"])
def test_chosen_rounds_are_those_of_a_task_of_their_own(kind, loss_driven):
    """In any order, more than once, by a slice, and again after another choice."""
    random = np.random.RandomState(1)
    make, n_scores = tasks_of_six_rounds()[kind]
    task = make(loss_driven)
    for rounds in ([4, 2, 2, 0], slice(2, 5), [], [1, 5, 3]):
        task.choose(rounds)
        chosen = np.arange(6)[rounds] if isinstance(rounds, slice) else rounds
        assert task.n_rounds == len(chosen)
        assert task.n_all == 6
        for i, which in enumerate(chosen):
            alone = make(loss_driven, slice(which, which + 1))
            scores = random.normal(size=n_scores[which])
            loss, direction = task.evaluate(i, scores)
            expected_loss, expected = alone.evaluate(0, scores)
            assert loss == expected_loss
            assert_array_equal(direction, expected)


@pytest.mark.parametrize("rounds", [[6], [-1], [[0]]])
@pytest.mark.parametrize("kind", ["classes", "subsets", "rankings"])
def test_missing_rounds_cannot_be_chosen(kind, rounds):
    """The loops would read out of bounds."""
    task = tasks_of_six_rounds()[kind][0](False)
    with pytest.raises(ValueError, match="rounds must be numbers from 0 to 5"):
        task.choose(rounds)


def test_tasks_refuse_what_would_lead_out_of_bounds():
    """Each task checks the shapes and indices that its loops use."""
    costs = class_costs("zero_one", range(3))
    basis = np.empty((0, 3))
    for bad in (costs[:, :2].copy(), np.column_stack([costs, costs[:, 0]])):
        with pytest.raises(ValueError, match="costs|codes"):
            ClassTask(bad, basis, np.array([0]))
    with pytest.raises(ValueError, match="codes"):
        ClassTask(costs, np.ones((1, 3)), np.array([0]))
    with pytest.raises(ValueError, match="labels"):
        ClassTask(costs, basis, np.array([3]))
    tables = SubsetLosses("hamming", 3)
    tables.cover([1])
    with pytest.raises(ValueError, match="table of 2 relevant"):
        SubsetTask(np.array([0, 2]), np.array([0, 1]), 3, tables.offsets, tables.values)
    with pytest.raises(ValueError, match="in order"):
        SubsetTask(np.array([0, 2]), np.array([1, 1]), 3, tables.offsets, tables.values)
    with pytest.raises(ValueError, match="offsets"):
        SubsetTask(np.array([0, 1]), np.array([1]), 2, tables.offsets, tables.values)
    f = position_values("linear", 3)
    for starts in ([0, 2], [1, 3], [0, 4, 3]):
        with pytest.raises(ValueError, match="starts"):
            RankingTask(np.ones(3), np.array(starts), -f, f)
    with pytest.raises(ValueError, match="discounts"):
        RankingTask(np.ones(3), np.array([0, 3]), np.ones(2), f[:2])
    task = ClassTask(costs, basis, np.array([0]))
    with pytest.raises(ValueError, match="scores"):
        task.evaluate(0, np.zeros(2))
    with pytest.raises(ValueError, match="i must be"):
        task.evaluate(1, np.zeros(3))


def test_solver_refuses_infinite_scores():
    """An error in the middle of a compiled round is raised."""
    f = position_values("linear", 3)
    task = RankingTask(np.array([0.0, 1, 2]), np.array([0, 3]), np.array([3.0, 2, 1]), f, False, 0)
    with pytest.raises(ValueError, match="infeasible"):
        task.evaluate(0, [np.inf, 0, 0])
