"""Weak learners of a booster: their choice, their number and their compiled interface."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from sklearn.base import clone

from sklrank._checks import input_tags_of, is_integer
from sklrank._estimators import draw_features, set_random_states
from sklrank._online import CompiledClassifier
from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting._adapter import EstimatorLearner
from sklrank.online_boosting._learner_kinds import (
    CostSensitiveOneVsAll,
    is_binary_classifier,
    kind_of,
)
from sklrank.tree import HoeffdingTreeClassifier

# The values that "auto" stands for. The experiments of the papers have so many trees, each with so
# many features; clones of an estimator have the same number.
N_LEARNERS, TREE_FEATURES = 100, 20


def resolve_parameters(estimator, n_estimators, max_features, feedback):
    """Return the templates, `n_estimators` and `max_features` that None, "trees" and "auto" mean.

    Weak learner i is a clone of template i modulo their number; templates of None are trees.
    """
    auto_features = None
    if are_trees(estimator):
        templates, auto_number, auto_features = None, N_LEARNERS, TREE_FEATURES
    elif estimator is None:
        templates = recommended_learners(
            None if n_estimators == "auto" else n_estimators, feedback=feedback
        )
        auto_number = len(templates)
    else:
        templates = _check_templates(estimator)
        auto_number = len(templates) if isinstance(estimator, Sequence) else N_LEARNERS
    return (
        templates,
        auto_number if n_estimators == "auto" else int(n_estimators),
        auto_features if max_features == "auto" else max_features,
    )


def allow_nan(estimator):
    if are_trees(estimator):
        return True
    if estimator is None:
        return False  # The recommended learners are linear models.
    templates = estimator if isinstance(estimator, Sequence) else [estimator]
    return all(input_tags_of(template).allow_nan for template in templates)


def are_trees(estimator):
    """Return True if the weak learners are trees."""
    return isinstance(estimator, str) and estimator == "trees"


def _check_templates(estimator):
    templates = list(estimator) if isinstance(estimator, Sequence) else [estimator]
    if not templates:
        raise ValueError(
            "estimator is an empty list; give at least one weak learner, or None for the default"
        )
    for template in templates:
        if kind_of(template) is None:
            raise TypeError(
                "estimator must have partial_fit(X, y, classes, sample_weight) of a classifier, "
                "partial_fit and predict_ranks of a ranker, or partial_fit_costs(X, costs), which "
                f"{template!r} lacks; a weak learner learns one sample at a time"
            )
        # Compiled learners are created without a validation of their parameters, and scikit-learn
        # skips the validation in calls that are nested in a validated call.
        if hasattr(template, "_parameter_constraints"):
            template._validate_params()
    return templates


def make_weak_learners(templates, n_estimators, max_features, n_features, n_labels, random_state):
    """Return untrained weak learners, the indices of the features that each of them uses, and an
    `OnlineLearner` for each: its compiled learner, or an adapter.

    The arguments are the values that `resolve_parameters` returns.
    """
    generator = np.random.RandomState()
    estimators, features, learners = [], [], []
    all_features = np.arange(n_features)
    for i in range(n_estimators):
        seen = draw_features(max_features, n_features, random_state)
        if len(seen) == n_features:
            seen = all_features  # one array for all learners saves memory
        if templates is None:
            weak = _random_tree(random_state)
        else:
            weak = clone(templates[i % len(templates)])
            if n_labels > 2 and is_binary_classifier(weak):
                weak = CostSensitiveOneVsAll(weak)
            if not isinstance(weak, CompiledClassifier) or weak._learner_draws:
                set_random_states(weak, random_state)
            if isinstance(weak, _BentRidge):
                seen = seen[draw_features(weak.max_features, len(seen), random_state)]
        if isinstance(weak, CompiledClassifier):
            learner = weak._init_model(len(seen), np.arange(n_labels), generator)._learner
        else:
            learner = EstimatorLearner(weak, len(seen), n_labels)
        estimators.append(weak)
        features.append(seen)
        learners.append(learner)
    return estimators, features, learners


def recommended_learners(
    n_estimators: int | None = None, *, feedback: Literal["full", "top-k", "class"] = "full"
) -> list[CompiledClassifier]:
    """Return the default weak learners of all boosters.

    The boosters use this list if their parameter `estimator` is None. Call this function to change
    the list, and pass the result as `estimator`. All learners scale samples to the norm one or
    standardize them, and learn from the costs of votes:

    - a ridge regression of raw samples, with the penalty 1. With few samples of many sparse
      features, it is the best learner. It is the first one, so that the first expert consists of it
      alone. More than 2048 features are reduced to a sketch of 2048. Small sketches lose the rare
      features of sparse samples, which are the most informative ones;
    - with full information, a logistic regression of standardized samples for each label, which
      follows the best of the learning rates 1 and 3. With many sparse features and many samples,
      it is the best learner. With top-k feedback, a multinomial one, as that of single labels
      would learn the relevance of the labels shown instead of the costs;
    - a ridge regression of standardized samples, which follows the best of the penalties 1, 10 and
      100 by its likelihood. More than 256 features are reduced to a sketch of 256;
    - ridge regressions with 50 random Fourier features, which bend the boundaries. Each uses up to
      50 of the features, which the booster draws;
    - for streams of classes, eight Hoeffding trees that split early, for concepts of few features.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Length of the list. If None, the length is 7, with 4 regressions of random Fourier features,
        or with the trees 15. Longer lists have more of these regressions.
    feedback : {"full", "top-k", "class"}, default="full"
        Feedback from which the booster learns: the relevance of all labels, or of k labels, or the
        class of a sample.

    Returns
    -------
    list of estimators
        Untrained weak learners, to be passed as the parameter `estimator` of a booster.

    Raises
    ------
    ValueError
        If `n_estimators` is not a positive integer, or `feedback` is unknown.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklrank.online_boosting import AdaOLMR, recommended_learners
    >>> model = AdaOLMR([*recommended_learners(), GaussianNB()])
    """
    if n_estimators is None:
        n_estimators = 15 if feedback == "class" else 7
    if not is_integer(n_estimators) or n_estimators < 1:
        raise ValueError(f"n_estimators must be an integer of at least 1, got {n_estimators!r}")
    if feedback not in ("full", "top-k", "class"):
        raise ValueError(f"feedback must be 'full', 'top-k' or 'class', got {feedback!r}")
    # The intercept of a sparse sample of norm one would outweigh its features.
    logistic = OnlineLogisticRegression(normalize="l2", intercept_scaling=0.3)
    if feedback != "top-k":
        logistic.set_params(multi_class="ovr", learning_rate=(1, 3))
    # The numbers were chosen by the rank loss of AdaOLMR on nine benchmark sets of at most 1000
    # rows. One penalty costs 1.5 % of it (most on birds), no random Fourier features 2 %
    # (emotions), a sketch of 1024 features 3 % (medical and genbase have more), votes without
    # smoothing 0.8 %. Gamma from 0.17 to 0.5, scales of votes from 2 to 8 and a constant model
    # make no difference above the noise of 0.8 %. The logistic regressions of single labels were
    # chosen on bibtex and delicious: a multinomial one costs 28 and 2 % there. With 8
    # regressions of random Fourier features, OnlineBMR, which gives all learners one weight, loses
    # 8 % on foodtruck.
    first = [
        _CostRidge(standardize=False, normalize="l2", sketch_size=2048),
        logistic,
        _CostRidge(alpha=(1, 10, 100), normalize="l2", sketch_size=256),
    ]
    rbf = _BentRidge(kernel="rbf", n_components=50, gamma=0.2, alpha=10)
    trees = early_trees() if feedback == "class" else []
    learners = first + [rbf] * 4 + trees + [rbf] * n_estimators
    return [clone(template) for template in learners[:n_estimators]]


class _CostRidge(OnlineRidgeClassifier):
    """Ridge regression on negative costs, whose votes deviate further from uniform votes."""

    _vote_scale, _vote_smoothing = 4.0, 1.0


class _BentRidge(_CostRidge):
    """Such a regression of random Fourier features, of some of the features."""

    max_features = 50


# Trees that split early never stop splitting: the number of leaves bounds their memory and time.
MAX_LEAVES = 256


class EarlyTree(HoeffdingTreeClassifier):
    """Hoeffding tree of a merged booster, which is that of the booster that has learned most."""


def early_trees():
    """Return Hoeffding trees with several parameters that make them split early.

    With them, AdaOLMR predicts 4.1 % more classes of seven streams on which they were chosen, and
    2.2 % more of six others. Eight equal trees gain half of that, sixteen trees .4 % more. On nine
    multilabel sets, trees rank better as often as worse.
    """
    return [
        EarlyTree(
            max_leaves=MAX_LEAVES, leaf_prediction="mc", grace_period=period, delta=0.7, tau=tau
        )
        for period in (2, 4, 8, 16)
        for tau in (0.1, 0.5)
    ]


def _random_tree(random_state):
    """Return a Hoeffding tree with random parameters that make it split early.

    Trees with different parameters make less correlated predictions.
    """
    grace_period = random_state.uniform(10, 40)
    delta = 10 ** random_state.uniform(-2, -0.05)
    tau = 10 ** random_state.uniform(-1, -0.05)
    # A sample has the effect of `scale` samples: the Hoeffding bound contains log(1 / delta) / n.
    scale = random_state.uniform(3, 10)
    return HoeffdingTreeClassifier(
        max_leaves=MAX_LEAVES,
        leaf_prediction="mc",
        grace_period=grace_period / scale,
        delta=delta ** (1 / scale),
        tau=tau,
    )
