"""Tasks of Predtron: what they find by sorting and tables is what enumeration finds.

A problem is here a list of all predictions, each with its representation and its loss. Everything
that a task says of scores follows from that list by the definitions of the paper.
"""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from sklrank.linear_model._predtron._assignment import MAX_STATES
from sklrank.linear_model._predtron._class_task import ClassTask
from sklrank.linear_model._predtron._ranking_task import RankingTask
from sklrank.linear_model._predtron._subset_task import SubsetTask

from sklrank.linear_model._predtron._losses import (
    SUBSET_LOSSES,
    SubsetLosses,
    class_costs,
    extremes,
)
from sklrank.linear_model._predtron._ranking_losses import (
    discounts_of,
    gains_of,
    make_ranking_loss,
    ranking_extremes,
)
from sklrank.linear_model._predtron._representations import REPRESENTATIONS, position_values

ROUNDING = 1e-9


def check_round(task, i, scores, representations, losses):
    """The task's loss and direction against the definitions; returns the loss."""
    loss, direction = task.loss_and_direction_of_round(i, scores)
    assert_allclose(np.linalg.norm(representations, axis=1), 1)
    similarities = representations @ scores
    ties = similarities > similarities.max() - ROUNDING
    worst_of_ties = losses[ties].max()
    assert_allclose(loss, worst_of_ties, rtol=1e-9, atol=1e-12)
    assert (loss == 0) == (worst_of_ties == 0)
    if loss == 0:
        assert not direction.any()
        return loss
    right = losses == 0
    rights = np.flatnonzero(right & (similarities > similarities[right].max() - ROUNDING))
    if task.loss_driven:
        wrongs = np.flatnonzero(ties & (losses > worst_of_ties - ROUNDING))
    else:
        augmented = losses + similarities
        wrongs = np.flatnonzero(augmented > augmented.max() - ROUNDING)
    steps = representations[wrongs][:, np.newaxis] - representations[rights][np.newaxis]
    misfits = np.abs(steps - direction).max(axis=2).min(axis=1)
    assert misfits.min() < ROUNDING
    if task.loss_driven:
        # Lemma 12: the surrogate, 1 + this, is 1 or more.
        assert direction @ scores > -ROUNDING
    else:
        # Lemma 9: the surrogate is no less than the loss.
        assert losses[wrongs[misfits.argmin()]] + direction @ scores > loss - ROUNDING
    # Lemma 10: self-bounding.
    assert direction @ direction <= 4 / extremes(losses)[0] * loss + ROUNDING
    return loss


def draw_scores(random, n, kind):
    """Scores with many exact ties, with none, or so small that only losses count."""
    if kind == "tied":
        return random.randint(-1, 2, n).astype(float)
    return random.normal(size=n) * {"small": 0.01, "free": 1.0, "large": 30.0}[kind]


KINDS = ["tied", "small", "free", "large"]

CLASS_PROBLEMS = {
    "perceptron": (2, "zero_one", None),
    "uneven": (2, [1.0, 0.2], None),
    "binary with reject": (2, "zero_one", [0.5, 0.25]),
    "free reject": (2, "zero_one", [0.0, 0.25]),
    "multiclass": (4, "zero_one", None),
    "ordinal": (5, "absolute", None),
    "multiclass with reject": (4, "zero_one", 0.3),
    "asymmetric": (3, [[0, 1, 2], [0.5, 0, 0], [3, 1, 0]], None),
}


def class_representations(n_classes, n_predictions):
    if n_predictions == 2:
        return np.array([[-1.0], [1.0]])
    basis = np.eye(n_classes)
    if n_predictions == n_classes:
        return basis
    return np.vstack([basis, basis.sum(axis=0) / np.sqrt(n_classes)])


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("problem", CLASS_PROBLEMS)
def test_classes_by_enumeration(problem, kind, loss_driven):
    """Binary, multiclass and ordinal, with and without a reject option."""
    n_classes, loss, reject_cost = CLASS_PROBLEMS[problem]
    random = np.random.RandomState(0)
    costs = class_costs(loss, range(n_classes), reject_cost)
    representations = class_representations(n_classes, costs.shape[1])
    labels = random.randint(n_classes, size=60)
    task = ClassTask(costs, labels, loss_driven)
    assert (task.n_rounds, task.loss_driven) == (60, loss_driven)
    lost = [
        check_round(
            task, i, draw_scores(random, representations.shape[1], kind), representations, costs[y]
        )
        for i, y in enumerate(labels)
    ]
    assert 0 < np.count_nonzero(lost)


def test_perceptron_learns_from_zero():
    """Ties are broken against the label: the first step is that of a mistake."""
    task = ClassTask(class_costs("zero_one", range(2)), np.array([0, 1]))
    for i, sign in enumerate([1, -1]):
        loss, direction = task.loss_and_direction_of_round(i, [0.0])
        assert loss == 1
        # Against 2 rep(y): the paper's margin is twice the classic one.
        assert_array_equal(direction, [2 * sign])


def uneven_count(tp, fp, fn, tn):
    """No simple sum: hits make amends, and one irrelevant label alone costs nothing."""
    return np.maximum(fp - 1, 0) ** 2 / (1 + tp) + fn * (1 + (fp > 0)) + (tn == 0) * fp * 0.3


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", [*SUBSET_LOSSES, uneven_count])
def test_subsets_by_enumeration(loss, kind, loss_driven):
    """All 2^m sets, with none, some and all labels relevant."""
    random = np.random.RandomState(1)
    function = loss if callable(loss) else SUBSET_LOSSES[loss]
    for m in (1, 2, 5, 8):
        Y = random.rand(25, m) < random.rand(25, 1)
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
    """A user's loss: gains are grades, discounts are flat in two places and above zero at last."""

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
    """Of all rankings; those with the greatest sum of terms, up to rounding, are right."""
    reached = discounts[positions] @ gains
    lost = reached.max() - reached
    lost[lost < 1e-12] = 0.0
    return lost / max(reached.max(), 1e-12)


@pytest.mark.parametrize("most_states", [MAX_STATES, 0.0], ids=["table", "solver"])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("loss", RANKING_PROBLEMS)
def test_rankings_by_enumeration(loss, representation, most_states):
    """All permutations, lists of several lengths in one task, both variants."""
    random = np.random.RandomState(2)
    loss = RANKING_PROBLEMS[loss]
    sizes = np.repeat([6, 5, 2, 1, 0, 3], [2, 10, 6, 1, 1, 10])
    starts = np.append(0, np.cumsum(sizes))
    relevance = random.randint(4, size=starts[-1]).astype(float)
    relevance[starts[3] : starts[4]] = 0
    gains, discounts = gains_of(loss, relevance, starts), discounts_of(loss, 6)
    f = position_values(representation, 6)
    tasks = [RankingTask(gains, starts, discounts, f, d, most_states) for d in (False, True)]
    n_mistakes = 0
    for i, m in enumerate(sizes):
        own = gains[starts[i] : starts[i + 1]]
        positions = np.array(list(permutations(range(m))), dtype=int)
        losses = ranking_losses(own, discounts, positions)
        if m == 0 or losses.max() == 0:
            for task in tasks:
                assert task.loss_and_direction_of_round(i, np.zeros(m))[0] == 0
            continue
        representations = f[positions] / np.linalg.norm(f[:m])
        for kind in KINDS:
            scores = draw_scores(random, m, kind)
            for task in tasks:
                n_mistakes += check_round(task, i, scores, representations, losses) > 0
        least, greatest = extremes(losses)
        assert_allclose(ranking_extremes(own, discounts), (least, greatest), rtol=1e-9)
    assert n_mistakes > 20


@pytest.mark.parametrize("loss", RANKING_PROBLEMS)
def test_right_rankings_cost_exactly_nothing(loss):
    """Rounding is no mistake: items of equal discount add up in any order, huge grades too."""
    random = np.random.RandomState(3)
    loss = RANKING_PROBLEMS[loss]
    for highest in (3, 30, 1000):
        relevance = np.sort(highest * random.rand(6))[::-1]
        gains, discounts = gains_of(loss, relevance, np.array([0, 6])), discounts_of(loss, 6)
        for order in permutations(range(6)):
            shuffled = gains[list(order)]
            # Right if every block of equal discounts has the gains that it has in order.
            blocks = np.unique(discounts, return_inverse=True)[1]
            right = all(
                sorted(shuffled[blocks == b]) == sorted(gains[blocks == b])
                for b in set(blocks[discounts > 0])
            )
            task = RankingTask(shuffled, np.array([0, 6]), discounts, position_values("linear", 6))
            cost, _ = task.loss_and_direction_of_round(0, np.arange(6.0, 0, -1))
            assert cost == 0 if right else cost >= 0, order


def test_rounding_makes_no_negative_loss():
    """Discounts that differ by their rounding: sums of mistakes may come out below zero."""
    random = np.random.RandomState(5)
    discounts = 0.7 * (1 - np.arange(6) * 2.0**-54)
    gains = np.concatenate([random.rand(6)[list(order)] for order in permutations(range(6))])
    task = RankingTask(gains, np.arange(721) * 6, discounts, position_values("linear", 6))
    losses = [task.loss_and_direction_of_round(i, np.arange(6.0, 0, -1))[0] for i in range(720)]
    assert 0 <= min(losses) < max(losses) < 1e-14


@pytest.mark.parametrize("grades", [2, 3, 5])
@pytest.mark.parametrize("m", [20, 60])
def test_long_rankings_match_the_solver(m, grades):
    """The table's ranking is worth as much as that of the linear assignment (Lemma 3)."""
    random = np.random.RandomState(4)
    loss = make_ranking_loss("ndcg")
    starts, discounts, f = np.array([0, m]), discounts_of(loss, m), position_values("power", m)
    for scale in (0.01, 0.3, 10):
        scores = random.normal(size=m) * scale
        relevance = np.floor(grades * random.rand(m) ** 2)
        gains = gains_of(loss, relevance, starts)
        best = -np.sort(-gains) @ discounts
        worth = np.outer(scores, f) / np.linalg.norm(f) - np.outer(gains, discounts) / best
        value = worth[linear_sum_assignment(-worth)].sum()
        for most_states in (MAX_STATES, 0.0):
            task = RankingTask(gains, starts, discounts, f, False, most_states)
            _, direction = task.loss_and_direction_of_round(0, scores)
            # The right ranking is in order of gains, then scores; take it off the direction.
            right = np.empty(m)
            right[np.lexsort((-scores, -gains))] = f / np.linalg.norm(f)
            wrong = np.rint(((direction + right) * np.linalg.norm(f) * -1) ** (1 / 1.1)).astype(int)
            assert_array_equal(np.sort(wrong), np.arange(1, m + 1))
            assert_allclose(worth[np.arange(m), wrong - 1].sum(), value, rtol=1e-9)


def test_tasks_refuse_what_would_lead_out_of_bounds():
    """Each task checks the shapes and indices that its loops follow."""
    costs = class_costs("zero_one", range(3))
    with pytest.raises(ValueError, match="costs"):
        ClassTask(costs[:, :2].copy(), np.array([0]))
    with pytest.raises(ValueError, match="labels"):
        ClassTask(costs, np.array([3]))
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
    task = ClassTask(costs, np.array([0]))
    with pytest.raises(ValueError, match="scores"):
        task.loss_and_direction_of_round(0, np.zeros(2))
    with pytest.raises(ValueError, match="i must be"):
        task.loss_and_direction_of_round(1, np.zeros(3))


def test_solver_refuses_what_is_no_number():
    """An error in the middle of a compiled round comes out of it."""
    f = position_values("linear", 3)
    task = RankingTask(np.array([0.0, 1, 2]), np.array([0, 3]), np.array([3.0, 2, 1]), f, False, 0)
    with pytest.raises(ValueError, match="infeasible"):
        task.loss_and_direction_of_round(0, [np.inf, 0, 0])
