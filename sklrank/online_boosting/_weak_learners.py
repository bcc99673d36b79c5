"""The weak learners of a booster: templates, their clones, and the compiled loop's view of them."""

from collections.abc import Sequence
from functools import lru_cache
from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from sklrank._compiled_classifier import CompiledClassifier
from sklrank._randomness import draw_features, set_random_states
from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting._adapter import EstimatorLearner
from sklrank.tree import HoeffdingTreeClassifier

__all__ = [
    "allow_nan",
    "check_templates",
    "compiled_learners",
    "make_weak_learners",
    "recommended_learners",
]


def check_templates(estimator):
    """The weak learners that the parameter `estimator` describes, as a list; None for the default.

    Raises
    ------
    ValueError
        If the list is empty.
    TypeError
        If one of them cannot learn row by row.
    """
    if estimator is None:
        return None
    templates = list(estimator) if isinstance(estimator, Sequence) else [estimator]
    if not templates:
        raise ValueError("estimator is an empty list; name one weak learner at least, or None")
    for template in templates:
        learn = getattr(template, "partial_fit", lambda: None)
        if not {"classes", "sample_weight"} <= parameters_of(getattr(learn, "__func__", learn)):
            raise TypeError(
                "estimator must have partial_fit(X, y, classes, sample_weight), which "
                f"{template!r} lacks; a boosted weak learner learns row by row, with weights"
            )
    return templates


@lru_cache(maxsize=16)
def parameters_of(function):
    """Names of a function's parameters; many templates share a few functions."""
    return set(signature(function).parameters)


def allow_nan(estimator):
    """Whether every weak learner takes missing values; what is none takes nothing."""
    if estimator is None:
        return True
    templates = estimator if isinstance(estimator, Sequence) else [estimator]
    return all(
        hasattr(template, "__sklearn_tags__") and get_tags(template).input_tags.allow_nan
        for template in templates
    )


def make_weak_learners(estimator, n_estimators, max_features, n_features, n_labels, random_state):
    """Set up the weak learners.

    Parameters
    ----------
    estimator : estimator, list of estimators or None
        Learner i is a clone of entry i modulo the list's length; None: random trees.
    n_estimators : int
        How many.
    max_features : int, float, str or None
        How many columns each of them sees.
    n_features, n_labels : int
        Size of the problem.
    random_state : RandomState instance
        Draws the columns, the parameters of the default trees and the learners' seeds.

    Returns
    -------
    estimators : list of estimators
        What the user sees; their classes are 0, 1, ..., n_labels - 1.
    columns : list of ndarray of shape (n_features_i,), dtype intp
        What each of them sees.
    """
    templates = check_templates(estimator)
    for template in templates or ():
        # `_init_model` does not validate parameters, and scikit-learn's learners do not within a call
        # that has validated its own, so do it here.
        if hasattr(template, "_parameter_constraints"):
            template._validate_params()
    # To seed a generator anew takes a tenth of the time that it takes to make one.
    generator = np.random.RandomState()
    estimators, columns = [], []
    for i in range(n_estimators):
        seen = draw_features(max_features, n_features, random_state)
        if templates is None:
            weak = random_tree(random_state)
        else:
            weak = clone(templates[i % len(templates)])
            set_random_states(weak, random_state)
        if isinstance(weak, CompiledClassifier):
            if weak.random_state is not None:
                generator.seed(weak.random_state)
            weak._init_model(len(seen), np.arange(n_labels), generator)
        estimators.append(weak)
        columns.append(seen)
    return estimators, columns


def compiled_learners(estimators, columns, n_labels, taught):
    """What the compiled loop drives: a tree's own learner, or an adapter around an estimator."""
    return [
        weak._learner
        if isinstance(weak, CompiledClassifier)
        else EstimatorLearner(weak, len(seen), n_labels, taught)
        for weak, seen in zip(estimators, columns)
    ]


def recommended_learners(
    n_estimators: int | None = None, *, feedback: str = "full"
) -> list[CompiledClassifier]:
    """Weak learners that rank well on every benchmark set without tuning.

    The first two are logistic regressions for each label, on all columns, with steps of different
    length; they alone rank well where columns are many and sparse, or labels many. The third one
    knows only how frequent each label was of late. Use them as in the examples: with
    `max_features=None`, since they draw their columns themselves.

    For :class:`AdaOLMR` (``feedback="full"``) the others regress on what is left to gain: one in
    four on up to 100 columns, the rest on 50 random features of up to 50 columns, which lets them
    bend. A row costs some 40 microseconds, and 200 where columns and labels are 100 each.

    For :class:`TopKBBM` and :class:`TopKAdaptive` (``feedback="top-k"``) the others regress on the
    relevance of the labels shown, on 100 random features of up to 50 columns. A row costs some 50
    microseconds. None of them reads the booster's estimates of costs, whose importance weights make
    them noisy. So `TopKBBM` adds their votes up, and neither its `edge` nor propensities have an
    effect: any in (0, 1] will do. `TopKAdaptive` weighs the votes by those estimates, and follows
    the first few learners where they do better: it gains where labels are a hundred and more, and
    may lose where rows are few. With visitors to please, explore little: 0.05 to 0.1; where labels
    that are many and rare are to be learnt, and nothing is lost by what is shown: 0.5, and many
    rows or passes.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Length of the list, to be given to the booster too. None: 22 for full information, 8 for
        top-k feedback.
    feedback : {"full", "top-k"}, default="full"
        What the booster learns from.

    Returns
    -------
    list of estimators
        For the parameter `estimator` of a booster.

    Raises
    ------
    ValueError
        If `feedback` is none of the two, or `n_estimators` no positive integer.

    Notes
    -----
    The learner of recent frequencies gains where rows of a kind come together, as in a stream that
    drifts. In data that were shuffled it does little harm.

    Examples
    --------
    >>> from sklrank.online_boosting import AdaOLMR, TopKBBM, recommended_learners
    >>> model = AdaOLMR(recommended_learners(), n_estimators=22, max_features=None)
    >>> learners = recommended_learners(feedback="top-k")
    >>> model = TopKBBM(learners, n_estimators=8, max_features=None, exploration=0.1)
    """
    if feedback not in ("full", "top-k"):
        raise ValueError(f"feedback must be 'full' or 'top-k', got {feedback!r}")
    if n_estimators is None:
        n_estimators = 22 if feedback == "full" else 8
    if not isinstance(n_estimators, Integral) or n_estimators < 1:
        raise ValueError(f"n_estimators must be an integer from 1 on, got {n_estimators!r}")
    if feedback == "full":
        learners = [
            OnlineLogisticRegression(multi_class="ovr", learning_rate=3),
            OnlineLogisticRegression(multi_class="ovr", learning_rate=0.3),
            OnlineRidgeClassifier(kernel="constant", process_noise=0.01, vote_scale=4),
        ]
        linear = OnlineRidgeClassifier(alpha=30, vote_scale=4, max_features=100)
        bent = OnlineRidgeClassifier(
            kernel="rbf", n_components=50, gamma=0.173, alpha=12.5, vote_scale=4, max_features=50
        )
        others = [linear, bent, bent, bent]
    else:
        learners = [
            OnlineLogisticRegression(multi_class="ovr"),
            OnlineLogisticRegression(multi_class="ovr", learning_rate=3),
            OnlineRidgeClassifier(
                kernel="constant", process_noise=0.01, boosting_target="relevance"
            ),
        ]
        others = [
            OnlineRidgeClassifier(
                kernel="rbf",
                n_components=100,
                gamma=0.173,
                alpha=12.5,
                boosting_target="relevance",
                max_features=50,
            )
        ]
    while len(learners) < n_estimators:
        learners += others
    return [clone(learner) for learner in learners[:n_estimators]]


def random_tree(random_state):
    """A Hoeffding tree with loose random parameters, so that it splits early and unlike others.

    It would go on splitting for ever: a bound on its leaves bounds memory and time.
    """
    return HoeffdingTreeClassifier(
        max_leaves=256,
        leaf_prediction="mc",
        grace_period=random_state.uniform(10, 40),
        delta=10 ** random_state.uniform(-2, -0.05),
        tau=10 ** random_state.uniform(-1, -0.05),
        weight_scale=random_state.uniform(3, 10),
    )
