"""Weak learners of a booster: their choice, their number and their compiled interface."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from sklrank._compiled_classifier import CompiledClassifier
from sklrank._randomness import draw_features, set_random_states
from sklrank._validation import input_tags_of, is_integer
from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting._adapter import EstimatorLearner
from sklrank.online_boosting._learner_kinds import (
    CostSensitiveOneVsAll,
    is_binary_classifier,
    kind_of,
)
from sklrank.online_boosting._online_voting import OnlineVotingClassifier
from sklrank.tree import HoeffdingTreeClassifier

__all__ = [
    "allow_nan",
    "are_trees",
    "compiled_learners",
    "make_weak_learners",
    "recommended_learners",
    "resolve_parameters",
]

# Number of trees, and of features of each tree, in the experiments of the papers. "auto" for trees
# means these values.
N_TREES, TREE_FEATURES = 100, 20
# Number of clones of one estimator that "auto" means.
N_CLONES = 100


def resolve_parameters(estimator, n_estimators, max_features, default, n_passes):
    """Resolve None, "trees" and "auto" in the parameters that describe the weak learners.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None
        Parameter of the booster.
    n_estimators : int or "auto"
        Parameter of the booster.
    max_features : int, float, {"auto", "sqrt", "log2"} or None
        Parameter of the booster.
    default : {"full", "top-k", "trees"}
        Meaning of ``estimator=None``. If "full" or "top-k", the recommended learners for this
        feedback are used; if "trees", trees are used.
    n_passes : int
        Number of passes over the samples.

    Returns
    -------
    templates : list of estimators or None
        Weak learner i is a clone of entry i modulo the length of the list. If None, the weak
        learners are trees.
    n_estimators : int
        Number of weak learners.
    max_features : int, float, {"sqrt", "log2"} or None
        Number of features used by each weak learner.
    """
    auto_features = None
    if are_trees(estimator, default):
        templates, auto_number, auto_features = None, N_TREES, TREE_FEATURES
    elif estimator is None:
        length = None if n_estimators == "auto" else n_estimators
        templates = recommended_learners(length, feedback=default, n_passes=n_passes)
        auto_number = len(templates)
    else:
        templates = _check_templates(estimator)
        auto_number = len(templates) if isinstance(estimator, Sequence) else N_CLONES
    return (
        templates,
        auto_number if n_estimators == "auto" else int(n_estimators),
        auto_features if max_features == "auto" else max_features,
    )


def allow_nan(estimator, default):
    """Return True if every weak learner accepts missing values.

    The arguments are those of `resolve_parameters`.
    """
    if are_trees(estimator, default):
        return True
    if estimator is None:
        return False  # The recommended learners are linear models.
    templates = estimator if isinstance(estimator, Sequence) else [estimator]
    return all(input_tags_of(template).allow_nan for template in templates)


def are_trees(estimator, default):
    """Return True if the weak learners are trees."""
    if estimator is None:
        return default == "trees"
    return isinstance(estimator, str) and estimator == "trees"


def _check_templates(estimator):
    """Return the list of templates. Raise if it is empty or if one of them cannot be boosted."""
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
    """Create the untrained weak learners.

    Parameters
    ----------
    templates, n_estimators, max_features
        Values returned by `resolve_parameters`.
    n_features, n_labels : int
        Number of features and labels.
    random_state : RandomState instance
        Controls the random choice of the features, the parameters of trees and the seeds of the
        weak learners.

    Returns
    -------
    estimators : list of estimators
        The weak learners, whose classes are 0, ..., n_labels - 1.
    features : list of ndarray of shape (n_features_i,), dtype intp
        Indices of the features used by each weak learner.
    """
    generator = np.random.RandomState()
    estimators, features = [], []
    for i in range(n_estimators):
        seen = draw_features(max_features, n_features, random_state)
        if templates is None:
            weak = _random_tree(random_state)
        else:
            weak = clone(templates[i % len(templates)])
            if n_labels > 2 and is_binary_classifier(weak):
                weak = CostSensitiveOneVsAll(weak)
            set_random_states(weak, random_state)
        if isinstance(weak, CompiledClassifier):
            weak._init_model(len(seen), np.arange(n_labels), generator)
        estimators.append(weak)
        features.append(seen)
    return estimators, features


def compiled_learners(estimators, features, n_labels):
    """Return an `OnlineLearner` for each weak learner: its compiled learner, or an adapter."""
    return [
        weak._learner
        if isinstance(weak, CompiledClassifier)
        else EstimatorLearner(weak, len(seen), n_labels)
        for weak, seen in zip(estimators, features)
    ]


def recommended_learners(
    n_estimators: int | None = None, *, feedback: str = "full", n_passes: int = 1
) -> list[CompiledClassifier]:
    """Return the default weak learners of AdaOLMR, TopKBBM and TopKAdaptive.

    The boosters use these lists if their parameter `estimator` is None. Call this function to
    change a list, and pass the result as `estimator`.

    The first learners scale samples to the norm one and use all features, because a few random
    features of sparse data contain nothing. A learner with several penalties or learning rates
    follows the best one by its likelihood, so they need no tuning.

    For :class:`AdaOLMR` (``feedback="full"``), the list consists of

    - a ridge regression on the relevance of the labels, of raw samples, with the penalty 1. With
      few samples of many sparse features, it is the best learner. It is the first one, so that the
      first expert consists of it alone. More than 2048 features are reduced to a sketch of 2048.
      Small sketches lose the rare features of sparse samples, which are the most informative ones;
    - logistic regressions for each label with the learning rates 0.3, 1 and 3. With many sparse
      features and many samples, they are the best learners;
    - ridge regressions on the negative costs, with the penalties 1, 10 and 100, of standardized
      samples. More than 512 features are reduced to a sketch of 512;
    - 8 ridge regressions with 50 random Fourier features of up to 50 features, which bend the
      boundaries;
    - the recent frequency of each label. It improves the ranking if similar samples follow each
      other, as in a stream with concept drift.

    For :class:`TopKBBM` and :class:`TopKAdaptive` (``feedback="top-k"``), the list consists of one
    :class:`OnlineVotingClassifier`. It weights the votes of

    - two logistic regressions for each label, one of standardized and one of raw samples, with the
      learning rates 0.3, 1 and 3. The second one has a small `intercept_scaling`, which is better
      for sparse samples: otherwise, a label that is shown and irrelevant would lower its intercept,
      and thus its probability for all samples;
    - a ridge regression on the relevance of the labels shown, of standardized samples, with the
      penalties 1 and 10. More than 256 features are reduced to a sketch of 256.

    They learn from the relevance of the labels shown and, unless all labels are shown, do not use
    the estimated costs, since the importance weights of the costs have a high variance. Therefore
    neither the propensities nor the `edge` of `TopKBBM` have an effect, and both boosters rank the
    labels in the same way.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Length of the list. If None, the length is 12 for full information and 1 for top-k feedback.
        Longer lists have more random Fourier features, or repeat the list for top-k feedback.
    feedback : {"full", "top-k"}, default="full"
        Feedback from which the booster learns: the relevance of all labels, or of k labels.
    n_passes : int, default=1
        Number of passes over the samples. With top-k feedback, the penalties of the ridge
        regression are multiplied by this number, because the weights of the samples are multiplied
        by it too: in later passes, a smaller penalty would seem to be the best one, since its
        losses are the smallest ones on samples that were already learned. The boosters set it to
        their parameter `max_iter`.

    Returns
    -------
    list of estimators
        Untrained weak learners, to be passed as the parameter `estimator` of a booster.

    Raises
    ------
    ValueError
        If `feedback` is neither "full" nor "top-k", or `n_estimators` or `n_passes` is not a
        positive integer.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklrank.online_boosting import AdaOLMR, recommended_learners
    >>> model = AdaOLMR([*recommended_learners(), GaussianNB()])
    """
    if feedback not in ("full", "top-k"):
        raise ValueError(f"feedback must be 'full' or 'top-k', got {feedback!r}")
    if n_estimators is None:
        n_estimators = 12 if feedback == "full" else 1
    if not is_integer(n_estimators) or n_estimators < 1:
        raise ValueError(f"n_estimators must be an integer of at least 1, got {n_estimators!r}")
    if not is_integer(n_passes) or n_passes < 1:
        raise ValueError(f"n_passes must be an integer of at least 1, got {n_passes!r}")
    first, others, last = _full_information() if feedback == "full" else _top_k_feedback(n_passes)
    n_others = max(n_estimators - len(first) - len(last), 0)
    templates = first + others * n_others + last
    return [clone(template) for template in templates[:n_estimators]]


def _full_information():
    """Return three lists: the first learners, learners that are repeated, and the last learners."""
    relevance = OnlineRidgeClassifier(
        boosting_target="relevance",
        standardize=False,
        normalize="l2",
        sketch_size=2048,
        vote_smoothing=1,
    )
    ridge = OnlineRidgeClassifier(
        alpha=(1, 10, 100), normalize="l2", sketch_size=512, vote_scale=4, vote_smoothing=1
    )
    logistic = OnlineLogisticRegression(
        multi_class="ovr", learning_rate=(0.3, 1, 3), normalize="l2", intercept_scaling=0.3
    )
    rbf = OnlineRidgeClassifier(
        kernel="rbf",
        n_components=50,
        gamma=0.173,
        alpha=12.5,
        vote_scale=4,
        vote_smoothing=1,
        max_features=50,
    )
    frequencies = OnlineRidgeClassifier(kernel="constant", process_noise=0.01, vote_scale=4)
    return [relevance, logistic, ridge], [rbf], [frequencies]


def _top_k_feedback(n_passes):
    """Return three lists: the first learners, learners that are repeated, and the last learners."""
    logistic = OnlineLogisticRegression(
        multi_class="ovr", learning_rate=(0.3, 1, 3), normalize="l2"
    )
    ridge = OnlineRidgeClassifier(
        alpha=(n_passes, 10 * n_passes),
        normalize="l2",
        sketch_size=256,
        vote_smoothing=1,
        boosting_target="relevance",
    )
    raw = clone(logistic).set_params(standardize=False, intercept_scaling=0.3)
    vote = OnlineVotingClassifier([logistic, raw, ridge], learning_rate=2)
    return [vote], [vote], []


def _random_tree(random_state):
    """Return a Hoeffding tree with random parameters that make it split early.

    Trees with different parameters make less correlated predictions. Such a tree never stops
    splitting, so the number of leaves is bounded to limit memory and time.
    """
    return HoeffdingTreeClassifier(
        max_leaves=256,
        leaf_prediction="mc",
        grace_period=random_state.uniform(10, 40),
        delta=10 ** random_state.uniform(-2, -0.05),
        tau=10 ** random_state.uniform(-1, -0.05),
        weight_scale=random_state.uniform(3, 10),
    )
